"""Automatic retention within settling: a sweep a day and maintenance a week, each with a time limit."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from sqlite3 import Connection

from capture import log, paths
from capture.files import opened
from nmem.errors import NmemError
from nmem.retention import idle, journal, policy, sweep

SECONDS = 45.0
"""How long forgetting may take of one settling; what is left is for the next."""
UPKEEP = 30.0


@dataclass(frozen=True, slots=True)
class Done:
    """What was done by itself."""

    forgotten: int = 0
    steps: tuple[idle.Step, ...] = ()
    left: bool = False


def automatic(db: Connection, db_path: str, now: int, stopped: Callable[[], bool]) -> Done:
    """Forget what is due and look after the file, on a writing connection outside a transaction.

    A configuration that cannot be read forgets nothing: one line in the log says so. Raises sqlite3.Error.
    """
    swept, steps = None, []
    try:
        wanted = policy.load()
    except NmemError as error:
        log.note(db_path, f"retention: {error}")
        return Done()
    with alone(db_path) as mine:
        if not mine:
            return Done()
        if wanted.enabled and sweep.due(db, now):
            swept = sweep.sweep(db, wanted, now, why=journal.SETTLED, stopped=within(SECONDS, stopped))
        if idle.due(db, now) and not stopped():
            steps = idle.maintain(db, db_path, now, stopped=within(UPKEEP, stopped))
        elif not stopped():
            steps = idle.rewrite(db, db_path, now, stopped=within(UPKEEP, stopped))
    count = swept.count if swept else 0
    return Done(count, tuple(steps), swept is not None and swept.done != journal.FINISHED)


def within(seconds: float, stopped: Callable[[], bool]) -> Callable[[], bool]:
    """Stopped, or after so many seconds from now."""
    end = time.monotonic() + seconds
    return lambda: stopped() or time.monotonic() > end


@contextmanager
def alone(db_path: str) -> Iterator[bool]:
    """Whether no other process sweeps this database; the system frees the lock when its holder dies."""
    paths.make(paths.folder(db_path))
    handle = opened(str(Path(paths.folder(db_path), "sweep.lock")), os.O_WRONLY | os.O_CREAT)
    try:
        yield _mine(handle)
    finally:
        os.close(handle)


def _mine(handle: int) -> bool:
    try:
        from fcntl import LOCK_EX, LOCK_NB, flock  # on use: not every system has it
    except ImportError:
        return True  # each transaction asks again whether its rows are still to go
    try:
        flock(handle, LOCK_EX | LOCK_NB)
    except OSError:
        return False
    return True
