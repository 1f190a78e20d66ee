"""Finds lines of instructions that say the same as an earlier one, or otherwise than a person did; from texts alone.

The earlier one stands in the same file or in one that the same client loads. Only plain oppositions count: a line tells
to use what the person turned down by name, or says nearly the same with another number or without the negation.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from nmem.decisions.find import Rarity, numbers
from nmem.episodes.text import tokens
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


_TERM = r"[`\"'“]?(?P<{}>[\w@./+-]+(?: [\w@./+-]+)?)[`\"'”]?"
_INSTEAD = tuple(
    re.compile(pattern.replace("CHOSEN", _TERM.format("chosen")).replace("OLD", _TERM.format("old")), re.IGNORECASE)
    for pattern in (
        r"\buse (?:the )?CHOSEN (?:instead of|rather than|over|and not|, not) (?:the )?OLD",
        r"\b(?:instead of|rather than) (?:using )?(?:the )?OLD,? (?:let'?s |we |you )?(?:should )?use (?:the )?CHOSEN",
        r"\breplace (?:the )?OLD (?:with|by) (?:the )?CHOSEN",
        r"\b(?:switch|migrate|move|change) from (?:the )?OLD to (?:the )?CHOSEN",
        r"\brename (?:the )?OLD to (?:the )?CHOSEN",
        r"\b(?:we|you)? ?(?:no longer|don'?t|do not|never|stop) us(?:e|ing) (?:the )?OLD(?P<chosen>\b)",
    )
)
_FILLING = frozenset("a an the it that this them proper anymore any more here there for in on to as at and or".split())  # noqa: SIM905
_NEGATED = re.compile(
    r"\b(?:not|never|no longer|instead|rather than|avoid|except|unless|deprecated|legacy|formerly|without|"
    r"don't|doesn't|stop)\b|n't\b",
    re.IGNORECASE,
)
_NEGATES = re.compile(r"\b(?:not|never|no|avoid|without|don't|doesn't|stop)\b|n't\b", re.IGNORECASE)
_TELLS = re.compile(r"\b(?:use|uses|using|run|runs|running|with|via|call|prefer|start|through|in)\b", re.IGNORECASE)
_AS_NEAR = 0.75
_FEW = 4


def turned_down(text: str) -> list[tuple[str, str]]:
    """What a person turned down, by name, and what is to be used instead (empty where nothing is)."""
    out = []
    for pattern in _INSTEAD:
        for found in pattern.finditer(text):
            old, chosen = _core(found["old"]), _core(found["chosen"] or "")
            if len(old) >= _FEW and old != chosen:
                out.append((old, chosen))
    return out


def _core(term: str) -> str:
    """A term without the words around it that name nothing."""
    words = term.strip(".,/").lower().split(" ")
    while words and words[-1] in _FILLING:
        words.pop()
    while words and words[0] in _FILLING:
        words.pop(0)
    return " ".join(words).strip(".,")


def uses(line: str, old: str, chosen: str, about: str) -> bool:
    """Whether a line tells to use what was turned down, on the matter that it was turned down in."""
    low = line.lower()
    named = re.search(rf"(?<![\w./-]){re.escape(old)}(?![\w/-]|\.\w)", low)
    if not named or _NEGATED.search(line) or (chosen and chosen in low) or not _TELLS.search(line):
        return False
    known = {*tokens(old), *tokens(chosen)}
    return bool((set(tokens(line)) & set(tokens(about))) - known - _FILLING)


def varies(line: str, said: str, rarity: Rarity) -> str:
    """How a line differs from what was said in nearly the same words; empty: it does not, or says another thing."""
    if len(set(tokens(said))) < _FEW or rarity.alike(line, said) < _AS_NEAR:
        return ""
    if bool(_NEGATES.search(line)) != bool(_NEGATES.search(said)):
        return "the opposite"
    ours, theirs = numbers(line), numbers(said)
    return "another number" if ours and theirs and {n for n, _ in ours} != {n for n, _ in theirs} else ""


def says_same(line: str, said: str, rarity: Rarity) -> bool:
    """Whether a line says what a person said, in nearly the same words."""
    return len(set(tokens(said))) >= _FEW and rarity.alike(line, said) >= _AS_NEAR
