"""Plans which rows of a session to delete: expired, not exempt, summarized; distrusts leaps of the clock.

A session is let alone until all that is to be known of it without its rows is there: its episodes are over and traced,
and it is summed up.

Each look at the clock is kept. Days between two looks on which nobody looked add up; once they are more than `LEAP`,
nothing goes by itself until a day has been seen to pass, and a sweep by hand is asked about. So many small leaps are
one large one.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from sqlite3 import Connection
from typing import Any

from capture.storage.store import transaction
from nmem.retention import journal, store
from nmem.retention.store import Kept
from nmem.settings.kinds import NOTIFICATION, PROMPT, REASONING, SAYINGS
from nmem.store import trace

DAY = 86_400_000
RUNNING, NO_EPISODES, OPEN, UNTRACED, UNSUMMARISED = (
    "still going on", "has no episodes", "has an open episode", "episodes not traced yet", "not summed up yet"
)  # fmt: skip
_SOURCES = {"agent": REASONING, "user": PROMPT, "machine": NOTIFICATION}


@dataclass(frozen=True, slots=True)
class Lives:
    """Lifetimes of one project as they are in force: type -> days; a type that is absent lives for ever."""

    days: Mapping[str, float]
    now: int

    def cutoff(self, type_: str) -> int:
        """What is older than this is past its lifetime; 0: nothing is."""
        days = self.days.get(type_, 0.0)
        return self.now - int(days * DAY) if days > 0 else 0

    @property
    def newest(self) -> int:
        """Nothing after this is past any lifetime."""
        return max((self.cutoff(type_) for type_ in self.days), default=0)

    def begun(self, at: int) -> Lives:
        """The same of a session that was imported at a time: nothing of it has lived longer than since then."""
        return Lives({name: days for name, days in self.days.items() if self.cutoff(name) > at}, self.now)

    @property
    def cutoffs(self) -> dict[str, int]:
        """The time of each type of calls that can be past its lifetime."""
        return {name: self.cutoff(name) for name in self.days if name not in SAYINGS and self.cutoff(name) > 0}


@dataclass(slots=True)
class Plan:
    """What of one session goes."""

    session_id: str
    rows: list[tuple[Any, ...]] = field(default_factory=list)
    """Observations, as rows of a trace."""
    prompts: list[tuple[int, int]] = field(default_factory=list)
    """(id, ms) of prompts whose words go; the row stays, for episodes hang on it."""
    said: list[tuple[int, int, str]] = field(default_factory=list)
    """(id, ms, type) of what agents and machines said."""
    skipped: str = ""
    """Why nothing goes although something is past its lifetime."""
    spared: int = 0
    """Past their lifetime, and kept as exempt."""
    retrace: bool = False
    """A trace of an episode lacks rows: it has to be written again first."""
    guard: tuple[object, ...] = ()

    def types(self) -> list[str]:
        """The types of all that goes."""
        return [row[3] for row in self.rows] + [one[2] for one in self.said] + [PROMPT] * len(self.prompts)

    def __bool__(self) -> bool:
        return bool(self.rows or self.prompts or self.said)


def plan(db: Connection, session_id: str, lives: Lives, all_kept: Kept) -> Plan:
    """What of a session is to go now."""
    lives = lives.begun(all_kept.taken_in.get(session_id, 0))
    out = Plan(session_id, guard=store.guard(db, session_id))
    rows = store.expired(db, session_id, trace.COLUMNS, lives.newest, lives.cutoffs)
    said = _said(db, session_id, lives)
    if not rows and not said:
        return out
    out.skipped = unready(db, session_id, lives.now)
    if out.skipped:
        return out
    stays = store.of_session(db, session_id, all_kept)
    out.rows = [row for row in rows if row[0] not in stays.observations]
    for number, at, source in said:
        if number in stays.prompts or stays.said_within(at):
            continue
        if source == "user":
            out.prompts.append((number, at))
        else:
            out.said.append((number, at, _SOURCES[source]))
    out.spared = len(rows) + len(said) - len(out.rows) - len(out.prompts) - len(out.said)
    out.retrace = not _traced(db, session_id, out.rows)
    return out


def unready(db: Connection, session_id: str, now: int) -> str:
    """Why a session cannot be told without its rows yet; empty when it can."""
    row = store.state(db, session_id, now - DAY)
    if row is None:
        return RUNNING
    working, summed, units, is_open, untraced, loose = row
    reasons = ((working, RUNNING), (not units, NO_EPISODES), (is_open or loose, OPEN), (untraced, UNTRACED),
               (not summed, UNSUMMARISED))  # fmt: skip
    return next((said for holds, said in reasons if holds), "")


def _said(db: Connection, session_id: str, lives: Lives) -> list[tuple[int, int, str]]:
    """What was said and is past its lifetime."""
    return [
        one for source, type_ in _SOURCES.items() if (cutoff := lives.cutoff(type_)) > 0
        for one in store.said(db, session_id, source, cutoff)
    ]  # fmt: skip


def _traced(db: Connection, session_id: str, rows: list[tuple[Any, ...]]) -> bool:
    """Whether the episodes' traces tell of every row that belongs to one."""
    wanted = {row[0] for row in rows if row[9] is not None}
    if not wanted:
        return True
    known: set[int] = set()
    for stored in store.traces(db, session_id):
        try:
            known.update(one["id"] for one in json.loads(stored))
        except (ValueError, TypeError, KeyError):
            return False
    return wanted <= known


SEEN, LEAPT = "last look", "the clock leapt"
"""Rows of `upkeep`: when it was looked at the clock last, and when it had leapt."""
LEAP = 14 * DAY
"""Days nobody looked on, since a leap was last over. Whoever is away for so long waits a day for the next sweep."""


def believed(db: Connection, now: int) -> bool:
    """False for a day after a leap. On a writing connection, outside a transaction."""
    ahead, leapt, by = _looked(db, now)
    with transaction(db):
        journal.note(db, [(SEEN, now, str(ahead or ""))])
        journal.drop_note(db, LEAPT)
        if leapt is not None:
            journal.note(db, [(LEAPT, leapt, f"{by // DAY} days: nothing goes by itself for a day")])
    return leapt is None


def ahead_by(db: Connection, now: int) -> int:
    """How far the clock is ahead of what is known of it, in ms; 0 where a sweep may trust it. Writes nothing."""
    _, leapt, by = _looked(db, now)
    return 0 if leapt is None else max(by, 1)


def _looked(db: Connection, now: int) -> tuple[int, int | None, int]:
    """After a look: the days that were skipped (ms), since when a leap is waited for, if one is, and its size (ms)."""
    seen, ahead, leapt, by = _standing(db)
    gap = now - seen if seen is not None else _unseen(db, now)
    skipped = gap if gap > DAY else 0
    ahead = max(0, ahead + min(gap, skipped))
    if gap > LEAP or (leapt is None and ahead > LEAP):
        return 0, now, max(gap, ahead)
    if leapt is None:
        return ahead, None, 0
    if now < leapt:  # it went back: all the way, or part of it
        by -= leapt - now
        return 0, (now if by > LEAP else None), by
    leapt += skipped  # a day that was skipped is none that the clock has lasted
    return (0, None, 0) if now >= leapt + DAY else (ahead, leapt, by + skipped)


def _unseen(db: Connection, now: int) -> int:
    """A leap since before looks were kept (ms): an older session tells, one of today may be of the leap itself."""
    last = store.last_recorded(db, now - DAY)
    return now - last if last is not None and now - last > LEAP else 0


def _standing(db: Connection) -> tuple[int | None, int, int | None, int]:
    """The last look, the days that were skipped by then (ms), the leap that is waited for, and its size (ms)."""
    found = journal.notes(db)
    seen, leapt = found.get(SEEN), found.get(LEAPT)
    ahead = int(seen[1]) if seen and str(seen[1]).isdigit() else 0
    days = str(leapt[1]).partition(" ")[0] if leapt else ""
    return (seen[0] if seen else None), ahead, (leapt[0] if leapt else None), int(days) * DAY if days.isdigit() else 0
