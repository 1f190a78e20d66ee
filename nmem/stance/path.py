"""The way through the quadrants: stretches between shifts, whole or cut to an episode's observations."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence

from nmem.stance.model import Point, Stretch
from nmem.stance.trajectory import Trajectory, quadrant


def sections(way: Trajectory) -> list[tuple[int, str]]:
    """From which number on the lines stand in which quadrant, wobbles left out; nothing until both have begun."""
    sides = {"phase": way.phase.began, "scope": way.scope.began}
    if sides["phase"] is None or sides["scope"] is None:
        return []
    out = [(0, quadrant(bool(sides["phase"]), bool(sides["scope"])))]
    for crossing in sorted(way.crossings, key=lambda each: each.call.seq):
        sides[crossing.axis] = crossing.above
        name = quadrant(bool(sides["phase"]), bool(sides["scope"]))
        if crossing.call.seq == out[-1][0]:
            out.pop()
        if not out or out[-1][1] != name:
            out.append((crossing.call.seq, name))
    return out


def path(points: Sequence[Point], parts: Sequence[tuple[int, str]]) -> tuple[Stretch, ...]:
    """The stretches that a run of points goes through; `points` in their order, `parts` from `sections`."""
    out: list[Stretch] = []
    if not points:
        return ()
    first = max(0, bisect_right(parts, points[0].seq, key=_start) - 1)
    last = bisect_right(parts, points[-1].seq, key=_start)
    for number, (start, name) in enumerate(parts[first:last], start=first):
        end = parts[number + 1][0] if number + 1 < len(parts) else None
        low = bisect_left(points, start, key=_seq)
        high = len(points) if end is None else bisect_left(points, end, key=_seq)
        if high > low:
            out.append(Stretch(name, high - low, points[low].at))
    return tuple(out)


def joined(parts: Sequence[Stretch]) -> tuple[Stretch, ...]:
    """Stretches of the same quadrant that follow each other, as one."""
    out: list[Stretch] = []
    for part in parts:
        if out and out[-1].quadrant == part.quadrant:
            out[-1] = Stretch(part.quadrant, out[-1].count + part.count, out[-1].at)
        else:
            out.append(part)
    return tuple(out)


def _seq(point: Point) -> int:
    return point.seq


def _start(part: tuple[int, str]) -> int:
    return part[0]
