"""Adds, edits, approves, cancels, retries and removes tasks for a person, from commands and screens.

    add(db, new, now) -> Task                     checked, redacted, queued
    edit(db, task_id, changes, now) -> Task       changes: {"prompt": ..., "priority": 3, "needs": (1, 2)}, fields
                                                  of NewTask; not while it runs
    approve(db, task_id, now) -> Task             let one run that an agent queued
    cancel(db_path, task_id, now) -> Task         queued: at once; running: its client and all that it started are ended
    retry(db, task_id, now) -> tuple[int, ...]    queue it again, and what was cancelled because of it; their ids
    remove(db_path, task_id) -> str               away with a task that is not running; what became of its worktree
    output(task) -> str                           its last lines; of one that runs in a pane, what that shows now
    attach_words(task) -> list[str]               what to exec to be in its pane, or in its session once it is over
    able(task) -> tuple[str, ...]                 which of approve edit cancel retry remove run attach make sense now

`db` is a writing connection outside a transaction (nmem.commands.terminal.writing, or store.connect); the others open
one for as long as they need it, so a screen calls them in a worker. `now` is in milliseconds. All raise NmemError with
one line for the person, and sqlite3.Error.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from sqlite3 import Connection
from typing import Any

from nmem.dispatch import accept, clients, ending, queue, read, store, tmux
from nmem.dispatch.task import CANCELLED, FAILED, QUEUED, TIMED_OUT, TMUX, NewTask, Task, stands
from nmem.errors import NmemError

_EDITABLE = tuple(each for each in NewTask._fields if each not in ("source", "learning_id", "parent_id"))


def add(db: Connection, new: NewTask, now: int) -> Task:
    """Check, redact and queue a task."""
    return _found(db, queue.add(db, accept.accepted(db, new), now))


def edit(db: Connection, task_id: int, changes: Mapping[str, Any], now: int) -> Task:
    """Change a task that is not running; what is given is checked as for a new one."""
    one = _found(db, task_id)
    if one.live:
        raise NmemError(f"task/{task_id} {stands(one.state)}: cancel it first")
    if strange := sorted(set(changes) - set(_EDITABLE)):
        raise NmemError(f"a task has no {', '.join(strange)} to change")
    stood = one._asdict()
    before = NewTask(**{name: stood[name] for name in _EDITABLE})
    given = before._replace(**changes)
    gone = () if "needs" in changes else tuple(need for need in one.needs if read.task(db, need) is None)
    given = given._replace(needs=tuple(need for need in given.needs if need not in gone))
    accept.needs(db, task_id, given.needs)
    wanted = accept.accepted(db, given)
    changed = wanted._asdict()
    needs = tuple(sorted({*wanted.needs, *gone}))
    values = {
        name: changed[name] for name in (*_EDITABLE, "project") if name != "needs" and changed[name] != stood[name]
    }
    if values or needs != one.needs:
        queue.change(db, task_id, values, needs if needs != one.needs else None, now)
    return _found(db, task_id)


def approve(db: Connection, task_id: int, now: int) -> Task:
    """Let a task run that an agent queued. Raises NmemError for one that does not wait for that."""
    one = _found(db, task_id)
    if not queue.approve(db, task_id, "by a person", now):
        raise NmemError(f"task/{task_id} needs no approval: it is {one.state}")
    return _found(db, task_id)


def cancel(db_path: str, task_id: int, now: int, why: str = "by a person") -> Task:
    """Cancel a task wherever it stands; what needs it is cancelled with it."""
    with queue.writing(db_path) as db:
        one = _found(db, task_id)
        if one.over:
            raise NmemError(f"task/{task_id} is already over: it {_was(one)}")
        if one.state == QUEUED and queue.cancel_queued(db, task_id, why, now):
            return _found(db, task_id)
    ending.cancel(db_path, task_id, why)
    with queue.writing(db_path) as db:
        return _found(db, task_id)


def retry(db: Connection, task_id: int, now: int) -> tuple[int, ...]:
    """Queue a task that is over once more."""
    one = _found(db, task_id)
    if not one.over:
        raise NmemError(f"task/{task_id} {stands(one.state)}: only finished tasks can be retried")
    for need in one.waits_for:
        if read.task(db, need) is None:
            raise NmemError(
                f"task/{task_id} needs task/{need}, which is gone: `nmem task edit {task_id} --depends-on none`"
            )
        if _found(db, need).state in queue.BROKEN:
            raise NmemError(f"task/{task_id} needs task/{need}, which {_was(_found(db, need))}: retry that")
    return queue.requeue(db, task_id, now)


def remove(db_path: str, task_id: int) -> str:
    """Delete a task that is not running, with its history; a worktree with work in it stays, and is named."""
    with queue.writing(db_path) as db:
        one = _found(db, task_id)
        if one.live:
            raise NmemError(f"task/{task_id} {stands(one.state)}: cancel it first")
        waiting = [each for each in store.dependants(db, task_id) if _found(db, each).state == QUEUED]
        if waiting and one.state != "succeeded":
            names = ", ".join(f"task/{each}" for each in waiting)
            raise NmemError(f"{names} waits for task/{task_id}: cancel or edit that first")
        queue.forget(db, task_id)
    return f"its work stays in {one.worktree_path} on {one.branch}" if one.worktree_path else ""


def output(one: Task) -> str:
    """The last lines of a task: what its pane shows now where there is one, cleaned and redacted like all the rest."""
    from nmem.dispatch.child import kept  # on use: start-up stays short

    if one.live and one.how == TMUX and one.pane and not one.target:
        try:
            shown = tmux.capture(one.socket, one.pane, 0)
        except NmemError:
            shown = ""
        if shown:
            return kept(shown)
    return one.output


def attach_words(one: Task) -> list[str]:
    """The words that bring a person to a task: its pane while there is one, else its session."""
    if one.live and one.how == TMUX and tmux.exists(one.socket, one.pane):
        return tmux.attach(one.socket, one.pane, bool(os.environ.get("TMUX")) and not one.socket)
    if one.live:
        raise NmemError(f"task/{one.id} runs without a terminal: `nmem task output --follow {one.id}` shows it")
    if one.over and one.session_id:
        return clients.resume(one.client, one.session_id)
    raise NmemError(f"task/{one.id} {stands(one.state)}: nothing to attach to")


def able(one: Task) -> tuple[str, ...]:
    """What makes sense with a task now."""
    verbs = {
        "approve": one.asks,
        "run": one.state == QUEUED and not one.waits_for, "edit": not one.live, "cancel": not one.over,
        "retry": one.over, "attach": (one.live and one.how == TMUX) or (one.over and bool(one.session_id)),
        "remove": not one.live,
    }  # fmt: skip
    return tuple(verb for verb, can in verbs.items() if can)


def _found(db: Connection, task_id: int) -> Task:
    one = read.task(db, task_id)
    if one is None:
        raise NmemError(f"there is no task {task_id}: `nmem task list` lists them")
    return one


def _was(one: Task) -> str:
    return {FAILED: "failed", CANCELLED: "was cancelled", TIMED_OUT: "ran out of time"}.get(one.state, one.state)
