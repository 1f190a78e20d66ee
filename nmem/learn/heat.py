"""How hot a pattern is: how many sessions met it, and how lately.

Each session counts 2^(-age / 168 h), age from its newest occurrence. 100 is the hottest of what is listed, but nothing
below three sessions' worth of today is called 100: a single old one stays small, whatever it is listed with.
Age runs until the newest activity of the projects that are listed, so months in which nobody worked cool nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

HALF_LIFE_H = 168.0
FULL = 3.0
"""Weight that is 100 when nothing listed weighs more: as many sessions of just now."""
_HOUR = 3_600_000
_DAY = 24 * _HOUR


def weight(newest: Iterable[int], as_of: int, half_life_h: float = HALF_LIFE_H) -> float:
    """The sum over sessions; `newest` is each one's newest occurrence. What lies after `as_of` counts as just now."""
    return sum(2.0 ** (-max(0, as_of - at) / (half_life_h * _HOUR)) for at in newest)


def scaled(weight: float, hottest: float) -> int:
    """A weight as 0 to 100 beside the hottest one listed."""
    return min(100, round(100.0 * weight / max(hottest, FULL)))


def week(at: int) -> int:
    """Monday 00:00 UTC of the week of a time, in milliseconds."""
    return ((at // _DAY + 3) // 7 * 7 - 3) * _DAY


def weeks(times: Iterable[int]) -> tuple[tuple[int, int], ...]:
    """How many of the times fall into each week, oldest first; empty weeks are left out."""
    return tuple(sorted(Counter(map(week, times)).items()))
