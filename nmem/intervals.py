"""Intervals that hold the true value nine times in ten: Wilson's of a share, the bootstrap's of anything. Pure.

A share knows how far it may be off by its cases alone, also where nothing or everything hit. What is no share,
a mean of counts or a difference of means, is redrawn: the middle nine tenths of what samples of the same size give.
"""

from __future__ import annotations

import random
from math import sqrt

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

Z90 = 1.645
"""Standard deviations on both sides of the mean that hold nine tenths."""
DRAWS = 2000
_LOW, _HIGH = 0.05, 0.95


def wilson(hits: int, cases: int, z: float = Z90) -> tuple[float, float]:
    """Between which values the true share lies nine times in ten; all of 0..1 when there is no case."""
    if not cases:
        return 0.0, 1.0
    part = hits / cases
    middle = (part + z * z / (2 * cases)) / (1 + z * z / cases)
    half = z * sqrt(part * (1 - part) / cases + z * z / (4 * cases * cases)) / (1 + z * z / cases)
    return max(0.0, middle - half), min(1.0, middle + half)


def bootstrap(draw: Callable[[random.Random], float]) -> tuple[float, float]:
    """Between which values a figure lies in nine of ten redrawn samples.

    `draw` gives the figure of one sample, taken with the dice that it is handed: always the same throws, so the same
    records give the same interval.
    """
    dice = random.Random(1)  # noqa: S311 - no secret
    found = sorted(draw(dice) for _ in range(DRAWS))
    return found[int(DRAWS * _LOW)], found[int(DRAWS * _HIGH)]
