"""Counts the work in a project by day (SQL): calls of recent days, and today's episodes and pins.

Nothing is scanned that is older: sessions are found by when they were active last, their calls by an index over time.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta, tzinfo
from sqlite3 import Connection

from nmem import tables

SHOWN = 14
"""Days that are counted, today among them."""
_NOTED = ("session_start", "session_resume", "session_clear", "session_compact", "marker")
"""What is no call."""


@dataclass(frozen=True, slots=True)
class Days:
    """What was done in one project by day, the oldest day first."""

    project_id: int
    starts: tuple[int, ...]
    """When each day began in milliseconds; the last one is today."""
    calls: tuple[int, ...]
    """What the agent did on each day, as many as `starts`."""
    episodes: int
    """Of today, as is the next."""
    pinned: int


def midnights(at: int, zone: tzinfo | None, count: int = SHOWN) -> tuple[int, ...]:
    """When each of the last days began in a zone (None: the machine's own), the oldest first; none for no such time."""
    try:
        today = datetime.fromtimestamp(at / 1000, zone)
        days = [today - timedelta(days=back) for back in range(count - 1, -1, -1)]
        return tuple(int(datetime(d.year, d.month, d.day, tzinfo=zone).timestamp() * 1000) for d in days)
    except (ValueError, OverflowError, OSError):
        return ()


def days(db: Connection, session_id: str, starts: Sequence[int], known: Days | None = None) -> Days | None:
    """The days of a session's project; the days before today are taken from `known` where that counted the same ones.

    None where there is no such session or no such time.
    """
    row = db.execute("SELECT project_id FROM sessions WHERE id = ?", (session_id,)).fetchone()
    if row is None or not starts:
        return None
    project = int(row[0])
    whole = tuple(starts)
    if known is not None and (known.project_id, known.starts) == (project, whole):
        calls = (*known.calls[:-1], *_calls(db, project, whole[-1:]))
    else:
        calls = _calls(db, project, whole)
    today = calls[-1] - _noted(db, project, whole[-1])
    return Days(project, whole, (*calls[:-1], today), *_episodes(db, project, whole[-1]))


def _calls(db: Connection, project_id: int, starts: tuple[int, ...]) -> tuple[int, ...]:
    """What is stored by day; a session of a single day, as most are, is counted where it is found."""
    counts = [0] * len(starts)
    found = db.execute(
        "SELECT id, started_at, last_at, (SELECT count(*) FROM observations WHERE session_id = s.id AND at >= ?1)"
        " FROM sessions s WHERE project_id = ?2 AND last_at >= ?1",
        (starts[0], project_id),
    ).fetchall()
    for session_id, began, last, calls in found:
        first = max(0, bisect_right(starts, began) - 1)
        end = max(first, bisect_right(starts, last) - 1)
        if first == end:
            counts[end] += calls
        else:
            for day, number in _by_day(db, session_id, starts, first, end):
                counts[day] += number
    return tuple(counts)


def _noted(db: Connection, project_id: int, since: int) -> int:
    """How much of it is only noted, as that a session began: today's figure is exact, for it is said in words."""
    marks = ",".join("?" for _ in _NOTED)
    return int(db.execute(
        "SELECT count(*) FROM sessions s CROSS JOIN observations o ON o.session_id = s.id AND o.at >= ?"  # noqa: S608
        f" WHERE s.project_id = ? AND s.last_at >= ? AND o.obs_type IN ({marks})",
        (since, project_id, since, *_NOTED),
    ).fetchone()[0])  # fmt: skip


def _by_day(db: Connection, session_id: str, starts: Sequence[int], first: int, end: int) -> Iterator[tuple[int, int]]:
    """What one session did from its first day to its last; what came before or after is theirs."""
    for day in range(first, end + 1):
        since = starts[day] if day > first else starts[0]
        until = starts[day + 1] if day < end else 2**62
        sql = "SELECT count(*) FROM observations WHERE session_id = ? AND at >= ? AND at < ?"
        yield day, db.execute(sql, (session_id, since, until)).fetchone()[0]


def _episodes(db: Connection, project_id: int, since: int) -> tuple[int, int]:
    """How many episodes were worked on since then, and how many of them are pinned."""
    if not tables.version(db):
        return 0, 0
    found = db.execute(
        "SELECT count(*), total(u.pinned) FROM work_units u CROSS JOIN sessions s ON s.id = u.session_id"
        " WHERE u.last_at >= ? AND s.project_id = ?",
        (since, project_id),
    ).fetchone()
    return int(found[0]), int(found[1])
