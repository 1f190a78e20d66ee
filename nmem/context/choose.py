"""Which of the ranked files to name: at most five, each likely enough for its reason. On the hook's path."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from nmem.context.rank import Ranking

NAMES, START_NAMES = 5, 3
"""At most, in one session; and of these before anything is asked."""
SPOKEN, LATELY = 0.05, 0.1
"""The least chance of being edited: of a file that the prompt speaks of, and of one that was only worked on lately."""
_SPOKEN = 4
"""The first features of nmem.context.rank come from what is asked and from the branch."""


def choose(ranking: Ranking, ranked: Sequence[tuple[float, int]], names: int = NAMES) -> list[int]:
    """The files to name, of (probability, file) falling."""
    features = ranking.features
    kept = (number for chance, number in ranked if chance >= (SPOKEN if spoken(features[number]) else LATELY))
    return [number for number, _ in zip(kept, range(names), strict=False)]


def named(values: Sequence[float]) -> bool:
    """Whether the prompt names a file, by its features."""
    return values[0] > 0


def spoken(values: Sequence[float]) -> bool:
    """Whether what is asked says most for a file, by its features."""
    return values[0] > 0 or max(values[:_SPOKEN]) >= max(values[_SPOKEN:])
