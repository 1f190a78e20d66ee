"""Decides whether to trust the clock (SQL): a jump ahead must not end lifetimes.

Each look at the clock is kept. Days between two looks on which nobody looked add up; once they are more than `LEAP`,
nothing goes by itself until a day has been seen to pass, and a sweep by hand is asked about. So many small leaps are
one large one.
"""

from __future__ import annotations

from sqlite3 import Connection

from capture.storage.store import transaction
from nmem.retention.plan import DAY

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
