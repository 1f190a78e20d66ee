"""Computes labels of whole sessions, in this process or in worker processes; writes nothing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import repeat
from sqlite3 import Connection
from typing import NamedTuple, cast

from capture.labels import DIMENSIONS
from capture.labels.model import Model, current
from capture.log import reason
from nmem.errors import NmemError
from nmem.labels import names
from nmem.labels.store import Change, Scores, Stored, Walk
from nmem.side_by_side import Crew

AT_ONCE = 1000
"""Rows that are handed over together."""
_AHEAD = 4
"""Sessions that each process has before it."""
_NONE: Scores = (None, None, None, None, None)


class Task(NamedTuple):
    """What is to be labelled anew."""

    model: str
    """The name of the model that labels: another one beside the database by now ends the work."""
    dimensions: tuple[str, ...] = DIMENSIONS
    everything: bool = False
    """Also what this model has labelled."""
    bare: bool = False
    """Only rows that no model has labelled."""


class Job(NamedTuple):
    """One session, from the first row on that is due."""

    db_path: str
    task: Task
    session_id: str
    at: int


class Done(NamedTuple):
    """Rows of a session with their new labels; `over` with its last ones."""

    session_id: str
    changes: list[Change]
    over: bool


class Judge:
    """Says what becomes of a row's labels."""

    def __init__(self, model: Model, task: Task) -> None:
        self.model, self.task = model, task
        self._known: dict[str | None, tuple[str | None, tuple[int, ...]]] = {}

    def change(self, walk: Walk, stored: Stored) -> Change | None:
        """The row's labels before and after; None when it is not due."""
        found = self._known.get(stored.label_model)
        if found is None:
            found = self._known[stored.label_model] = self._plan(stored.label_model)
        model, places = found
        if not places:
            if model == stored.label_model:
                return None
            return Change(stored.id, stored.seq, stored.prompt_id, *2 * (stored.scores,), stored.label_model, model)
        given = self._given(walk, stored)
        after = given
        if len(places) < len(DIMENSIONS):
            after = cast("Scores", tuple(given[at] if at in places else old for at, old in enumerate(stored.scores)))
        return Change(stored.id, stored.seq, stored.prompt_id, stored.scores, after, stored.label_model, model)

    def _given(self, walk: Walk, stored: Stored) -> Scores:
        try:
            return self.model.label(walk.seen(stored))
        except Exception as error:  # noqa: BLE001 - the boundary between a row and what is made of it
            if stored.scores != _NONE:
                said = f"model {self.model.name} cannot label observation {stored.id}, which keeps its labels"
                raise NmemError(f"{said}: {reason(error)}") from None
            return _NONE

    def _plan(self, stored: str | None) -> tuple[str | None, tuple[int, ...]]:
        """What label_model becomes, and the dimensions that are written; none when the row is not due."""
        task, origin = self.task, names.read(stored)
        if task.bare and origin.base:
            return stored, ()
        due = [name for name in task.dimensions if name not in origin.own and self._due(origin.of(name))]
        unnamed = not origin.base and len(origin.own) == len(DIMENSIONS)
        if not due and not unnamed:
            return stored, ()
        if unnamed:
            origin.base = task.model
        for name in due:
            origin.give(name, task.model)
        return origin.text(), tuple(map(DIMENSIONS.index, due))

    def _due(self, giver: str) -> bool:
        """Whether a dimension that this model has given, or nobody, is given now."""
        if self.task.bare:
            return not giver
        return self.task.everything or giver != self.task.model


def work_on(db: Connection, job: Job, model: Model) -> Iterator[Done]:
    """The rows of one session that are due, in their order."""
    judge, walk = Judge(model, job.task), Walk(db, job.session_id, job.at)
    kept: list[Change] = []
    for stored in walk:
        change = judge.change(walk, stored)
        if change is not None:
            kept.append(change)
            if len(kept) >= AT_ONCE:
                yield Done(job.session_id, kept, over=False)
                kept = []
    yield Done(job.session_id, kept, over=True)


def model_of(db_path: str, name: str) -> Model:
    """The model of that name. Raises NmemError when another one labels by now."""
    model = current(db_path)
    if model is None or model.name != name:
        raise NmemError("the label model changed meanwhile: run this again")
    return model


Flat = tuple[str, list[tuple[object, ...]], bool]


def flat(done: Done) -> Flat:
    """Plain tuples: a class a row would double what goes through a pipe."""
    return done.session_id, [tuple(each) for each in done.changes], done.over


def made(plain: Flat) -> Done:
    """What was made flat."""
    session_id, changes, over = plain
    return Done(session_id, [Change._make(each) for each in changes], over)


def work(db: Connection, jobs: Sequence[Job], processes: int) -> Iterator[Done]:
    """What becomes of all jobs: each session's rows in order, sessions side by side when there are processes.

    Raises NmemError, or sqlite3.Error where this process reads itself.
    """
    if not processes:
        yield from worked(db, jobs, repeat(None))
        return
    crew: Crew[tuple[str, str, Job], list[Flat]] = Crew("nmem.settle_beside:serve", processes)
    try:
        yield from worked(db, jobs, crew.answers([(job.db_path, "labels", job) for job in jobs], _AHEAD))
    finally:
        crew.close()


def worked(db: Connection, jobs: Sequence[Job], ready: Iterable[list[Flat] | None]) -> Iterator[Done]:
    """As `work`, for answers that other processes give in the order of the jobs.

    A job answered by None is done in this process, which raises its error.
    """
    for job, found in zip(jobs, ready, strict=False):
        if found is None:
            yield from work_on(db, job, model_of(job.db_path, job.task.model))
        else:
            yield from map(made, found)
