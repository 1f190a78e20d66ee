"""Which of the ranked files to name: those that the prompt names, else the likeliest. On the hook's path.

Where a prompt names files, others are right one time in ten, whatever speaks for them: only the named ones are told.
Where it names none, three together are told when one of them is likely enough to be edited.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from nmem.context.rank import Ranking

NAMES, LIKELIEST = 5, 3
"""At most, in one session: of files that the prompt names, and of those that it does not."""
TOGETHER = 0.19
"""The least chance that one of the likeliest files is edited; alone each is right too seldom to be told."""
BESIDE = 0.12
"""The least chance of each of them where an episode is told, which names files as well."""
LATELY = 0.1
"""The least chance of a file that is named before anything is asked."""


def choose(
    ranking: Ranking, ranked: Sequence[tuple[float, int]], *, asked: bool = True, beside: bool = False
) -> list[int]:  # fmt: skip
    """The files to name, of (probability, file) falling; twice as many as may be told, for some may be gone."""
    if not asked:
        return [number for chance, number in ranked if chance >= LATELY][: 2 * LIKELIEST]
    if ranking.named:
        return [number for _, number in ranked if named(ranking.features[number])][: 2 * NAMES]
    if together(ranked) < TOGETHER:
        return []
    return [number for chance, number in ranked[: 2 * LIKELIEST] if chance >= BESIDE or not beside]


def together(ranked: Sequence[tuple[float, int]]) -> float:
    """The chance that one of the likeliest files is edited."""
    none = 1.0
    for chance, _ in ranked[:LIKELIEST]:
        none *= 1.0 - chance
    return 1.0 - none


def named(values: Sequence[float]) -> bool:
    """Whether the prompt names this very file, by its features."""
    return values[0] >= 1.0
