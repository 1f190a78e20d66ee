"""Builds the inverted index that ranks decisions: for each word its entries and weights, in a form to store.

BM25 over fields: a word of the trigger counts five times one of the body, and lengths are allowed for field by field.
"""

from __future__ import annotations

import math

from nmem.recall import grammar, markdown, words
from nmem.recall.corpus import Corpus, Entry

TYPE_CHECKING = False
if TYPE_CHECKING:
    from array import array
    from typing import Final

    Doc = tuple[str, str, tuple[str, ...], str, str, int, int, str]

VERSION = 5
"""Of what is kept; another way of counting or stemming is another version."""
WEIGHTS = (5.0, 3.0, 0.5, 1.0)
"""Of trigger and heading, extra triggers, the headings above, and the body."""
_EVEN = (0.3, 0.3, 0.5, 0.75)
"""How far the length of a field is allowed for."""
_FULL = 1.6
"""BM25's k1: how soon a word that comes again says no more."""
_LONGEST = 40_000
"""Characters of a body that are indexed."""

OPERATOR: Final = 0
TRIGGER: Final = 1
EXTRAS: Final = 2
FILE: Final = 3
HEADING: Final = 4
LINE: Final = 5
NUMBER: Final = 6
SECTION: Final = 7
"""Places in a Doc; LINE is the heading's (-1: missing), NUMBER the entry's in the index."""
BY_TRIGGER, BY_HEADING, BY_EXTRA = range(3)


class Index:
    """Ready to be asked; `form` is the same as plain values, for keeping."""

    __slots__ = ("_backwards", "_ordered", "docs", "fault", "idf", "names", "postings", "surface", "titles")

    def __init__(
        self,
        docs: list[Doc],
        names: dict[str, list[tuple[int, int]]],
        postings: dict[str, tuple[bytes, bytes]],
        surface: dict[str, str],
        idf: dict[str, float],
        titles: dict[str, int],
        fault: str = "",
    ) -> None:
        self.docs, self.names, self.postings, self.surface, self.idf = docs, names, postings, surface, idf
        self.titles = titles
        """How many headings below a document's title have a name, of all files."""
        self.fault = fault
        """What of the index's file is not searched, in one line; empty: all of it is."""
        self._ordered: list[str] | None = None
        self._backwards: list[str] | None = None

    @property
    def form(self) -> tuple[object, ...]:
        """Plain values; Index(*form) is the index again."""
        return self.docs, self.names, self.postings, self.surface, self.idf, self.titles, self.fault

    @property
    def ordered(self) -> list[str]:
        """All words as they are written, in order."""
        if self._ordered is None:
            self._ordered = sorted(self.surface)
        return self._ordered

    @property
    def backwards(self) -> list[str]:
        """All words from their ends, in order."""
        if self._backwards is None:
            self._backwards = sorted(word[::-1] for word in self.surface)
        return self._backwards

    def unheard(self) -> float:
        """How much a word would say that stands in no entry."""
        return math.log(1 + (len(self.docs) + 0.5) / 0.5)


def build(corpus: Corpus) -> Index:
    """The index of a corpus; entries without a heading are found by their names all the same."""
    docs: list[Doc] = []
    names: dict[str, list[tuple[int, int]]] = {}
    surface: dict[str, str] = {}
    fields: list[tuple[dict[str, int], ...]] = []
    spans = _own(corpus)
    for at, entry in enumerate(corpus.entries):
        file = corpus.files[entry.file] if entry.file >= 0 else None
        heading = file.headings[entry.heading] if file and entry.heading >= 0 else None
        title = heading.text if heading else ""
        docs.append((entry.operator, entry.trigger, entry.extras, file.name if file else "", title,
                     heading.line if heading else -1, entry.number, entry.section))  # fmt: skip
        _name(names, entry, title, at)
        above, text = "", ""
        if file and heading:
            ups = [file.headings[up].title for up in markdown.ancestors(file.headings, entry.heading)]
            above = f"{file.stem} {' '.join(ups)}"
            text = _body(file.lines, heading.line + 1, heading.end, spans.get(entry.file, {}))
        trigger = (
            f"{entry.trigger} {words.bare(title)[1]}"
            if words.name(title) != words.name(entry.trigger)
            else entry.trigger
        )
        fields.append(tuple(_counted(each, surface) for each in (trigger, " ".join(entry.extras), above, text)))
    postings, idf = _weighed(fields)
    return Index(docs, names, postings, surface, idf, _titles(corpus), unsearched(corpus))


def unsearched(corpus: Corpus) -> str:
    """Which lines of an index's file are no entries, and which entries lead nowhere: the first, and how many more."""
    name = corpus.place.index.replace("\\", "/").rpartition("/")[2]
    if corpus.faults and not corpus.entries and any(grammar.passive(fault.text) for fault in corpus.faults):
        return f"{name} is an older index, none of it is searched: `nmem recall migrate` makes it one of /when and /how"
    found = [(fault.number, f"{fault.why}: not searched") for fault in corpus.faults]
    found += [(entry.number, f"/{entry.operator} {entry.trigger} has no heading: only its name is found")
              for entry in corpus.entries if entry.heading < 0]  # fmt: skip
    if not found or not name:
        return ""
    number, why = min(found)
    more = f" ({len(found) - 1} more: `nmem recall check`)" if len(found) > 1 else ""
    return f"{name}:{number + 1}: {why}{more}"


def _titles(corpus: Corpus) -> dict[str, int]:
    out: dict[str, int] = {}
    for file in corpus.files:
        for heading in file.headings:
            if heading.level > 1:
                name = words.normal(heading.title)
                out[name] = out.get(name, 0) + 1
    return out


def _own(corpus: Corpus) -> dict[int, dict[int, int]]:
    """For each file, where sections begin and end that are entries of their own."""
    out: dict[int, dict[int, int]] = {}
    for entry in corpus.entries:
        if entry.file >= 0 and entry.heading >= 0:
            heading = corpus.files[entry.file].headings[entry.heading]
            out.setdefault(entry.file, {})[heading.line] = heading.end
    return out


def _body(lines: list[str], start: int, end: int, others: dict[int, int]) -> str:
    """The lines of a section without the ones of entries below it."""
    out: list[str] = []
    at, size = start, 0
    while at < end and size < _LONGEST:
        if at in others:
            at = max(others[at], at + 1)
            continue
        out.append(lines[at])
        size += len(lines[at])
        at += 1
    return "\n".join(out)[:_LONGEST]


def _name(names: dict[str, list[tuple[int, int]]], entry: Entry, title: str, at: int) -> None:
    for kind, text in ((BY_TRIGGER, entry.trigger), (BY_HEADING, title), *((BY_EXTRA, each) for each in entry.extras)):
        key = words.name(text)
        if key and ((known := names.setdefault(key, [])) == [] or known[-1][1] != at):
            known.append((kind, at))


def _counted(text: str, surface: dict[str, str]) -> dict[str, int]:
    """How often each stem stands in a text."""
    out: dict[str, int] = {}
    for word in words.words(text):
        found = surface.get(word)
        if found is None:
            found = surface[word] = words.stem(word)
        out[found] = out.get(found, 0) + 1
    return out


def _weighed(fields: list[tuple[dict[str, int], ...]]) -> tuple[dict[str, tuple[bytes, bytes]], dict[str, float]]:
    """For each stem, its entries and what it says of each; and how much it says at all."""
    from array import array  # on use: start-up stays short

    count = len(fields) or 1
    means = [sum(sum(field[at].values()) for field in fields) / count or 1.0 for at in range(len(WEIGHTS))]
    where: dict[str, array[int]] = {}
    much: dict[str, array[float]] = {}
    for doc, each in enumerate(fields):
        said: dict[str, float] = {}
        for counts, mean, weight, even in zip(each, means, WEIGHTS, _EVEN, strict=True):
            if counts:
                scale = weight / (1 - even + even * sum(counts.values()) / mean)
                for stem, times in counts.items():
                    said[stem] = said.get(stem, 0.0) + times * scale
        for stem, often in said.items():
            if stem not in where:
                where[stem], much[stem] = array("I"), array("f")
            where[stem].append(doc)
            much[stem].append(often / (_FULL + often))
    idf = {stem: math.log(1 + (count - len(docs) + 0.5) / (len(docs) + 0.5)) for stem, docs in where.items()}
    return {stem: (docs.tobytes(), much[stem].tobytes()) for stem, docs in where.items()}, idf
