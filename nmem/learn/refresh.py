"""Updates stored learnings: extracts findings from changed sessions, then combines them by project.

Sessions and projects are read and thought about outside of any transaction, so that a hook never waits; what comes of
each is written in a short one of its own, which sees whether all still is as it was read. It can be stopped anywhere
and goes on where it was, and several may do it at once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from sqlite3 import Connection

from capture.storage import store as base
from nmem import tables
from nmem.learn import find, findings_store, kinds, learned, warnings
from nmem.learn.findings_store import Found

Beside = Callable[[Sequence[str]], Iterator[Found | None]]
_WAIT = 10.0
_TRIES = 3


@dataclass(slots=True)
class Refreshed:
    """What a refresh did."""

    sessions: int = 0
    projects: int = 0
    learnings: int = 0
    """Rows that changed."""
    warned: int = 0
    left: int = 0
    """Sessions that there was no time for, or that went on while they were read."""


def never() -> bool:
    """Nobody wants it to stop."""
    return False


def refresh(
    db: Connection, now: int, project_id: int | None = None, stopped: Callable[[], bool] = never,
    beside: Beside | None = None, patient: bool = False, step: Callable[[int, int], None] = lambda _done, _all: None,
) -> Refreshed:  # fmt: skip
    """Read what changed, of one project or of all, on a writing connection outside a transaction.

    `beside`: reads the sessions it is given in processes of its own, and answers in their order. `patient`: a
    session that goes on need not be read again for each of its turns. `step` gets how many sessions of how many are
    read.
    """
    done = Refreshed()
    at = now if patient else None
    waiting = findings_store.stale(db, project_id, at)
    read: dict[int, None] = {}
    ids = [session_id for session_id, _ in waiting]
    ready = beside(ids) if beside else (found_in(db, one, stopped) for one in ids)
    for number, (_, of) in enumerate(waiting):
        if stopped():
            break
        step(number, len(waiting))
        found = next(ready)
        if found is not None and findings_store.write(db, found, now):
            done.sessions += 1
            read[of] = None
    done.left = len(waiting) - done.sessions
    for number in dict.fromkeys([*read, *findings_store.changed(db, project_id, at)]):
        changed = project(db, number, now)
        if changed is not None:
            done.learnings += changed
            done.warned += warnings.warn_open(db, number, now)
            done.projects += 1
    return done


def found_in(db: Connection, session_id: str, stopped: Callable[[], bool] = never) -> Found | None:
    """What one session says, which is only read; None when it is gone, or when it was stopped on the way."""
    read = findings_store.reading(db, session_id)
    found = find.findings(read.rows, stopped) if read else None
    if read is None or found is None:
        return None
    others = (one for kind in kinds.every() for one in kind.find(read.rows, read.said))
    return findings_store.found_in(read, [*found, *others])


def project(db: Connection, project_id: int, now: int) -> int | None:
    """What the sessions of a project say together; how many learnings changed.

    None when others read its sessions each time that it was thought about: they, or the next refresh, sum them up.
    """
    for _ in range(_TRIES):
        with findings_store.snapshot(db):
            token = findings_store.token(db, project_id)
            said = learned.project(db, project_id)
        found = kinds.patterns(said)
        with base.transaction(db):
            if findings_store.token(db, project_id) == token:
                changed = learned.write(db, project_id, found, now)
                findings_store.summed(db, project_id, token)
                return changed
    return None


def fresh(
    db_path: str, now: int, project_id: int | None = None, stopped: Callable[[], bool] = never
) -> Refreshed:  # fmt: skip
    """A refresh before somebody reads; nothing when nothing changed. Raises sqlite3.Error, OSError, NewerDatabase."""
    with closing(base.connect(db_path, timeout=_WAIT)) as db:
        tables.ensure(db)
        return refresh(db, now, project_id, stopped)
