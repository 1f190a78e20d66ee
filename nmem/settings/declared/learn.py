"""[learn]: read by nmem.learn.config."""

from __future__ import annotations

from nmem.settings.setting import NUMBER, WHOLE, Setting

SETTINGS = (
    Setting("learn.sessions", WHOLE, 3, "distinct sessions in which something must be met to be a learning or a skill",
            low=2, high=50),
    Setting("learn.half_life_days", NUMBER, 7, "after which an occurrence makes a learning half as hot",
            above=0, high=3650, unit="days"),
)  # fmt: skip
