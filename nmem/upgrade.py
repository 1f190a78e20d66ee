"""Upgrades the database of an older nmem: the first command that opens it after an upgrade does it.

The same holds for one that hooks or an import have only begun: it has no tables of meaning yet. Hooks do the same on
their own way. Doctor, which says what it finds, and a read-only cockpit leave it as it is, and so does whoever reads
another file that is named, a backup perhaps.
"""

from __future__ import annotations

import sqlite3
from contextlib import closing, suppress

from capture.storage import store
from capture.storage.schema import NewerDatabase
from nmem import database, tables
from nmem.errors import NmemError, OlderDatabase

_WAIT = 5.0
"""Seconds that another writer is waited for."""


def reader(path: str) -> sqlite3.Connection:
    """As `database.reader`, of a database that is brought up to date first. Raises what that raises."""
    try:
        db = database.reader(path)
    except OlderDatabase as older:
        _bring(path, older)
        return database.reader(path)
    if tables.version(db):
        return db
    with suppress(OlderDatabase):  # where it may only be read, commands say which of their rows are not known yet
        _bring(path, OlderDatabase(f"{path} has no tables of meaning yet"))
    db.close()
    return database.reader(path)


def ready(path: str) -> None:
    """Bring it up to date if it can be; what else may be wrong is told by whoever reads it."""
    try:
        reader(path).close()
    except NmemError:
        return


def _bring(path: str, older: OlderDatabase) -> None:
    """Every migration that it has not seen, each whole or not at all."""
    try:
        with closing(store.connect(path, timeout=_WAIT)) as db:
            tables.ensure(db)
    except (sqlite3.Error, OSError, NewerDatabase) as error:
        raise OlderDatabase(f"{older}; it cannot be upgraded now: {database.worded(error)}") from None
