"""The runner: recovers abandoned attempts, then claims and starts tasks in a loop. Safe to kill at any time.

run(...) goes on until nothing runs and nothing is due, or, watching, until it is told to stop. Any number of runners
may work side by side.
"""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Callable
from dataclasses import dataclass, replace
from sqlite3 import Connection

from nmem.dispatch import processes, queue, read, start, takeup
from nmem.dispatch.config import Dispatch, load
from nmem.dispatch.task import NEEDS_INPUT, QUEUED, RUNNING, Task
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
            takeup.take_up(db, self.db_path, self.clock())
            while claims and (one := self._claim(db)):
                self._start(db, one)
            if self._again(db, claims):
                return True
            if claims and not read.counts(db).get(RUNNING) and (one := self._claim(db)):
                self._start(db, one)  # what kept it from being claimed has ended just now
                return True
            if claims:
                return bool(read.counts(db).get(RUNNING))
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
        start.start(db, self.db_path, one, self.config, self.clock())

    def left(self) -> Left:
        """What there is when it stops."""
        with queue.writing(self.db_path) as db:
            counts, asks = read.counts(db), read.asking(db)
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


def start_one(db_path: str, task_id: int, now: int) -> Task:
    """Start one queued task at once. Raises NmemError."""
    del now
    return Runner(db_path, load()).only(task_id)


def with_options(config: Dispatch, jobs: int, how: str) -> Dispatch:
    """The configuration as a command changes it for one run."""
    changed = replace(config, concurrency=jobs) if jobs else config
    return replace(changed, how=how) if how else changed


def refresh(db_path: str) -> None:
    """Bring in what ended meanwhile, before something is listed; quietly left out where it cannot be written."""
    with contextlib.suppress(NmemError, sqlite3.Error), queue.writing(db_path) as db:
        takeup.take_up(db, db_path, queue.now())
