"""Long jobs with progress and a stop: audit, rescan, sweep, backup, repair, retraining."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from threading import Event
from typing import Any

from textual.message import Message

from nmem import database, tables
from nmem.errors import NmemError
from nmem_tui.messages import Progress
from nmem_tui.model.figures import duration, several, size

_EVERY_S = 0.1
"""How far it is is told at most this often."""


class Stopped(NmemError):
    """The person, or the end of the cockpit, stopped it."""


class Job:
    """One piece of long work: how far it is, and whether it shall go on."""

    def __init__(self, name: str, post: Callable[[Message], object], *, stops: bool = True) -> None:
        self.name = name
        self.stops = stops
        """Whether a person can stop it."""
        self.done = self.whole = 0
        """Steps; `whole` 0: nobody knows how many there are."""
        self.said = ""
        """What it is at."""
        self._post = post
        self._stop = Event()
        self._told = 0.0
        self._db: sqlite3.Connection | None = None

    def holds(self, db: sqlite3.Connection) -> None:
        """What is asked of this connection is broken off by a stop."""
        self._db = db

    def stop(self) -> None:
        """It shall end soon."""
        self._stop.set()
        if self._db is not None:
            with suppress(sqlite3.ProgrammingError):  # closed: the work has just come to its end
                self._db.interrupt()

    def stopped(self) -> bool:
        """Whether it shall end."""
        return self._stop.is_set()

    def check(self) -> None:
        """Raises Stopped when it shall end."""
        if self.stopped():
            raise Stopped(f"{self.name}: stopped")

    def tell(self, done: int, whole: int = 0, said: str = "") -> None:
        """So far it is."""
        self.done, self.whole, self.said = done, whole, said
        if time.monotonic() - self._told > _EVERY_S:
            self._told = time.monotonic()
            self._post(Progress())


Do = Callable[[Job, str, int], tuple[str, Any]]
"""Does it to the database at a path, at a time (ms): one line for the person, and what came of it."""


SWEEP_S = 600.0
"""A sweep goes on at most so long; what is left is for the next."""
_BUSY_S = 5.0


@contextmanager
def _writer(path: str) -> Iterator[sqlite3.Connection]:
    from capture.storage import store  # on use: start-up stays short

    with closing(store.connect(path, timeout=_BUSY_S)) as db:
        tables.ensure(db)
        yield db


def audit(job: Job, path: str, now: int) -> tuple[str, object]:
    """Read everything; the findings."""
    from nmem.audit import read  # on use: start-up stays short

    whole = len(read.SUBJECTS)
    with closing(database.leniently(database.reader(path))) as db:
        job.holds(db)

        def step(subject: str) -> None:
            job.check()
            job.tell(read.SUBJECTS.index(subject), whole, subject)

        found = read.findings(db, path, now, deep=True, step=step)
    wrong = sum(one.severity == "wrong" for one in found)
    notes = sum(one.severity == "note" for one in found)
    return f"audit done: {several(wrong, 'problem')}, {several(notes, 'note')}", tuple(found)


def rescan(job: Job, path: str, now: int) -> tuple[str, object]:
    """Show a sample of texts to the second detector; what it sees goes into the deck."""
    from nmem.audit import redaction as second  # on use: start-up stays short

    with closing(database.leniently(database.reader(path))) as db, _writer(path) as writer:
        job.holds(db)
        job.tell(0, 0, f"{second.SAMPLE:,} texts")
        found = second.second_opinion(db, writer, now)
    if not found:
        return "nothing is recorded that a second detector could look at", None
    return found[0].evidence.partition(" (")[0], found[0]


def sweep(job: Job, path: str, now: int) -> tuple[str, object]:
    """Forget what is past its lifetime."""
    from nmem.retention import plan, policy  # on use: start-up stays short
    from nmem.retention.idle import alone, within
    from nmem.retention.sweep import sweep as forget

    wanted = policy.load()
    with alone(path) as mine, _writer(path) as db:
        if not mine:
            raise NmemError("another sweep is running: see the journal")
        if ahead := plan.ahead_by(db, now):
            said = f"the clock is {duration(ahead)} ahead of the last recorded time: set it"
            raise NmemError(f"{said}, or run `nmem sweep --clock-is-right`")
        done = forget(
            db, wanted, now, stopped=within(SWEEP_S, job.stopped),
            step=lambda _session: job.tell(job.done + 1, 0, several(job.done + 1, "session")),
        )  # fmt: skip
    if not done.count:
        return "nothing is past its lifetime", done
    said = f"{done.count:,} records of {several(done.sessions, 'session')} forgotten; their traces stay"
    return said if done.done == "finished" else f"{said}; more is left for the next time", done


def backup(job: Job, path: str, now: int) -> tuple[str, object]:  # noqa: ARG001 -- it is named after the clock
    """Copy everything into one file."""
    from nmem.backup import take  # on use: start-up stays short

    def progress(done: int, whole: int) -> None:
        job.check()
        job.tell(done, whole, "pages")

    made = take.backup(path, progress=progress)
    sealed = ", encrypted" if made.encrypted else ""
    took = duration(round(made.seconds * 1000))
    return f"backed up: {Path(made.path).name}, {size(made.bytes)}{sealed}, every page whole, {took}", made


def mend(job: Job, path: str, now: int) -> tuple[str, object]:  # noqa: ARG001 -- nothing of it is dated
    """Mend what needs no decision in the database."""
    from nmem.doctor import examine  # on use: start-up stays short

    job.tell(0, 0, "spool, text indexes, rows left behind")
    done = examine.fix_database(path)
    if troubles := [line for line in done if " could not be " in line]:  # it goes on with the rest, and says so
        raise NmemError(f"fixing: {'; '.join(troubles)}")
    return f"fixed: {'; '.join(done)}" if done else "nothing to fix", tuple(done)


def retrain(job: Job, path: str, now: int) -> tuple[str, object]:
    """Fit where episodes begin on the person's corrections, and keep what is better on sessions not seen."""
    from nmem.training import personal  # on use: start-up stays short
    from nmem_tui.model import training

    with _writer(path) as db:
        job.tell(0, 0, "your corrections")
        done = personal.train(db, path, now)
    return training.said(done), done
