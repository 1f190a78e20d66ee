"""[purge]: read by nmem.purge."""

from __future__ import annotations

from nmem.settings.setting import WHOLE, Setting

SETTINGS = (
    Setting(
        "purge.window_minutes", WHOLE, 24 * 60,
        "how long a purge can be undone: until then what went is kept encrypted; 0 keeps nothing",
        low=0, high=43_200, unit="minutes",
    ),
)  # fmt: skip
