"""[context]: read by nmem.context.config, on the hook's path."""

from __future__ import annotations

from nmem.settings.setting import FLAG, NUMBER, TEXTS, Setting

SETTINGS = (
    Setting("context.enabled", FLAG, True, "whether sessions are told anything"),
    Setting("context.ask", FLAG, True, "whether a session that starts is told that the memory can be asked"),
    Setting("context.fixes", FLAG, True, "whether a command that fails is answered with what put it right before"),
    Setting("context.warn", FLAG, True, "whether a command or an edit that went wrong before is warned of"),
    Setting(
        "context.start_tokens", NUMBER, 1500, "how much a session is told when it starts",
        low=0, high=2400, unit="tokens",
    ),
    Setting("context.prompt_tokens", NUMBER, 800, "how much it is told at a prompt", low=0, high=2400, unit="tokens"),
    Setting(
        "context.recovery_tokens", NUMBER, 900, "how much it is told after a compaction or a clear",
        low=0, high=2400, unit="tokens",
    ),
    Setting(
        "context.deadline_ms", NUMBER, 60, "how long selecting may take; later than that, nothing is said",
        low=0, high=2000, unit="ms",
    ),
    Setting(
        "context.holdout", NUMBER, 0.0, "the fraction of sessions that are told nothing, to see what telling is worth",
        low=0, high=0.5,
    ),
    Setting("context.off", TEXTS, (), "projects that are told nothing, by name or root folder"),
)  # fmt: skip
