"""Copies whole databases by SQLite's online backup, page by page, while others read and write (SQL).

The source is copied as it is at one moment: a read transaction is held open, so writers are neither waited for nor
stopped, and the copy never starts again because of them. Into a live database everything goes as one transaction.
"""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

Progress = Callable[[int, int], None]
"""Pages done, pages there are."""
_PAGES = 2048
_WAIT = 30.0
"""Seconds for which another writer is waited for."""
_BUSY = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)


def nothing(_done: int, _all: int) -> None:
    """Tells nobody how far it is."""


def opened(path: str | Path) -> sqlite3.Connection:
    """A file for reading. Raises sqlite3.Error."""
    uri = f"{Path(path).absolute().as_uri()}?mode=ro"
    return sqlite3.connect(uri, uri=True, isolation_level=None, timeout=_WAIT)


@contextmanager
def held(path: str | Path) -> Iterator[sqlite3.Connection]:
    """A file as it is now, for as long as this lasts."""
    with closing(opened(path)) as db:
        db.execute("BEGIN")
        db.execute("SELECT count(*) FROM sqlite_master").fetchone()  # the moment: from here on nothing changes for us
        yield db


def snapshot(source: str | Path, target: str | Path, progress: Progress = nothing) -> None:
    """Copy a database into a new file for the owner only. Raises sqlite3.Error or OSError; then there is no file."""
    os.close(os.open(target, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
    try:
        with held(source) as live, closing(sqlite3.connect(target, isolation_level=None)) as copy:
            copy.execute("PRAGMA synchronous = OFF")  # the file counts once it is whole and synced
            live.backup(copy, pages=_PAGES, progress=lambda _, left, all_: progress(all_ - left, all_), sleep=0.01)
            single(copy)
        synced(target)
    except BaseException:
        Path(target).unlink(missing_ok=True)
        raise


def single(db: sqlite3.Connection) -> None:
    """Make a database one plain file, without a log beside it."""
    db.execute("PRAGMA journal_mode = DELETE").fetchone()


def synced(path: str | Path) -> None:
    """Have the disk hold what was written."""
    handle = os.open(path, os.O_RDWR)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def pour(
    source: str | Path, live: sqlite3.Connection, locked: Callable[[], None], progress: Progress = nothing
) -> None:
    """Make a live database what `source` is, in one transaction: others see all of it or nothing.

    `locked` is called once nobody else can write; what it raises leaves everything as it was, as a crash does.
    Raises sqlite3.Error, or TimeoutError where others do not let go of the database.
    """
    until = time.monotonic() + _WAIT
    told: list[bool] = []

    def step(status: int, left: int, all_: int) -> None:
        if status in _BUSY:
            if time.monotonic() > until:
                raise TimeoutError
            return
        if not told:
            told.append(True)
            locked()
        progress(all_ - left, all_)

    with closing(opened(source)) as db:
        pages = int(db.execute("PRAGMA page_count").fetchone()[0])
        # two steps at least: after the last one everything is done already
        db.backup(live, pages=max(1, min(_PAGES, pages // 2)), progress=step, sleep=0.02)


def damage(db: sqlite3.Connection) -> str:
    """What SQLite finds wrong with a file; empty when it is whole. Raises sqlite3.Error where it cannot even look."""
    found = [str(row[0]) for row in db.execute("PRAGMA integrity_check(3)").fetchall()]
    return "" if found == ["ok"] else "; ".join(found)


def counts(db: sqlite3.Connection) -> dict[str, int]:
    """How many rows the tables of facts and of meaning hold; indexes and their like are left out."""
    names = [
        name
        for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name").fetchall()
        if "_fts" not in name and not name.startswith(("sqlite_", "search_", "context_", "nmem_"))
    ]
    return {name: int(db.execute(f'SELECT count(*) FROM "{name}"').fetchone()[0]) for name in names}  # noqa: S608


def facts_version(db: sqlite3.Connection) -> int:
    """How many migrations of capture a database has seen."""
    return int(db.execute("PRAGMA user_version").fetchone()[0])
