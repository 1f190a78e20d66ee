"""Copies whole databases by SQLite's online backup, notes what a copy holds, and reads damaged ones (SQL).

The source is copied as it is at one moment: a read transaction is held open, so writers are neither waited for nor
stopped, and the copy never starts again because of them. Into a live database everything goes as one transaction.

Damaged tables are read row by row; where a page does not answer, the next row that does is looked for. What is derived
(the search's tables) is left out: settling makes it again. A session whose row is gone while its work is there gets
another.
"""

from __future__ import annotations

import json
import os
import sqlite3
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from capture.storage import store
from capture.storage.schema import MIGRATIONS
from nmem import tables
from nmem.errors import NmemError

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
        begin_reading(db)  # the moment: from here on nothing changes for us
        yield db


def begin_reading(db: sqlite3.Connection) -> None:
    """Read something. Raises sqlite3.Error where nothing can be read."""
    db.execute("SELECT count(*) FROM sqlite_master").fetchone()


@contextmanager
def locked(db: sqlite3.Connection) -> Iterator[None]:
    """Nobody else writes meanwhile; what is written by this connection does not stay."""
    db.execute("BEGIN IMMEDIATE")
    try:
        yield
    finally:
        db.execute("ROLLBACK")


def overwrite_deleted(db: sqlite3.Connection) -> None:
    """What is deleted from now on is in no free page."""
    db.execute("PRAGMA secure_delete = ON")


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


FORMAT = 1
_TABLES = """
CREATE TABLE nmem_backup (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE nmem_backup_files (name TEXT PRIMARY KEY, data BLOB NOT NULL) WITHOUT ROWID;
"""


@dataclass(frozen=True, slots=True)
class Manifest:
    """What stands in a backup; a plain copy of a database has none of it."""

    at: int = 0
    nmem: str = ""
    files: tuple[str, ...] = ()


def write_manifest(db: sqlite3.Connection, at: int, files: Mapping[str, bytes]) -> None:
    """Add it to a copy."""
    from importlib.metadata import version  # on use: start-up stays short

    drop_manifest(db)
    db.execute("BEGIN")
    for statement in _TABLES.split(";\n"):
        db.execute(statement)
    facts = {"format": FORMAT, "at": at, "nmem": version("nmem"), "facts": len(MIGRATIONS), "meaning": tables.VERSION}
    db.executemany("INSERT INTO nmem_backup VALUES (?, ?)", [(name, json.dumps(it)) for name, it in facts.items()])
    db.executemany("INSERT INTO nmem_backup_files VALUES (?, ?)", list(files.items()))
    db.execute("COMMIT")


def read_manifest(db: sqlite3.Connection) -> Manifest:
    """What a backup says of itself. Raises NmemError for one of a form that is not known yet."""
    if not has_table(db, "nmem_backup"):
        return Manifest()
    facts = {name: json.loads(value) for name, value in db.execute("SELECT name, value FROM nmem_backup").fetchall()}
    if facts.get("format", 0) > FORMAT:
        raise NmemError("the backup was made by a newer nmem: upgrade nmem")
    names = [name for (name,) in db.execute("SELECT name FROM nmem_backup_files ORDER BY name").fetchall()]
    return Manifest(int(facts.get("at", 0)), str(facts.get("nmem", "")), tuple(names))


def held_file(db: sqlite3.Connection, name: str) -> bytes:
    """One file that a backup holds."""
    return bytes(db.execute("SELECT data FROM nmem_backup_files WHERE name = ?", (name,)).fetchone()[0])


def drop_manifest(db: sqlite3.Connection) -> None:
    """Take it out: what is left is the database as it was."""
    db.execute("DROP TABLE IF EXISTS nmem_backup")
    db.execute("DROP TABLE IF EXISTS nmem_backup_files")


def refuse_others(db: sqlite3.Connection, path: str) -> None:
    """Raise NmemError unless this is a database of ours, of this version or an older one."""
    if has_table(db, "nmem_export"):
        raise NmemError(f"{path} is an export, not a backup: nmem import --from-export {path}")
    if not has_table(db, "observations") or not has_table(db, "prompts"):
        raise NmemError(f"{path} is a database, but not nmem's")
    facts, meaning = int(db.execute("PRAGMA user_version").fetchone()[0]), tables.version(db)
    if facts > len(MIGRATIONS) or meaning > tables.VERSION:
        known = f"{len(MIGRATIONS)}.{tables.VERSION}"
        raise NmemError(f"{path} has version {facts}.{meaning}, this nmem knows {known}: upgrade nmem")


def has_table(db: sqlite3.Connection, table: str) -> bool:
    """Whether there is a table of this name."""
    return db.execute("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?", (table,)).fetchone() is not None


_DERIVED = ("search_", "nmem_", "sqlite_")
_END = 1 << 62
_ROUNDS = 8
_LOST = "rescued"
"""The project of sessions of which nothing else is known."""


@dataclass(slots=True)
class Rescued:
    """What was read, and where something was not to be read."""

    rows: dict[str, int] = field(default_factory=dict)
    gaps: dict[str, int] = field(default_factory=dict)
    """table -> how many stretches of it could not be read"""
    sessions: int = 0
    """Sessions whose rows were made anew."""

    def told(self) -> str:
        """Where rows are missing, in a line."""
        if not self.gaps:
            return "every row could be read"
        where = ", ".join(f"{name} ({number})" for name, number in sorted(self.gaps.items()))
        anew = f"; {self.sessions} sessions lost their names" if self.sessions else ""
        return f"gaps that could not be read, by table: {where}{anew}"


def rescue(db_path: str, target: Path) -> Rescued:
    """Make a new database at `target` of what can be read.

    Raises NmemError where nothing can, sqlite3.Error, OSError.
    """
    out = Rescued()
    with closing(store.connect(str(target))) as new:
        tables.ensure(new)
        new.execute("PRAGMA foreign_keys = OFF")
        new.execute("PRAGMA synchronous = OFF")
        with closing(_lenient(db_path)) as old:
            _refuse_unreadable(old, db_path)
            for name in _names(new):
                new.execute("BEGIN")
                _copy(old, new, name, out)
                new.execute("COMMIT")
        out.sessions = _sessions(new)
        _whole(new)
        single(new)
    return out


def _lenient(db_path: str) -> sqlite3.Connection:
    db = opened(db_path)
    db.text_factory = lambda raw: raw.decode("utf-8", "replace")
    return db


def _refuse_unreadable(old: sqlite3.Connection, db_path: str) -> None:
    try:
        refuse_others(old, db_path)
    except sqlite3.DatabaseError as error:
        raise NmemError(
            f"nothing can be read of {db_path} ({error}): `nmem restore` replaces it by a backup; without one, move"
            " it away, and `nmem import` brings in what the clients' transcripts hold"
        ) from None


def _names(new: sqlite3.Connection) -> list[str]:
    """Tables that hold what cannot be made again."""
    found = new.execute("SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'table' ORDER BY name")
    return [name for (name,) in found.fetchall() if "_fts" not in name and not name.startswith(_DERIVED)]


def _columns(db: sqlite3.Connection, table: str) -> list[tuple[str, int]]:
    """Columns with their place in the primary key."""
    return list(db.execute("SELECT name, pk FROM pragma_table_info(?)", (table,)).fetchall())


def _copy(old: sqlite3.Connection, new: sqlite3.Connection, table: str, out: Rescued) -> None:
    there = dict(_columns(old, table))
    names = [name for name, _ in _columns(new, table) if name in there]
    if not names:
        return  # an older database has no such table
    keys = [name for name, place in sorted(there.items(), key=lambda one: one[1]) if place]
    list_, marks = ", ".join(f'"{name}"' for name in names), ", ".join("?" for _ in names)
    into = f'INSERT OR REPLACE INTO "{table}" ({list_}) VALUES ({marks})'  # noqa: S608 -- our names
    rowid = not old.execute("SELECT wr FROM pragma_table_list WHERE name = ?", (table,)).fetchone()[0]
    reader = _Table(old, table, list_)
    for row in reader.by_number() if rowid else reader.from_both_ends(keys):
        with suppress(sqlite3.IntegrityError):  # of a page that holds nonsense
            new.execute(into, row)
            out.rows[table] = out.rows.get(table, 0) + 1
    if reader.gaps:
        out.gaps[table] = reader.gaps


class _Table:
    """One table of the damaged database."""

    def __init__(self, db: sqlite3.Connection, name: str, columns: str) -> None:
        self.db, self.name, self.columns = db, name, columns
        self.gaps = 0

    def by_number(self) -> Iterator[tuple[object, ...]]:
        """Rows in the order of their ids, past what cannot be read."""
        sql = f'SELECT rowid, {self.columns} FROM "{self.name}" WHERE rowid >= ? ORDER BY rowid'  # noqa: S608
        at: int | None = -_END
        while at is not None:
            try:
                for row in self.db.execute(sql, (at,)):
                    at = row[0] + 1
                    yield row[1:]
                return
            except sqlite3.DatabaseError:  # the row before it may be readable: a cursor looks ahead
                pass
            try:
                while row := self.db.execute(f"{sql} LIMIT 1", (at,)).fetchone():
                    at = row[0] + 1
                    yield row[1:]
                return
            except sqlite3.DatabaseError:
                self.gaps += 1
                at = self._next(at)

    def _next(self, at: int) -> int | None:
        """The first id from `at` on whose row can be read: leaps ahead that double, then halves back."""
        bad, step = at, 1
        while not self._readable(bad + step):
            bad, step = bad + step, step * 2
            if step > _END:
                return None
        good = bad + step
        while good - bad > 1:
            middle = (good + bad) // 2
            bad, good = (bad, middle) if self._readable(middle) else (middle, good)
        return good

    def _readable(self, at: int) -> bool:
        sql = f'SELECT {self.columns} FROM "{self.name}" WHERE rowid >= ? ORDER BY rowid LIMIT 1'  # noqa: S608
        try:
            self.db.execute(sql, (at,)).fetchone()
        except sqlite3.DatabaseError:
            return False
        return True

    def from_both_ends(self, keys: list[str]) -> Iterator[tuple[object, ...]]:
        """Rows of a table without ids: forward to what cannot be read, then backward to it."""
        for way in ("", " DESC"):
            order = ", ".join(f'"{key}"{way}' for key in keys)
            sql, done = f'SELECT {self.columns} FROM "{self.name}" ORDER BY {order}', 0  # noqa: S608
            try:
                for row in self.db.execute(sql):
                    done += 1
                    yield row
                return
            except sqlite3.DatabaseError:
                self.gaps += not way
            with suppress(sqlite3.DatabaseError):
                while row := self.db.execute(f"{sql} LIMIT 1 OFFSET {done}").fetchone():
                    done += 1
                    yield row


def _sessions(new: sqlite3.Connection) -> int:
    """A row for each session whose own is gone: who worked when is told by what is there."""
    new.execute("BEGIN")
    lost = new.execute(
        "SELECT session_id, min(at), max(at) FROM (SELECT session_id, at FROM prompts UNION ALL"
        " SELECT session_id, at FROM observations) WHERE session_id NOT IN (SELECT id FROM sessions) GROUP BY 1"
    ).fetchall()
    for session, first, last in lost:
        new.execute(
            "INSERT OR IGNORE INTO projects (key, name, root, created_at) VALUES (?, ?, '', ?)", (_LOST, _LOST, first)
        )
        new.execute(
            "INSERT INTO sessions (id, client, project_id, cwd, state, started_at, last_at, seq) VALUES (?1,"
            " coalesce((SELECT client FROM hook_runs WHERE session_id = ?1 LIMIT 1), 'unknown'),"
            " (SELECT id FROM projects WHERE key = ?2), '', 'ended', ?3, ?4,"
            " coalesce((SELECT max(seq) FROM observations WHERE session_id = ?1), 0))",
            (session, _LOST, first, last),
        )
    new.execute("COMMIT")
    return len(lost)


def _whole(new: sqlite3.Connection) -> None:
    """Let nothing point at what is gone: the pointer goes, or the row that is nothing without it."""
    for _ in range(_ROUNDS):
        strays = {(row[0], row[3]) for row in new.execute("PRAGMA foreign_key_check").fetchall()}
        if not strays:
            return
        for table, number in sorted(strays):
            parent, column, key = new.execute(
                'SELECT "table", "from", "to" FROM pragma_foreign_key_list(?) WHERE id = ?', (table, number)
            ).fetchone()
            needed = new.execute(
                'SELECT "notnull" OR pk FROM pragma_table_info(?) WHERE name = ?', (table, column)
            ).fetchone()[0]
            what = f'DELETE FROM "{table}"' if needed else f'UPDATE "{table}" SET "{column}" = NULL'  # noqa: S608
            new.execute(f'{what} WHERE "{column}" NOT IN (SELECT "{key or "id"}" FROM "{parent}")')  # noqa: S608
