"""Decides which thread a session continues: named by client or person, the one just left, or a new one.

A client is a channel. Going on in a session, resuming or forking one, and a thread picked by a person are explicit: no
timeout applies. Otherwise, of the threads of the project whose inactivity is within the timeout (thread's own,
client's, 30 minutes), the one goes on that the first prompt is about (nmem.threads.subject). It is decided when the
person first speaks in the session, once: what is decided stays, whatever is learned later, unless a person changes it.
"""

from __future__ import annotations

from nmem.threads import config, store
from nmem.threads.store import MINUTE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from sqlite3 import Connection

    from nmem.threads.store import Session

_AT_ONCE = 200
"""Sessions decided about in one transaction."""
NEW, TIMEOUT, RESUME, CHOSEN = "new", "timeout", "resume", "chosen"


def assign(db: Connection, session_id: str, now: int) -> int | None:  # noqa: ARG001 - the prompt's own time decides
    """The thread of a session, decided and stored if it is not yet; None while nobody has spoken in it.

    Call it when a session starts, at its prompts and when it ends: it is idempotent, and keeps the thread's figures
    current. Joins the caller's transaction, or makes its own. Raises sqlite3.Error.
    """
    if db.in_transaction:
        return _assign(db, session_id)
    from capture.storage.store import transaction  # on use: start-up stays short

    with transaction(db):
        return _assign(db, session_id)


def assign_all(db: Connection, stopped: Callable[[], bool] = lambda: False) -> int:
    """Decide about every session that has no thread, in the order in which they were opened; how many.

    A thread's figures are made once for all sessions of a transaction: they cost as much as the thread is long.
    Run it after an import: sessions of different clients fall into the same threads as they would have live.
    """
    from capture.storage.store import transaction  # on use: start-up stays short

    waiting = store.unassigned(db)
    for start in range(0, len(waiting), _AT_ONCE):
        if stopped():
            return start
        with transaction(db):
            store.remember()
            try:
                joined = {_join(db, session_id) for session_id in waiting[start : start + _AT_ONCE]}
            finally:
                store.forget()
            for thread_id in joined:
                if thread_id is not None:
                    store.refresh(db, thread_id)
    return len(waiting)


def proposed(db: Connection, session_id: str, now: int) -> tuple[int | None, str]:
    """The thread that a session is in or would continue if somebody spoke in it now, and why; (None, 'new'): a new one.

    Writes nothing: for context that is needed before the first prompt, which is taken to be about the same then.
    """
    session = store.session(db, session_id)
    if session is None:
        return None, NEW
    if session.thread_id is not None:
        return session.thread_id, how(db, session_id)
    spoken = store.first_prompt(db, session_id)
    return _decide(db, session, *(spoken or (now, None)))


def awaited(db: Connection, project_id: int, at: int, client: str = "", branch: str = "") -> tuple[int | None, str]:
    """The thread that a new session of a project would continue with a prompt about it at a time, and why."""
    session = store.Session("", project_id, client, "", branch, "startup", None)
    return _decide(db, session, at, None)


def how(db: Connection, session_id: str) -> str:
    """Why a session is in its thread: new, timeout, resume or chosen; empty when it is in none."""
    return store.reason(db, session_id)


def _assign(db: Connection, session_id: str) -> int | None:
    thread_id = _join(db, session_id)
    if thread_id is not None:
        store.refresh(db, thread_id)
    return thread_id


def _join(db: Connection, session_id: str) -> int | None:
    """The session's thread, with the time at which something happened last in it; its other figures are behind."""
    session = store.session(db, session_id)
    if session is None:
        return None
    thread_id = session.thread_id
    if thread_id is None:
        spoken = store.first_prompt(db, session_id)
        if spoken is None:
            return None
        thread_id = _enter(db, session, *spoken)
    store.reopen(db, thread_id, session_id)
    store.touch(db, thread_id, session_id)
    return thread_id


def _enter(db: Connection, session: Session, at: int, text: str) -> int:
    thread_id, why = _decide(db, session, at, text)
    if why == CHOSEN:
        store.forget_choice(db, session.project_id)
    if thread_id is None:
        store.close_idle(db, config.load().timeout(session.client), at, session.project_id)
        thread_id = store.create(db, session.project_id, text, at)
    store.join(db, session.id, thread_id, why)
    return thread_id


def _decide(db: Connection, session: Session, at: int, text: str | None) -> tuple[int | None, str]:
    """The thread and the reason; None: a new one. `text`: the first prompt, None while nobody knows it."""
    if session.parent_id and session.source != "clear":
        parent = store.thread_of(db, session.parent_id)
        if parent is not None:
            return parent, RESUME
    chosen = store.waiting_choice(db, session.project_id, at)
    if chosen is not None:
        return chosen[0], CHOSEN
    known = config.load()
    longest = known.longest(*store.own_timeouts(db, session.project_id))
    before = [
        each
        for each in store.before(db, session, at, at - int(longest * MINUTE))
        if at - each.active_at <= known.timeout(session.client, each.timeout) * MINUTE
        and not apart(each.branch, session.branch)
    ]
    if not before:
        return None, NEW
    if text is None:
        return before[0].thread_id, TIMEOUT
    from nmem.threads.subject import continued  # on use: few sessions come so soon after another one

    found = continued(db, session.project_id, session.id, session.branch, at, text, before)
    return found, NEW if found is None else TIMEOUT


def apart(one: str, other: str) -> bool:
    """Two branches that are different lines of work: both known, different, neither of them the trunk."""
    return bool(one and other and one != other and one not in config.TRUNKS and other not in config.TRUNKS)
