"""Re-examines a whole session: does the work after a prompt continue the episode so far?

The first look reads no cuts, so that one wrong cut never causes the next. This one reads those that the first made, all
at once: how much the turns from a prompt to the next cut are like the episode before it, and like the session before
it. A part that is like the session but not like the episode is more likely a beginning.
"""

from __future__ import annotations

from math import sqrt

from nmem.episodes.features import COMMON_WEIGHT

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from nmem.episodes.features import Spoken

    Bag = dict[str, int]
    """Word -> weight, of length UNIT. Whole numbers add up to the same in whatever order the words come."""

AHEAD = 3
"""Turns from a prompt on that are compared at most."""
UNIT = 10_000
_ASKED = 1.7
"""What a word of the prompt weighs beside one of the answer or of a file's name."""


def bag(said: Spoken, common: frozenset[str]) -> Bag:
    """The words of one turn."""
    asked, every = said
    dull, dully_asked = every & common, asked & common
    weights = (1.0, _ASKED, COMMON_WEIGHT, _ASKED * COMMON_WEIGHT)
    parts = every - asked - dull, asked - dully_asked, dull - dully_asked, dully_asked
    size = sqrt(sum(len(part) * weight * weight for part, weight in zip(parts, weights, strict=True))) or 1.0
    out: Bag = {}
    for part, weight in zip(parts, weights, strict=True):
        out.update(dict.fromkeys(part, round(UNIT * weight / size)))
    return out


class _Sum:
    """Bags added up, with the square of their length."""

    __slots__ = ("square", "words")

    def __init__(self) -> None:
        self.words: Bag = {}
        self.square = 0

    def add(self, other: Bag) -> None:
        words, square = self.words, self.square
        get = words.get
        for word, value in other.items():
            before = get(word, 0)
            words[word] = before + value
            square += value * (before + before + value)
        self.square = square

    def like(self, other: _Sum) -> float:
        """The cosine, 0 to 1."""
        mine, theirs = self.words, other.words
        both = sum([mine[word] * theirs[word] for word in mine.keys() & theirs.keys()])
        return round(both / sqrt(self.square * other.square), 6) if both else 0.0


def likeness(bags: Sequence[Bag], cuts: Sequence[bool]) -> list[tuple[float, float]]:
    """For each prompt: how like what begins with it is to the episode and to the session before; (0, 0) for the first.

    `cuts`: which prompts open an episode.
    """
    session, episode = _Sum(), _Sum()
    out: list[tuple[float, float]] = []
    for at, own in enumerate(bags):
        after = _Sum()
        after.add(own)
        for number in range(at + 1, min(at + AHEAD, len(bags))):
            if cuts[number]:
                break
            after.add(bags[number])
        out.append((episode.like(after), session.like(after)))
        if cuts[at]:
            episode = _Sum()
        episode.add(own)
        session.add(own)
    return out
