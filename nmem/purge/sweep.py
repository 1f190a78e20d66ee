"""Blanks purged words in all text columns of the rows that stay (SQL), also in unknown tables.

Every text column of the schema is looked through. In columns of fixed vocabulary (client, kind, state ...) a value of
which every word is nmem's own stays: who purges the word `user` does not mean each row whose source is `user`.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from sqlite3 import Connection

from capture.clients import CLIENTS
from capture.event import OBS_TYPES
from capture.redaction.detectors import TOKENS
from nmem.errors import NmemError
from nmem.purge import traces
from nmem.purge.journal import Table, tables
from nmem.purge.selection import Selection
from nmem.store import registry

GONE = "(purged)"
FACTS = ("observations", "prompts")
"""Looked through before, without a lock: see nmem.purge.reach."""
_MORE = (
    "accept acceptEdits auto bypass bypassPermissions clear compact day default dont dontAsk entropy errors exit "
    "github high id late leapt logout lost obs optimize other password plan rebuild recovered redaction resume secret "
    "seen settle spooled startup swept text tool unsound vacuum"
)
"""Words of nmem and of its clients that no definition below has."""


def sweep(db: Connection, chosen: Selection) -> None:
    """Take the words out of all that is left. Raises NmemError for a task at work that has them."""
    watch(db, chosen)
    traces.sweep(db, chosen.matcher)
    for table in tables(db, {*FACTS, *registry.names("ever")}):
        columns = says(db, table.name)
        if columns:
            _table(db, table, columns, partial(test, chosen, table.name))


def watch(db: Connection, chosen: Selection) -> None:
    """Give SQL the functions purge_says(value) and purge_own(value)."""
    words = own_words(db)
    db.create_function("purge_says", 1, chosen.matcher, deterministic=True)
    db.create_function("purge_own", 1, lambda value: own(words, value), deterministic=True)


def test(chosen: Selection, table: str, column: str, of: str = "") -> str:
    """The test of a column as SQL, after `watch`; `of` is an alias of the table with its dot."""
    said = chosen.matcher.sql(of + column)
    return f"({said} AND NOT purge_own({of}{column}))" if fixed(table, column) else said


def says(db: Connection, name: str) -> dict[str, tuple[bool, str | None]]:
    """The columns of a table that can hold text: whether each must hold something, and what when nothing is said."""
    known = registry.BY_NAME.get(name)
    packed = known.packed.split() if known else ()
    return {
        row[1]: (bool(row[3]), row[4])
        for row in db.execute(f"PRAGMA main.table_info({name})")
        if row[2].upper() not in ("INTEGER", "REAL") and row[1] not in packed
    }


def fixed(table: str, column: str) -> bool:
    """Whether a column holds words of a fixed vocabulary."""
    known = registry.BY_NAME.get(table)
    return known is not None and column in known.words.split()


def own_words(db: Connection) -> frozenset[str]:
    """nmem's own words: of the tables' definitions with their comments, of the clients and of what calls are."""
    said = [row[0] or "" for row in db.execute("SELECT sql FROM main.sqlite_master")]
    events = [name for client in CLIENTS for name in _events(client)]
    kinds = [kind for kind, *_ in TOKENS]
    return frozenset(_split(" ".join((*said, *CLIENTS, *events, *OBS_TYPES, *kinds, _MORE))))


def own(words: frozenset[str], value: object) -> bool:
    """Whether every word of a value is one of some, or a number."""
    return isinstance(value, str) and all(word.isdecimal() or word in words for word in _split(value))


def _events(client: str) -> list[str]:
    return [*__import__(f"capture.clients.{client}", fromlist=["EVENTS"]).EVENTS]


def _split(text: str) -> list[str]:
    return re.findall(r"[^\W_]+", text)


def _table(
    db: Connection, table: Table, columns: dict[str, tuple[bool, str | None]], test: Callable[[str], str]
) -> None:
    hit = " OR ".join(map(test, columns))
    if db.execute(f"SELECT 1 FROM main.{table.name} WHERE {hit} LIMIT 1").fetchone() is None:  # noqa: S608
        return
    if table.name == "tasks":
        busy = db.execute(f"SELECT id FROM tasks WHERE state IN ('running', 'needs-input') AND ({hit})").fetchone()  # noqa: S608
        if busy:
            raise NmemError(f"task/{busy[0]} contains it and is running: `nmem task cancel {busy[0]}` first")
    if table.name in registry.names("whole"):
        db.execute(f"DELETE FROM main.{table.name} WHERE {hit}")  # noqa: S608
        return
    unique = _unique(db, table.name) | set(table.key) | _held(db, table.name)
    firm = [name for name in columns if name in unique]
    if firm and table.name != "projects":
        hard = " OR ".join(map(test, firm))
        db.execute(f"DELETE FROM main.{table.name} WHERE {hard}")  # noqa: S608
    for name, (bound, default) in columns.items():
        if name not in unique or table.name == "projects":
            value = _empty(name, bound, default, unique)
            db.execute(f"UPDATE main.{table.name} SET {name} = {value} WHERE {test(name)}")  # noqa: S608


def _empty(name: str, bound: bool, default: str | None, unique: set[str]) -> str:
    """What stands where the words stood, as SQL."""
    if name in unique:
        return f"'{GONE} ' || rowid"
    if not bound:
        return "NULL"
    if default is not None:
        return default
    return f"CASE substr({name}, 1, 1) WHEN '[' THEN '[]' WHEN '{{' THEN '{{}}' ELSE '{GONE}' END"


def _held(db: Connection, name: str) -> set[str]:
    """Columns that refer to a row of another table."""
    return {row[3] for row in db.execute(f"PRAGMA main.foreign_key_list({name})")}


def _unique(db: Connection, name: str) -> set[str]:
    """Columns that are in an index without doubles."""
    return {
        column[2] for index in db.execute(f"PRAGMA main.index_list({name})").fetchall() if index[2]
        for column in db.execute(f"PRAGMA main.index_info({index[1]})").fetchall()
    }  # fmt: skip
