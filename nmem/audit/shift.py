"""Tests whether a share or a duration has changed: for small samples, with dependent calls within sessions. Pure."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from nmem.read.health import percentile

ALPHA = 0.001
"""Below this probability a change is no chance: many shares are looked at, and an alarm must mean something."""
FEWEST = 8
"""Cases below which nothing is said of a share."""
LEAST = 0.05
"""A change of less than this is nobody's concern, however sure it is."""
_EXACT = 4_000


@dataclass(frozen=True, slots=True)
class Share:
    """`hits` of `cases`, and how much less the cases weigh because they come in sessions (1: not at all)."""

    hits: int
    cases: int
    sessions: int = 1
    weight: float = 1.0

    @property
    def value(self) -> float:
        """0..1; 0 of nothing."""
        return self.hits / self.cases if self.cases else 0.0

    def __str__(self) -> str:
        return f"{self.value:.1%} ({self.hits:,} of {self.cases:,})"


def share(sessions: Iterable[tuple[int, int]]) -> Share:
    """The share over sessions of (hits, cases), with the design effect of Rao and Scott: how alike calls of one are."""
    rows = [(hits, cases) for hits, cases in sessions if cases]
    hits, cases = sum(row[0] for row in rows), sum(row[1] for row in rows)
    count = len(rows)
    if count < 2 or not 0 < hits < cases:
        return Share(hits, cases, count)
    part = hits / cases
    spread = sum((one - part * of) ** 2 for one, of in rows) * count / (count - 1) / cases**2
    return Share(hits, cases, count, max(1.0, spread / (part * (1 - part) / cases)))


def shifted(before: Share, after: Share, alpha: float = ALPHA, least: float = LEAST) -> bool:
    """Whether the share is another than it was, and by as much as is worth saying."""
    if min(before.cases, after.cases) < FEWEST or abs(after.value - before.value) < least:
        return False
    return probability(before, after) < alpha


def probability(before: Share, after: Share) -> float:
    """How likely shares so far apart are by chance (two-sided): Fisher's exact test on what the cases weigh."""
    weight = max(before.weight, after.weight)
    numbers = [round(number / weight) for number in (before.hits, before.cases, after.hits, after.cases)]
    hits, cases, more, others = numbers
    if not cases or not others:
        return 1.0
    if cases + others > _EXACT:
        return _normal(hits, cases, more, others)
    return _fisher(hits, cases, more, others)


def _fisher(a: int, n: int, b: int, m: int) -> float:
    """The tables with these margins that are as unlikely as this one, or more."""
    hits = a + b
    low, high = max(0, hits - m), min(hits, n)
    whole = _choose(n + m, hits)
    seen = _choose(n, a) + _choose(m, hits - a) - whole
    found = (_choose(n, x) + _choose(m, hits - x) - whole for x in range(low, high + 1))
    return min(1.0, sum(math.exp(one) for one in found if one <= seen + 1e-9))


def _choose(n: int, k: int) -> float:
    return math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)


def _normal(a: int, n: int, b: int, m: int) -> float:
    part = (a + b) / (n + m)
    spread = math.sqrt(part * (1 - part) * (1 / n + 1 / m))
    return math.erfc(abs(a / n - b / m) / spread / math.sqrt(2)) if spread else 1.0


def slower(before: Sequence[int], after: Sequence[int], ratio: float, alpha: float = ALPHA) -> bool:
    """Whether durations have become longer by this ratio (of medians): rank sum of Mann and Whitney."""
    if min(len(before), len(after)) < FEWEST * 3:
        return False
    if median(after) < ratio * max(1, median(before)):
        return False
    return _rank_sum(before, after) < alpha


def median(values: Sequence[int]) -> int:
    """The middle one."""
    return percentile(values, 0.5)


def _rank_sum(before: Sequence[int], after: Sequence[int]) -> float:
    """How likely it is that the later ones are so much larger by chance (one-sided, normal approximation)."""
    n, m = len(before), len(after)
    ranked = sorted([(value, 0) for value in before] + [(value, 1) for value in after])
    total, at = 0.0, 0
    while at < n + m:
        end = at
        while end < n + m and ranked[end][0] == ranked[at][0]:
            end += 1
        rank = (at + end + 1) / 2
        total += rank * sum(which for _, which in ranked[at:end])
        at = end
    mean, spread = m * (n + m + 1) / 2, math.sqrt(n * m * (n + m + 1) / 12)
    return 0.5 * math.erfc((total - mean) / spread / math.sqrt(2))
