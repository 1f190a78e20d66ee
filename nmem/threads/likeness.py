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

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain
from typing import NamedTuple

from nmem.retrieval import naming
from nmem.retrieval.background import Background

NAMES = ("keywords", "entities", "files", "topic", "recency")
HEAD = 500
"""Characters of the first prompt that say what it is about."""
PROMPT = 1500
"""Characters of an earlier prompt that count towards what a session is about."""
MESSAGE = 800
HOUR, DAY = 60.0, 1440.0


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
    return tuple(naming.tokens(text))


class _File(NamedTuple):
    """What a file is called: its name, that without its ending, the words of that, and those of its path's end."""

    name: str
    stem: str
    called: tuple[str, ...]
    words: tuple[str, ...]


@lru_cache(maxsize=4096)
def _file(path: str) -> _File:
    key = naming.path_key(path)
    name = key.rsplit("/", 1)[-1]
    stem = name.rsplit(".", 1)[0]
    return _File(name, stem, tuple(naming.tokens(stem)), tuple(naming.tokens(key)))


def asked(message: str) -> list[str]:
    """The words of a first prompt."""
    return naming.tokens(message[:MESSAGE])


def entities(text: str) -> frozenset[str]:
    """Files, symbols and issue numbers named in a text; a prompt is asked for with each thread it is compared with."""
    return _entities(text[: naming.MAX_CHARS])


@lru_cache(maxsize=2048)
def _entities(text: str) -> frozenset[str]:
    return frozenset(
        naming.file_mentions(text) | naming.symbols(text) | {"#" + number for number in naming.issue_refs(text)}
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
