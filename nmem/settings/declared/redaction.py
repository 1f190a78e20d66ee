"""[redaction]: read by capture.settings, on the hook's path. The built-in detectors do not depend on it."""

from __future__ import annotations

from nmem.settings.setting import ALLOW, PATTERNS, Setting

SETTINGS = (
    Setting(
        "redaction.patterns", PATTERNS, (),
        "more secrets to take out: a list of { name, regex }; a group in the regex is the secret",
    ),
    Setting(
        "redaction.allow", ALLOW, (),
        "what is no secret although it looks like one: a list of texts, or of { regex }",
    ),
)  # fmt: skip
