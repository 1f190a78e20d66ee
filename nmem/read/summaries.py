"""Sessions with prompts, newest first (SQL): a page to show summaries of."""

from __future__ import annotations

from dataclasses import dataclass
from sqlite3 import Connection


@dataclass(frozen=True, slots=True)
class Slot:
    """Where a session stands in the list."""

    session_id: str
    last_at: int
    number: int
    """Its row: tells two of the same moment apart."""


def page(db: Connection, project_id: int | None, before: tuple[int, int] | None, limit: int) -> list[Slot]:
    """The newest `limit` sessions before (last_at, number), of a project or of all."""
    where, values = ("s.project_id = ? AND", [project_id]) if project_id is not None else ("", list[int]())
    found = db.execute(
        f"SELECT s.id, s.last_at, s.rowid FROM sessions s WHERE {where} (s.last_at, s.rowid) < (?, ?)"  # noqa: S608 -- our words
        " AND EXISTS (SELECT 1 FROM prompts p WHERE p.session_id = s.id AND p.source = 'user')"
        " ORDER BY s.last_at DESC, s.rowid DESC LIMIT ?",
        (*values, *(before or (2**62, 2**62)), limit),
    )
    return [Slot(*row) for row in found.fetchall()]
