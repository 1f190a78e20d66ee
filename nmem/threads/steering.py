"""Puts a session, or the project's next one, into the thread that a person chooses. Logged, with undo."""

from __future__ import annotations

from sqlite3 import Connection
from typing import Any

from capture.storage.store import transaction
from nmem.errors import NmemError
from nmem.store.corrections import write
from nmem.threads import continuity, links_store, store

LONGEST_MINUTES = 7 * 24 * 60
NEXT = "next"
"""Of corrections: what a project's next session continues; the target is project/ID."""


def continue_next(db: Connection, thread_id: int, now: int) -> None:
    """The project's next session continues a thread, however long ago that was. Raises NmemError."""
    head = links_store.head(db, thread_id)
    if head is None:
        raise NmemError(f"there is no thread {thread_id}: `nmem threads` lists them")
    _choose(db, head.project_id, (thread_id,), now)


def start_next(db: Connection, project_id: int, now: int) -> None:
    """The project's next session begins a new thread, however soon it comes."""
    _choose(db, project_id, (None,), now)


def forget(db: Connection, project_id: int, now: int) -> None:
    """The next session is decided by the timeout again."""
    _choose(db, project_id, None, now)


def _choose(db: Connection, project_id: int, chosen: tuple[int | None] | None, now: int) -> None:
    with transaction(db):
        before = store.chosen(db, project_id)
        if chosen is None:
            store.forget_choice(db, project_id)
        else:
            store.choose(db, project_id, chosen[0], now)
        chosen_now = {"chosen": store.chosen(db, project_id)}
        write(db, NEXT, f"project/{project_id}", chosen_now, {"chosen": before}, now)


def describe_next(payload: dict[str, Any]) -> str:
    """What was said of a project's next session, in a few words."""
    chosen = payload.get("chosen")
    if chosen is None:
        return "the next session is left to the clock"
    if chosen[0] is None:
        return "the next session begins a new thread"
    return f"the next session continues thread {chosen[0]}"


def undo_next(db: Connection, target: str, payload: dict[str, Any], before: dict[str, Any]) -> str:
    """Put back what was said before; what the person should know beside it. Inside the caller's transaction."""
    project_id = int(target.partition("/")[2])
    now = store.chosen(db, project_id)
    if (now and list(now)) != payload["chosen"]:
        return "a session began since, or a later choice was made, which is kept"
    store.forget_choice(db, project_id)
    if before["chosen"] is not None:
        store.choose(db, project_id, *before["chosen"])
    return ""


def move(db: Connection, session_id: str, thread_id: int | None, now: int) -> int:
    """Put a session into a thread (None: one of its own); the thread. Raises NmemError."""
    session = store.session(db, session_id)
    if session is None:
        raise NmemError(f"there is no session {session_id}: `nmem status` lists them")
    spoken = store.first_prompt(db, session_id)
    head = None if thread_id is None else links_store.head(db, thread_id)
    if thread_id is not None and head is None:
        raise NmemError(f"there is no thread {thread_id}: `nmem threads` lists them")
    if head is not None and head.project_id != session.project_id:
        raise NmemError(f"thread {thread_id} and session {session_id} belong to different projects")
    with transaction(db):
        if thread_id is None:
            at, title = spoken or (now, "")
            thread_id = store.create(db, session.project_id, title, at)
        before = {"thread": session.thread_id, "how": continuity.how(db, session_id), "into": thread_id}
        store.join(db, session_id, thread_id, continuity.CHOSEN)
        write(db, "thread", f"session/{session_id}", {"thread": thread_id}, before, now)
        _refresh(db, session.thread_id, thread_id)
    return thread_id


def undo(db: Connection, target: str, before: dict[str, Any]) -> None:
    """Put back what a correction of kind thread changed; inside the caller's transaction."""
    session_id = target.partition("/")[2]
    if before["thread"] is None:
        store.leave(db, session_id)
    else:
        store.join(db, session_id, int(before["thread"]), str(before["how"]))
    _refresh(db, before["thread"], before["into"])


def _refresh(db: Connection, *thread_ids: int | None) -> None:
    for thread_id in thread_ids:
        if thread_id is not None:
            store.refresh(db, thread_id)


def timeout(db: Connection, thread_id: int, minutes: float | None) -> None:
    """Give a thread a timeout of its own, in minutes; None takes it back. Raises NmemError."""
    if links_store.head(db, thread_id) is None:
        raise NmemError(f"there is no thread {thread_id}: `nmem threads` lists them")
    if minutes is not None and not 0 < minutes <= LONGEST_MINUTES:
        raise NmemError(f"a timeout must be a number of minutes, at most {LONGEST_MINUTES}")
    with transaction(db):
        store.set_timeout(db, thread_id, minutes)
