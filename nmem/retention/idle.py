"""Retention within settling: a sweep a day, and every week the file's text indexes, statistics, log and free pages.

Small steps, each a transaction of its own, with a look between them whether somebody wrote; what would hold the
database for long is done only where it pays and where nothing has happened for a while, and is given up when a hook
comes.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from sqlite3 import Connection

from capture import log, paths
from capture.files import opened
from capture.storage.store import transaction
from nmem.errors import NmemError
from nmem.retention import journal, policy, store, sweep

STEPS = ("merge", "optimize", "checkpoint", "vacuum")
"""The rows of `upkeep` that are told: what was done for the file. Others are notes of the clock and the like."""
QUIET = 600_000
"""Milliseconds without a sign of life before anything that locks is done by itself."""
EVERY = 7 * 86_400_000
PAYS = 0.25
"""The share of empty pages at which the file is written anew,"""
PAYS_BYTES = 20_000_000
"""and how many bytes that has to save."""
_PAGES = 16
"""Pages of an index merged in one step."""
_WAL = 4_000_000
_LOOK = 20_000
"""Steps of SQLite's machine between two looks whether somebody waits."""


@dataclass(frozen=True, slots=True)
class Step:
    """One thing that was done, or why it was not."""

    name: str
    """One of STEPS."""
    done: bool
    told: str
    seconds: float = 0.0


def maintain(
    db: Connection, db_path: str, now: int, *, stopped: Callable[[], bool], vacuum: bool | None = None,
    rest: Callable[[float], None] = time.sleep,
) -> list[Step]:  # fmt: skip
    """Look after the file, on a writing connection outside a transaction. `vacuum`: None asks whether it pays."""
    steps: list[Step] = []
    for work in (_merge, _optimize, _checkpoint):
        if stopped():
            return steps
        steps.append(_timed(lambda each=work: each(db, db_path, stopped, rest)))  # type: ignore[misc]
    if not stopped():
        steps.append(_timed(lambda: _vacuum(db, db_path, now, stopped, vacuum)))
    _note(db, steps, now)
    return steps


def due(db: Connection, now: int) -> bool:
    """Whether the file was not looked after for a week."""
    row = journal.notes(db).get("optimize")
    return row is None or not 0 <= now - row[0] < EVERY


def told(db: Connection) -> tuple[tuple[str, int, str], ...]:
    """(what, when, what came of it) of the upkeep done last."""
    return tuple((name, *row) for name, row in journal.notes(db).items() if name in STEPS)


def rewrite(db: Connection, db_path: str, now: int, *, stopped: Callable[[], bool]) -> list[Step]:
    """Only give empty pages back, where that pays and nobody works: whenever it was not possible before."""
    empty, share = saves(db)
    if share < PAYS or empty < PAYS_BYTES or not quiet(db, now):
        return []
    steps = [_timed(lambda: _vacuum(db, db_path, now, stopped, None))]
    _note(db, steps, now)
    return steps


def quiet(db: Connection, now: int) -> bool:
    """Whether no session that may go on has had an event for a while: whose end began this settling works no more."""
    last = store.last_active(db, now)
    return last is None or now - last >= QUIET


def _timed(work: Callable[[], Step]) -> Step:
    begun = time.perf_counter()
    step = work()
    return Step(step.name, step.done, step.told, round(time.perf_counter() - begun, 3))


def _note(db: Connection, steps: list[Step], now: int) -> None:
    with transaction(db):
        journal.note(db, [(step.name, now, step.told) for step in steps if step.done])


def _merge(db: Connection, _path: str, stopped: Callable[[], bool], rest: Callable[[float], None]) -> Step:
    """Merge what single writes left of the text indexes, a few pages at a time."""
    merged = 0
    for index in journal.INDEXES:
        while not stopped():
            begun = time.perf_counter()
            with transaction(db):
                worked = journal.merge_index(db, index, _PAGES)
            rest(min(0.05, time.perf_counter() - begun))
            if not worked:
                break
            merged += 1
    return Step("merge", not stopped(), f"{merged} steps over {len(journal.INDEXES)} text indexes")


def _optimize(db: Connection, _path: str, _stopped: Callable[[], bool], _rest: Callable[[float], None]) -> Step:
    """Fresh statistics for the planner, from a sample."""
    journal.optimize(db)
    return Step("optimize", True, "statistics are fresh")


def _checkpoint(db: Connection, db_path: str, _stopped: Callable[[], bool], _rest: Callable[[float], None]) -> Step:
    """Fold the log back; cut it where it is long and nobody holds it."""
    log = Path(f"{db_path}-wal")
    size = log.stat().st_size if log.exists() else 0
    busy = journal.checkpoint(db, cut=size > _WAL)
    said = "a reader is active: the log stays" if busy else f"{size / 1e6:.1f} MB of log written back"
    return Step("checkpoint", not busy, said)


def saves(db: Connection) -> tuple[int, float]:
    """Bytes of empty pages in the file, and the share of it that they are."""
    pages, free, each = journal.pages(db)
    return free * each, free / max(1, pages)


def _vacuum(db: Connection, db_path: str, now: int, stopped: Callable[[], bool], wanted: bool | None) -> Step:
    """Write the file anew without its empty pages; given up as soon as a hook has to wait."""
    empty, share = saves(db)
    why = "not wanted" if wanted is False else _why_not(db, db_path, now, empty, share, wanted=bool(wanted))
    if why:
        return Step("vacuum", False, why)
    spool = Path(paths.spool(db_path))
    waiting = _entries(spool)
    db.set_progress_handler(lambda: int(stopped() or _entries(spool) > waiting), _LOOK)
    try:
        journal.vacuum(db)
    except sqlite3.OperationalError as error:
        if "interrupt" in str(error):
            return Step("vacuum", False, "stopped: a session became active")
        if "locked" in str(error) or "busy" in str(error):
            return Step("vacuum", False, "the database is in use")
        raise
    finally:
        db.set_progress_handler(None, 0)
    return Step("vacuum", True, f"{empty / 1e6:.0f} MB freed")


def _why_not(db: Connection, db_path: str, now: int, empty: int, share: float, *, wanted: bool) -> str:
    size = os.path.getsize(db_path)  # noqa: PTH202 - beside paths as texts
    if not wanted and (share < PAYS or empty < PAYS_BYTES):
        return f"not needed: {empty / 1e6:.0f} MB of {size / 1e6:.0f} MB are free and will be reused"
    if not wanted and not quiet(db, now):
        return f"{empty / 1e6:.0f} MB can be freed once no session is active"
    free = shutil.disk_usage(Path(db_path).parent).free
    if free < 2.2 * size:
        return f"the disk has {free / 1e6:.0f} MB left; rewriting the file takes {2.2 * size / 1e6:.0f} MB"
    return ""


def _entries(folder: Path) -> int:
    try:
        return len(os.listdir(folder))  # noqa: PTH208 - often, and only to count
    except OSError:
        return 0


SECONDS = 45.0
"""How long forgetting may take of one settling; what is left is for the next."""
UPKEEP = 30.0


@dataclass(frozen=True, slots=True)
class Done:
    """What was done by itself."""

    forgotten: int = 0
    steps: tuple[Step, ...] = ()
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
        if due(db, now) and not stopped():
            steps = maintain(db, db_path, now, stopped=within(UPKEEP, stopped))
        elif not stopped():
            steps = rewrite(db, db_path, now, stopped=within(UPKEEP, stopped))
    count = swept.count if swept else 0
    return Done(count, tuple(steps), swept is not None and swept.done != journal.FINISHED)


def within(seconds: float, stopped: Callable[[], bool]) -> Callable[[], bool]:
    """Stopped, or after so many seconds from now."""
    end = time.monotonic() + seconds
    return lambda: stopped() or time.monotonic() > end


@contextmanager
def alone(db_path: str, patience: float = 0.0) -> Iterator[bool]:
    """Whether no other process sweeps this database; the system frees the lock when its holder dies.

    `patience`: for how many seconds another one is waited for.
    """
    paths.make(paths.folder(db_path))
    handle = opened(str(Path(paths.folder(db_path), "sweep.lock")), os.O_WRONLY | os.O_CREAT)
    try:
        end = time.monotonic() + patience
        while not (mine := _mine(handle)) and time.monotonic() < end:
            time.sleep(0.05)
        yield mine
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
