"""Resolves the session a command is about: by the start of its id, by project, or by current folder."""

from __future__ import annotations

from pathlib import Path
from sqlite3 import Connection

from nmem.errors import NmemError
from nmem.read import views
from nmem.store.project import named, unknown
from nmem.text import printable


def session_of(db: Connection, beginning: str = "", project: str = "") -> str:
    """The whole id. Without a beginning the newest of the project, or of the folder's, or of all. Raises NmemError."""
    if beginning:
        return _named(db, beginning)
    from capture.project import resolve

    key = named(db, project).key if project else resolve(str(Path.cwd())).key
    found = views.sessions(db, 1, key) or ([] if project else views.sessions(db, 1))
    if not found:
        raise unknown(key) if project else NmemError("no session is recorded yet")
    return found[0].id


def _named(db: Connection, beginning: str) -> str:
    from nmem.read.listing import sessions_like

    found = sessions_like(db, beginning)
    if not found:
        raise NmemError(f"there is no session {printable(beginning)}: `nmem status` lists the newest")
    if len(found) > 1:
        raise NmemError(f"{printable(beginning)} matches several sessions: {', '.join(map(printable, found))}")
    return found[0]
