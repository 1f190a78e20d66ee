"""Reads sessions, prompts and calls from the database as the records of a JSON export (SQL).

    {"type": "export", "format": 1, ...}                      the first line
    {"type": "session", "id", "client", "project": {...}, ...}
    {"type": "prompt", "session", "key", "at", "source", "kind", "content", ...}
    {"type": "observation", "session", "key", "at", "obs_type", "content", "turn", "pinned", "merged", ...}

A session's rows follow it in the order of time. What is concluded of them (episodes, threads, learnings) and what a
person corrected is not in it: the first is made again, the second is in an export of tables.
"""

from __future__ import annotations

import heapq
import json
import sqlite3
from collections.abc import Iterator, Sequence
from typing import Any

from nmem.errors import NmemError

FORMAT = 1
Record = dict[str, Any]
_SESSION = ("id", "client", "parent_id", "cwd", "branch", "model", "client_version", "permission_mode", "source",
            "transcript_path", "state", "started_at", "last_at", "ended_at", "end_reason", "context_tokens",
            "context_window", "context_at", "origin")  # fmt: skip
_PROMPT = ("at", "source", "kind", "content", "native_id", "agent_id")
_OBSERVATION = ("at", "obs_type", "tool_name", "tool_use_id", "agent_id", "file_path", "content", "outcome",
                "exit_code", "duration_ms", "lines_added", "lines_removed", "repeats", "last_at", "pinned")  # fmt: skip


def of_sessions(db: sqlite3.Connection, sessions: Sequence[str]) -> Iterator[Record]:
    """Every record of some sessions; rows are read as they are asked for."""
    for session_id in sessions:
        yield from of_session(db, session_id)


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
        f"SELECT {', '.join(_PROMPT)}, dedup_key, id FROM prompts WHERE session_id = ? ORDER BY at, id",
        (session_id,),
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
