"""Counts whether lessons hold: what sessions did with a lesson goes in, counts, rates and intervals come out. Pure.

The unit is a session. A lesson applied in one where its situation occurred; it was broken there when the thing occurred
again, kept when the situation occurred without it. Where a session is known to have been in the situation and nothing
says how it ended, it counts as not to be told, and never as kept.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from nmem.intervals import bootstrap, wilson

BROKEN, KEPT, UNKNOWN, NOT = "broken", "kept", "unknown", ""
FEW = 20
"""Sessions of a group below which its rate is not compared."""


@dataclass(frozen=True, slots=True)
class Session:
    """A session that was read, and whether it was told anything unasked."""

    id: str
    project_id: int
    began: int
    told: bool = False
    held_out: bool = False
    """What it would have been told was kept back (`context.holdout`)."""


@dataclass(frozen=True, slots=True)
class Seen:
    """What one session did with one lesson; times in milliseconds."""

    began: int
    broke: tuple[int, ...] = ()
    kept: int = 0
    """When the situation last passed without it; 0: never."""
    unclear: bool = False
    """It was in the situation, and nothing says how that ended."""

    def outcome(self, after: int = 0) -> str:
        """Broken before anything else; `after`: only what was done later counts."""
        if any(at > after for at in self.broke):
            return BROKEN
        if self.kept > after:
            return KEPT
        return UNKNOWN if self.unclear and not (after or self.broke) else NOT


@dataclass(frozen=True, slots=True)
class Exposure:
    """When a session was first told a lesson, or would have been."""

    at: int
    held_out: bool


@dataclass(frozen=True, slots=True)
class Count:
    """In how many sessions a lesson applied; `unknown` of them cannot be told."""

    kept: int = 0
    broken: int = 0
    unknown: int = 0

    @property
    def applied(self) -> int:
        return self.kept + self.broken + self.unknown

    def told(self, *, blind: bool) -> str:
        """In words; `blind`: kept is not recorded."""
        if not self.applied:
            return "it applied in no session"
        kept = "" if blind else f", kept {self.kept}"
        return f"applied {self.applied}{kept}, broken {self.broken}" + (
            f", {self.unknown} cannot be told" if self.unknown else "")  # fmt: skip


@dataclass(frozen=True, slots=True)
class Lesson:
    """One rule, learning or written decision."""

    id: str
    """learning/12 or recall/when adding a table."""
    label: str
    """What kind it is, in a word or two."""
    title: str
    project_id: int
    project: str
    state: str
    since: int = 0
    """When it was accepted, else when a rule of a person's was said; 0: neither."""
    why: str = ""
    """Why kept and broken cannot be told; empty where they can."""
    blind: bool = False
    """Only what breaks it is recorded: its situation is not to be seen where all went well."""
    seen: Mapping[str, Seen] = field(default_factory=dict)
    """By session."""
    exposed: Mapping[str, Exposure] = field(default_factory=dict)

    @property
    def accepted(self) -> bool:
        return self.state == "accepted"

    def counts(self, *, after: bool | None = None) -> Count:
        """Of all sessions; of those that began before it was accepted, or after."""
        some = (one for one in self.seen.values() if after is None or after == (0 < self.since <= one.began))
        return _count(one.outcome() for one in some)

    def exposures(self, *, held_out: bool) -> Count:
        """Of the sessions that were told it, or not told to see what telling is worth: what they did from then on."""
        some = ((self.seen.get(session), one) for session, one in self.exposed.items() if one.held_out == held_out)
        return _count(seen.outcome(one.at) for seen, one in some if seen)

    def repeated(self, session: str) -> bool:
        """Whether a session broke it although it was known: broken in an earlier one, or accepted or said by then."""
        one = self.seen.get(session)
        if one is None or one.outcome() != BROKEN:
            return False
        known = 0 < self.since <= one.began
        return known or any(other.broke and other.began < one.began for other in self.seen.values())

    def told(self) -> list[tuple[str, str]]:
        """Whether it holds, in words for a person: (of which sessions, what they did); remarks have no name."""
        if self.why:
            return [("", f"cannot be told: {self.why}")]
        parts = [("before" if self.since else "so far", self.counts(after=False))]
        parts += [("after", self.counts(after=True))] if self.since else []
        exposed = [(name, self.exposures(held_out=out)) for name, out in (("told", False), ("held out", True))]
        parts += [(name, count) for name, count in exposed if count.applied]
        out = [(name, count.told(blind=self.blind)) for name, count in parts]
        return [*out, ("", "only what breaks it is recorded")] if self.blind else out


def _count(outcomes: Iterable[str]) -> Count:
    found = [one for one in outcomes if one]
    return Count(found.count(KEPT), found.count(BROKEN), found.count(UNKNOWN))


@dataclass(frozen=True, slots=True)
class Rate:
    """Repeated mistakes per hundred sessions; `low` and `high` hold the true rate nine times in ten."""

    sessions: int
    mistakes: int
    low: float
    high: float

    @property
    def per_hundred(self) -> float | None:
        """None without any session."""
        return 100.0 * self.mistakes / self.sessions if self.sessions else None

    @property
    def enough(self) -> bool:
        """Whether there are sessions enough to compare it."""
        return self.sessions >= FEW


def rate(mistakes: Sequence[int]) -> Rate:
    """Of each session's repeated mistakes: a bootstrap over sessions, always the same draws.

    Where no session made any, redrawing says nothing: then Wilson's interval of the share of sessions that make one.
    """
    if not any(mistakes):
        return Rate(len(mistakes), 0, 0.0, 100.0 * wilson(0, len(mistakes))[1] if mistakes else 0.0)
    low, high = bootstrap(lambda dice: statistics.fmean(dice.choices(mistakes, k=len(mistakes))))
    return Rate(len(mistakes), sum(mistakes), 100.0 * low, 100.0 * high)


@dataclass(frozen=True, slots=True)
class Report:
    """All lessons of a scope, and what their sessions made of them."""

    lessons: tuple[Lesson, ...]
    """Accepted ones first, then those that applied most; those of which nothing can be told last."""
    every: Rate
    told: Rate
    """Sessions that were told something; where any was held out, only those since the first one that was."""
    held_out: Rate
    told_before: int
    """Sessions that were told something before any was held out: in no group."""

    @property
    def total(self) -> Count:
        """Of all lessons together."""
        return _sum(one.counts() for one in self.lessons if not one.why)

    @property
    def known(self) -> Count:
        """Of the lessons of which it is recorded that they were kept as well as that they were broken."""
        return _sum(one.counts() for one in self.lessons if not (one.why or one.blind))

    @property
    def broken_share(self) -> tuple[float, float]:
        """Between which values the share of broken among kept and broken lies, nine times in ten (Wilson)."""
        return wilson(self.known.broken, self.known.broken + self.known.kept)


def _sum(counts: Iterable[Count]) -> Count:
    found = list(counts)
    return Count(sum(one.kept for one in found), sum(one.broken for one in found), sum(one.unknown for one in found))


def report(lessons: Iterable[Lesson], sessions: Sequence[Session]) -> Report:
    """The whole, of lessons and the sessions that could have met them."""
    found = sorted(lessons, key=lambda one: (bool(one.why), not one.accepted, -one.counts().applied, one.id))
    of = {one.id: 0 for one in sessions}
    for lesson in found:
        for session in lesson.seen:
            if not lesson.why and session in of and lesson.repeated(session):
                of[session] += 1
    begun = min((one.began for one in sessions if one.held_out), default=0)
    told = [one for one in sessions if one.told and not one.held_out]
    since = [one for one in told if one.began >= begun]
    groups = (sessions, since, [one for one in sessions if one.held_out])
    every, with_it, without = (rate([of[one.id] for one in group]) for group in groups)
    return Report(tuple(found), every, with_it, without, len(told) - len(since))
