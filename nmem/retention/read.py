"""Reads retention for display: records due for deletion, past sweeps, lifetimes and their reasons.

For commands and screens alike; on a connection of `nmem.database.reader`. Frozen dataclasses, texts as stored.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from sqlite3 import Connection

from nmem.retention import idle, journal, policy, store, sweep
from nmem.retention.journal import Entry
from nmem.retention.plan import DAY
from nmem.retention.policy import Life, Policy

_MANY = 400
"""Sessions that are counted in one query: a reader holds the log only so long."""


@dataclass(frozen=True, slots=True)
class Due:
    """One type of one project: how much there is, and how much of it is past its lifetime now and soon."""

    project: str
    type: str
    days: float
    """Its lifetime in force; 0: for ever."""
    total: int
    now: int
    week: int
    """Within seven days from now, those of now included."""
    month: int
    """Within thirty."""
    oldest: int
    """When the oldest happened."""


@dataclass(frozen=True, slots=True)
class Forecast:
    """What there is by type and project, and what is to go. Exempt things are counted: `sweep --dry-run` knows them."""

    rows: tuple[Due, ...]
    at: int
    seconds: float


@dataclass(frozen=True, slots=True)
class Standing:
    """Forgetting at a glance."""

    enabled: bool
    mediation: bool
    max_bytes: int
    bytes_used: int
    bytes_empty: int
    """Empty pages of the file, which are used again."""
    lives: tuple[Life, ...]
    """Each type of each project: as written, as in force, and why."""
    journal: tuple[Entry, ...]
    """The newest sweeps, the newest first."""
    upkeep: tuple[tuple[str, int, str], ...]
    """(what, when, what came of it)."""
    next_at: int
    """When the next sweep is due by itself; 0: it never is."""
    gone: int
    """Calls that are known by their traces only."""


def lives(db: Connection, project: str = "", now: int | None = None, wanted: Policy | None = None) -> tuple[Life, ...]:
    """The lifetimes in force, and how they came about. Raises NmemError for a configuration that cannot be read."""
    wanted = wanted or policy.load()
    return tuple(policy.lives(db, wanted, _now(now), store.projects(db, project)))


def standing(db: Connection, now: int | None = None) -> Standing:
    """Forgetting at a glance. Raises NmemError for a configuration that cannot be read."""
    wanted, at = policy.load(), _now(now)
    due = 0 if not wanted.enabled else max(at, sweep.due_at(db, at) or at + sweep.GRACE)
    return Standing(
        wanted.enabled, wanted.mediation, wanted.max_bytes, sweep.size(db), idle.saves(db)[0],
        lives(db, "", at, wanted), journal.entries(db), idle.told(db), due, journal.gone(db).observations,
    )  # fmt: skip


def forecast(
    db: Connection, project: str = "", now: int | None = None, stopped: Callable[[], bool] = lambda: False
) -> Forecast:
    """What there is by type and project and what is past its lifetime: every row is looked at: not on a UI thread."""
    begun, at = time.monotonic(), _now(now)
    days = {(one.project_id, one.type): one.in_force for one in lives(db, project, at)}
    out: list[Due] = []
    for project_id, name in store.projects(db, project).items():
        sums = _Sums(at, {type_: long for (number, type_), long in days.items() if number == project_id})
        ids = store.sessions_before(db, project_id)
        for start in range(0, len(ids), _MANY):
            if stopped():
                break
            sums.add(db, ids[start : start + _MANY])
        out += sums.rows(name)
    out.sort(key=lambda one: (-one.now, -one.total, one.project, one.type))
    return Forecast(tuple(out), at, round(time.monotonic() - begun, 3))


def _now(now: int | None) -> int:
    return time.time_ns() // 1_000_000 if now is None else now


class _Sums:
    """Counts of one project, by type."""

    def __init__(self, now: int, days: dict[str, float]) -> None:
        self.now, self.days = now, days
        self.sums: dict[str, list[int]] = {}

    def add(self, db: Connection, session_ids: list[str]) -> None:
        for name, day, count, oldest in store.by_day(db, session_ids, DAY):
            self._count(name, day, count, oldest)

    def _count(self, type_: str, day: int, count: int, oldest: int) -> None:
        one = self.sums.setdefault(type_, [0, 0, 0, 0, oldest])
        one[0] += count
        one[4] = min(one[4], oldest)
        long = self.days.get(type_, 0.0)
        if long <= 0:
            return
        for place, ahead in ((1, 0), (2, 7), (3, 30)):
            if (day + 1) * DAY <= self.now + ahead * DAY - int(long * DAY):
                one[place] += count

    def rows(self, project: str) -> list[Due]:
        return [Due(project, type_, self.days.get(type_, 0.0), *one) for type_, one in self.sums.items()]
