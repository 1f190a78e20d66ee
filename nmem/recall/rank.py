"""Ranks decisions for a query: by its words, prefixes, corrected typos, abbreviations and synonyms."""

from __future__ import annotations

from bisect import bisect_left
from heapq import nlargest
from math import exp

from nmem.recall import alike, words
from nmem.recall.index import OPERATOR, TRIGGER, Index
from nmem.recall.words import STOP

PREFIX, REPAIRED, SHORT, WITHIN, ALIKE = 0.75, 0.9, 0.6, 0.5, 0.2
"""How much of what was asked a word says that begins so, is repaired, spelt out, has the letters, or means the like."""
_NAMED, _SAME = 0.4, 0.02
"""Added where all words of a trigger are asked for; and where the operator is the one asked with."""
_MOST = 40
"""Words looked at for one beginning."""
_LONGEST = 48
"""Words of a query that are looked at."""
_HEAD = 24
_ALPHABET = "abcdefghijklmnopqrstuvwxyz"
FLOOR = 0.68
"""Confidence from which an entry answers; below it there are only suggestions."""
_APART, _ALONE = 0.2, 0.6
"""A single word answers only where its entry leads by so much; else there is no more confidence than this."""
_FITTED = (3.2, 1.3, 7.0, -5.3)
"""Logistic, on half of the labelled queries: share of the best possible score, lead over the second, words held."""


class Ranked:
    """An entry's place in the index, its score, and the share of the query's weight that it holds."""

    __slots__ = ("cover", "doc", "score")

    def __init__(self, doc: int, score: float, cover: float) -> None:
        self.doc, self.score, self.cover = doc, score, cover


def rank(index: Index, query: str, operator: str = "", limit: int = 5) -> tuple[list[Ranked], float]:
    """The best entries, best first, and how sure it is that the first is meant, from 0 to 1."""
    asked = wanted(query)
    scores, cover, best = _scored(index, asked)
    if not scores:
        return [], 0.0
    head = nlargest(max(limit * 2, _HEAD), scores, key=lambda doc: (scores[doc], -doc))
    stems = {words.stem(word) for word in asked}
    found = [Ranked(doc, scores[doc] * _named(index, doc, stems, operator), cover[doc] / best) for doc in head]
    found.sort(key=lambda each: (-each.score, len(index.docs[each.doc][TRIGGER]), each.doc))
    told = sum(word not in STOP for word in asked)
    return found[:limit], min(_sure(found, best), (0.0, _ALONE if _lead(found) < _APART else 1.0, 1.0)[min(told, 2)])


def _scored(index: Index, asked: list[str]) -> tuple[dict[int, float], dict[int, float], float]:
    """For each entry its score and the weight of the words that it holds; and the weight of all words."""
    scores: dict[int, float] = {}
    cover: dict[int, float] = {}
    best = 0.0
    for word in asked:
        weight, stems = meant(index, word)
        best += weight
        found: dict[int, float] = {}
        for stem, likeness in stems.items():
            share = likeness * min(weight, index.idf[stem])
            docs, said = postings(index, stem)
            for doc, much in zip(docs, said, strict=True):
                if share * much > found.get(doc, 0.0):
                    found[doc] = share * much
        for doc, score in found.items():
            scores[doc] = scores.get(doc, 0.0) + score
            cover[doc] = cover.get(doc, 0.0) + weight
    return scores, cover, best


def _named(index: Index, doc: int, stems: set[str], operator: str) -> float:
    """What a score is multiplied by for the words of the trigger that were asked for, and for the operator."""
    entry = index.docs[doc]
    own = [words.stem(word) for word in wanted(entry[TRIGGER])]
    held = sum(stem in stems for stem in own) / (len(own) or 1)
    return (1 + _NAMED * held) * (1 + _SAME * (operator == entry[OPERATOR]))


def _sure(found: list[Ranked], best: float) -> float:
    share, leads, holds, none = _FITTED
    return 1 / (1 + exp(-(share * found[0].score / best + leads * _lead(found) + holds * found[0].cover + none)))


def _lead(found: list[Ranked]) -> float:
    """How far the first is before the second, as a share of its score."""
    return (found[0].score - found[1].score) / found[0].score if len(found) > 1 else 1.0


def wanted(query: str) -> list[str]:
    """The words of a query that say something; all of them when none does."""
    every = list(dict.fromkeys(words.words(query)))[:_LONGEST]
    return [word for word in every if word not in STOP and (len(word) > 1 or not word.isascii())] or every


def postings(index: Index, stem: str) -> tuple[memoryview[int], memoryview[float]]:
    """The entries of a stem, and what it says of each."""
    where, much = index.postings[stem]
    return memoryview(where).cast("I"), memoryview(much).cast("f")


_SHORT: dict[str, str] = {}
_ALIKE: dict[str, list[str]] = {}


def meant(index: Index, word: str) -> tuple[float, dict[str, float]]:
    """How much a word asks for, and the stems that it may mean, each with its share."""
    if not _SHORT:
        _SHORT.update(alike.short())
        _ALIKE.update(alike.alike())
    stem = words.stem(word)
    known = word in index.surface or stem in index.postings
    out: dict[str, float] = {stem: 1.0} if stem in index.postings else {}
    for other in _SHORT.get(word, "").split():
        _offer(index, out, words.stem(other), SHORT)
    if len(word) >= 3:
        for other in beginning(index, word):
            _offer(index, out, index.surface[other], PREFIX * len(word) / len(other))
    if not known and len(word) > 3:
        for other in repaired(index, word):
            _offer(index, out, index.surface[other], REPAIRED)
    if not out and 3 <= len(word) <= 6:
        for other in spelt(index, word):
            _offer(index, out, index.surface[other], WITHIN)
    near = dict(out)
    for other in _near(word):
        _offer(index, near, words.stem(other), ALIKE)
    return _weight(index, stem, known, near), near


def _near(word: str) -> list[str]:
    """Words that may be said for one, or for what it is a form of."""
    for ending, instead in (("", ""), ("s", ""), ("ing", ""), ("ing", "e"), ("ed", ""), ("d", "")):
        if word.endswith(ending) and (found := _ALIKE.get(word[: len(word) - len(ending)] + instead)):
            return found
    return []


def _weight(index: Index, stem: str, known: bool, near: dict[str, float]) -> float:
    """How much a word asks for: as rare as it is, or as what it may mean; all there is where it means nothing."""
    if stem in near:
        return index.idf[stem]
    if not near:
        return index.unheard()
    if not known:
        return max(index.idf[each] for each in near)
    return max(index.idf[each] * (1 if share > 0.5 else share) for each, share in near.items())


def _offer(index: Index, out: dict[str, float], stem: str, share: float) -> None:
    if stem in index.postings and share > out.get(stem, 0.0):
        out[stem] = share


def beginning(index: Index, word: str) -> list[str]:
    """Longer words that begin with one."""
    ordered = index.ordered
    at = bisect_left(ordered, word)
    out: list[str] = []
    while at < len(ordered) and ordered[at].startswith(word) and len(out) < _MOST:
        if ordered[at] != word:
            out.append(ordered[at])
        at += 1
    return out


def repaired(index: Index, word: str) -> list[str]:
    """Known words at the smallest distance from one that is not known: one slip, or two in a long word."""
    known = index.surface
    near = {each for each in _slips(word) if each in known and len(each) > 2}
    if near or len(word) < 8:
        return sorted(near)
    third = max(2, len(word) // 3)
    near = {each for each in _sharing(index.ordered, word[:third]) if words.distance(word, each, 2) <= 2}
    near |= {
        each[::-1] for each in _sharing(index.backwards, word[::-1][:third]) if words.distance(word, each[::-1], 2) <= 2
    }
    return sorted(near)


def _sharing(ordered: list[str], start: str) -> list[str]:
    at = bisect_left(ordered, start)
    end = at
    while end < len(ordered) and ordered[end].startswith(start) and end - at < 400:
        end += 1
    return ordered[at:end]


def _slips(word: str) -> list[str]:
    """All that is one deletion, swap, replacement or insertion away."""
    parts = [(word[:at], word[at:]) for at in range(len(word) + 1)]
    out = [left + right[1:] for left, right in parts if right]
    out += [left + right[1] + right[0] + right[2:] for left, right in parts if len(right) > 1]
    out += [left + char + right[1:] for left, right in parts if right for char in _ALPHABET]
    out += [left + char + right for left, right in parts for char in _ALPHABET]
    return out


def spelt(index: Index, word: str) -> list[str]:
    """Words with the letters of a short one in order, the same at the beginning."""
    ordered = index.ordered
    out = []
    at = bisect_left(ordered, word[0])
    while at < len(ordered) and ordered[at][0] == word[0]:
        each = ordered[at]
        if len(word) < len(each) <= 3 * len(word) and words.within(word, each):
            out.append(each)
        at += 1
    return out if len(out) <= _MOST else []
