"""Items that a session was told and still has in its window (SQL, on the hook's path): no repetition."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sqlite3 import Connection

COMPACT = "compact"
"""The event of an injection after which whatever was told before is gone from the conversation."""

LATE = "late"
"""The reason of one that was not ready in time: nothing was told."""


def since(db: Connection, session_id: str) -> int:
    """The injection with which the conversation began anew; 0 when it never was folded."""
    row = db.execute(
        "SELECT max(id) FROM injections WHERE session_id = ? AND event = ?", (session_id, COMPACT)
    ).fetchone()
    return int(row[0] or 0)


def given(db: Connection, session_id: str) -> tuple[frozenset[str], frozenset[str]]:
    """The items, and the files that they named. What was kept back counts: it would have been told."""
    from capture.jsonio import BadJson, loads

    items: set[str] = set()
    files: set[str] = set()
    for item, named in db.execute(
        "SELECT i.item, i.files FROM injections j JOIN injection_items i ON i.injection_id = j.id"
        " WHERE j.session_id = ? AND j.id >= ?",
        (session_id, since(db, session_id)),
    ).fetchall():
        items.add(item)
        if named != "[]":
            try:
                found = loads(named)
            except BadJson:
                continue
            files.update(str(path) for path in found if path) if isinstance(found, list) else None
    return frozenset(items), frozenset(files)


def switched_off(db: Connection, project_id: int) -> bool:
    """Whether a person said that this project is told nothing."""
    row = db.execute(
        "SELECT 1 FROM context_choices WHERE project_id = ? AND item = ? AND choice = 'exclude'",
        (project_id, EVERYTHING),
    ).fetchone()
    return row is not None


def excluded(db: Connection, project_id: int) -> list[str]:
    """The ids of what a person excluded in a project, the newest last."""
    rows = db.execute(
        "SELECT item FROM context_choices WHERE project_id = ? AND choice = 'exclude' ORDER BY at, item", (project_id,)
    ).fetchall()
    return [str(row[0]) for row in rows]


EVERYTHING = "*"
"""Excluded, this stands for all of a project's context."""
