"""Recovers the readable rows of a damaged database into a new one (SQL).

Tables are read row by row; where a page does not answer, the next row that does is looked for. What is derived (the
search's tables) is left out: settling makes it again. A session whose row is gone while its work is there gets another.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, suppress
from dataclasses import dataclass, field
from pathlib import Path

from capture.storage import store
from nmem import tables
from nmem.backup import copying, places
from nmem.errors import NmemError

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
        with closing(_opened(db_path)) as old:
            _refuse(old, db_path)
            for name in _names(new):
                new.execute("BEGIN")
                _copy(old, new, name, out)
                new.execute("COMMIT")
        out.sessions = _sessions(new)
        _whole(new)
        copying.single(new)
    return out


def _opened(db_path: str) -> sqlite3.Connection:
    db = copying.opened(db_path)
    db.text_factory = lambda raw: raw.decode("utf-8", "replace")
    return db


def _refuse(old: sqlite3.Connection, db_path: str) -> None:
    try:
        places.refuse_others(old, db_path)
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
