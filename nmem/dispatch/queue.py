"""Changes the state of tasks: each change is one transaction with a check and an event.

`db` is a writing connection outside a transaction, `now` is in milliseconds. An attempt is named by its number, so a
late word about an earlier one changes nothing. All raise sqlite3.Error.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from sqlite3 import Connection
from typing import Any

from capture.storage.schema import NewerDatabase
from capture.storage.store import connect, transaction
from nmem import hours, tables
from nmem.database import worded
from nmem.dispatch import read, store
from nmem.dispatch.store import event
from nmem.dispatch.task import (
    CANCELLED,
    FAILED,
    LIVE,
    NEEDS_INPUT,
    OVER,
    QUEUED,
    RUNNING,
    SUCCEEDED,
    TIMED_OUT,
    NewTask,
    Outcome,
    Task,
)
from nmem.errors import NmemError

_WAIT = 10.0
"""Seconds to wait for the lock."""
_BACKOFF = 30_000
_LONGEST_BACKOFF = 3_600_000


def now() -> int:
    """Milliseconds since 1970."""
    return time.time_ns() // 1_000_000


@contextmanager
def writing(db_path: str) -> Iterator[Connection]:
    """A writing connection with the tables of tasks; what goes wrong is one line."""
    try:
        db = connect(db_path, timeout=_WAIT)
    except NewerDatabase as error:
        raise NmemError(f"{db_path}: {error}: upgrade nmem") from None
    except (sqlite3.Error, OSError) as error:
        raise NmemError(f"{db_path} cannot be written: {worded(error)}") from None
    try:
        tables.ensure(db)
        yield db
    except (sqlite3.Error, NewerDatabase) as error:
        raise NmemError(f"{db_path}: {worded(error)}") from None
    finally:
        db.close()


def add(db: Connection, new: NewTask, now: int) -> int:
    """Queue a task that nmem.dispatch.accept has let through; its id."""
    row = {"created_at": now, "changed_at": now, **new._asdict(), "worktree": bool(new.worktree)}
    del row["needs"]
    with transaction(db):
        made = store.add(db, row)
        needs = sorted(set(new.needs))
        store.need(db, made, needs)
        event(db, made, now, "queued", f"by {new.source}")
        for need in needs:
            if (state := store.state(db, need)) in BROKEN:
                _cancel_for(db, made, need, state, now)
                break
    return made


BROKEN = (FAILED, CANCELLED, TIMED_OUT)
"""Ends of a task after which those that need it are cancelled."""


def change(db: Connection, task_id: int, values: Mapping[str, Any], needs: tuple[int, ...] | None, now: int) -> None:
    """Set columns of a task. Raises NmemError for one that somebody has claimed meanwhile."""
    with transaction(db):
        _at_rest(db, task_id)
        store.put(db, task_id, {**values, "changed_at": now})
        if needs is not None:
            store.need(db, task_id, sorted(set(needs)))
        changed = [*values, *(["needs"] if needs is not None else [])]
        event(db, task_id, now, "edited", ", ".join(name.replace("_", " ") for name in changed))


def _at_rest(db: Connection, task_id: int) -> None:
    if store.state(db, task_id) in LIVE:
        raise NmemError(f"task/{task_id} was started in the meantime: `nmem task cancel {task_id}` ends it")


def claim(db: Connection, runner: str, now: int, most: int, quiet: str = "", only: int = 0) -> Task | None:
    """The task that comes next, now this runner's and running; None when there is none or `most` are running already.

    Whoever asks first has it: the lock is taken before anything is looked at. `quiet`: the hours of the configuration,
    for tasks that have none of their own. `only`: this task or none, whatever its time and however many are running.
    """
    with transaction(db):
        if not only and store.counts(db).get(RUNNING, 0) >= most:
            return None
        chosen = only or _next(db, now, quiet)
        if not chosen:
            return None
        if only:
            _approve(db, only, "a person started it", now)
        if not store.claim(db, chosen, runner, now):
            return None
        event(db, chosen, now, "claimed", runner)
        return read.task(db, chosen)


def approve(db: Connection, task_id: int, why: str, now: int) -> bool:
    """Let one run that waits for a person; `why`: who says so. False: it does not wait for that (any more)."""
    with transaction(db):
        return _approve(db, task_id, why, now)


def _approve(db: Connection, task_id: int, why: str, now: int) -> bool:
    one = read.task(db, task_id)
    if one is None or not one.asks:
        return False
    event(db, task_id, now, "approved", why)
    return True


def _next(db: Connection, now: int, quiet: str) -> int:
    for task_id, own in store.ready(db, now):
        held = quiet if own is None else own
        if not (held and hours.within(held, now)):
            return int(task_id)
    return 0


def unclaim(db: Connection, task_id: int, attempt: int, why: str, now: int, not_before: int = 0) -> bool:
    """Back into the queue: nothing of it was started, so the try does not count."""
    with transaction(db):
        if back := store.unclaim(db, task_id, attempt, why, now, not_before):
            event(db, task_id, now, "returned", why)
    return back


def placed(db: Connection, task_id: int, attempt: int, values: Mapping[str, str], now: int, text: str = "") -> None:
    """Note where an attempt runs: how, socket, pane, worktree_path, branch."""
    with transaction(db):
        if store.put(db, task_id, values, number=attempt) and text:
            event(db, task_id, now, "note", text)


def started(db: Connection, task_id: int, attempt: int, process: str, now: int) -> bool:
    """The process beside the client is there, whoever sees it first. False: nobody waits for this attempt any more."""
    with transaction(db):
        live = store.attempt(db, task_id, attempt)
        if live is None or live[0] not in ("", process):
            return False
        if not live[0]:
            store.put(db, task_id, {"process": process, "started_at": now, "changed_at": now})
            event(db, task_id, now, "started")
    return True


def waiting(db: Connection, task_id: int, attempt: int, why: str, now: int) -> None:
    """It waits for a person, or for something else than before."""
    _between(db, task_id, attempt, LIVE, (NEEDS_INPUT, "asked", why), now)


def answered(db: Connection, task_id: int, attempt: int, now: int) -> None:
    """It goes on."""
    _between(db, task_id, attempt, (NEEDS_INPUT,), (RUNNING, "answered", ""), now)


def _between(
    db: Connection, task_id: int, attempt: int, before: tuple[str, ...], after: tuple[str, str, str], now: int
) -> None:
    """From one of these states to a state, with what happened and why."""
    state, what, why = after
    with transaction(db):
        if store.put(db, task_id, {"state": state, "reason": why, "changed_at": now}, before, attempt):
            event(db, task_id, now, what, why)


def tail(db: Connection, task_id: int, attempt: int, output: str) -> None:
    """What a running attempt shows just now."""
    with transaction(db):
        store.put(db, task_id, {"output": output}, LIVE, attempt)


def finish(db: Connection, task_id: int, attempt: int, outcome: Outcome, now: int) -> bool:
    """An attempt is over: the task with it, or it is queued again while there are retries. False: that was known."""
    with transaction(db):
        live = store.attempt(db, task_id, attempt)
        if live is None:
            return False
        _, tries, retries, session_id = live
        at, shown = outcome.at or now, {"output": outcome.output} if outcome.output else {}
        store.put(db, task_id, {"state": outcome.state, "exit_code": outcome.exit_code, "reason": outcome.reason,
                                "ended_at": at, "changed_at": now, **shown})  # fmt: skip
        code = "" if outcome.exit_code is None else f"exit {outcome.exit_code}"
        became = f"session/{session_id}" if session_id else ""
        event(db, task_id, at, "ended", "; ".join(part for part in (code, outcome.reason, became) if part))
        if outcome.state in (FAILED, TIMED_OUT) and tries <= retries and not outcome.final:
            _again(db, task_id, tries, retries, now)
        elif outcome.state != SUCCEEDED:
            _spread(db, task_id, outcome.state, now)
    return True


def _again(db: Connection, task_id: int, tries: int, retries: int, now: int) -> None:
    """The next attempt, a little later each time."""
    later = now + min(_BACKOFF * 2 ** (tries - 1), _LONGEST_BACKOFF)
    why = f"try {tries} of {retries + 1} did not succeed"
    store.put(db, task_id, {"state": QUEUED, "not_before": later, "reason": why, "runner": ""})
    event(db, task_id, now, "retried", why)


def _spread(db: Connection, task_id: int, state: str, now: int) -> None:
    """What needs this one cannot run: it is cancelled, and says for what."""
    for other in store.dependants(db, task_id):
        _cancel_for(db, other, task_id, state, now)


def _cancel_for(db: Connection, task_id: int, needed: int, state: str, now: int) -> None:
    _cancel(db, task_id, f"task/{needed}, which it needs, {_VERBS[state]}", now, needed)


def _cancel(db: Connection, task_id: int, why: str, now: int, needed: int | None = None) -> bool:
    ended = {"state": CANCELLED, "reason": why, "cancelled_for": needed, "ended_at": now, "changed_at": now}
    if done := store.put(db, task_id, ended, (QUEUED,)):
        event(db, task_id, now, "cancelled", why)
        _spread(db, task_id, CANCELLED, now)
    return done


_VERBS = {FAILED: "failed", CANCELLED: "was cancelled", TIMED_OUT: "ran out of time"}


def cancel_queued(db: Connection, task_id: int, why: str, now: int) -> bool:
    """Cancel one that nobody has claimed, and what needs it. False: it is not queued (any more)."""
    with transaction(db):
        return _cancel(db, task_id, why, now)


def hold(db: Connection, since: Connection, now: int) -> int:
    """Of tasks that are queued here, cancel those that are queued no more in `since`, which is newer: how many.

    For a backup that is put back: what has been done after it was taken shall not be done again by itself.
    """
    if not (store.present(db) and store.present(since)):
        return 0
    newest, queued = store.newest(since), set(store.ids(since, QUEUED))
    why = "it came back with a backup and was not queued any more"
    gone = [each for each in store.ids(db, QUEUED) if each <= newest and each not in queued]
    return sum(cancel_queued(db, each, why, now) for each in gone)


def requeue(db: Connection, task_id: int, now: int) -> tuple[int, ...]:
    """Queue one that is over once more, and with it what was cancelled because of it; all their ids, () when none."""
    with transaction(db):
        return tuple(_revive(db, task_id, now, "retried", "by a person"))


def _revive(db: Connection, task_id: int, now: int, what: str, text: str) -> list[int]:
    anew = {"state": QUEUED, "reason": "", "cancelled_for": None, "tries": 0, "not_before": 0, "runner": "",
            "process": "", "changed_at": now}  # fmt: skip
    if not store.put(db, task_id, anew, OVER):
        return []
    event(db, task_id, now, what, text)
    out = [task_id]
    for other in store.ids(db, CANCELLED, cancelled_for=task_id):
        out += _revive(db, other, now, "revived", f"task/{task_id} is queued again")
    return out


def forget(db: Connection, task_id: int) -> None:
    """Delete a task with its events. Raises NmemError for one that somebody has claimed meanwhile."""
    with transaction(db):
        _at_rest(db, task_id)
        store.forget(db, task_id)
