"""How many of the ranked files to name: each must pay for its place. On the hook's path."""

from __future__ import annotations

NAMES, START_NAMES = 20, 6
"""At most, in one session; and of these before anything is asked."""
SURE = 0.2
"""A file this likely is always worth its name."""
GAIN, START_GAIN = 0.003, 0.01
"""The least that a name must add to the chance that the context names any file the session will edit."""
FEW = 20
"""Where there are fewer files than this, all of them are named: a young project is best told whole."""
FLOOR = 0.3
"""The least chance of naming a file that the session will edit; below it nothing is named."""


def choose(ranked: list[tuple[float, int]], names: int = NAMES, gain: float = GAIN, missed: float = 1.0) -> list[int]:
    """The files to name, of (probability, file) falling. `missed`: the chance that what was told before names none.

    A sure list ends early, a doubtful one goes on.
    """
    if len(ranked) < FEW:
        return [number for _, number in ranked[:names]]
    out: list[int] = []
    for probability, number in ranked[:names]:
        if probability < SURE and missed * probability < gain:
            break
        out.append(number)
        missed *= 1.0 - probability
    return out


def confidence(ranked: list[tuple[float, int]], chosen: list[int], missed: float = 1.0) -> float:
    """The chance that the chosen files, with what was told before, name one that the session will edit."""
    named = set(chosen)
    for probability, number in ranked:
        if number in named:
            missed *= 1.0 - probability
    return 1.0 - missed
