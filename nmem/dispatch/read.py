"""Reads tasks for lists, screens and the runner, orders the queued ones and says why each waits.

    tasks(db, states=(), project="", limit=200) -> tuple[Task, ...]   live ones first, then the next, then the past
    heads(db, limit=1000) -> tuple[Task, ...]                         the same, prompts cut short, without output
    task(db, task_id) -> Task | None
    events(db, task_id) -> tuple[TaskEvent, ...]                      oldest first
    standing(task, now, quiet="") -> str                              why it is not running, or what became of it
    order(queued, live, now, quiet="") -> tuple[Place, ...]           pure; every view of the queue uses it

Any connection will do, a reading one of nmem.database or a writing one; none of these writes. What a person may do
with a task stands in nmem.dispatch.act.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from heapq import heapify, heappop, heappush
from sqlite3 import Connection, Row

from nmem import hours
from nmem.dispatch import store
from nmem.dispatch.task import QUEUED, Task, TaskEvent

_STORED = tuple(each for each in Task._fields if each not in ("needs", "waits_for", "approved"))
_FLAGS = ("interactive", "worktree")


def tasks(db: Connection, states: Sequence[str] = (), project: str = "", limit: int = 200) -> tuple[Task, ...]:
    """Tasks in these states, of all when none is named: what needs a person first, the past last."""
    given = {"state": states, "project": (project,) if project else ()}
    return tuple(map(_task, store.tasks(db, _STORED, given, limit))) if store.present(db) else ()


def heads(db: Connection, limit: int = 1000) -> tuple[Task, ...]:
    """What a list shows of all tasks, in the same order: prompts are cut short, and output is left out."""
    return tuple(map(_task, store.tasks(db, _STORED, {}, limit, short=True))) if store.present(db) else ()


def task(db: Connection, task_id: int) -> Task | None:
    """One task, None when there is none."""
    found = store.tasks(db, _STORED, {"id": (task_id,)}, 1) if store.present(db) else []
    return _task(found[0]) if found else None


def events(db: Connection, task_id: int) -> tuple[TaskEvent, ...]:
    """What happened to a task, oldest first."""
    return tuple(TaskEvent(*row) for row in store.events(db, task_id))


def events_since(db: Connection, seen: int) -> tuple[int, list[tuple[int, str, TaskEvent]]]:
    """What happened to any task after the event `seen`: the newest number, and (task, title, event), oldest first."""
    rows = store.events_since(db, seen)
    out = [
        (number, next(iter(prompt.strip().splitlines()), ""), TaskEvent(at, attempt, state, what, text))
        for _, number, prompt, at, attempt, state, what, text in rows
    ]
    return (rows[-1][0] if rows else seen), out


def standing(one: Task, now: int, quiet: str = "") -> str:
    """Why a task is not running, or what became of it, in words; `quiet`: the hours of the configuration."""
    if one.state != QUEUED:
        return one.reason
    if one.asks:
        return f"an agent queued it, and it waits for your approval: `nmem task approve {one.id}`"
    if one.waits_for:
        return f"waits for {', '.join(f'task/{need}' for need in one.waits_for)}"
    if one.not_before > now:
        return f"not before {datetime.fromtimestamp(one.not_before / 1000, UTC).astimezone():%Y-%m-%d %H:%M}"
    held = quiet if one.quiet_hours is None else one.quiet_hours
    if held and hours.within(held, now):
        return f"quiet hours, {held}"
    return one.reason


def _task(row: Row) -> Task:
    values = {name: row[name] for name in _STORED}
    values |= {name: bool(values[name]) for name in _FLAGS}
    return Task(**values, needs=_ids(row["needs"]), waits_for=_ids(row["waits_for"]), approved=bool(row["approved"]))


def _ids(listed: str | None) -> tuple[int, ...]:
    return tuple(sorted(int(each) for each in listed.split(","))) if listed else ()


READY, NEEDS, LATER, QUIET, FOLDER, APPROVAL = "ready", "needs", "later", "quiet", "folder", "approval"


@dataclass(frozen=True, slots=True)
class Place:
    """A queued task in its place."""

    task: Task
    waits: str = READY
    """For what: a person's approval, only a runner, other tasks, its time, the end of quiet hours, its folder."""
    until: int = 0
    """Milliseconds since 1970 before which it does not start; 0 where that is not known, or now."""
    tasks: tuple[int, ...] = ()
    """Those that it waits for."""
    quiet: str = ""
    """The quiet hours that hold it."""


def order(queued: Sequence[Task], live: Sequence[Task], now: int, quiet: str = "") -> tuple[Place, ...]:
    """The queue as a runner will go through it; `quiet`: the hours of the configuration.

    What could start now comes first; then what a time or quiet hours hold, by when that ends; a task that needs others
    stands after them.
    """
    left = {one.id: _place(one, live, now, quiet) for one in queued}
    before = {each: {need for need in place.task.needs if need in left} for each, place in left.items()}
    after: dict[int, list[int]] = {}
    for each, needs in before.items():
        for need in needs:
            after.setdefault(need, []).append(each)
    reached: dict[int, int] = {}
    free = [_rank(place, reached, now) for each, place in left.items() if not before[each]]
    heapify(free)
    out = list[Place]()
    while free:
        *_, chosen = heappop(free)
        place = left.pop(chosen)
        reached[chosen] = _from(place, reached, now)
        out.append(place)
        for each in after.get(chosen, ()):
            before[each].discard(chosen)
            if not before[each]:
                heappush(free, _rank(left[each], reached, now))
    return (*out, *left.values())  # none is left: no task waits for itself


def _place(one: Task, live: Sequence[Task], now: int, quiet: str) -> Place:
    if one.asks:
        return Place(one, APPROVAL)
    if one.waits_for:
        return Place(one, NEEDS, tasks=one.waits_for)
    if one.not_before > now:
        return Place(one, LATER, one.not_before)
    held = quiet if one.quiet_hours is None else one.quiet_hours
    if held and hours.within(held, now):
        return Place(one, QUIET, hours.when(held.partition("-")[2], now), quiet=held)
    there = tuple(each.id for each in live if each.cwd == one.cwd and not each.worktree)
    if there and not one.worktree:
        return Place(one, FOLDER, tasks=there)
    return Place(one)


def _rank(place: Place, reached: dict[int, int], now: int) -> tuple[int, int, int, int]:
    one = place.task
    return _from(place, reached, now), -one.priority, one.not_before, one.id


def _from(place: Place, reached: dict[int, int], now: int) -> int:
    """The earliest moment: its own, and not before those that it needs; one that waits for others is a little later."""
    before = max((reached[need] for need in place.task.needs if need in reached), default=0)
    own = max(place.until, place.task.not_before, now)
    return max(own, before, now + 1 if place.waits in (NEEDS, FOLDER) else now)
