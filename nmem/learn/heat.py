"""The heat of a pattern, 0 to 100: how many sessions met it, and how recently.

Each session weighs 2^(-age / 168 h), age from its newest occurrence; weights add up, and heat is 100 (1 - 2^(-sum/3)).
So three sessions of just now are 50, six are 75, and a single old one stays small, whatever it is listed with: the same
learning has the same heat in every list. Age runs until the newest activity of the learning's own project, so weeks in
which nobody worked on it cool nothing; after thirty such days the calendar runs on, with the same half-life: what was
not met for months is not hot, whoever stopped working.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

HALF_LIFE_H = 168.0
HALF = 3.0
"""Weight of half the heat there can be: as many sessions of just now."""
_HOUR = 3_600_000
_DAY = 24 * _HOUR
REST = 30 * _DAY
"""Milliseconds for which a project may rest before its learnings cool by the calendar."""


def weight(newest: Iterable[int], as_of: int, half_life_h: float = HALF_LIFE_H) -> float:
    """The sum over sessions; `newest` is each one's newest occurrence. What lies after `as_of` counts as just now."""
    return sum(float(2.0 ** (-max(0, as_of - at) / (half_life_h * _HOUR))) for at in newest)


def until(worked_at: int, now: int) -> int:
    """The time that age runs to: the project's newest activity, or thirty days ago where that is later."""
    return max(min(worked_at or now, now), now - REST)


def scaled(weight: float) -> int:
    """A weight as 0 to 100."""
    return round(100.0 * (1.0 - float(2.0 ** (-weight / HALF))))


def week(at: int) -> int:
    """Monday 00:00 UTC of the week of a time, in milliseconds."""
    return ((at // _DAY + 3) // 7 * 7 - 3) * _DAY


def weeks(times: Iterable[int]) -> tuple[tuple[int, int], ...]:
    """How many of the times fall into each week, oldest first; empty weeks are left out."""
    return tuple(sorted(Counter(map(week, times)).items()))
