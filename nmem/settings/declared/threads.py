"""[threads]: read by nmem.threads.config, on the hook's path."""

from __future__ import annotations

from capture.clients import CLIENTS
from nmem.settings.setting import CHOICE, NUMBER, Setting

_LONGEST = 10_080

SETTINGS = (
    Setting(
        "threads.timeout_minutes", NUMBER, 30, "inactivity after which a new line of work begins",
        above=0, high=_LONGEST, unit="minutes",
    ),
    Setting(
        "threads.clients.*", NUMBER, None, "the same for one client",
        above=0, high=_LONGEST, choices=CLIENTS, unit="minutes",
    ),
    Setting(
        "threads.method", CHOICE, "fitted", "how lines of work are compared: fitted weights, or the plain ones",
        choices=("fitted", "seed"),
    ),
)  # fmt: skip
