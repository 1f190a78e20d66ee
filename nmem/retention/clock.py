"""Whether the clock is believed (SQL): one that leaps ahead for an hour shall not be the end of a lifetime."""

from __future__ import annotations

from sqlite3 import Connection

from capture.storage.store import transaction
from nmem.retention.plan import DAY

SEEN, LEAPT = "last look", "the clock leapt"
"""Rows of `upkeep`: when it was looked at the clock last, and when it had leapt."""
LEAP = 31 * DAY
"""From one look to the next. Whoever was away for so long waits a day for the next sweep, too."""


def believed(db: Connection, now: int) -> bool:
    """False for a day after a leap. On a writing connection, outside a transaction."""
    at = dict(db.execute("SELECT name, at FROM upkeep WHERE name IN (?, ?)", (SEEN, LEAPT)).fetchall())
    leapt = at.get(LEAPT)
    if now - at.get(SEEN, now) > LEAP:
        leapt = now
    elif leapt is not None and now < leapt:
        leapt = None  # it was put right
    with transaction(db):
        db.execute("INSERT OR REPLACE INTO upkeep VALUES (?, ?, '')", (SEEN, now))
        db.execute("DELETE FROM upkeep WHERE name = ?", (LEAPT,))
        if leapt is not None:
            db.execute("INSERT INTO upkeep VALUES (?, ?, 'nothing goes by itself for a day')", (LEAPT, leapt))
    return leapt is None or now >= leapt + DAY
