"""The runner: recovers abandoned attempts, then claims tasks and starts each in its worktree and pane. Safe to kill.

run(...) goes on until nothing runs and nothing is due, or, watching, until it is told to stop. Any number of runners
may work side by side.

Every runner takes up abandoned attempts first and often, and so does every command that lists: no state is ever only in
a process's memory.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import sqlite3
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from sqlite3 import Connection

from capture import paths
from nmem import own_process
from nmem.dispatch import clients, ending, processes, queue, read, store, tmux, worktrees
from nmem.dispatch.config import AUTO, Dispatch
from nmem.dispatch.folder import ABANDONED, Folder, Spec
from nmem.dispatch.task import FAILED, HEADLESS, LIVE, NEEDS_INPUT, QUEUED, RUNNING, TMUX, Outcome, Task
from nmem.errors import NmemError

POLL = 0.5
_PATIENCE = 120
"""Seconds without the database after which a runner gives up."""
_SOON = 600_000
"""Milliseconds: a retry that comes within them is waited for."""


@dataclass(frozen=True, slots=True)
class Left:
    """What a runner leaves when it stops."""

    started: tuple[int, ...]
    running: int
    needs_input: int
    queued: int
    asks: int = 0
    """Of these, how many wait for a person to let them run; they are not counted as queued."""


class Runner:
    """One process's work on the queue."""

    def __init__(self, db_path: str, config: Dispatch, clock: Callable[[], int] = queue.now) -> None:
        self.db_path = db_path
        self.config = config
        self.clock = clock
        self.name = processes.me()
        self.started: list[int] = []

    def turn(self, claims: bool = True) -> bool:
        """Take up, claim and start what can be; True while there is something to wait for. Raises NmemError."""
        processes.tidy()
        with queue.writing(self.db_path) as db:
            take_up(db, self.db_path, self.clock())
            while claims and (one := self._claim(db)):
                self._start(db, one)
            if self._again(db, claims):
                return True
            running = bool(store.counts(db).get(RUNNING))  # read once: a task may end between two looks
            if claims and not running and (one := self._claim(db)):
                self._start(db, one)  # what kept it from being claimed has ended just now
                return True
            if claims:
                return running
            return any((one := read.task(db, each)) is not None and one.state == RUNNING for each in self.started)

    def _again(self, db: Connection, claims: bool) -> bool:
        """Whether one that this runner has started is tried again soon; named ones it starts itself when it is time."""
        now, waits = self.clock(), False
        for each in dict.fromkeys(self.started):
            one = read.task(db, each)
            if one is None or one.state != QUEUED or not one.tries or one.not_before > now + _SOON:
                continue
            waits = True
            if not claims and one.not_before <= now and (mine := self._claim(db, each)) is not None:
                self._start(db, mine)
        return waits

    def _claim(self, db: Connection, only: int = 0) -> Task | None:
        config = self.config
        return queue.claim(db, self.name, self.clock(), config.concurrency, config.quiet_hours, only)

    def _start(self, db: Connection, one: Task) -> None:
        self.started.append(one.id)  # also where it cannot be started: how that ended is told like any other end
        start(db, self.db_path, one, self.config, self.clock())

    def left(self) -> Left:
        """What there is when it stops."""
        with queue.writing(self.db_path) as db:
            counts, asks = store.counts(db), store.asking(db)
        running, waiting, queued = (counts.get(state, 0) for state in (RUNNING, NEEDS_INPUT, QUEUED))
        return Left(tuple(self.started), running, waiting, queued - asks, asks)

    def only(self, task_id: int) -> Task:
        """Claim and start this one."""
        with queue.writing(self.db_path) as db:
            one = self._claim(db, task_id)
            if one is None:
                raise NmemError(_not_queued(read.task(db, task_id), task_id))
            self._start(db, one)
            return read.task(db, task_id) or one


def _not_queued(one: Task | None, task_id: int) -> str:
    if one is None:
        return f"there is no task {task_id}: `nmem task list` lists them"
    if one.over:
        return f"task/{task_id} is over: {one.state}; `nmem task retry {task_id}` queues it again"
    return f"task/{task_id} is no longer queued: another runner has it"


def run(
    runner: Runner, wait: Callable[[float], bool], *, watch: bool = False, once: bool = False,
    changed: Callable[[], None] = lambda: None, only: bool = False,
) -> Left:  # fmt: skip
    """Work until there is nothing left to wait for; `watch`: until told; `once`: start what is due and leave;
    `only`: wait for what this runner has started by name, claim nothing more.

    `wait(seconds)` says whether to stop; `changed` is called after each turn. Raises NmemError.
    """
    failing = 0.0
    while True:
        try:
            busy, failing = runner.turn(claims=not only), 0.0
        except NmemError:
            failing += POLL
            if once or failing > _PATIENCE:
                raise
            busy = True
        if not failing:
            changed()
        if once or not (busy or watch) or wait(POLL):
            return runner.left()


def with_options(config: Dispatch, jobs: int, how: str) -> Dispatch:
    """The configuration as a command changes it for one run."""
    changed = replace(config, concurrency=jobs) if jobs else config
    return replace(changed, how=how) if how else changed


def refresh(db_path: str) -> None:
    """Bring in what ended meanwhile, before something is listed; quietly left out where it cannot be written."""
    with contextlib.suppress(NmemError, sqlite3.Error), queue.writing(db_path) as db:
        take_up(db, db_path, queue.now())


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
