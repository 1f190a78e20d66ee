"""Migrated databases by copying: a migration runs once a process, and each new database of a test gets its pages."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from threading import Lock

from capture.storage import schema as facts
from nmem import schema as meaning
from nmem import tables

Migrate = Callable[[sqlite3.Connection], None]


class ReadyMade:
    """A stand-in for `migrate`: a database in the state that `before` leaves becomes one that was migrated.

    Every other database (one with rows, an older or a newer one) and changed lists of migrations take the real way.
    """

    def __init__(self, migrate: Migrate, before: Migrate | None) -> None:
        self.migrate = migrate
        self.lists = facts.MIGRATIONS, meaning.MIGRATIONS
        self.lock = Lock()
        self.template = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
        if before:
            before(self.template)
        self.start = _content(self.template)
        migrate(self.template)

    def __call__(self, db: sqlite3.Connection) -> None:
        """Copy where that is the same, else migrate."""
        if self.lists == (facts.MIGRATIONS, meaning.MIGRATIONS) and _content(db) == self.start:
            db.execute("BEGIN IMMEDIATE")  # raises where another process holds the lock, as a migration does
            db.execute("ROLLBACK")
            with self.lock:
                self.template.backup(db)
        self.migrate(db)


def _content(db: sqlite3.Connection) -> bytes:
    """The pages of a database without its header, but for the version that migrations count."""
    if not db.execute("SELECT 1 FROM sqlite_master").fetchone():
        return b""
    raw = db.serialize()
    return raw[60:64] + raw[100:]


def migrations() -> tuple[ReadyMade, ReadyMade]:
    """Stand-ins for `capture.storage.schema.migrate` and `nmem.tables.migrate`."""
    return ReadyMade(facts.migrate, None), ReadyMade(tables.migrate, facts.migrate)
