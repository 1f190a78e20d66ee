"""Cleans deleted text from the database's own files (SQL): text indexes, free pages, the write-ahead log.

Every step is a short transaction, so that hooks come in between; only VACUUM is one long one, and only where words were
really found in the file, or the file is small. Hooks that come meanwhile spool what they have: nothing is lost.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable
from contextlib import suppress
from sqlite3 import Connection

from capture.storage.store import transaction

INDEXES = ("observations_fts", "prompts_fts", "narratives_fts", "search_parts", "search_docs_fts", "search_outputs_fts",
           "search_unspaced_fts")  # fmt: skip
_PAGES = 200
"""Pages of an index merged in one transaction."""
_WAITS = 8.0
"""Seconds for which readers are asked to let go of the write-ahead log."""
SMALL = 64 << 20
"""Bytes of a database that is rewritten at once: a second."""


def prepare(db: Connection) -> None:
    """Before a transaction that purges: what is deleted is overwritten, and nothing goes to temporary files."""
    db.execute("PRAGMA temp_store=MEMORY")
    db.execute("PRAGMA secure_delete=ON")
    db.execute("PRAGMA foreign_keys=ON")
    db.execute("PRAGMA recursive_triggers=ON")


def merge(db: Connection, stopped: Callable[[], bool] = lambda: False) -> int:
    """Write every text index anew, so that nothing of deleted rows is left in it; how many steps. It can be stopped."""
    steps = 0
    for name in INDEXES:
        pages = -_PAGES  # negative: all of the index, also what needs no merging
        while not stopped():
            before = db.total_changes
            with transaction(db):
                db.execute(f"INSERT INTO {name}({name}, rank) VALUES ('merge', ?)", (pages,))  # noqa: S608 - our names
            steps += 1
            if db.total_changes - before < 2:
                break
            pages = _PAGES
    return steps


def free_pages(db: Connection) -> int:
    """Overwrite pages that hold nothing any more, some megabytes at a time; how many. Others may write in between."""
    total = int(db.execute("PRAGMA freelist_count").fetchone()[0])
    if not total:
        return 0
    size = int(db.execute("PRAGMA page_size").fetchone()[0])
    with transaction(db):
        db.execute("CREATE TABLE IF NOT EXISTS purge_blank (blank BLOB)")
    try:
        while (left := int(db.execute("PRAGMA freelist_count").fetchone()[0])) > 1:
            with transaction(db):
                db.execute("INSERT INTO purge_blank VALUES (zeroblob(?))", (max(1, min(left - 1, 1000)) * (size - 4),))
    finally:
        while db.execute("SELECT 1 FROM purge_blank LIMIT 1").fetchone():
            with transaction(db):
                db.execute("DELETE FROM purge_blank WHERE rowid = (SELECT min(rowid) FROM purge_blank)")
        with transaction(db):
            db.execute("DROP TABLE purge_blank")
    return total


def fold(db: Connection, seconds: float = _WAITS) -> bool:
    """Fold the write-ahead log back and cut it to nothing; False while a reader holds on to it."""
    until = time.monotonic() + seconds
    while True:
        with suppress(sqlite3.OperationalError):
            busy = db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]
            if not busy:
                return True
        if time.monotonic() > until:
            return False
        time.sleep(0.05)


def rewrite(db: Connection) -> None:
    """Write the whole file anew: nothing but rows is in it then. Long, and nobody else writes meanwhile."""
    db.execute("VACUUM")


def size(db: Connection) -> int:
    """Bytes of the database."""
    pages = db.execute("PRAGMA page_count").fetchone()[0] * db.execute("PRAGMA page_size").fetchone()[0]
    return int(pages)
