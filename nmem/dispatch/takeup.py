"""Reconciles attempts that seem to run: stores the results of ended ones, recovers those of a dead runner.

Every runner does it first and often, and so does every command that lists: no state is ever only in a process's memory.
"""

from __future__ import annotations

from sqlite3 import Connection

from nmem.dispatch import ending, processes, queue, read
from nmem.dispatch.folder import ABANDONED, Folder
from nmem.dispatch.task import FAILED, HEADLESS, LIVE, Outcome, Task

_BEGINS_WITHIN = 60_000
"""Milliseconds from the claim to the pane's first word."""
_STARTS_WITHIN = 15_000
"""Milliseconds from when it was told what to do, where nobody waits for it: a runner may start it and leave."""


def take_up(db: Connection, db_path: str, now: int) -> int:
    """Look after every attempt that seems to run; how many of them have ended. Raises sqlite3.Error."""
    return sum(_look(db, db_path, one, now) for one in read.tasks(db, LIVE, limit=1000))


def _look(db: Connection, db_path: str, one: Task, now: int) -> bool:
    folder = Folder(db_path, one.id, one.attempt)
    process = one.process or folder.begun()
    if process in ("", ABANDONED):
        return _never_began(db, db_path, one, folder, now)
    there = processes.alive(process)
    outcome = folder.ended()  # looked at after the process: it writes this last
    if there:
        if not one.process:
            queue.started(db, one.id, one.attempt, process, now)
        return False
    if outcome is None:
        if processes.alive(folder.client()):
            processes.end(processes.pid(folder.client()), 2.0)
        outcome = Outcome(FAILED, reason=_lost(one), at=now)
    return ending.finish(db, db_path, one.id, one.attempt, outcome, now)


def _lost(one: Task) -> str:
    if one.how == HEADLESS:
        return "it went away without an exit code: it was killed, or the machine stopped"
    return "its pane went away without an exit code: tmux or the machine stopped, or it was killed"


def _never_began(db: Connection, db_path: str, one: Task, folder: Folder, now: int) -> bool:
    """Claimed, and nothing came of it yet: left alone while the runner is at it, else taken back."""
    runs = processes.alive(one.runner)
    if runs and now - (one.claimed_at or 0) < _BEGINS_WITHIN:
        return False
    if not runs and now - folder.made_at() < _STARTS_WITHIN:
        return False
    try:
        if not folder.begin(ABANDONED) and folder.begun() != ABANDONED:
            return False  # just now it did begin
    except FileNotFoundError:
        pass  # not even its folder was made
    if runs:
        outcome = Outcome(FAILED, reason="its pane did not begin within a minute", at=now)
        return ending.finish(db, db_path, one.id, one.attempt, outcome, now)
    ending.settle_worktree(db, one, now)
    queue.unclaim(db, one.id, one.attempt, "its runner ended before it began", now)
    folder.remove()
    return False
