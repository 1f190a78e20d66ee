"""Queries of the screen Tasks: the queue, one task in full, and how many run or wait for a person."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from sqlite3 import Connection

from nmem.dispatch import act, read, store
from nmem.dispatch.config import load
from nmem.dispatch.read import Place
from nmem.dispatch.task import NEEDS_INPUT, QUEUED, RUNNING, Task, TaskEvent
from nmem.errors import NmemError

LIMIT = 1000
_EVENTS = 200


@dataclass(frozen=True, slots=True)
class Listing:
    """All tasks: what is there now, what comes next in its order, what is over, the newest first."""

    live: tuple[Task, ...]
    queued: tuple[Place, ...]
    over: tuple[Task, ...]
    counts: Mapping[str, int]

    @property
    def total(self) -> int:
        """How many there are, also those that are not listed."""
        return sum(self.counts.values())


@dataclass(frozen=True, slots=True)
class Detail:
    """One task with all that is kept of it."""

    task: Task
    place: Place | None
    """Where it stands in the queue, if it is queued."""
    events: tuple[TaskEvent, ...]
    able: tuple[str, ...]
    others: Mapping[int, Task]
    """The tasks that it names: what it needs, what queued it."""
    waiting: tuple[int, ...]
    """The tasks that need it."""
    output: str


def quiet() -> str:
    """The quiet hours of the configuration; none where that cannot be read."""
    try:
        return load().quiet_hours
    except NmemError:
        return ""


def listing(db: Connection, now: int) -> Listing:
    """The queue."""
    every = read.heads(db, LIMIT)
    live = tuple(one for one in every if one.live)
    queued = read.order([one for one in every if one.state == QUEUED], live, now, quiet())
    return Listing(live, queued, tuple(one for one in every if one.over), store.counts(db))


def live(db: Connection) -> tuple[int, int]:
    """How many run, and how many wait for a person."""
    found = store.counts(db)
    return found.get(RUNNING, 0), found.get(NEEDS_INPUT, 0)


def found(db: Connection, task_id: int, now: int) -> Detail | None:
    """One that was found elsewhere, and where it stands in the queue."""
    place = next((each for each in listing(db, now).queued if each.task.id == task_id), None)
    return detail(db, task_id, place)


def detail(db: Connection, task_id: int, place: Place | None) -> Detail | None:
    """A listed task in full; what its pane shows now is asked of that."""
    one = read.task(db, task_id)
    if one is None:
        return None
    named = (*one.needs, *((one.parent_id,) if one.parent_id else ()))
    others = {each: found for each in named if (found := read.task(db, each))}
    return Detail(
        one, place if one.state == QUEUED else None, read.events(db, task_id)[-_EVENTS:], act.able(one), others,
        store.dependants(db, task_id), act.output(one),
    )  # fmt: skip
