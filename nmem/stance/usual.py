"""Compares a session with the person's earlier ones of the project: median, spread, outliers. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from nmem.stance.model import Compared, SessionStance
from nmem.stance.words import percent

SESSIONS = 20
"""How many earlier sessions count, the newest."""
ENOUGH = 5
CALLS = 20
"""A session with fewer observations says little about shares."""
APART = 0.1
"""A figure nearer than this to the median is usual, however narrow the spread."""
FIGURES = ("think", "diverge", "friction", "novel", "failed")
_SAID = {
    "think": "{value} of the calls think", "diverge": "{value} of the calls widen the search",
    "friction": "{value} of the calls go wrong or are retries", "novel": "{value} of the calls are on new ground",
    "failed": "{value} of the calls failed",
}  # fmt: skip


def compared(session: SessionStance, earlier: Sequence[SessionStance]) -> tuple[Compared, ...]:
    """Every figure that there are enough earlier sessions for; nothing for a session that has hardly begun."""
    if session.observations < CALLS:
        return ()
    full = [each for each in earlier if each.observations >= CALLS][:SESSIONS]
    found = []
    for name in FIGURES:
        value = figure(session, name)
        before = [known for each in full if (known := figure(each, name)) is not None]
        if value is not None and len(before) >= ENOUGH:
            found.append(_compared(name, value, before))
    return tuple(found)


def figure(session: SessionStance, name: str) -> float | None:
    """A share of a session's observations, or None where it is known of none."""
    if name == "failed":
        return session.failed / session.observations if session.observations else None
    value: float | None = getattr(session, name)
    return value


def _compared(name: str, value: float, before: Sequence[float]) -> Compared:
    low, median, high = (quantile(before, part) for part in (0.25, 0.5, 0.75))
    fence = 1.5 * (high - low)
    unusual = not low - fence <= value <= high + fence and abs(value - median) >= APART
    text = _SAID[name].format(value=percent(value)) + f"; usually {percent(median)} here."
    return Compared(name, value, median, low, high, len(before), unusual, text)


def quantile(values: Sequence[float], part: float) -> float:
    """The value that a part (0..1) of the values are below, between neighbours by proportion."""
    ordered = sorted(values)
    place = part * (len(ordered) - 1)
    below = int(place)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (ordered[above] - ordered[below]) * (place - below)
