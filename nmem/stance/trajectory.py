"""Computes the course of phase and scope in a session: smoothed lines, quadrants, shifts. Pure, incremental.

The algorithm is the seed's: an exponential mean (alpha .08) that begins with the first value, means of the last 5 and
20 scores, a direction where they are .2 apart, quadrants by sign. What is different, and why, is in docs/stance.md:
scores instead of words, abstentions, both axes' shifts, no shift for a wobble, and the line that divides scope.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass

from nmem.stance.model import QUADRANTS, Call, Point, Share, Stretch

ALPHA = 0.08
SHORT, LONG = 5, 20
BAND = 0.2
WOBBLE = 0.1
"""How far beyond the dividing line a smoothed value must get before it counts as a shift: calls that alternate one by
one, or two by two, move it by .04 and .08 and stay below."""
SCOPE_BASE = 0.5
"""Where the smoothed line of scope divides: a quarter of what was done lately widens, twice what is usual. At 0, only
nine wide calls in a row would be seen after a narrow stretch (docs/stance.md has the figures)."""
SIDES = {"phase": ("think", "act"), "scope": ("diverge", "converge")}
_EXACT = 9
"""Digits that a difference of means is compared by: .6 - .4 is .2."""


def quadrant(act: bool, converge: bool) -> str:
    """The name of a quadrant."""
    return QUADRANTS[2 * act + converge]


@dataclass(frozen=True, slots=True)
class Crossing:
    """A shift as an axis knows it: the call at which its line went over, and the side it went to."""

    axis: str
    call: Call
    above: bool


class Axis:
    """One line: smoothed value, windows, side. A score of None holds everything."""

    __slots__ = ("_across", "above", "base", "began", "ema", "name", "window")

    def __init__(self, name: str, base: float = 0.0) -> None:
        self.name = name
        self.base = base
        self.ema: float | None = None
        self.window: deque[float] = deque(maxlen=LONG)
        self.began: bool | None = None
        """The side of the first value."""
        self.above: bool | None = None
        """The side now, wobbles left out."""
        self._across: Call | None = None

    def add(self, score: float | None, call: Call) -> Crossing | None:
        """Take one score in; the shift that it completes, if it does."""
        if score is None:
            return None
        self.window.append(score)
        self.ema = score if self.ema is None else (1 - ALPHA) * self.ema + ALPHA * score
        above = self.ema >= self.base
        if self.above is None:
            self.began = self.above = above
        if above == self.above:
            self._across = None
            return None
        if self._across is None:
            self._across = call
        if abs(self.ema - self.base) <= WOBBLE:
            return None
        crossing = Crossing(self.name, self._across, above)
        self.above, self._across = above, None
        return crossing

    @property
    def on(self) -> bool | None:
        """The side that the smoothed value is on: the line itself belongs to act and to converge."""
        return None if self.ema is None else self.ema >= self.base

    def mean(self, last: int) -> float | None:
        """The mean of the last scores of this axis, of fewer where there are fewer."""
        values = list(self.window)[-last:]
        return sum(values) / len(values) if values else None

    @property
    def direction(self) -> str:
        """stable, or the side that the last 5 scores lean to against the last 20."""
        short, long = self.mean(SHORT), self.mean(LONG)
        if short is None or long is None or abs(round(short - long, _EXACT)) < BAND:
            return "stable"
        return SIDES[self.name][short > long]


class Trajectory:
    """The way of one session or episode; `add` takes one observation after the other, in their order."""

    __slots__ = (
        "asked", "bare", "counts", "crossings", "failed", "observations", "phase", "places", "points", "scope",
        "signs",
    )  # fmt: skip

    def __init__(self, scope_base: float = 0.0) -> None:
        """`scope_base` 0 is the seed's reading; what is shown is read with SCOPE_BASE."""
        self.phase = Axis("phase")
        self.scope = Axis("scope", scope_base)
        self.points: list[Point] = []
        self.crossings: list[Crossing] = []
        self.places = dict.fromkeys(QUADRANTS, 0)
        """Where the lines stood after each observation."""
        self.signs = dict.fromkeys(QUADRANTS, 0)
        """Each observation by the signs of its own two scores: the seed's count."""
        self.counts = dict.fromkeys(
            ("internal", "external", "routine", "novel", "smooth", "friction",
             "routine_smooth", "routine_friction", "novel_smooth", "novel_friction"), 0)  # fmt: skip
        self.observations = 0
        self.failed = 0
        self.bare = 0
        """Observations that nobody has labelled."""
        self.asked: dict[int | None, tuple[int, int]] = {}
        """Prompt -> observations under it, and those that failed."""

    @classmethod
    def of(cls, calls: Iterable[Call], scope_base: float = 0.0) -> Trajectory:
        """The way that some observations make."""
        out = cls(scope_base)
        for call in calls:
            out.add(call)
        return out

    def add(self, call: Call) -> None:
        """Take one observation in."""
        self.observations += 1
        failed = call.outcome == "failed"
        self.failed += failed
        self.bare += not call.labelled
        under, wrong = self.asked.get(call.prompt_id, (0, 0))
        self.asked[call.prompt_id] = under + 1, wrong + failed
        self._count(call)
        if call.phase is None and call.scope is None:
            return
        for axis, score in ((self.phase, call.phase), (self.scope, call.scope)):
            crossing = axis.add(score, call)
            if crossing is not None:
                self.crossings.append(crossing)
        if call.phase is not None and call.scope is not None:
            self.signs[quadrant(call.phase >= 0, call.scope >= 0)] += 1
        if self.quadrant:
            self.places[self.quadrant] += 1
        self.points.append(Point(call.at, call.seq, call.id, call.prompt_id, call.phase, call.scope,
                                 self.phase.ema, self.scope.ema, failed))  # fmt: skip

    def _count(self, call: Call) -> None:
        counts = self.counts
        if call.locus is not None:
            counts["external" if call.locus > 0 else "internal"] += 1
        novel = None if call.novelty is None else "novel" if call.novelty > 0 else "routine"
        rough = None if call.friction is None else "friction" if call.friction > 0 else "smooth"
        for word in (novel, rough, f"{novel}_{rough}" if novel and rough else None):
            if word:
                counts[word] += 1

    @property
    def quadrant(self) -> str:
        """Where both lines stand now; empty until both have begun."""
        act, converge = self.phase.on, self.scope.on
        return "" if act is None or converge is None else quadrant(act, converge)

    @property
    def placed(self) -> int:
        """Labelled observations since both lines have begun."""
        return sum(self.places.values())

    def quadrants(self) -> dict[str, Share]:
        """Where the lines stood after each observation, as parts of those since both have begun."""
        return shares(self.places)

    def split(self, below: str, above: str) -> dict[str, Share]:
        """Both sides of locus, novelty or friction."""
        return shares({word: self.counts[word] for word in (below, above)})


def place(point: Point, scope_base: float) -> str:
    """The quadrant that the lines stood in after an observation; empty until both have begun."""
    if point.ema_phase is None or point.ema_scope is None:
        return ""
    return quadrant(point.ema_phase >= 0, point.ema_scope >= scope_base)


def tally(scores: Iterable[tuple[float | None, float | None]], scope_base: float = SCOPE_BASE) -> dict[str, int]:
    """How often the lines stand in each quadrant, as Trajectory counts it, of phases and scopes in their order."""
    out = dict.fromkeys(QUADRANTS, 0)
    act = narrow = None
    for phase, scope in scores:
        if phase is not None:
            act = phase if act is None else (1 - ALPHA) * act + ALPHA * phase
        if scope is not None:
            narrow = scope if narrow is None else (1 - ALPHA) * narrow + ALPHA * scope
        known = phase is not None or scope is not None
        if known and act is not None and narrow is not None:
            out[quadrant(act >= 0, narrow >= scope_base)] += 1
    return out


def shares(counts: dict[str, int]) -> dict[str, Share]:
    """Each count with its part of all."""
    total = sum(counts.values())
    return {name: Share(number, number / total if total else 0.0) for name, number in counts.items()}


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
