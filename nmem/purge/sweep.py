"""Chosen words in every other column of every table (SQL): also of tables that this module does not know."""

from __future__ import annotations

from collections.abc import Callable
from sqlite3 import Connection

from nmem.errors import NmemError
from nmem.purge import traces
from nmem.purge.journal import Table, tables
from nmem.purge.selection import Selection

GONE = "(purged)"
_FACTS = ("observations", "prompts")
"""Looked through before, without a lock."""
_OURS = (
    "purges",
    "nmem_schema",
    "counters",
    "redactions",
    "label_models",
    "llm_ledger",
    "tuning_history",
    "search_state",
)
LOOKED_AT = (*_FACTS, *_OURS)
"""Not looked through here."""
_NAMES = frozenset(("client", "kind", "source", "origin", "how", "label", "decided_by", "cut_by", "obs_type", "outcome",
                    "event", "result", "role", "type", "certainty", "decision", "choice", "told_of",
                    "outcome_by", "state_by", "used_how", "narrator", "end_reason", "permission_mode"))  # fmt: skip
"""Columns that hold words of the house, not of anybody's work."""
_ROWS = frozenset(("corrections", "skills", "llm_attempts", "learning_evidence", "learning_findings", "learnings",
                   "tasks", "task_events", "search_docs", "narrations", "hook_runs"))  # fmt: skip
"""Of no use without the words: the row goes."""


def sweep(db: Connection, chosen: Selection) -> None:
    """Take the words out of all that is left. Raises NmemError for a task at work that has them."""
    watch(db, chosen)
    traces.sweep(db, chosen.matcher)
    for table in tables(db, LOOKED_AT):
        columns = says(db, table.name)
        if columns:
            _table(db, table, columns, chosen.matcher.sql)


def watch(db: Connection, chosen: Selection) -> None:
    """Give SQL the function purge_says(value)."""
    db.create_function("purge_says", 1, chosen.matcher, deterministic=True)


def says(db: Connection, name: str) -> dict[str, tuple[bool, str | None]]:
    """The columns of a table that hold text: whether each must hold something, and what when nothing is said."""
    return {
        row[1]: (bool(row[3]), row[4]) for row in db.execute(f"PRAGMA main.table_info({name})")
        if row[2].upper() not in ("INTEGER", "REAL") and row[1] not in _NAMES
        and (row[1] != "state" or name == "transcript_cursors")
    }  # fmt: skip


def _table(
    db: Connection, table: Table, columns: dict[str, tuple[bool, str | None]], test: Callable[[str], str]
) -> None:
    hit = " OR ".join(map(test, columns))
    if db.execute(f"SELECT 1 FROM main.{table.name} WHERE {hit} LIMIT 1").fetchone() is None:  # noqa: S608
        return
    if table.name == "tasks":
        busy = db.execute(f"SELECT id FROM tasks WHERE state IN ('running', 'needs-input') AND ({hit})").fetchone()  # noqa: S608
        if busy:
            raise NmemError(f"task/{busy[0]} says it and is at work: `nmem task cancel {busy[0]}` first")
    if table.name in _ROWS:
        db.execute(f"DELETE FROM main.{table.name} WHERE {hit}")  # noqa: S608
        return
    unique = _unique(db, table.name) | set(table.key)
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


def _unique(db: Connection, name: str) -> set[str]:
    """Columns that are in an index without doubles."""
    return {
        column[2] for index in db.execute(f"PRAGMA main.index_list({name})").fetchall() if index[2]
        for column in db.execute(f"PRAGMA main.index_info({index[1]})").fetchall()
    }  # fmt: skip
