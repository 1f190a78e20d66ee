"""[retention]: read by nmem.retention.policy."""

from __future__ import annotations

from nmem.retention.lifetimes import LEAST_DAYS, TYPES
from nmem.settings.setting import ANY, FLAG, NUMBER, WHOLE, Setting

ALL = "all"


def _days(value: object) -> str:
    fits = isinstance(value, int | float) and (value == 0 or value >= LEAST_DAYS)
    return "" if fits else f"is 0, for ever, or at least {LEAST_DAYS:g} days: nothing is forgotten sooner"


SETTINGS = (
    Setting("retention.enabled", FLAG, True, "whether old records are forgotten by themselves; `nmem sweep` may"),
    Setting(
        "retention.mediation", FLAG, True,
        "whether what proves useful lives longer, and what nobody comes back to shorter: half to twice its lifetime",
    ),
    Setting(
        "retention.max_size_mb", WHOLE, 0, "above this size of the database lifetimes are shortened; 0: no limit",
        low=0, high=1_000_000, unit="MB",
    ),
    Setting(
        "retention.days.*", NUMBER, None,
        f"how long a type is kept, at least {LEAST_DAYS:g}; 0 keeps it for ever; `nmem sweep --policy` shows them",
        low=0, high=36_500, choices=TYPES, unit="days", also=_days,
    ),
    Setting(
        f"retention.projects.{ANY}.{ANY}", NUMBER, None,
        "the same for one project, by its name: a type, or `all` for every type; 0 keeps for ever",
        low=0, high=36_500, choices=(ALL, *TYPES), unit="days", also=_days,
    ),
)  # fmt: skip
