"""Files named by traces (SQL): the history of a file whose rows are gone."""

from __future__ import annotations

from collections.abc import Sequence
from sqlite3 import Connection

from nmem.store import trace

Told = tuple[int, int, int | None, str, str, str, int, int, int, int, int, int]
"""last_at, newest id, episode, session, project, client, reads, edits, failures, others, added, removed: as those of
nmem.read.file_history; how many lines is not traced."""


def named(db: Connection, names: Sequence[str]) -> list[str]:
    """Those of some paths that traces tell of."""
    marks = ",".join("?" * len(names))
    found = db.execute(f"SELECT DISTINCT file_path FROM swept_files WHERE file_path IN ({marks})", tuple(names))  # noqa: S608
    return [str(row[0]) for row in found.fetchall()]


def ending(db: Connection, name: str, limit: int) -> list[str]:
    """Paths that traces tell of and that end like this."""
    found = db.execute(
        "SELECT DISTINCT file_path FROM swept_files WHERE substr(replace(file_path, char(92), '/'), -length(?1)) = ?1"
        " LIMIT ?2",
        (f"/{name}", limit),
    )
    return [str(row[0]) for row in found.fetchall()]


def touches(db: Connection, names: Sequence[str], project: int | None) -> list[Told]:
    """What traces tell of these files, an episode each."""
    if not names:
        return []
    marks = ",".join("?" * len(names))
    sessions = db.execute(
        "SELECT DISTINCT g.session_id, p.name, s.client FROM swept_files g JOIN sessions s ON s.id = g.session_id"  # noqa: S608
        f" JOIN projects p ON p.id = s.project_id WHERE g.file_path IN ({marks}) AND (? IS NULL OR s.project_id = ?)",
        (*names, project, project),
    ).fetchall()
    return [told for session_id, name, client in sessions
            for told in _of_session(db, str(session_id), str(name), str(client), frozenset(names))]  # fmt: skip


def _of_session(db: Connection, session_id: str, project: str, client: str, names: frozenset[str]) -> list[Told]:
    units = {row[0]: row[1] for row in db.execute(
        "SELECT x.prompt_id, x.unit_id FROM unit_prompts x JOIN prompts p ON p.id = x.prompt_id"
        " WHERE p.session_id = ?", (session_id,)
    ).fetchall()}  # fmt: skip
    by: dict[int | None, list[int]] = {}
    for one in trace.gone(db, session_id):
        if one.file_path not in names:
            continue
        sums = by.setdefault(units.get(one.prompt_id), [0, 0, 0, 0, 0, 0])
        sums[0], sums[1] = max(sums[0], one.at), max(sums[1], one.id)
        read, edited = one.obs_type == "file_read", one.obs_type in ("file_write", "file_edit")
        for place, holds in ((2, read), (3, edited), (4, one.outcome == "failed"), (5, not read and not edited)):
            sums[place] += holds
    return [(last, newest, unit, session_id, project, client, reads, edits, failures, others, 0, 0)
            for unit, (last, newest, reads, edits, failures, others) in by.items()]  # fmt: skip
