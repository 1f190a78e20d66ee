"""Rows of skills, and what they are found in."""

from __future__ import annotations

import json
from collections.abc import Sequence
from sqlite3 import Connection
from typing import Any


def units(db: Connection, project_id: int, limit: int) -> list[Any]:
    """The newest episodes of a project: id, goal, time."""
    return db.execute(
        "SELECT u.id, coalesce(u.title, u.intent), u.last_at FROM work_units u JOIN sessions s ON s.id = u.session_id"
        " WHERE s.project_id = ? ORDER BY u.last_at DESC, u.id DESC LIMIT ?",
        (project_id, limit),
    ).fetchall()


def actions(db: Connection, unit_id: int, limit: int) -> list[Any]:
    """What was done in an episode, in order: obs_type, file_path, content, outcome."""
    return db.execute(
        "SELECT o.obs_type, o.file_path, substr(o.content, 1, 2000), o.outcome FROM unit_prompts p"
        " JOIN observations o ON o.prompt_id = p.prompt_id WHERE p.unit_id = ? ORDER BY o.at, o.seq LIMIT ?",
        (unit_id, limit),
    ).fetchall()


def keep(
    db: Connection, project_id: int, name: str, use_when: str, steps: Sequence[str], evidence: Sequence[int],
    last_at: int, now: int,
) -> None:  # fmt: skip
    """Store a skill, or what is new of it."""
    db.execute(
        "INSERT INTO skills (project_id, name, use_when, steps, evidence, created_at, last_at)"
        " VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (project_id, name) DO UPDATE SET use_when = excluded.use_when,"
        " steps = excluded.steps, evidence = excluded.evidence, last_at = excluded.last_at",
        (project_id, name, use_when, json.dumps(steps), json.dumps(evidence), now, last_at),
    )


def keep_only(db: Connection, project_id: int, names: Sequence[str]) -> None:
    """Drop the skills of a project that are no longer found."""
    db.execute(
        f"DELETE FROM skills WHERE project_id = ? AND name NOT IN ({', '.join('?' for _ in names)})",  # noqa: S608
        (project_id, *names),
    )
