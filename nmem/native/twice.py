"""Finds lines of instructions that say the same as an earlier one, in one file or in files that one client loads."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from nmem.native.documents import ALWAYS, Document, Line

_SHORT, _WORDS, _SURE = 2, 6, 8
"""Words of a line that can stand twice in one file, of one that can be said twice, and of one that surely is."""
_NEAR = 0.85
_WORD = re.compile(r"[^\W_]+(?:['_./:-][^\W_]+)*")
_CODE = re.compile(r"`([^`]+)`")
_NUMBER = re.compile(r"\d+")
_NOT = re.compile(r"\b(?:not|never|no|without|avoid|cannot|don't|doesn't|must not|n't)\b|n't\b", re.IGNORECASE)
_RULE = re.compile(
    r"\b(?:always|never|must|should|do not|don't|avoid|prefer|ensure|make sure|remember|required?)\b"
    r"|^\W*(?:use|run|keep|write|add)\b",
    re.IGNORECASE,
)
"""Words of a rule: it holds under whichever heading it stands."""
_POINTS = re.compile(r"\b(?:its?|this|these|those|they|them|their|above|below|here|same|step|example)\b", re.IGNORECASE)
"""Words that point at what stands around."""
_ITEM = re.compile(r"(?:[-*+]|\d+[.)])\s+")


@dataclass(frozen=True, slots=True)
class Twice:
    """A line that says what an earlier one says."""

    document: Document
    line: Line
    first: Document
    first_line: Line
    same: bool
    """In the same words."""
    sure: bool
    """Nothing is lost without it."""


@dataclass(frozen=True, slots=True)
class _Said:
    document: Document
    line: Line
    words: tuple[str, ...]
    code: frozenset[str]
    numbers: frozenset[str]
    negated: bool
    under: tuple[str, ...]
    """The headings, the sentence and the items that it hangs on."""


def find(documents: Sequence[Document]) -> Iterator[Twice]:
    """Lines that say the same as one before them; each is told once, with the first that says it."""
    before: list[_Said] = []
    by_word: dict[str, list[int]] = {}
    stood: dict[tuple[str, str], list[_Said]] = {}
    for one in (each for document in documents for each in _said(document)):
        if len(one.words) < _WORDS:
            alike = stood.setdefault((one.document.path, one.line.text.strip()), [])
            if earlier := next((each for each in alike if _same(each, one)), None):
                yield Twice(one.document, one.line, earlier.document, earlier.line, same=True, sure=False)
            else:
                alike.append(one)
            continue
        near = Counter(at for word in set(one.words) for at in by_word.get(word, ()))
        wanted = len(set(one.words)) * _NEAR
        most = (before[at] for at, shared in near.most_common(8) if shared >= wanted and _same(before[at], one))
        if (first := next(most, None)) is not None:
            same = first.words == one.words
            sure = same and len(one.words) >= _SURE and _covers(first.document, one.document)
            yield Twice(one.document, one.line, first.document, first.line, same, sure)
            continue
        for word in set(one.words):
            by_word.setdefault(word, []).append(len(before))
        before.append(one)


def _covers(first: Document, second: Document) -> bool:
    """Whether whoever is told the second's lines is told the first's, each time."""
    return first is second or (set(second.clients) <= set(first.clients) and first.loaded == ALWAYS)


def _said(document: Document) -> Iterable[_Said]:
    lead, parents = "", [(-1, "")]
    for line in document.told:
        text, indent = line.text.strip(), len(line.text) - len(line.text.lstrip())
        if line.is_heading or (text and not _ITEM.match(text)):
            lead = "" if line.is_heading else text
            parents = [(-1, "")]
        while parents[-1][0] >= indent and text:
            parents.pop()
        if line.fence or line.is_heading or line.own or line.comment or text.startswith(("|--", "@")):
            continue
        words = tuple(_WORD.findall(re.sub(r"[`*]", "", text.lower())))
        if len(words) >= _SHORT:
            numbers = frozenset(_NUMBER.findall(text))
            under = (*line.above, lead if lead != text else "", *(parent for _, parent in parents))
            yield _Said(document, line, words, frozenset(_CODE.findall(text)), numbers, bool(_NOT.search(text)), under)
        if _ITEM.match(text):
            parents.append((indent, text))


def _same(one: _Said, other: _Said) -> bool:
    """Whether two lines say the same to one reader: their code, numbers and negation are the same."""
    if one.document is not other.document and not set(one.document.clients) & set(other.document.clients):
        return False
    if (one.code, one.numbers, one.negated) != (other.code, other.numbers, other.negated):
        return False
    if one.under != other.under and not _holds_anywhere(one, other):
        return False
    first, second = Counter(one.words), Counter(other.words)
    return (first & second).total() >= _NEAR * (first | second).total()


def _holds_anywhere(one: _Said, other: _Said) -> bool:
    """Whether a line is a rule that says by itself what it is about: under another heading it is the same rule."""
    texts = one.line.text, other.line.text
    return all(_RULE.search(text) and not _POINTS.search(text) and not text.rstrip().endswith(":") for text in texts)
