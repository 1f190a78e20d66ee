"""Records every row that a transaction changes, to restore it byte for byte (SQL).

Temporary triggers on all ordinary tables note a row as it was before its first change, and the keys of rows that came.
They lie in memory, and what a table's own triggers and foreign keys do is noted like anything else. Text indexes are no
ordinary tables: the triggers that keep them put them right again.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from sqlite3 import Connection, Error

from nmem.store import registry

LEFT = registry.names("noted", is_=False) | {registry.SCHEMA}
"""Counters, and what is made of facts and made anew: noted only while chosen words are taken out of them."""
_FRAME = 400

Frame = tuple[str, str, list[tuple[object, ...]]]
"""Table, "old" or "new", rows: whole ones, or keys of those that came."""


@dataclass(frozen=True, slots=True)
class Table:
    """An ordinary table: its columns, and those of its key."""

    name: str
    columns: tuple[str, ...]
    key: tuple[str, ...]

    @property
    def old(self) -> str:
        """Where its rows as they were are kept."""
        return f"purge_old_{self.name}"

    @property
    def new(self) -> str:
        """Where the keys of rows that came are kept."""
        return f"purge_new_{self.name}"


def tables(db: Connection, left: Iterable[str] = LEFT) -> list[Table]:
    """The ordinary tables of a database, but for `left`, parents before their children where it knows."""
    virtual = [row[0] for row in db.execute(
        "SELECT name FROM main.sqlite_master WHERE type = 'table' AND sql LIKE 'CREATE VIRTUAL%'")]  # fmt: skip
    skip = {*left, *virtual, *(f"{name}_{part}" for name in virtual
            for part in ("data", "idx", "content", "docsize", "config"))}  # fmt: skip
    names = [row[0] for row in db.execute(
        "SELECT name FROM main.sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY rowid"
    ) if row[0] not in skip]  # fmt: skip
    return [_table(db, name) for name in names]


def _table(db: Connection, name: str) -> Table:
    info = db.execute(f"PRAGMA main.table_info({name})").fetchall()
    keys = [row[1] for row in sorted((row for row in info if row[5]), key=lambda row: row[5])]
    return Table(name, tuple(row[1] for row in info), tuple(keys) or ("rowid",))


class Journal:
    """The changes of one transaction. `begin` before it, `end` after it."""

    def __init__(self, db: Connection) -> None:
        self.db = db
        self.tables = tables(db)
        self.left: list[Table] = []

    def begin(self) -> None:
        """Watch every table; outside a transaction."""
        self.end()
        for table in self.tables:
            self._watch(table)

    @contextmanager
    def every(self) -> Iterator[None]:
        """Watch those in LEFT as well, inside the transaction: what changes in them meanwhile is put back, too."""
        self.left = [table for table in tables(self.db, ()) if table.name in LEFT and table.key != ("rowid",)]
        for table in self.left:
            self._watch(table)
        yield
        for table in self.left:
            self._unwatch(table)

    def _watch(self, table: Table) -> None:
        keys, columns = ", ".join(table.key), ", ".join(table.columns)
        olds = ", ".join(f"old.{column}" for column in table.columns)
        same = " AND ".join(f"{key} IS new.{key}" for key in table.key)
        news = ", ".join(f"new.{key}" for key in table.key)
        self.db.execute(f"CREATE TEMP TABLE {table.old} ({columns}, PRIMARY KEY ({keys}))")
        self.db.execute(f"CREATE TEMP TABLE {table.new} ({keys}, PRIMARY KEY ({keys}))")
        gone = " AND ".join(f"{key} IS old.{key}" for key in table.key)
        # no OR IGNORE: what an outer INSERT OR REPLACE says would be done here as well
        keep = (
            f"INSERT INTO {table.old} SELECT {olds} WHERE NOT EXISTS (SELECT 1 FROM {table.new} WHERE {gone})"  # noqa: S608
            f" AND NOT EXISTS (SELECT 1 FROM {table.old} WHERE {gone});"
        )
        came = (
            f"INSERT INTO {table.new} SELECT {news} WHERE NOT EXISTS (SELECT 1 FROM {table.old} WHERE {same})"  # noqa: S608
            f" AND NOT EXISTS (SELECT 1 FROM {table.new} WHERE {same});"
        )
        made = f"CREATE TEMP TRIGGER purge_{{}}_{table.name} {{}} ON main.{table.name} BEGIN {{}} END"
        self.db.execute(made.format("d", "BEFORE DELETE", keep))
        self.db.execute(made.format("u", "BEFORE UPDATE", keep))
        self.db.execute(made.format("i", "AFTER INSERT", came))

    def _unwatch(self, table: Table) -> None:
        for kind in "dui":
            self.db.execute(f"DROP TRIGGER IF EXISTS temp.purge_{kind}_{table.name}")

    def end(self) -> None:
        """Watch no longer, and forget what was noted."""
        for table in (*self.tables, *self.left):
            self._unwatch(table)
            for name in (table.old, table.new):
                with suppress(Error):
                    self.db.execute(f"DROP TABLE IF EXISTS temp.{name}")

    def counts(self) -> dict[str, int]:
        """Rows that are gone, by table."""
        out = {}
        for table in self.tables:
            number = self.db.execute(f"SELECT count(*) FROM {self.gone(table)}").fetchone()[0]  # noqa: S608
            if number:
                out[table.name] = int(number)
        return out

    def gone(self, table: Table) -> str:
        """The rows of a table that are gone, as they were: a subquery named g."""
        same = " AND ".join(f"t.{key} IS g.{key}" for key in table.key)
        return f"{table.old} g WHERE NOT EXISTS (SELECT 1 FROM main.{table.name} t WHERE {same})"  # noqa: S608

    def frames(self) -> Iterator[Frame]:
        """All that was noted, some rows at a time."""
        for table in (*self.tables, *self.left):
            for kind, name in (("old", table.old), ("new", table.new)):
                found = self.db.execute(f"SELECT * FROM temp.{name} ORDER BY rowid")  # noqa: S608
                while rows := found.fetchmany(_FRAME):
                    yield table.name, kind, [tuple(row) for row in rows]

    def texts(self, most: int) -> list[str] | None:
        """Every text of the rows as they were; None when there are more than `most` rows."""
        out: list[str] = []
        rows = 0
        for _, kind, found in self.frames():
            if kind == "old":
                rows += len(found)
                if rows > most:
                    return None
                out += [value for row in found for value in row if isinstance(value, str)]
        return out
