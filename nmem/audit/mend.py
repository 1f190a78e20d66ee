"""Fixes that need no decision: orphaned rows, damaged text indexes, times from a wrong clock."""

from __future__ import annotations

import sqlite3

from nmem import tables
from nmem.audit import future, integrity


def fix(path: str) -> list[str]:
    """Mend what can be; what was done, one line each, and why something could not be."""
    from capture.storage import store

    try:
        db = store.connect(path, timeout=5)
    except (sqlite3.Error, OSError) as error:
        return [f"the audit's mends need the database: {error}"]
    try:
        tables.ensure(db)
        return future.fix(db, future.now()) + integrity.fix(db)
    except sqlite3.Error as error:
        return [f"not everything could be fixed: {error}"]
    finally:
        db.close()
