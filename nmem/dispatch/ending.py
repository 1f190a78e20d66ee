"""Ends an attempt: settles its worktree, finishes its task, removes its folder. Idempotent."""

from __future__ import annotations

import contextlib
import signal
import time
from pathlib import Path
from sqlite3 import Connection

from nmem.dispatch import processes, queue, read, work, worktrees
from nmem.dispatch.folder import ABANDONED, Folder
from nmem.dispatch.task import CANCELLED, Outcome, Task
from nmem.errors import NmemError


def finish(db: Connection, db_path: str, task_id: int, attempt: int, outcome: Outcome, now: int) -> bool:
    """Bring an end into the database; False when it was there already. Raises sqlite3.Error."""
    one = read.task(db, task_id)
    if one is None or one.attempt != attempt or not one.live:
        _away(db_path, task_id, attempt)
        return False
    tree = settle_worktree(db, one, now)
    asked = Folder(db_path, task_id, attempt).asked()[1]
    outcome = work.judged(outcome, one, work.of(db, one, tree, asked))
    done = queue.finish(db, task_id, attempt, outcome, now)
    _away(db_path, task_id, attempt)
    return done


def settle_worktree(db: Connection, one: Task, now: int) -> worktrees.Changes | None:
    """Remove a worktree that nothing was done in, and say what became of it; what was done, None: that is not known."""
    if not one.worktree_path:
        return None
    done = None
    try:
        if Path(one.worktree_path).is_dir():
            done = worktrees.changes(one.worktree_path, worktrees.base_of(one.cwd, one.branch))
        said = worktrees.settle(one.cwd, one.worktree_path, one.branch, done)
    except NmemError as error:
        said = f"kept on {one.branch}: {error}"
    gone = {} if said.startswith("kept") else {"worktree_path": "", "branch": ""}
    queue.placed(db, one.id, one.attempt, gone or {"branch": one.branch}, now, said)
    return done


def _away(db_path: str, task_id: int, attempt: int) -> None:
    Folder(db_path, task_id, attempt).remove()


_PATIENCE = 12.0
"""Seconds in which the process beside the client ends it; longer, and everything is killed from here."""


def cancel(db_path: str, task_id: int, why: str) -> None:
    """End it, wait until it has ended, and see that the database says so. Raises NmemError."""
    with queue.writing(db_path) as db:
        one = read.task(db, task_id)
    if one is None or not one.live:
        return
    folder = Folder(db_path, task_id, one.attempt)
    with contextlib.suppress(OSError):
        folder.cancel(why)
    process = one.process or _begun(folder)
    if processes.alive(process):
        processes.send([processes.pid(process)], signal.SIGTERM)
        until = time.monotonic() + _PATIENCE
        while processes.alive(process) and time.monotonic() < until:
            time.sleep(0.05)
    for left in (process, folder.client()):
        if processes.alive(left):
            processes.end(processes.pid(left), 1.0)
    outcome = folder.ended() or Outcome(CANCELLED, reason=why)
    with queue.writing(db_path) as db:
        finish(db, db_path, task_id, one.attempt, outcome, queue.now())


def _begun(folder: Folder) -> str:
    """The process beside the client; where there is none yet, none will be."""
    try:
        mine = folder.begin(ABANDONED)
    except OSError:
        return ""
    return "" if mine else folder.begun()
