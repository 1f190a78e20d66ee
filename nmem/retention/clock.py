"""Whether the clock is believed (SQL): one that leaps ahead shall not be the end of a lifetime.

Each look at the clock is kept. Days between two looks on which nobody looked add up; once they are more than `LEAP`,
nothing goes by itself for a day, and a sweep by hand is asked about. So many small leaps are one large one.
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
    seen, ahead, leapt = _standing(db)
    gap = now - (now if seen is None else seen)
    ahead = 0 if gap < 0 else ahead + gap * (gap > DAY)
    if gap > LEAP or (leapt is None and ahead > LEAP):
        leapt, ahead = now, 0
    elif leapt is not None and now < leapt:
        leapt = None  # it was put right
    with transaction(db):
        db.execute("INSERT OR REPLACE INTO upkeep VALUES (?, ?, ?)", (SEEN, now, str(ahead or "")))
        db.execute("DELETE FROM upkeep WHERE name = ?", (LEAPT,))
        if leapt is not None:
            db.execute("INSERT INTO upkeep VALUES (?, ?, 'nothing goes by itself for a day')", (LEAPT, leapt))
    return leapt is None or now >= leapt + DAY


def ahead_by(db: Connection, now: int) -> int:
    """How far the clock is ahead of what is known of it, in ms; 0 where a sweep may trust it. Writes nothing."""
    seen, ahead, leapt = _standing(db)
    if seen is None:
        seen = db.execute("SELECT max(last_at) FROM sessions WHERE last_at <= ?", (now,)).fetchone()[0]
    gap = now - (now if seen is None else seen)
    if gap > LEAP or ahead + gap > LEAP:
        return ahead + gap
    return max(gap, 1) if leapt is not None and leapt <= now < leapt + DAY else 0


def _standing(db: Connection) -> tuple[int | None, int, int | None]:
    """The last look, the days that were skipped by then (ms), and the leap that is waited for."""
    rows = db.execute("SELECT name, at, told FROM upkeep WHERE name IN (?, ?)", (SEEN, LEAPT)).fetchall()
    found = {row[0]: row for row in rows}
    seen, leapt = found.get(SEEN), found.get(LEAPT)
    ahead = int(seen[2]) if seen and str(seen[2]).isdigit() else 0
    return (seen[1] if seen else None), ahead, (leapt[1] if leapt else None)
