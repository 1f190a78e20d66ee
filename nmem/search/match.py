"""Finds the words of a query in a text: for scoring, and for the snippet of a hit, one safe line with highlights."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from nmem.search.meaning import Meaning, Meant
from nmem.search.text import UNSPACED, fold, root, unspaced
from nmem.text import ELLIPSIS, printable

_EXACT, _FORM, _BEGUN, _PART = 1.0, 0.9, 0.7, 0.45
_A_WORD = 6
"""Characters of a usual word with the blank after it."""
_GAP = r"[\W_]+"
_SCRIPTS = UNSPACED[0]
_REST = re.compile(f"[^\\W_{UNSPACED}\U00020000-\U0003ffff]*")

Span = tuple[int, int, int]
"""Start, end, and which word of the query."""


@dataclass(frozen=True, slots=True)
class Matched:
    """What of a query is in a text."""

    weights: tuple[float, ...]
    """By word of the query: how often it occurs, weaker kinds of occurrence counted for less."""
    words: float
    """Of the whole text, about."""
    phrase: bool
    literal: int
    """Words with signs (C++, emoji) that stand there exactly so."""


class Matcher:
    """Knows a query's words; remembers what it thought of a token."""

    def __init__(self, meaning: Meaning) -> None:
        self._words = [one for one in meaning.words if len(one.word.tokens) == 1 and not one.word.unspaced]
        self._numbers = [meaning.words.index(one) for one in self._words]
        self._stems = _any(root(one.word.tokens[0]) for one in self._words)
        self._phrases = [(meaning.words.index(one), _several(one)) for one in meaning.words if one not in self._words]
        self._phrase = re.compile(_GAP.join(map(re.escape, meaning.phrase.split()))) if meaning.phrase else None
        self._literal = [one.word.text for one in meaning.words if one.word.exact] + [one.text for one in meaning.signs]
        self._seen: dict[str, tuple[tuple[int, float], ...]] = {}
        self._count = len(meaning.words)

    def look(self, text: str) -> Matched:
        """What of the query is in a text."""
        folded = fold(text)
        weights = self.weights(folded)
        literal = sum(one in folded for one in self._literal)
        phrase = self._phrase is not None and all(weights) and self._phrase.search(folded) is not None
        return Matched(weights, len(text) / _A_WORD + 1, phrase, literal)

    def weights(self, folded: str) -> tuple[float, ...]:
        """How often each word of the query is in a folded text, as `Matched` has it."""
        weights = [0.0] * self._count
        for _, _, token in self._touched(folded):
            for number, weight in self._told(token):
                weights[number] += weight
        for number, pattern in self._phrases:
            weights[number] += len(pattern.findall(folded))
        return tuple(weights)

    def spans(self, text: str) -> list[Span]:
        """All that should be marked in a text, in order."""
        folded = fold(text)
        out = [(start, end, told[0][0]) for start, end, token in self._touched(folded) if (told := self._told(token))]
        out += [(found.start(), found.end(), number) for number, pattern in self._phrases
                for found in pattern.finditer(folded)]  # fmt: skip
        for piece in self._literal:
            out += [(found.start(), found.end(), 0) for found in re.finditer(re.escape(piece), folded)]
        return _apart(sorted(out, key=lambda span: (span[0], -span[1])))

    def _touched(self, folded: str) -> Iterator[tuple[int, int, str]]:
        """The tokens that hold the root of a word, with where they stand."""
        end = 0
        for found in self._stems.finditer(folded) if self._stems else ():
            start = found.start()
            if start < end:
                continue
            while start > end and (char := folded[start - 1]).isalnum() and (char < _SCRIPTS or not unspaced(char)):
                start -= 1
            rest = _REST.match(folded, found.end())
            end = rest.end() if rest else found.end()
            yield start, end, folded[start:end]

    def _told(self, token: str) -> tuple[tuple[int, float], ...]:
        known = self._seen.get(token)
        if known is None:
            pairs = zip(self._numbers, self._words, strict=True)
            known = self._seen[token] = tuple(
                (number, weight) for number, one in pairs if (weight := _weigh(one, token))
            )
        return known


def _weigh(one: Meant, token: str) -> float:
    typed = one.word.tokens[0]
    if token == typed:
        return _EXACT
    if root(token) == root(typed):
        return _FORM
    if (one.word.open and token.startswith(typed)) or token in one.near:
        return _BEGUN
    return _PART if len(typed) > 2 and typed in token else 0.0


def _any(pieces: Iterator[str]) -> re.Pattern[str] | None:
    unique = sorted(set(pieces), key=lambda piece: (-len(piece), piece))
    return re.compile("|".join(map(re.escape, unique))) if unique else None


def _several(one: Meant) -> re.Pattern[str]:
    """A word of several tokens, as they follow each other; a word of an unspaced script, anywhere."""
    if one.word.unspaced:
        return re.compile(re.escape(one.word.text))
    end = "" if one.word.open or one.word.quoted else r"(?![^\W_])"
    return re.compile(r"(?<![^\W_])" + _GAP.join(map(re.escape, one.word.tokens)) + end)


def _apart(spans: Sequence[Span]) -> list[Span]:
    """Without those that overlap an earlier one."""
    out: list[Span] = []
    for span in spans:
        if not out or span[0] >= out[-1][1]:
            out.append(span)
    return out


LENGTH = 160
_LEAD = 40
"""Characters before the first place that is shown."""
_PLACES = 200
"""Places of which the best is chosen."""


@dataclass(frozen=True, slots=True)
class Snippet:
    """One printable line and (start, end) places in it."""

    text: str
    marks: tuple[tuple[int, int], ...] = ()


def snippet(text: str, matcher: Matcher, length: int = LENGTH) -> Snippet:
    """The stretch of a text with the most different words of the query in it."""
    at = _best(matcher.spans(text), length)
    cut = max(0, at - 2 * length)
    flat = printable(" ".join(text[cut : at + 4 * length].split()))
    spans = matcher.spans(flat)
    start = _start(flat, _best(spans, length), length)
    head = ELLIPSIS if start or cut else ""
    tail = ELLIPSIS if start + length < len(flat) or at + 4 * length < len(text) else ""
    shift = len(head) - start
    marks = tuple(
        (begin + shift, min(end, start + length) + shift) for begin, end, _ in spans if start <= begin < start + length
    )
    return Snippet(head + flat[start : start + length] + tail, marks)


def _best(spans: list[tuple[int, int, int]], length: int) -> int:
    """Where the window begins that holds the most different words, the first such."""
    best, most = 0, 0
    spans = spans[:_PLACES]
    for at, _, _ in spans:
        inside = len({word for begin, end, word in spans if at <= begin and end <= at + length - _LEAD})
        if inside > most:
            best, most = at, inside
    return best


def _start(flat: str, at: int, length: int) -> int:
    """A little before the place, at a blank where there is one; the whole text where it fits."""
    if len(flat) <= length or at <= _LEAD:
        return 0
    start = max(0, min(at - _LEAD, len(flat) - length))
    blank = flat.find(" ", start, at)
    return blank + 1 if blank >= 0 else start
