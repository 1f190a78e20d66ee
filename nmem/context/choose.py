"""Selects the files to name to a session: those its prompt names, else the likeliest. On the hook's path.

Where a prompt names files, others are right one time in ten, whatever speaks for them: only the named ones are told.
Where it names none, three together are told when one of them is likely enough to be edited. Beside an episode the
chances are too low: of the files with less than a tenth one in nine is edited.
"""

from __future__ import annotations

from math import exp

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from nmem.context.rank import Ranking

NAMES, AT_START = 5, 4
"""Most files named in one session, and most of these at its start, so that a first prompt can always name one more."""
TOGETHER, TOGETHER_OF = 0.35, 3
"""The least chance that one of so many likeliest files is edited; alone each is right too seldom to be told."""
ECHO, ECHOED = 3.0, 0.05
"""What it says of a file, as a logit, that episodes which edited it speak of the whole prompt; and the part of the
prompt from which they speak for it."""
SPOKEN = 0.8
"""The part of the most from which earlier work, a name or a branch speaks for a file. Of the likeliest only such files
are told: one that was merely edited or read lately says nothing of what is asked."""
ALONE = 0.1
"""The least chance of each file where files alone are told."""
BESIDE = 0.08
"""The least chance of each of them where an episode is told, which names files as well."""
LATELY = 0.1
"""The least chance of a file that is named before anything is asked."""


def choose(
    ranking: Ranking, ranked: Sequence[tuple[float, int]], *, asked: bool = True, beside: bool = False
) -> list[int]:  # fmt: skip
    """The files to name, of (probability, file) falling; twice as many as may be told, for some may be gone."""
    if not asked:
        return [number for chance, number in ranked if chance >= LATELY][: 2 * AT_START]
    if ranking.named:
        return [number for _, number in ranked if named(ranking.features[number])][: 2 * NAMES]
    if beside:
        return [number for chance, number in ranked[: 2 * NAMES] if chance >= BESIDE]
    if together(ranked) < TOGETHER:
        return []
    return [number for chance, number in ranked[: 2 * NAMES] if chance >= ALONE and spoken(ranking, number)]


def together(ranked: Sequence[tuple[float, int]]) -> float:
    """The chance that one of the likeliest files is edited."""
    none = 1.0
    for chance, _ in ranked[:TOGETHER_OF]:
        none *= 1.0 - chance
    return 1.0 - none


def echo(ranking: Ranking, says: dict[int, float]) -> None:
    """Raise the chances of the files that episodes edited which speak of the prompt; file -> how much of it."""
    ranking.echoed = says
    raised = []
    for chance, number in ranking.files:
        odds = exp(ECHO * min(1.0, says.get(number, 0.0))) * chance
        raised.append((odds / (odds + 1.0 - chance), number))
    ranking.files = sorted(raised, reverse=True)


def spoken(ranking: Ranking, number: int) -> bool:
    """Whether what is asked speaks for a file: earlier work that spoke of the same, its name, or the branch."""
    return ranking.echoed.get(number, 0.0) >= ECHOED or max(ranking.features[number][1:4]) >= SPOKEN


def named(values: Sequence[float]) -> bool:
    """Whether the prompt names this very file, by its features."""
    return values[0] >= 1.0
