"""Frozen records of a session's stance: scored calls, shifts, advice, stuck stretches; text is as stored.

Scores are in [-1, 1]; None where the model abstains. phase: think below zero, act above; scope: diverge below, converge
above; locus: internal, external; novelty: routine, novel; friction: smooth, friction. Times are milliseconds.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

ENOUGH = 20
"""Calls from which the smoothed lines say where a session stands: the first one counts for half of them after nine, for
a fifth after twenty, as many as the longer window has."""
QUADRANTS = ("explore", "reason", "scaffold", "finish")
"""think and diverge, think and converge, act and diverge, act and converge."""


class Share(NamedTuple):
    """How many, and what part of all of them (0..1; 0 where there are none)."""

    number: int = 0
    share: float = 0.0


class Call(NamedTuple):
    """One observation, as stance reads it."""

    id: int
    seq: int
    at: int
    prompt_id: int | None
    obs_type: str
    path: str
    """Project-relative; empty without one."""
    content: str
    """The command, pattern or what else was asked for; cut."""
    outcome: str
    phase: float | None = None
    scope: float | None = None
    locus: float | None = None
    novelty: float | None = None
    friction: float | None = None
    labelled: int = 1
    """Whether a model, or the person, has looked at it (1); it may have said nothing."""

    @property
    def failed(self) -> bool:
        """Whether it went wrong."""
        return self.outcome == "failed"


@dataclass(frozen=True, slots=True)
class Point:
    """Where the session stood after one observation that has a phase or a scope."""

    at: int
    seq: int
    observation_id: int
    prompt_id: int | None
    phase: float | None
    scope: float | None
    ema_phase: float | None
    """None until the first score of the axis."""
    ema_scope: float | None
    failed: bool


@dataclass(frozen=True, slots=True)
class Shift:
    """Where the smoothed line of an axis went over to the other side."""

    axis: str
    """phase or scope."""
    at: int
    seq: int
    from_: str
    """Of phase think or act, of scope diverge or converge."""
    to: str
    prompt_id: int | None
    prompt: str
    """What the user had asked for; cut."""
    before: str = ""
    """The quadrant before it; empty while the other line has not begun."""
    after: str = ""


@dataclass(frozen=True, slots=True)
class Advice:
    """Something worth knowing now: a fact, and the figures behind it."""

    text: str
    reason: str
    rule: str = ""
    """Which rule said so: stable, for tests and for whoever wants to mute one."""


@dataclass(frozen=True, slots=True)
class Stretch:
    """Observations in a row whose lines stand in one quadrant."""

    quadrant: str
    count: int
    at: int


@dataclass(frozen=True, slots=True)
class Strip:
    """One episode of a session: what it was made of, and the way it went."""

    unit_id: int
    title: str
    """The person's own name for it, else its opening prompt; cut."""
    started_at: int
    count: int
    """Its calls, whatever is known of them."""
    quadrants: dict[str, Share]
    """Where the session's lines stood after each call, as in `path`."""
    path: tuple[Stretch, ...]
    failed: int = 0


@dataclass(frozen=True, slots=True)
class Compared:
    """A figure of this session beside the person's own earlier sessions of the project."""

    name: str
    """think diverge friction novel failed."""
    value: float
    median: float
    low: float
    """A quarter of the earlier sessions are below."""
    high: float
    """A quarter are above."""
    sessions: int
    unusual: bool
    text: str


@dataclass(frozen=True, slots=True)
class Stuck:
    """A stretch in which the same thing kept failing."""

    kind: str
    """file or command."""
    key: str
    session_id: str
    started_at: int
    ended_at: int
    failures: int
    over: bool
    """It succeeded in the end."""
    files: tuple[str, ...] = ()
    """Changed at least twice between the failures."""

    @property
    def ms(self) -> int:
        """How long it lasted."""
        return self.ended_at - self.started_at


@dataclass(frozen=True, slots=True)
class Stance:
    """The stance of a session, or of one episode of it."""

    session_id: str
    project: str
    count: int
    """Observations with a phase or a scope."""
    observations: int
    """All of them."""
    placed: int
    """Of `count`, those since both lines have begun: the quadrants' shares are parts of these."""
    quadrants: dict[str, Share]
    """Where the lines stood after each call: what the current quadrant, the strips and the plane go by."""
    points: tuple[Point, ...]
    phase_5: float | None
    phase_20: float | None
    scope_5: float | None
    scope_20: float | None
    phase_direction: str
    """stable act think."""
    scope_direction: str
    """stable converge diverge."""
    quadrant: str
    """The current one; empty until both lines have begun."""
    scope_base: float
    """Where the line of scope divides diverge from converge; that of phase divides at 0."""
    shifts: tuple[Shift, ...]
    """The oldest first."""
    locus: dict[str, Share]
    """internal, external."""
    novelty: dict[str, Share]
    """routine, novel."""
    friction: dict[str, Share]
    """smooth, friction."""
    novelty_friction: dict[str, int] = field(default_factory=dict)
    """routine_smooth routine_friction novel_smooth novel_friction."""
    failed: int = 0
    guidance: tuple[Advice, ...] = ()
    """At most three, the weightiest first."""
    strips: tuple[Strip, ...] = ()
    stuck: tuple[Stuck, ...] = ()
    """Where it was stuck, the oldest first."""
    usual: tuple[Compared, ...] = ()
    """Only where there are enough earlier sessions to compare with."""
    unit_id: int | None = None
    started_at: int = 0
    last_at: int = 0
    signs: dict[str, Share] = field(default_factory=dict)
    """Each observation that has both scores by their signs: the seed's count, for those who compute with it."""
    bare: int = 0
    """Observations that nobody has labelled yet; of the rest that are not in `count`, the model is not sure."""
    traced: int = 0
    """Of all, those that only the traces of episodes tell of: their rows are forgotten."""

    @property
    def few(self) -> bool:
        """Whether it has fewer calls than the smoothed lines need: where they stand is the first calls' doing."""
        return 0 < self.placed < ENOUGH or (not self.placed and 0 < self.observations - self.bare < ENOUGH)

    @property
    def did(self) -> tuple[int, int, int]:
        """Calls that think, that act and that widen the search, each by its own score, of those that have it."""
        phases = [each.phase for each in self.points if each.phase is not None]
        widen = sum(each.scope is not None and each.scope < 0 for each in self.points)
        think = sum(each < 0 for each in phases)
        return think, len(phases) - think, widen


@dataclass(frozen=True, slots=True)
class SessionStance:
    """One session among several: its means."""

    session_id: str
    client: str
    started_at: int
    last_at: int
    intent: str
    """Its first prompt; cut."""
    observations: int
    count: int
    placed: int
    phase: float | None
    scope: float | None
    quadrants: dict[str, Share]
    """Where its lines stood after each call, as in Stance."""
    think: float | None
    """Share of the observations that it is known of; None where it is known of none. So are those below."""
    diverge: float | None
    friction: float | None
    novel: float | None
    failed: int

    @property
    def few(self) -> bool:
        """Whether it has fewer calls than the smoothed lines need: see Stance."""
        labelled = self.count or self.phase is not None or self.scope is not None
        return 0 < self.placed < ENOUGH or (not self.placed and bool(labelled) and self.observations < ENOUGH)
