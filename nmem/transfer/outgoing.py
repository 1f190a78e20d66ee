"""Reads what an export holds (SQL): sessions and their rows as records of JSON, and all tables that people know.

    {"type": "export", "format": 1, ...}                      the first line
    {"type": "session", "id", "client", "project": {...}, ...}
    {"type": "prompt", "session", "key", "at", "source", "kind", "content", ...}
    {"type": "observation", "session", "key", "at", "obs_type", "content", "turn", "pinned", "merged", ...}

A session's rows follow it in the order of time. What is concluded of them (episodes, threads, learnings) and what a
person corrected is not in it: the first is made again, the second is in an export of tables.

Bare tables without indexes, each filled by one statement, so any size is written in little memory. What belongs to a
machine (runs of hooks, counters, places in transcripts, the queue of tasks, costs of models) and what settling makes
again stays behind: the registry of tables says which.
"""

from __future__ import annotations

import heapq
import json
import os
import sqlite3
import time
from collections.abc import Iterator, Sequence
from contextlib import closing
from importlib.metadata import version
from pathlib import Path
from sqlite3 import Connection
from typing import Any, BinaryIO

from capture.storage.schema import MIGRATIONS
from nmem import tables
from nmem.errors import NmemError
from nmem.store.registry import Table, exported
from nmem.text import to_json

FORMAT = 1
Record = dict[str, Any]
_SESSION = ("id", "client", "parent_id", "cwd", "branch", "model", "client_version", "permission_mode", "source",
            "transcript_path", "state", "started_at", "last_at", "ended_at", "end_reason", "context_tokens",
            "context_window", "context_at", "origin")  # fmt: skip
_PROMPT = ("at", "source", "kind", "content", "native_id", "agent_id")
_OBSERVATION = ("at", "obs_type", "tool_name", "tool_use_id", "agent_id", "file_path", "content", "outcome",
                "exit_code", "duration_ms", "lines_added", "lines_removed", "repeats", "last_at", "pinned")  # fmt: skip


def of_session(db: sqlite3.Connection, session_id: str) -> Iterator[Record]:
    """The record of a session, and those of its rows."""
    row = db.execute(
        f"SELECT {', '.join(f's.{name}' for name in _SESSION)}, p.key, p.name, p.root, p.remote"
        " FROM sessions s JOIN projects p ON p.id = s.project_id WHERE s.id = ?",
        (session_id,),
    ).fetchone()
    project = dict(zip(("key", "name", "root", "remote"), row[len(_SESSION) :], strict=True))
    yield {"type": "session", **_said(_SESSION, row), "project": project}
    rows = heapq.merge(_prompts(db, session_id), _observations(db, session_id), key=lambda pair: pair[0])
    for _, record in rows:
        yield record


def _said(names: Sequence[str], row: Sequence[object]) -> Record:
    """The columns that say something."""
    return {name: value for name, value in zip(names, row, strict=False) if value is not None and value != ""}


def _prompts(db: sqlite3.Connection, session_id: str) -> Iterator[tuple[tuple[int, int, int], Record]]:
    found = db.execute(
        f"SELECT {', '.join(_PROMPT)}, dedup_key, id FROM prompts WHERE session_id = ? ORDER BY at, id", (session_id,)
    )
    for row in found:
        said = {"type": "prompt", "session": session_id, "key": row[-2], "content": "", **_said(_PROMPT, row)}
        yield (row[0], 0, row[-1]), said


def _observations(db: sqlite3.Connection, session_id: str) -> Iterator[tuple[tuple[int, int, int], Record]]:
    found = db.execute(
        f"SELECT {', '.join(f'o.{name}' for name in _OBSERVATION)}, o.metadata, p.native_id, p.dedup_key,"
        " CASE WHEN o.repeats THEN (SELECT json_group_array(m.dedup_key) FROM merged_keys m"
        " WHERE m.observation_id = o.id) END, o.dedup_key, o.id"
        " FROM observations o LEFT JOIN prompts p ON p.id = o.prompt_id WHERE o.session_id = ? ORDER BY o.at, o.seq",
        (session_id,),
    )
    for row in found:
        *columns, metadata, turn, prompt, merged, key, number = row
        said = {"type": "observation", "session": session_id, "key": key, "content": "", **_said(_OBSERVATION, columns)}
        said = {name: value for name, value in said.items() if value != 0 or name not in ("repeats", "pinned")}
        for name, value in (
            ("turn", turn),
            ("prompt", prompt),
            ("metadata", _json(metadata)),
            ("merged", _json(merged)),
        ):
            if value:
                said[name] = value
        yield (row[0], 1, number), said


def _json(text: str | None) -> Any:  # noqa: ANN401 - JSON
    try:
        return json.loads(text) if text else None
    except ValueError:
        return None


def sessions(db: sqlite3.Connection, project: str = "", since: int | None = None) -> list[str]:
    """Ids of sessions, the oldest first; of one project (name, key or root), active since a time. Raises NmemError."""
    if project and not db.execute("SELECT 1 FROM projects WHERE :p IN (name, key, root)", {"p": project}).fetchone():
        raise NmemError(f"no project is called {project}: its name, its key or its root folder")
    found = db.execute(
        "SELECT s.id FROM sessions s JOIN projects p ON p.id = s.project_id"
        " WHERE (:p = '' OR :p IN (p.name, p.key, p.root)) AND (:since IS NULL OR s.last_at >= :since)"
        " ORDER BY s.started_at, s.id",
        {"p": project, "since": since},
    )  # fmt: skip
    return [str(row[0]) for row in found.fetchall()]


TABLES_FORMAT = 1
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


def write_tables(db_path: str, sessions: Sequence[str], target: str | Path) -> dict[str, int]:
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
    facts = {"format": TABLES_FORMAT, "at": time.time_ns() // 1_000_000, "nmem": version("nmem"),
             "facts": len(MIGRATIONS), "meaning": tables.VERSION}  # fmt: skip
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


def write_lines(db: Connection, sessions: Sequence[str], out: BinaryIO) -> dict[str, int]:
    """Write the records of some sessions, as they are at one moment; how many of each type."""
    counts = {"session": 0, "prompt": 0, "observation": 0}
    head = {"type": "export", "format": FORMAT, "at": time.time_ns() // 1_000_000, "nmem": version("nmem")}
    out.write(_line(head))
    for record in (each for session in sessions for each in of_session(db, session)):
        counts[record["type"]] += 1
        out.write(_line(record))
    return counts


def _line(record: Record) -> bytes:
    return to_json(record, compact=True).encode("utf-8", "replace") + b"\n"
