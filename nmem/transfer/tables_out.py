"""Exports to a file of SQLite tables: prompts and calls, derived rows, a person's corrections (SQL).

Bare tables without indexes, each filled by one statement, so any size is written in little memory. What belongs to a
machine (runs of hooks, counters, places in transcripts, the queue of tasks, costs of models) and what settling makes
again stays behind: the registry of tables says which.
"""

from __future__ import annotations

import json
import os
import sqlite3
import time
from collections.abc import Sequence
from contextlib import closing
from importlib.metadata import version
from pathlib import Path

from capture.storage.schema import MIGRATIONS
from nmem import tables
from nmem.store.registry import Table, exported

FORMAT = 1
MARK = "nmem_export"
COUNTED = ("sessions", "prompts", "observations", "work_units", "threads", "learnings", "corrections")

_CHOSEN = "(SELECT id FROM temp.chosen)"
_PROJECTS = f"(SELECT project_id FROM src.sessions WHERE id IN {_CHOSEN})"
_GIVEN = {
    "sessions": _CHOSEN,
    "projects": _PROJECTS,
    "threads": f"(SELECT thread_id FROM src.session_threads WHERE session_id IN {_CHOSEN})",
    "learnings": f"(SELECT id FROM src.learnings WHERE project_id IN {_PROJECTS})",
}


def write(db_path: str, sessions: Sequence[str], target: str | Path) -> dict[str, int]:
    """Write a new file for the owner only; rows of the tables that people know. Raises sqlite3.Error or OSError."""
    os.close(os.open(target, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
    try:
        with closing(sqlite3.connect(target, isolation_level=None, uri=True)) as out:
            return _filled(out, db_path, sessions)
    except BaseException:
        Path(target).unlink(missing_ok=True)
        raise


def _filled(out: sqlite3.Connection, db_path: str, sessions: Sequence[str]) -> dict[str, int]:
    out.execute("PRAGMA synchronous = OFF")
    out.execute("PRAGMA temp_store = FILE")
    out.execute("ATTACH ? AS src", (f"{Path(db_path).absolute().as_uri()}?mode=ro",))
    out.execute("CREATE TEMP TABLE chosen (id TEXT PRIMARY KEY) WITHOUT ROWID")
    out.executemany("INSERT INTO temp.chosen VALUES (?)", ((each,) for each in sessions))
    out.execute("BEGIN")
    for table in exported():
        sql = out.execute(
            "SELECT sql FROM src.sqlite_master WHERE type = 'table' AND name = ?", (table.name,)
        ).fetchone()
        if sql is None:
            continue  # of a database that has not seen meaning yet
        out.execute(str(sql[0]))
        out.execute(f"INSERT INTO main.{table.name} SELECT * FROM src.{table.name} WHERE {_where(table)}")
    facts = {"format": FORMAT, "at": time.time_ns() // 1_000_000, "nmem": version("nmem"), "facts": len(MIGRATIONS),
             "meaning": tables.VERSION}  # fmt: skip
    out.execute(f"CREATE TABLE {MARK} (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID")
    out.executemany(f"INSERT INTO {MARK} VALUES (?, ?)", [(name, json.dumps(it)) for name, it in facts.items()])
    out.execute("COMMIT")
    known = {row[0] for row in out.execute("SELECT name FROM main.sqlite_master WHERE type = 'table'").fetchall()}
    return {
        name: int(out.execute(f"SELECT count(*) FROM main.{name}").fetchone()[0]) for name in COUNTED if name in known
    }


def _where(table: Table) -> str:
    """Which rows of a table go along."""
    assert table.export is not None
    if table.export.where:
        return table.export.where.format(**_GIVEN)
    return f"project_id IN {_PROJECTS}" if table.of == "project" else table.rows_of(_CHOSEN, "src.")
