"""Labels stored tool calls with the current classifiers, session by session, newest first.

Labels are worked out outside of transactions, and written in ones so short, and so far apart, that a hook does not
wait. Whatever is written is whole: killed anywhere, the next run goes on with what is still due. What a person decided
is not touched.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from sqlite3 import Connection

from capture.labels import DIMENSIONS
from capture.labels.model import Model, current
from capture.storage.store import transaction
from nmem.errors import NmemError
from nmem.labels import store, workers
from nmem.labels.store import Change, Touched
from nmem.labels.workers import Done, Job, Task
from nmem.store.project import unknown

Beside = Callable[[Sequence[Job]], Iterator[Done]]
_MANY = 20_000
"""Rows from which on processes of their own are worth their start."""
_PROCESSES = 2
_BRIEF, _LONG = 0.010, 0.025
"""Seconds that a transaction should take: less, and the next one is larger; more, and it is smaller."""
_FEWEST, _MOST = 32, 1000
_CHECKPOINT = 20_000
"""Rows after which the write-ahead log is folded back, with no lock held."""


@dataclass(slots=True)
class Report:
    """What a run did."""

    model: str = ""
    due: int = 0
    """Rows that were due when it began."""
    labelled: int = 0
    changed: int = 0
    """Of these, rows where a word is another one now."""
    sessions: int = 0
    seconds: float = 0.0
    left: bool = False
    """Whether some are still due."""
    longest_ms: float = 0.0
    """The longest time that the database was locked."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """What to label: nothing said is all that another model or none has labelled."""

    dimension: str = ""
    project: str = ""
    everything: bool = False
    limit: int = 0


def in_force(db_path: str) -> Model:
    """The model that labels now. Raises NmemError when there is none."""
    model = current(db_path)
    if model is None:
        raise NmemError("the table of weights is missing or damaged: install nmem again")
    return model


def backfill(
    db: Connection, db_path: str, now: int, wanted: Wanted | None = None, *, processes: int | None = None,
    step: Callable[[Report], None] = lambda _report: None, stop: Callable[[], bool] = lambda: False,
) -> Report:  # fmt: skip
    """Label what is due. `step` is told after each transaction; `stop` ends the run between two of them.

    Call it outside a transaction. Raises NmemError or sqlite3.Error; what was written stays.
    """
    wanted = wanted or Wanted()
    if wanted.dimension and wanted.dimension not in DIMENSIONS:
        raise NmemError(f"{wanted.dimension} is not a dimension: {', '.join(DIMENSIONS)}")
    model = in_force(db_path)
    store.met(db, db_path, model, now)
    dimensions = (wanted.dimension,) if wanted.dimension else DIMENSIONS
    task = Task(model.name, dimensions, everything=wanted.everything)
    jobs, due = _jobs(db, db_path, task, wanted.project)
    run = _Run(db, Report(model.name, min(due, wanted.limit) if wanted.limit else due), step, stop, wanted.limit)
    many = processes if processes is not None else min(_PROCESSES, os.cpu_count() or 1)
    run.all(jobs, many if run.report.due >= _MANY or processes else 0)
    return run.report


def fill(
    db: Connection, db_path: str, now: int, stop: Callable[[], bool], sessions: Sequence[str] | None = None,
    beside: Beside | None = None, over: Callable[[str], None] | None = None,
) -> int:  # fmt: skip
    """Label what no model has labelled yet: how many rows. For settling; cheap when nothing is new.

    `sessions`: only theirs. `beside`: works the labels out in processes of its own; else this process does. `over` is
    told of each session whose labels are written, and counts its episodes anew.
    Raises sqlite3.Error.
    """
    model = current(db_path)
    if model is None:
        return 0
    store.met(db, db_path, model, now)
    newest = store.newest(db)
    since = store.looked_to(db)
    if newest <= since:
        return 0
    task = Task(model.name, bare=True)
    jobs, due = _jobs(db, db_path, task, after=since) if sessions is None else _jobs_of(db, db_path, task, sessions)
    run = _Run(db, Report(model.name, due), lambda _report: None, stop, 0)
    run.all(jobs, 0, beside, over)
    if sessions is None and not run.report.left:
        store.looked(db, model, newest)
    return run.report.labelled


def _jobs(db: Connection, db_path: str, task: Task, project: str = "", after: int = 0) -> tuple[list[Job], int]:
    """The sessions with rows that are due, the newest first, and how many rows these are."""
    if project and not store.has_project(db, project):
        raise unknown(db, project)
    found = store.due(db, task.model, everything=task.everything, bare=task.bare, project=project, after=after)
    return [Job(db_path, task, session_id, at) for session_id, at, _ in found], sum(count for _, _, count in found)


def _jobs_of(db: Connection, db_path: str, task: Task, sessions: Sequence[str]) -> tuple[list[Job], int]:
    """Those of these sessions with rows that no model has labelled, in this order, and how many rows these are."""
    found = [(each, *store.bare(db, each)) for each in sessions]
    jobs = [Job(db_path, task, session_id, at) for session_id, at, _ in found if at is not None]
    return jobs, sum(count for _, _, count in found)


class _Run:
    """One pass: takes what was worked out and writes it, a few rows at a time."""

    def __init__(
        self, db: Connection, report: Report, step: Callable[[Report], None], stop: Callable[[], bool], limit: int
    ) -> None:
        self.db, self.report, self.step, self.stop, self.limit = db, report, step, stop, limit
        self._size = 8 * _FEWEST
        self._took = self._ended = 0.0
        self._unfolded = 0
        self._touched: dict[str, Touched] = {}

    def all(
        self, jobs: Sequence[Job], processes: int, beside: Beside | None = None,
        over: Callable[[str], None] | None = None,
    ) -> None:  # fmt: skip
        """Everything that is due, until it is told to stop."""
        begun = time.perf_counter()
        usual = store.fold_after(self.db, 0)
        working = beside(jobs) if beside else workers.work(self.db, jobs, processes)
        try:
            for done in working:
                self._take(done.session_id, done.changes)
                if self.report.left:
                    break
                if done.over and over is None:
                    self._over(done.session_id)
                elif done.over and over is not None:
                    with suppress(Exception):  # settling does it again as its next step, and says what is wrong
                        over(done.session_id)
                        self._touched.pop(done.session_id, None)
        finally:
            working.close()  # type: ignore[attr-defined]
            for session_id in list(self._touched):
                self._over(session_id)
            self._fold(self._unfolded and _CHECKPOINT)
            store.fold_after(self.db, usual)
        self.report.seconds = round(time.perf_counter() - begun, 3)

    def _take(self, session_id: str, changes: Sequence[Change]) -> None:
        at = 0
        while at < len(changes):
            room = self.limit - self.report.labelled if self.limit else len(changes)
            if self.stop() or room <= 0:
                self.report.left = True
                return
            some = changes[at : at + min(self._size, room)]
            self._write(session_id, some)
            at += len(some)
            self._fold(len(some))
            self.step(self.report)

    def _write(self, session_id: str, some: Sequence[Change]) -> None:
        """One transaction; as long as it took, others have the database to themselves."""
        time.sleep(max(0.0, self._took - (time.perf_counter() - self._ended)))
        try:
            count, touched = self._in_one(lambda: (len(some), store.write(self.db, some)))
        except store.Overtaken:
            count, touched = self._in_one(lambda: store.write_free(self.db, some))
        known = self._touched.setdefault(session_id, {})
        for unit_id, whole in touched.items():
            known[unit_id] = whole or known.get(unit_id, False)
        self.report.labelled += count
        self.report.changed += sum(_words(each.before) != _words(each.after) for each in some)

    def _in_one(self, write: Callable[[], tuple[int, Touched]]) -> tuple[int, Touched]:
        with transaction(self.db):
            begun = time.perf_counter()
            found = write()
        self._ended = time.perf_counter()
        self._took = self._ended - begun
        self.report.longest_ms = max(self.report.longest_ms, round(self._took * 1000, 1))
        if self._took > _LONG:
            self._size = max(_FEWEST, self._size // 2)
        elif self._took < _BRIEF:
            self._size = min(_MOST, self._size * 2)
        return found

    def _fold(self, more: int) -> None:
        self._unfolded += more
        if self._unfolded >= _CHECKPOINT:
            self._unfolded = 0
            store.fold(self.db)

    def _over(self, session_id: str) -> None:
        touched = self._touched.pop(session_id, None)
        if touched is not None:
            self.report.sessions += 1
            store.retrace(self.db, session_id, touched)


def _words(scores: Sequence[float | None]) -> list[int]:
    return [0 if not score else 1 if score > 0 else -1 for score in scores]
