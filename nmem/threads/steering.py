"""A person says which thread a session belongs to, or which one the next session continues. Kept, and undoable."""

from __future__ import annotations

from sqlite3 import Connection
from typing import Any

from capture.storage.store import transaction
from nmem.errors import NmemError
from nmem.threads import continuity, decisions, material, storage

LONGEST_MINUTES = 7 * 24 * 60


def continue_next(db: Connection, thread_id: int, now: int) -> None:
    """The project's next session continues a thread, however long ago that was. Raises NmemError."""
    head = material.head(db, thread_id)
    if head is None:
        raise NmemError(f"there is no thread {thread_id}: `nmem threads` lists them")
    with transaction(db):
        storage.choose(db, head.project_id, thread_id, now)


def start_next(db: Connection, project_id: int, now: int) -> None:
    """The project's next session begins a new thread, however soon it comes."""
    with transaction(db):
        storage.choose(db, project_id, None, now)


def forget(db: Connection, project_id: int) -> None:
    """The next session is decided by the timeout again."""
    with transaction(db):
        storage.forget_choice(db, project_id)


def move(db: Connection, session_id: str, thread_id: int | None, now: int) -> int:
    """Put a session into a thread (None: one of its own); the thread. Raises NmemError."""
    session = storage.session(db, session_id)
    if session is None:
        raise NmemError(f"there is no session {session_id}: `nmem status` lists them")
    spoken = storage.first_prompt(db, session_id)
    head = None if thread_id is None else material.head(db, thread_id)
    if thread_id is not None and head is None:
        raise NmemError(f"there is no thread {thread_id}: `nmem threads` lists them")
    if head is not None and head.project_id != session.project_id:
        raise NmemError(f"thread {thread_id} and session {session_id} belong to different projects")
    with transaction(db):
        if thread_id is None:
            at, title = spoken or (now, "")
            thread_id = storage.create(db, session.project_id, title, at)
        before = {"thread": session.thread_id, "how": continuity.how(db, session_id), "into": thread_id}
        storage.join(db, session_id, thread_id, continuity.CHOSEN)
        decisions.correct(db, "thread", f"session/{session_id}", {"thread": thread_id}, before, now)
        _refresh(db, session.thread_id, thread_id)
    return thread_id


def undo(db: Connection, target: str, before: dict[str, Any]) -> None:
    """Put back what a correction of kind thread changed; inside the caller's transaction."""
    session_id = target.partition("/")[2]
    if before["thread"] is None:
        storage.leave(db, session_id)
    else:
        storage.join(db, session_id, int(before["thread"]), str(before["how"]))
    _refresh(db, before["thread"], before["into"])


def _refresh(db: Connection, *thread_ids: int | None) -> None:
    for thread_id in thread_ids:
        if thread_id is not None:
            storage.refresh(db, thread_id)


def timeout(db: Connection, thread_id: int, minutes: float | None) -> None:
    """Give a thread a timeout of its own, in minutes; None takes it back. Raises NmemError."""
    if material.head(db, thread_id) is None:
        raise NmemError(f"there is no thread {thread_id}: `nmem threads` lists them")
    if minutes is not None and not 0 < minutes <= LONGEST_MINUTES:
        raise NmemError(f"a timeout is a number of minutes, at most {LONGEST_MINUTES}")
    with transaction(db):
        storage.set_timeout(db, thread_id, minutes)
