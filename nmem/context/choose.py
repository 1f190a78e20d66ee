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
TOGETHER = 0.15
"""The least chance that one of the likeliest files is edited; alone each is right too seldom to be told."""
SPOKEN = 0.8
"""The part of the most from which earlier work, a name or a branch speaks for a file. Of the likeliest only such files
are told: one that was merely edited or read lately says nothing of what is asked."""
BESIDE = 0.08
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
    if beside:
        return [number for chance, number in ranked[: 2 * LIKELIEST] if chance >= BESIDE]
    if together(ranked) < TOGETHER:
        return []
    return [number for _, number in ranked[: 2 * LIKELIEST] if spoken(ranking.features[number])]


def together(ranked: Sequence[tuple[float, int]]) -> float:
    """The chance that one of the likeliest files is edited."""
    none = 1.0
    for chance, _ in ranked[:LIKELIEST]:
        none *= 1.0 - chance
    return 1.0 - none


def spoken(values: Sequence[float]) -> bool:
    """Whether what is asked speaks for a file: earlier work that spoke of the same, its name, or the branch."""
    return max(values[1:4]) >= SPOKEN


def named(values: Sequence[float]) -> bool:
    """Whether the prompt names this very file, by its features."""
    return values[0] >= 1.0
