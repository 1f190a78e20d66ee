"""Opens the database for reading (SQL): never writes, never holds a read transaction open, never creates a file."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from capture import paths
from capture.files import NotOurs, opened, ours, seen
from capture.storage.schema import MIGRATIONS, check_own
from nmem import settle_start, tables
from nmem.errors import Begun, NmemError, NoDatabase, OlderDatabase

_BUSY_MS = 500
_BUSY = "is locked"
_WHY = {
    _BUSY: "the database is busy: another program is writing",
    "no such": "the database file is another one, or incomplete",
    "another program": "the file is another program's database, and is left unchanged",
    "not a database": "the file is not a database",
    "malformed": "the database is damaged",
    "readonly": "the database is read-only",
    "is full": "the disk is full",
    "I/O": "the disk cannot be read or written",
    "unable to open": "the database file cannot be opened",
}
"""What SQLite says of a failure -> what that means."""


def exists(path: str) -> bool:
    """Whether something was recorded at this path."""
    try:
        return Path(path).stat().st_size > 0
    except OSError:
        return False


def recorded(path: str) -> bool:
    """Whether any session is recorded at this path; a database that cannot be read may hold some."""
    try:
        with closing(reader(path)) as db:
            return db.execute("SELECT 1 FROM sessions LIMIT 1").fetchone() is not None
    except NoDatabase:
        return False
    except (NmemError, sqlite3.Error):
        return True


def own(path: str, *, as_it_is: bool = False) -> None:
    """Raise NmemError for a database, or a log or an index of one, that is another user's or a link.

    Their modes are put right, unless they are to stay as they are: the file may be another program's.
    """
    try:
        for name in (path, path + "-wal", path + "-shm"):
            (seen if as_it_is else ours)(name)
    except NotOurs as error:
        raise NmemError(str(error)) from None


def reader(path: str, *, whole: bool = False) -> sqlite3.Connection:
    """A read-only connection in autocommit mode; its rows answer to names.

    Raises NoDatabase when nothing is recorded yet, OlderDatabase where migrations are missing (see nmem.upgrade),
    NmemError when the file cannot be read as a database of ours. `whole`: Begun, where no tables of meaning are there.
    """
    nothing = f"nothing is recorded yet at {path}: run `nmem init`, or `nmem import` for past sessions"
    if not exists(path):
        raise NoDatabase(nothing)
    shared = _shared(path)
    if shared:
        own(path, as_it_is=True)
    try:
        db, version, meaning = _opened(path, shared)
    except sqlite3.Error as error:
        raise NmemError(f"cannot read the database {path}: {worded(error)}") from error
    if version == len(MIGRATIONS) and (meaning == tables.VERSION or (meaning == 0 and not whole)):
        return db
    db.close()
    if version == 0:
        raise NoDatabase(nothing)
    if version == len(MIGRATIONS) and meaning == 0:
        raise Begun(nothing)
    raise _other(path, version, meaning)


def data_version(db: sqlite3.Connection) -> int:
    """A number that is another one once somebody else has committed; it takes microseconds and begins nothing."""
    return int(db.execute("PRAGMA data_version").fetchone()[0])


def one_moment(db: sqlite3.Connection) -> sqlite3.Connection:
    """The same connection, for one answer: what others commit from its first statement on is not half in it."""
    db.execute("BEGIN")
    return db


def leniently(db: sqlite3.Connection) -> sqlite3.Connection:
    """The same connection, reading text that is no UTF-8 (a foreign program may have stored it) with marks in it."""
    # every text costs half as much again: who reads much, often, reads as usual first, and so where `garbled` says so
    db.text_factory = lambda raw: raw.decode("utf-8", "replace")
    return db


def worded(error: Exception) -> str:
    """What a failure of SQLite means for a person; its own words are for whoever wrote the query."""
    said = str(error)
    if not isinstance(error, sqlite3.Error):
        return said
    known = (why for sign, why in _WHY.items() if sign in said)
    return next(known, "the database cannot be read or written") + (
        "" if _BUSY in said else "; `nmem doctor` says more"
    )


def busy(path: str, seconds: float) -> bool:
    """Whether somebody else holds the database for longer than that; an absent one is not busy. Raises NmemError."""
    if not exists(path):
        return False
    own(path)
    try:
        with closing(sqlite3.connect(path, timeout=seconds, isolation_level=None)) as db:
            db.execute("BEGIN IMMEDIATE")
            db.execute("ROLLBACK")
    except sqlite3.Error as error:
        return _BUSY in str(error)
    return False


def held(error: Exception) -> bool:
    """Whether an error says no more than that another program holds the database just now."""
    return _BUSY in str(error.__cause__ or error)


def garbled(error: Exception) -> bool:
    """Whether an error says that a text is no UTF-8."""
    return isinstance(error, sqlite3.OperationalError) and "decode to UTF-8" in str(error)


def _other(path: str, version: int, meaning: int) -> NmemError:
    """What to do about a database of another version."""
    if version > len(MIGRATIONS):
        said = f"the database {path} has version {version}, this nmem reads {len(MIGRATIONS)}: upgrade nmem"
        return NmemError(said)
    if meaning > tables.VERSION:
        said = f"episodes and threads in {path} have version {meaning}"
        return NmemError(f"{said}, this nmem reads {tables.VERSION}: upgrade nmem")
    said = f"the database {path} was made by an older nmem"
    if path != paths.database():
        return OlderDatabase(f"{said} and is left as it is: `nmem settle --db` brings it, or a copy of it, up to date")
    return OlderDatabase(f"{said}: `nmem settle` brings it up to date, as the next hook would")


def _shared(path: str) -> bool:
    """Whether somebody may write meanwhile. Where nobody can, SQLite could not even keep its log's index."""
    return os.access(Path(path).absolute().parent, os.W_OK) or os.path.exists(path + "-shm")  # noqa: PTH110 -- a suffix


def _opened(path: str, shared: bool) -> tuple[sqlite3.Connection, int, int]:
    """A connection and the versions of what it reads: of the facts, and of their meaning.

    Raises sqlite3.Error, and NmemError as `own`.
    """
    how = "mode=ro" if shared else "mode=ro&immutable=1"
    db = sqlite3.connect(
        f"{Path(path).absolute().as_uri()}?{how}", uri=True, isolation_level=None, check_same_thread=False
    )
    try:
        db.row_factory = sqlite3.Row
        db.execute(f"PRAGMA busy_timeout={_BUSY_MS}")
        db.execute("PRAGMA query_only=1")
        version, meaning = int(db.execute("PRAGMA user_version").fetchone()[0]), tables.version(db)
        if not meaning:
            check_own(db)
        if shared:
            own(path)
        return db, version, meaning
    except BaseException:
        db.close()
        raise


@contextmanager
def settle_lock(db_path: str) -> Iterator[bool]:
    """Whether this process is the one that settles; the system frees the lock when its holder dies."""
    paths.make(paths.folder(db_path))
    lock = opened(settle_start.lock_file(db_path), os.O_WRONLY | os.O_CREAT)
    try:
        mine = taken(lock)
        if mine:
            os.utime(lock if os.utime in os.supports_fd else settle_start.lock_file(db_path))
        yield mine
    finally:
        os.close(lock)


def taken(lock: int) -> bool:
    """Whether the lock on an open file is this process's now: nobody else had it."""
    try:
        from fcntl import LOCK_EX, LOCK_NB, flock  # on use: not every system has it
    except ImportError:
        return True  # sqlite's own locks remain: what is stored is checked again inside each transaction
    try:
        flock(lock, LOCK_EX | LOCK_NB)
    except OSError:
        return False
    return True
