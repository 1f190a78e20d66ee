"""Plans which rows of a session to delete (SQL): expired, not exempt, summarized; distrusts leaps of the clock.

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
from nmem.retention import exempt
from nmem.retention.exempt import Kept
from nmem.settings.kinds import NOTIFICATION, PROMPT, REASONING, SAYINGS
from nmem.store import trace

DAY = 86_400_000
RUNNING, NO_EPISODES, OPEN, UNTRACED, UNSUMMARISED = (
    "still going on", "has no episodes", "has an open episode", "episodes not traced yet", "not summed up yet"
)  # fmt: skip
_SOURCES = {"agent": REASONING, "user": PROMPT, "machine": NOTIFICATION}
_STATE = """
SELECT s.state = 'working' AND s.last_at > ?, EXISTS (SELECT 1 FROM session_summaries x WHERE x.session_id = s.id),
  (SELECT count(*) FROM work_units u WHERE u.session_id = s.id),
  (SELECT count(*) FROM work_units u WHERE u.session_id = s.id AND u.state = 'open'),
  (SELECT count(*) FROM work_units u WHERE u.session_id = s.id AND u.obs_count > 0 AND u.traced_seq < u.annotated_seq),
  EXISTS (SELECT 1 FROM prompts p WHERE p.session_id = s.id AND p.source = 'user' AND p.agent_id IS NULL
    AND NOT EXISTS (SELECT 1 FROM unit_prompts x WHERE x.prompt_id = p.id))
FROM sessions s WHERE s.id = ?
"""


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

    def sql(self) -> tuple[str, list[object]]:
        """A condition on observations `o`, and its parameters."""
        types = [name for name in self.days if name not in SAYINGS and self.cutoff(name) > 0]
        whens = " ".join("WHEN ? THEN ?" for _ in types)
        given: list[object] = [each for name in types for each in (name, self.cutoff(name))]
        return (f"o.at < CASE o.obs_type {whens} ELSE 0 END" if types else "0"), given


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
    out = Plan(session_id, guard=exempt.guard(db, session_id))
    rows = _observations(db, session_id, lives)
    said = _said(db, session_id, lives)
    if not rows and not said:
        return out
    out.skipped = unready(db, session_id, lives.now)
    if out.skipped:
        return out
    stays = exempt.of_session(db, session_id, all_kept)
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
    row = db.execute(_STATE, (now - DAY, session_id)).fetchone()
    if row is None:
        return RUNNING
    working, summed, units, is_open, untraced, loose = row
    reasons = ((working, RUNNING), (not units, NO_EPISODES), (is_open or loose, OPEN), (untraced, UNTRACED),
               (not summed, UNSUMMARISED))  # fmt: skip
    return next((said for holds, said in reasons if holds), "")


def _observations(db: Connection, session_id: str, lives: Lives) -> list[tuple[Any, ...]]:
    condition, given = lives.sql()
    found = db.execute(
        f"SELECT {trace.COLUMNS} FROM observations o WHERE o.session_id = ? AND o.at < ?"  # noqa: S608
        f" AND o.obs_type != 'marker' AND {condition} ORDER BY o.id",
        (session_id, lives.newest, *given),
    )
    return found.fetchall()


def _said(db: Connection, session_id: str, lives: Lives) -> list[tuple[int, int, str]]:
    """What was said and is past its lifetime: of users only what has words left, of others what nothing hangs on."""
    sql = "SELECT p.id, p.at, p.source FROM prompts p WHERE p.session_id = ? AND p.source = ? AND p.at < ?"
    words = " AND p.content != ''"
    loose = (
        " AND NOT EXISTS (SELECT 1 FROM observations o WHERE o.prompt_id = p.id)"
        " AND NOT EXISTS (SELECT 1 FROM unit_prompts x WHERE x.prompt_id = p.id)"
    )
    out: list[tuple[int, int, str]] = []
    for source, type_ in _SOURCES.items():
        cutoff = lives.cutoff(type_)
        if cutoff > 0:
            more = words if source == "user" else loose
            out += db.execute(f"{sql}{more} ORDER BY p.id", (session_id, source, cutoff)).fetchall()
    return out


def _traced(db: Connection, session_id: str, rows: list[tuple[Any, ...]]) -> bool:
    """Whether the episodes' traces tell of every row that belongs to one."""
    wanted = {row[0] for row in rows if row[9] is not None}
    if not wanted:
        return True
    known: set[int] = set()
    for (stored,) in db.execute("SELECT obs_trace FROM work_units WHERE session_id = ?", (session_id,)).fetchall():
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
        db.execute("INSERT OR REPLACE INTO upkeep VALUES (?, ?, ?)", (SEEN, now, str(ahead or "")))
        db.execute("DELETE FROM upkeep WHERE name = ?", (LEAPT,))
        if leapt is not None:
            said = f"{by // DAY} days: nothing goes by itself for a day"
            db.execute("INSERT INTO upkeep VALUES (?, ?, ?)", (LEAPT, leapt, said))
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
    older = "SELECT max(last_at) FROM sessions WHERE last_at <= ? AND origin = 'hook'"
    last = db.execute(older, (now - DAY,)).fetchone()[0]
    return now - last if last is not None and now - last > LEAP else 0


def _standing(db: Connection) -> tuple[int | None, int, int | None, int]:
    """The last look, the days that were skipped by then (ms), the leap that is waited for, and its size (ms)."""
    rows = db.execute("SELECT name, at, told FROM upkeep WHERE name IN (?, ?)", (SEEN, LEAPT)).fetchall()
    found = {row[0]: row for row in rows}
    seen, leapt = found.get(SEEN), found.get(LEAPT)
    ahead = int(seen[2]) if seen and str(seen[2]).isdigit() else 0
    days = str(leapt[2]).partition(" ")[0] if leapt else ""
    return (seen[1] if seen else None), ahead, (leapt[1] if leapt else None), int(days) * DAY if days.isdigit() else 0
