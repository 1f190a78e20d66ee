"""Old history that was just taken in (SQL): nothing of the memory goes by itself until a person had time to see it."""

from __future__ import annotations

from sqlite3 import Connection

from capture.storage.store import transaction
from nmem import tables
from nmem.retention.plan import DAY
from nmem.retention.sweep import GRACE, NOTICED

_SHORTEST = 90 * DAY


def anew(db: Connection, now: int) -> int:
    """The time after the first look begins again; when it ends. On a writing connection, outside a transaction."""
    tables.ensure(db)
    with transaction(db):
        db.execute("INSERT OR REPLACE INTO upkeep VALUES (?, ?, '')", (NOTICED, now))
    return now + GRACE


def old(db: Connection, now: int) -> bool:
    """Whether anything is old enough to be forgotten, by the shortest lifetime that there is by default."""
    return db.execute("SELECT 1 FROM sessions WHERE started_at < ? LIMIT 1", (now - _SHORTEST,)).fetchone() is not None
