"""The similarity of a new thread to an earlier one: keywords, entities, topic and recency, from 0 to 1.

keywords   the three rarest words that the first prompt shares with the earlier prompts; a word of every project or of
           every conversation says little
entities   files, symbols and issue numbers that the first prompt names and the earlier thread knows
files      the two rarest words that the first prompt shares with the names of the files touched
topic      do both resemble the same other sessions of the project? Finds what is alike without a word in common
recency    half by the hour, half by the day

Rarity and resemblance come from the project's own history (Background), so words that are everywhere in it say little.
Branch names are not read. Any language.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain
from math import log, sqrt
from typing import NamedTuple

from nmem.context.chat import CHAT
from nmem.retrieval.words import STOP
from nmem.threads import words

NAMES = ("keywords", "entities", "files", "topic", "recency")
HEAD = 500
"""Characters of the first prompt that say what it is about."""
PROMPT = 1500
"""Characters of an earlier prompt that count towards what a session is about."""
MESSAGE = 800
HOUR, DAY = 60.0, 1440.0
_PROFILES = 64
"""Texts of a project whose resemblance to its sessions is remembered."""
FEW = 12
"""Below this many sessions a project's own rarity says little."""

Vector = dict[str, float]


@dataclass(frozen=True, slots=True)
class Earlier:
    """What is known of an earlier thread: what was said, and the files it touched."""

    prompts: tuple[str, ...]
    files: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Likeness:
    """The five numbers."""

    keywords: float
    entities: float
    files: float
    topic: float
    recency: float

    def values(self) -> tuple[float, ...]:
        """In the order of NAMES."""
        return self.keywords, self.entities, self.files, self.topic, self.recency

    def rounded(self) -> dict[str, float]:
        """By name, as it is stored."""
        return {name: round(value, 4) for name, value in zip(NAMES, self.values(), strict=True)}


def said(earlier: Earlier) -> list[str]:
    """The words of an earlier thread: of its prompts and of the names of its files."""
    found = [word for prompt in earlier.prompts for word in _tokens(prompt[:PROMPT])]
    return found + [word for path in earlier.files for word in _file(path).words]


@lru_cache(maxsize=512)
def _tokens(text: str) -> tuple[str, ...]:
    """The words of a prompt, which is compared with the openings of a dozen later threads."""
    return tuple(words.tokens(text))


class _File(NamedTuple):
    """What a file is called: its name, that without its ending, the words of that, and those of its path's end."""

    name: str
    stem: str
    called: tuple[str, ...]
    words: tuple[str, ...]


@lru_cache(maxsize=4096)
def _file(path: str) -> _File:
    key = words.path_key(path)
    name = key.rsplit("/", 1)[-1]
    stem = name.rsplit(".", 1)[0]
    return _File(name, stem, tuple(words.tokens(stem)), tuple(words.tokens(key)))


def asked(message: str) -> list[str]:
    """The words of a first prompt."""
    return words.tokens(message[:MESSAGE])


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
        return self.rarity(word) * (words.SAYS if word in words.GENERAL else 1.0)

    def rarest(self, shared: Iterable[str], number: int) -> float:
        """Mean rarity of the rarest shared words; fewer than `number` count as 0, so a long prompt gains nothing."""
        return self._most(map(self.rarity, shared), number)

    def most_telling(self, shared: Iterable[str], number: int) -> float:
        """The same of those that say most of a subject; words of every conversation say nothing."""
        return self._most(map(self.telling, set(shared) - CHAT - STOP - words.JOINING), number)

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


def entities(text: str) -> frozenset[str]:
    """Files, symbols and issue numbers named in a text; a prompt is asked for with each thread it is compared with."""
    return _entities(text[: words.MAX_CHARS])


@lru_cache(maxsize=2048)
def _entities(text: str) -> frozenset[str]:
    return frozenset(
        words.file_mentions(text) | words.symbols(text) | {"#" + number for number in words.issue_refs(text)}
    )


def recency(gap_minutes: float) -> float:
    """Half by the hour, half by the day; threads that overlap count as adjacent."""
    gap = max(0.0, gap_minutes)
    return 0.5 / (1.0 + gap / HOUR) + 0.5 * float(2.0 ** (-gap / DAY))


def likeness(earlier: Earlier, message: str, gap_minutes: float, background: Background) -> Likeness:
    """How much a thread that opens with `message` is like an earlier one."""
    files = [_file(path) for path in earlier.files]
    head = set(_tokens(message[:HEAD]))
    known = {name for file in files for name in (file.name, file.stem)}
    known.update(*map(entities, earlier.prompts))
    return Likeness(
        keywords=background.most_telling(head.intersection(chain.from_iterable(map(_tokens, earlier.prompts))), 3),
        entities=min(1.0, len(entities(message) & known) / 2.0),
        files=background.rarest(head.intersection(chain.from_iterable(file.called for file in files)), 2),
        topic=background.resemblance(said(earlier), asked(message)),
        recency=recency(gap_minutes),
    )


def strongest(parts: Mapping[str, float]) -> list[tuple[str, float]]:
    """Parts of a score, the largest first."""
    return sorted(parts.items(), key=lambda part: (-part[1], part[0]))
