"""[llm]: read by nmem.llm.config."""

from __future__ import annotations

from nmem.settings.setting import FLAG, NUMBER, TEXT, URL, WHOLE, WORDS, Setting

SETTINGS = (
    Setting("llm.enabled", FLAG, True, "whether a language model may be asked"),
    Setting(
        "llm.base_url", URL, "",
        "its endpoint up to the version: http://127.0.0.1:1234/v1; empty: loopback is looked at",
    ),
    Setting("llm.model", TEXT, "", "which model; empty: the first that the endpoint lists"),
    Setting("llm.key", TEXT, "", "the endpoint's key; better in the environment, see key_env", secret=True),
    Setting("llm.key_env", TEXT, "", "the environment variable with the key; empty: NMEM_LLM_KEY"),
    Setting("llm.command", WORDS, (), 'your own client instead of an endpoint: ["claude", "-p"]'),
    Setting(
        "llm.connect_seconds", NUMBER, 3.0, "how long to wait for a connection", low=0.05, high=60, unit="seconds"
    ),
    Setting(
        "llm.call_seconds", NUMBER, 120.0, "how long one call may take as a whole", low=1, high=3600, unit="seconds"
    ),
    Setting("llm.max_tokens", WHOLE, 900, "how long an answer may be", low=16, high=32_768, unit="tokens"),
    Setting(
        "llm.context_tokens", WHOLE, 6000, "how much material one question may hold",
        low=512, high=1_000_000, unit="tokens",
    ),
    Setting(
        "llm.daily_token_cap", WHOLE, 200_000, "questions and answers together, a day; 0 asks nothing",
        low=0, high=1_000_000_000, unit="tokens",
    ),
)  # fmt: skip
