"""Measures, over a project's sessions, how rare a word is and how much two texts resemble each other. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from math import log, sqrt

from nmem.retrieval import naming
from nmem.retrieval.terms import CHAT
from nmem.retrieval.words import STOP

FEW = 12
"""Below this many sessions a project's own rarity says little."""
_TELLS = 0.33
"""The rarity from which a name says which work is meant."""
_PROFILES = 64
"""Texts of a project whose resemblance to its sessions is remembered."""
Vector = dict[str, float]


class Background:
    """A project's sessions, each as its words: what is rare there, and what resembles what."""

    def __init__(self, documents: Sequence[Sequence[str]], texts: Sequence[Sequence[str]] = ()) -> None:
        """`documents` are `said` and `asked` of the sessions; `texts`, if given, whole sessions to count rarity in."""
        self.count = len(documents)
        self._in = Counter(word for document in documents for word in set(document))
        counted = texts or documents
        held = self._in if not texts else Counter(word for text in texts for word in set(text))
        total = max(len(counted), FEW) + 1.0
        self._rarity = {word: max(0.0, log(total / number) / log(total)) for word, number in held.items()}
        self._postings: dict[str, list[tuple[int, float]]] = {}
        self._profiles: dict[tuple[str, ...], list[float]] = {}
        centre: dict[str, float] = {}
        vectors = [self._vector(document) for document in documents]
        for number, vector in enumerate(vectors):
            for word, weight in vector.items():
                self._postings.setdefault(word, []).append((number, weight))
                centre[word] = centre.get(word, 0.0) + weight / self.count
        self._mean = [sum(weight * centre[word] for word, weight in vector.items()) for vector in vectors]

    def rarity(self, word: str) -> float:
        """How rare a word is: 0 in all of them .. 1 in none."""
        return self._rarity.get(word, 1.0)

    def telling(self, word: str) -> float:
        """How much a word says of a subject: its rarity, a part of it where every project says the word."""
        return self.rarity(word) * (naming.SAYS if word in naming.GENERAL else 1.0)

    def tells(self, name: str) -> bool:
        """Whether a file, a symbol or a number says which work is meant: not one that stands in most sessions."""
        return max(map(self.rarity, naming.tokens(name)), default=1.0) >= _TELLS

    def rarest(self, shared: Iterable[str], number: int) -> float:
        """Mean rarity of the rarest shared words; fewer than `number` count as 0, so a long prompt gains nothing."""
        return self._most(map(self.rarity, shared), number)

    def most_telling(self, shared: Iterable[str], number: int) -> float:
        """The same of those that say most of a subject; words of every conversation say nothing."""
        return self._most(map(self.telling, set(shared) - CHAT - STOP - naming.JOINING), number)

    @staticmethod
    def _most(says: Iterable[float], number: int) -> float:
        found = sorted(says, reverse=True)
        return sum(found[:number]) / number

    def resemblance(self, one: Sequence[str], other: Sequence[str]) -> float:
        """Cosine of how much each resembles every session of the project, above what is usual there; 0 to 1."""
        mine, theirs = self._profile(one), self._profile(other)
        return max(0.0, _cosine(mine, theirs))

    def _vector(self, document: Sequence[str]) -> Vector:
        weights = {
            word: (1 + log(number)) * log((self.count + 1) / self._in.get(word, 1))
            for word, number in Counter(document).items()
        }
        norm = sqrt(sum(weight * weight for weight in weights.values())) or 1.0
        return {word: weight / norm for word, weight in weights.items()}

    def _profile(self, document: Sequence[str]) -> list[float]:
        """How much a text resembles each session; a prompt is compared with a dozen threads, and a thread with more."""
        key = tuple(document)
        found = self._profiles.get(key)
        if found is None:
            if len(self._profiles) >= _PROFILES:
                self._profiles.clear()
            found = self._profiles[key] = self._resembled(key)
        return found

    def _resembled(self, document: Sequence[str]) -> list[float]:
        found = [-mean for mean in self._mean]
        for word, weight in self._vector(document).items():
            for number, theirs in self._postings.get(word, ()):
                found[number] += weight * theirs
        return found


def _cosine(one: Sequence[float], other: Sequence[float]) -> float:
    dot = sum(a * b for a, b in zip(one, other, strict=True))
    size = sqrt(sum(a * a for a in one) * sum(b * b for b in other))
    return dot / size if size > 0 else 0.0
