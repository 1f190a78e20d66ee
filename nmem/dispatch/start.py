"""Starts one claimed task: makes its worktree, folder and command, and opens its pane."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from sqlite3 import Connection

from capture import paths
from nmem import own_process
from nmem.dispatch import clients, ending, processes, queue, read, tmux, worktrees
from nmem.dispatch.config import AUTO, Dispatch
from nmem.dispatch.folder import Folder, Spec
from nmem.dispatch.task import FAILED, HEADLESS, TMUX, Outcome, Task
from nmem.errors import NmemError

_LATER = 60_000
"""Milliseconds until a busy pane is looked at again."""
_OURS = ("NMEM_DB", "NMEM_CONFIG")


class Missing(NmemError):
    """What another try would not find either."""


def start(db: Connection, db_path: str, one: Task, config: Dispatch, now: int) -> None:
    """Start it, or end it, or put it back into the queue. Raises sqlite3.Error."""
    folder = Folder(db_path, one.id, one.attempt)
    try:
        _start(db, db_path, one, config, folder, now)
    except tmux.Busy as busy:
        ending.settle_worktree(db, read.task(db, one.id) or one, now)
        queue.unclaim(db, one.id, one.attempt, str(busy), now, now + _LATER)
        folder.remove()
    except (NmemError, OSError) as error:
        reason = str(error) if isinstance(error, NmemError) else f"it cannot be started: {error}"
        outcome = Outcome(FAILED, reason=reason, at=now, final=isinstance(error, Missing))
        ending.finish(db, db_path, one.id, one.attempt, outcome, now)


def _start(db: Connection, db_path: str, one: Task, config: Dispatch, folder: Folder, now: int) -> None:
    how = _how(one, config)
    if one.target:
        tmux.idle(config.tmux_socket, one.target)
    if not Path(one.cwd).is_dir():
        raise NmemError(f"{one.cwd} is no longer a folder")
    cwd = _worktree(db, db_path, one, config, now) if one.worktree else one.cwd
    call = clients.call(one, config, folder)
    _there(call.argv[0], cwd)
    limit = one.time_limit or config.time_limit
    environment = tuple((name, os.environ[name]) for name in _OURS if name in os.environ)
    spec = Spec(
        os.path.abspath(db_path), one.id, one.attempt, call.argv, cwd, call.stdin, one.interactive,  # noqa: PTH100
        how == HEADLESS, limit, config.idle_seconds, os.environ.get("PATH", os.defpath), environment,
    )  # fmt: skip
    folder.make(spec, one.prompt)
    if any(str(folder.hooks) in word for word in call.argv):
        folder.write_hooks(clients.hooks(folder))
    words = own_process.words(str(folder.path), function="nmem.dispatch.pane:main")
    place = {"how": how, "socket": config.tmux_socket if how == TMUX else ""}
    queue.placed(db, one.id, one.attempt, place, now)
    if how == HEADLESS:
        processes.open_process(words)
    elif one.target:
        place["pane"] = tmux.type_into(config.tmux_socket, one.target, words)
    else:
        place["pane"] = tmux.open_window(config.tmux_socket, config.tmux_session, f"task-{one.id}", cwd, words)
    queue.placed(db, one.id, one.attempt, place, now)


def _how(one: Task, config: Dispatch) -> str:
    """In tmux or without: as configured, else in tmux where there is one."""
    chosen = config.how
    if chosen == AUTO:
        chosen = TMUX if one.target or tmux.installed() else HEADLESS
    if chosen == HEADLESS and (one.interactive or one.target):
        raise Missing("an interactive task needs a pane of tmux: install tmux, or leave out --interactive")
    if chosen == TMUX and not tmux.installed():
        raise Missing("tmux is not installed: install it, or run tasks with --headless")
    return chosen


def _there(program: str, cwd: str) -> None:
    found = shutil.which(program) if "/" not in program else (Path(cwd) / program).is_file()
    if not found:
        raise Missing(f"{program} is not installed, or not on PATH: [dispatch.commands] can name it")


def folder_of_worktrees(db_path: str, config: Dispatch) -> str:
    """Where worktrees are made."""
    return os.path.expanduser(config.worktrees) or os.path.join(paths.folder(db_path), "worktrees")  # noqa: PTH111, PTH118


def _worktree(db: Connection, db_path: str, one: Task, config: Dispatch, now: int) -> str:
    """A worktree of its own; where one task in a worktree had to succeed before, it begins at that one's branch."""
    before = [found for need in one.needs if (found := read.task(db, need)) and found.branch]
    kept = [found for found in before if worktrees.same_repository(one.cwd, found.cwd)]
    start_at = kept[0].branch if len(kept) == 1 else ""
    made = worktrees.make(one.cwd, one.id, one.attempt, folder_of_worktrees(db_path, config), start_at)
    said = f"{made.branch} at {start_at or 'HEAD'} ({made.base[:10]})"
    queue.placed(db, one.id, one.attempt, {"worktree_path": made.path, "branch": made.branch}, now, said)
    return made.cwd
