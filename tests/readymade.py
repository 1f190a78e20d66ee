"""Migrated databases by copying: a migration runs once a process, and each new database of a test gets its pages."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import suppress
from hashlib import sha256
from threading import Lock

from capture.storage import schema as facts
from nmem import tables
from nmem.store import schema as meaning

_PAGES, _MANY = 250, 20
"""How large a database, and how many of them, are kept as templates."""
Migrate = Callable[[sqlite3.Connection], None]


class ReadyMade:
    """A stand-in for `migrate`: a database in the state that `before` leaves becomes one that was migrated.

    Every other one (with rows, older or newer) takes the real way when it is met first; when a small one of the same
    content comes again, it is a copy as well. Changed lists of migrations always take the real way.
    """

    def __init__(self, migrate: Migrate, before: Migrate | None) -> None:
        self.migrate = migrate
        self.lists = facts.MIGRATIONS, meaning.MIGRATIONS
        self.lock = Lock()
        template = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
        if before:
            before(template)
        self.templates = {_content(template): template}
        self.met: set[bytes] = set()
        migrate(template)

    def __call__(self, db: sqlite3.Connection) -> None:
        """Copy where that is the same, else migrate."""
        if self.lists == (facts.MIGRATIONS, meaning.MIGRATIONS) and (template := self._template(db)):
            db.execute("BEGIN IMMEDIATE")  # raises where another process holds the lock, as a migration does
            db.execute("ROLLBACK")
            with self.lock:
                template.backup(db)
        self.migrate(db)

    def _template(self, db: sqlite3.Connection) -> sqlite3.Connection | None:
        """What a database of this content becomes, if that is known or will be asked for often."""
        start = _content(db)
        with self.lock:
            if start not in self.templates and start in self.met and len(self.templates) < _MANY:
                raw = bytearray(db.serialize())
                raw[18:20] = b"\1\1"  # one in memory knows no write-ahead log
                copy = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
                copy.deserialize(bytes(raw))
                with suppress(sqlite3.Error):  # what fails half-way does so in the database itself
                    self.migrate(copy)
                    self.templates[start] = copy
            if db.execute("PRAGMA page_count").fetchone()[0] < _PAGES:
                self.met.add(start)
            return self.templates.get(start)


def _content(db: sqlite3.Connection) -> bytes:
    """A digest of a database's pages without their header, but for the version that migrations count."""
    if not db.execute("SELECT 1 FROM sqlite_master").fetchone():
        return b""
    raw = db.serialize()
    return sha256(raw[60:64] + raw[100:]).digest()


def migrations() -> tuple[ReadyMade, ReadyMade]:
    """Stand-ins for `capture.storage.schema.migrate` and `nmem.tables.migrate`."""
    return ReadyMade(facts.migrate, None), ReadyMade(tables.migrate, facts.migrate)
