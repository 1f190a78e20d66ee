"""Brings learnings up to date with the sessions: reads those that changed, then what their projects say together.

Each session and each project is a transaction of its own, so it can be stopped anywhere and goes on where it was.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from sqlite3 import Connection

from capture.storage import store as base
from nmem import tables
from nmem.learn import find, patterns, store, warnings

_WAIT = 10.0


@dataclass(slots=True)
class Refreshed:
    """What a refresh did."""

    sessions: int = 0
    projects: int = 0
    learnings: int = 0
    """Rows that changed."""
    warned: int = 0


def refresh(
    db: Connection, now: int, project_id: int | None = None, stopped: Callable[[], bool] = lambda: False
) -> Refreshed:
    """Read what changed, of one project or of all, on a writing connection outside a transaction."""
    done = Refreshed()
    waiting = store.stale(db, project_id)
    for session_id, _ in waiting:
        if stopped():
            break
        session(db, session_id, now)
        done.sessions += 1
    for number in dict.fromkeys(one for _, one in waiting[: done.sessions]):
        done.learnings += project(db, number)
        done.warned += warnings.warn_open(db, number, now)
        done.projects += 1
    return done


def session(db: Connection, session_id: str, now: int) -> None:
    """Read one session again, in one transaction."""
    with base.transaction(db):
        row = db.execute("SELECT project_id, seq FROM sessions WHERE id = ?", (session_id,)).fetchone()
        if row:
            store.put(db, session_id, row[0], find.findings(store.rows(db, session_id)), row[1], now)


def project(db: Connection, project_id: int) -> int:
    """What the sessions of a project say together, written in one transaction; how many learnings changed."""
    found = patterns.patterns(store.project(db, project_id))
    with base.transaction(db):
        changed = store.write(db, project_id, found)
        store.summed(db, project_id)
    return changed


def rebuild(db: Connection, now: int, project_id: int | None = None) -> Refreshed:
    """Read every session again. Ids and what a person said stay."""
    with base.transaction(db):
        store.forget(db, project_id)
    return refresh(db, now, project_id)


def fresh(db_path: str, now: int, project_id: int | None = None) -> Refreshed:
    """A refresh before somebody reads; nothing when nothing changed. Raises sqlite3.Error, OSError, NewerDatabase."""
    with closing(base.connect(db_path, timeout=_WAIT)) as db:
        tables.ensure(db)
        return refresh(db, now, project_id)
