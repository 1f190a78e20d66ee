"""Orders the queued tasks, and says why each waits. Pure; every view of the queue uses it.

order(queued, live, now, quiet="") -> tuple[Place, ...]
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from heapq import heapify, heappop, heappush

from nmem import hours
from nmem.dispatch.task import Task

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
