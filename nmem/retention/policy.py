"""What the person's config.toml says about forgetting.

[retention]
enabled = true          # false: nothing is forgotten by itself
mediation = true        # false: every lifetime is exactly what is written
max_size_mb = 0         # above it lifetimes are shortened

[retention.days]
file_read = 30          # 0 keeps a type for ever

[retention.projects.shop]
all = 0                 # nothing of it is ever forgotten
command = 60            # but its commands are
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from nmem import config
from nmem.errors import NmemError
from nmem.settings.kinds import DAYS, FOREVER, LEAST_DAYS, TYPES

ALL = "all"


@dataclass(frozen=True, slots=True)
class Policy:
    """The lifetimes a person wants, before what is worth keeping is weighed."""

    enabled: bool = True
    mediation: bool = True
    max_bytes: int = 0
    """0: no limit."""
    days: Mapping[str, float] = field(default_factory=lambda: dict(DAYS))
    projects: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    """Name of a project -> type or `all` -> days."""

    def of(self, project: str, type_: str) -> float:
        """Days that a type lives in a project; 0: for ever."""
        own = self.projects.get(project, {})
        days = own.get(type_, own.get(ALL, self.days.get(type_, FOREVER)))
        return FOREVER if days <= 0 else max(days, LEAST_DAYS)


def load() -> Policy:
    """The policy of the person's config. Raises NmemError at its first fault: nothing is forgotten by guesswork."""
    found = config.values("retention")
    projects = found.get("projects") or {}
    assert isinstance(projects, Mapping)
    return Policy(
        enabled=bool(found["enabled"]),
        mediation=bool(found["mediation"]),
        max_bytes=int(str(found["max_size_mb"])) * 1_000_000,
        days={**DAYS, **_days(found.get("days") or {}, "retention.days", TYPES)},
        projects={str(name): _days(own, f"retention.projects.{name}", (ALL, *TYPES)) for name, own in projects.items()},
    )


def _days(found: object, where: str, known: tuple[str, ...]) -> dict[str, float]:
    if not isinstance(found, Mapping):
        raise NmemError(f"config: {where} is not a table")
    unknown = next((name for name in found if name not in known), None)
    if unknown is not None:
        from difflib import get_close_matches

        like = get_close_matches(str(unknown), known, 1, 0.5)
        raise NmemError(f"config: {where}.{unknown} is not known{f': did you mean {like[0]}?' if like else ''}")
    return {str(name): float(days) for name, days in found.items()}
