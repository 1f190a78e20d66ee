"""The path through the quadrants: transitions of shifts, and the stretches of a run of observations."""

from __future__ import annotations

from collections.abc import Iterable

from nmem.stance.model import Point, Stretch
from nmem.stance.trajectory import Trajectory, place, quadrant


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


def path(points: Iterable[Point], scope_base: float) -> tuple[Stretch, ...]:
    """The stretches that a run of points goes through; nothing until both lines have begun."""
    out: list[Stretch] = []
    for point in points:
        name = place(point, scope_base)
        if out and out[-1].quadrant == name:
            out[-1] = Stretch(name, out[-1].count + 1, out[-1].at)
        elif name:
            out.append(Stretch(name, 1, point.at))
    return tuple(out)
