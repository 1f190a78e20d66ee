"""Scores search hits: BM25 over the gathered rows, times weights for age, kind, outcome and pin."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from nmem.search import kinds
from nmem.search.match import Matched
from nmem.search.meaning import Meaning
from nmem.search.rows import Row

_K, _B = 1.2, 0.35
_USUAL_LENGTH = {"observations": 14, "prompts": 60, "work_units": 120, "search_docs": 80}
"""Words of a usual text; long texts are not held against a kind that has them."""
HALF_LIFE = 21 * 86_400_000
"""Milliseconds after which the part of a score that ages is halved."""
_AGELESS = 0.6
"""The part that does not age."""
_PHRASE, _LITERAL, _TITLE = 1.35, 4.0, 1.5
_UNSEEN = 0.05
"""What a row is worth that the index found by a form of a word that is not recognised here."""
_COVERAGE = 1.5
"""A row with half of the words is worth less than half of one with all of them: the share to this power."""


@dataclass(slots=True)
class Ranked:
    """A row's place in the list."""

    row: Row
    score: float
    pinned: bool
    """A person pinned this row or a row with the same text."""
    times: int = 1
    episode: int = 0
    beneath: bool = False


def score(row: Row, found: Matched, titled: Sequence[float], meaning: Meaning, now: int) -> float:
    """A hit's worth; `titled`: the weights of the words in what is its title."""
    base = relevance(row.table, found, meaning)
    if found.phrase:
        base *= _PHRASE
    if found.literal:
        base *= _LITERAL
    if any(titled):
        base *= 1 + (_TITLE - 1) * _share(titled, meaning)
    return base * recency(row.at, now) * weight(row)


def relevance(table: str, found: Matched, meaning: Meaning) -> float:
    """BM25 of the query's words in a text, times how much of the query is in it."""
    if not meaning.words:
        return 1.0
    long = 1 - _B + _B * min(4.0, found.words / _USUAL_LENGTH[table])
    total = 0.0
    for one, times in zip(meaning.words, found.weights, strict=True):
        if times:
            total += one.idf * times * (_K + 1) / (times + _K * long)
    return float(total * _share(found.weights, meaning) ** _COVERAGE) or _UNSEEN


def _share(weights: Sequence[float], meaning: Meaning) -> float:
    """How much of what a query says is there, rare words counting for more."""
    said = there = 0.0
    for one, times in zip(meaning.words, weights, strict=True):
        said += one.idf
        there += one.idf * min(1.0, times)
    return there / said if said else 1.0


def recency(at: int, now: int) -> float:
    """1 for now, slowly down to the part that does not age."""
    return float(_AGELESS + (1 - _AGELESS) * 0.5 ** (max(0, now - at) / HALF_LIFE))


def weight(row: Row) -> float:
    """What kind, outcome and pin are worth."""
    by = row.type if row.kind == kinds.OBSERVATION else row.kind
    value = kinds.WEIGHTS.get(by, kinds.USUAL)
    if row.outcome == "failed":
        value *= kinds.FAILED
    return value * kinds.PINNED if row.pinned else value
