"""Reads the lifetimes of records, by type and project, from `[retention]` in config.toml.

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
from contextlib import closing
from dataclasses import dataclass, field
from difflib import SequenceMatcher, get_close_matches
from sqlite3 import Connection, Error

from capture import paths
from nmem import database
from nmem.errors import NmemError
from nmem.retention import store
from nmem.settings import file
from nmem.settings.check import Fault, dotted
from nmem.settings.kinds import DAYS, FOREVER, LEAST_DAYS, TYPES
from nmem.text import printable

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
    found = file.values("retention")
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
        like = get_close_matches(str(unknown), known, 1, 0.5)
        raise NmemError(f"config: {where}.{unknown} is not known{f': did you mean {like[0]}?' if like else ''}")
    return {str(name): float(days) for name, days in found.items()}


_NEAR = 0.75
"""How alike two names are at least, of 1, for one to be meant by the other."""
HELD = "of a project whose name is misspelt in the configuration"


@dataclass(frozen=True, slots=True)
class Stranger:
    """A name in [retention.projects] that no project has."""

    name: str
    nearest: str
    """The project that is called nearly so, which is swept by nobody meanwhile; empty: none."""

    @property
    def said(self) -> str:
        """The end of a sentence about its name."""
        if not self.nearest:
            return "names no project that is recorded here"
        near = printable(self.nearest)
        return f"names no project that is recorded: did you mean {near}? Nothing of {near} goes until then"

    @property
    def fault(self) -> Fault:
        """As a fault of config.toml."""
        return Fault(dotted(("retention", "projects", self.name)), self.said)


def strangers(db: Connection, named: Mapping[str, object]) -> tuple[Stranger, ...]:
    """Of the projects that are named, those that are not recorded; none while nothing at all is."""
    known = sorted(set(store.projects(db).values()))
    free = [name for name in known if name not in named]
    return tuple(Stranger(name, _nearest(name, free)) for name in named if known and name not in known)


def _nearest(name: str, known: list[str]) -> str:
    found = [(SequenceMatcher(None, name.casefold(), each.casefold()).ratio(), each) for each in known]
    best, near = max(found, default=(0.0, ""))
    return near if best >= _NEAR else ""


def recorded() -> tuple[Stranger, ...]:
    """Those of config.toml and of the database in use; none where either cannot be read, which others say."""
    try:
        wanted = load()
        if not wanted.projects:
            return ()
        with closing(database.reader(paths.database())) as db:
            return strangers(db, wanted.projects)
    except (NmemError, Error):
        return ()
