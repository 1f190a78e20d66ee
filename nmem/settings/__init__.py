"""Settings in config.toml: one declared list, checked strictly, read and written here.

Readers on the hook's path (capture.redaction.settings, and `config` in nmem.threads, nmem.context and nmem.episodes)
keep their own forms, because a hook cannot afford this one; tests hold that they agree with what is declared.
"""
