"""Checks whether an undo window is over or a purge still has files to clean (SQL): one query, for writers."""

from __future__ import annotations

import sqlite3
import time
from sqlite3 import Connection

from capture.storage.store import transaction
from nmem.purge import trash

KEPT, UNDONE, GONE = "kept", "undone", "gone"
TARGET = "purge"


def milliseconds() -> int:
    """Now."""
    return time.time_ns() // 1_000_000


def waiting(db: Connection, now: int) -> bool:
    """Whether there is something to do. False where there are no tables of it yet."""
    try:
        row = db.execute(
            "SELECT 1 FROM purges WHERE cleaned = 0 OR (state = 'kept' AND keep_until <= ?) LIMIT 1", (now,)
        ).fetchone()
    except sqlite3.Error:
        return False
    return row is not None


def expire(db: Connection, db_path: str, now: int) -> int:
    """Destroy the keys of purges whose window is over, and trash that belongs to none; how many windows closed.

    Outside a transaction. Raises OSError when a key cannot be taken away.
    """
    kept = trash.kept(db_path)
    due = [row[0] for row in db.execute("SELECT id FROM purges WHERE state = ? AND cleaned = 1 AND keep_until <= ?",
                                        (KEPT, now)).fetchall()]  # fmt: skip
    for number in due:
        destroy(db, db_path, number, now)
    if kept - set(due):
        with transaction(db):  # nobody purges meanwhile: whose trash lies there without a row was killed
            known = {row[0] for row in db.execute("SELECT id FROM purges WHERE state = ?", (KEPT,))}
            for number in kept - known:
                trash.destroy(db_path, number)
    return len(due)


def destroy(db: Connection, db_path: str, number: int, now: int) -> None:
    """The key first: whoever is killed after it has nothing left to undo with."""
    trash.destroy(db_path, number)
    with transaction(db):
        db.execute("UPDATE purges SET state = ?, ended_at = ? WHERE id = ? AND state = ?", (GONE, now, number, KEPT))
        db.execute(  # of one that had no window it stays: it is passed over by name
            "DELETE FROM corrections WHERE target = ? AND NOT EXISTS"
            " (SELECT 1 FROM purges WHERE id = ? AND at = keep_until)",
            (f"{TARGET}/{number}", number),
        )
