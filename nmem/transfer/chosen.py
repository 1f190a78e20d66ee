"""Selects the sessions to export (SQL)."""

from __future__ import annotations

import sqlite3

from nmem.errors import NmemError


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
