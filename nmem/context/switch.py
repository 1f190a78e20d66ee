"""Projects for which a person switched context off (SQL)."""

from __future__ import annotations

from sqlite3 import Connection

from nmem.context.given import EVERYTHING
from nmem.store.project import named


def switched(db: Connection, project_id: int, at: int, *, off: bool) -> None:
    """Switch a project's context off, or on again; what was told before stays."""
    if off:
        db.execute("INSERT OR REPLACE INTO context_choices VALUES (?, ?, 'exclude', ?)", (project_id, EVERYTHING, at))
    else:
        db.execute("DELETE FROM context_choices WHERE project_id = ? AND item = ?", (project_id, EVERYTHING))


def project_of(db: Connection, project: str) -> int:
    """A project by its key, root or name. Raises NmemError."""
    return named(db, project).id
