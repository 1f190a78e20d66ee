"""Finds the earlier decision that a later one replaces: pure, from the words of both and their conversations.

A later decision supersedes an earlier one of the project when their conversations are about the same matter and the
later one says that something held before ("no longer", "superseding the old cap", "two updates to the policy we
settled"), or when it says nearly the same words with other numbers. `alike` is the only measure of sameness: another
engine can stand in its place.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from math import log, sqrt

from nmem.conversation import cues
from nmem.episodes.text import tokens

_SAME, _NEAR = 0.22, 0.75
"""Likeness of two conversations about one matter; of two decisions that differ in little but a number."""
_SHARED = 2
"""Telling words that two decisions on one matter have in common at least."""
_FEW = 12
"""Below so many conversations their own rarity says little."""
_CHARS = 6_000
_NUMBER = re.compile(r"(?<![\w.])(\d+(?:\.\d+)?)(?:[- ]?(%|[a-z]{1,12}\b))?", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Decided:
    """What is compared of a decision."""

    number: int
    conversation: int
    """The episode it was made in."""
    at: int
    said: str
    """The person's words."""
    whole: str
    """These, the question and the agent's restatement."""
    talk: str
    """All that was said in the episode."""


def superseded(later: Decided, earlier: Sequence[Decided], rarity: Rarity) -> list[int]:
    """The numbers of the earlier decisions of a project that a later one replaces."""
    before = [
        one for one in earlier
        if one.number != later.number and one.at <= later.at and one.said.strip() != later.said.strip()
    ]  # fmt: skip
    out = [one.number for one in before if _varies(later, one, rarity)]
    if cues.REVISES.search(later.whole):
        out += [one.number for one in _same_matter(later, before, rarity)]
    return sorted(set(out))


def _varies(later: Decided, one: Decided, rarity: Rarity) -> bool:
    """Whether a decision is an earlier one with other numbers."""
    return numbers(later.said) != numbers(one.said) and rarity.alike(later.said, one.said) >= _NEAR


def _same_matter(later: Decided, before: Sequence[Decided], rarity: Rarity) -> list[Decided]:
    """What was decided in the one earlier conversation that is most like the later decision's."""
    talks = {one.conversation: one.talk for one in before if one.conversation != later.conversation}
    likeness = {conversation: rarity.alike(later.talk, talk) for conversation, talk in talks.items()}
    nearest = max(likeness, key=lambda each: likeness[each], default=None)
    if nearest is None or likeness[nearest] < _SAME:
        return []
    return [one for one in before
            if one.conversation == nearest and rarity.shared(later.whole, one.whole) >= _SHARED]  # fmt: skip


def numbers(text: str) -> frozenset[tuple[str, str]]:
    """The numbers of a text with the word that follows each."""
    return frozenset((found[1], (found[2] or "").lower().rstrip("s")) for found in _NUMBER.finditer(text))


class Rarity:
    """How telling a word is in a project, by its conversations; and what is alike there."""

    def __init__(self, talks: Sequence[str]) -> None:
        self._held = Counter(word for talk in talks for word in set(tokens(talk[:_CHARS])))
        self._total = max(len(talks), _FEW) + 1.0
        self._vectors: dict[str, dict[str, float]] = {}

    def of(self, word: str) -> float:
        """0..1; 0: in every conversation."""
        return max(0.0, log(self._total / max(1, self._held.get(word, 1))) / log(self._total))

    def alike(self, one: str, other: str) -> float:
        """How much two texts are about the same, 0..1: the cosine over their words by rarity."""
        first, second = self._vector(one), self._vector(other)
        return sum(weight * second.get(word, 0.0) for word, weight in first.items())

    def shared(self, one: str, other: str) -> int:
        """How many telling words two texts have in common."""
        both = set(tokens(one[:_CHARS])) & set(tokens(other[:_CHARS]))
        return sum(self.of(word) >= 0.5 and not word.isdecimal() for word in both)

    def _vector(self, text: str) -> dict[str, float]:
        if text not in self._vectors:
            self._vectors[text] = self._weighed(text)
        return self._vectors[text]

    def _weighed(self, text: str) -> dict[str, float]:
        weights = {word: (1.0 + log(times)) * self.of(word) for word, times in Counter(tokens(text[:_CHARS])).items()}
        length = sqrt(sum(weight * weight for weight in weights.values()))
        return {word: weight / length for word, weight in weights.items()} if length else {}
