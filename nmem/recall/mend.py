"""Fixes an index: moves entries to the section of their file, orders them by heading, adds missing ones.

Lines that are no entries stay where they are, and no line is ever taken away; mended once, nothing is left to mend.
"""

from __future__ import annotations

import os

from nmem.recall import check, corpus, grammar, words
from nmem.recall.corpus import Corpus, File


def mended(found: Corpus, lines: list[str]) -> list[str]:
    """The lines of the index as they should be; `lines` are those of the file, line ends (\\r) included."""
    if not found.index_lines:
        return lines
    ended = lines[-1] == ""
    end = "\r" if lines[0].endswith("\r") else ""
    own = lines[:-1] if ended else [*lines[:-1], lines[-1] + end]
    rows = _gathered(found, own, end)
    taken = {words.name(entry.trigger) for entry in found.entries}
    for file, at in check.missing(found):
        line, name = _entry(file, at), words.name(file.headings[at].text)
        read = grammar.entry(line)[0]
        # of two headings of one name a person renames one; and a line is only added that leads to its heading
        if name and name not in taken and read and words.name(read[1]) == name:
            taken.add(name)
            _section(found, rows, found.files.index(file)).add(line + rows.end, at)
    out = [*rows.preamble, *(line for section in rows.sections for line in section.written())]
    return lines if out == own else [*out, ""]


class _Section:
    """A section while it is mended: what stands in it, line by line; an entry's line has its place in the file."""

    def __init__(self, file: int) -> None:
        self.file = file
        self.lines: list[tuple[str, int | None]] = []

    def add(self, line: str, place: int) -> None:
        """Put an entry after the last one of the section, or after its first empty line."""
        entries = [at for at, (_, own) in enumerate(self.lines) if own is not None]
        at = entries[-1] + 1 if entries else min(2, len(self.lines))
        if not entries and at < 2:
            self.lines.append(("\r" if self.lines[0][0].endswith("\r") else "", None))
            at = 2
        self.lines.insert(at, (line, place))

    def written(self) -> list[str]:
        """Its lines: entries change places among themselves only, those of this file in the order of their headings."""
        slots = [at for at, (_, own) in enumerate(self.lines) if own is not None and own >= 0]
        ranked = iter(sorted((self.lines[at] for at in slots), key=lambda each: each[1] or 0))
        for at in slots:
            self.lines[at] = next(ranked)
        return [line for line, _ in self.lines]


class _Rows:
    """The index in parts."""

    def __init__(self, end: str) -> None:
        self.preamble: list[str] = []
        self.sections: list[_Section] = []
        self.end = end

    def of(self, file: int) -> _Section | None:
        """The first section of a file."""
        return next((each for each in self.sections if each.file == file), None)


def _gathered(found: Corpus, lines: list[str], end: str) -> _Rows:
    rows = _Rows(end)
    starts = dict(found.sections)
    entries = {entry.number: entry for entry in found.entries}
    moved: list[tuple[str, int, int]] = []
    for number, line in enumerate(lines):
        if number in starts:
            rows.sections.append(_Section(corpus.file_of(found, starts[number])))
        entry = entries.get(number)
        if not rows.sections:
            rows.preamble.append(line)
        elif entry and entry.heading >= 0 and entry.file != rows.sections[-1].file:
            moved.append((line, entry.file, entry.heading))
        else:
            rows.sections[-1].lines.append((line, None if entry is None else entry.heading))
    for line, file, heading in moved:
        _section(found, rows, file).add(line, heading)
    return rows


def _entry(file: File, at: int) -> str:
    """A heading's entry as a line."""
    operator, trigger = words.bare(file.headings[at].text)
    return grammar.written(operator or "when", grammar.trigger_of(trigger or file.headings[at].text))


def _section(found: Corpus, rows: _Rows, file: int) -> _Section:
    """The section of a file, a new one at the end where there is none."""
    section = rows.of(file)
    if section is None:
        section = _Section(file)
        if rows.sections and rows.sections[-1].lines[-1][0].strip():
            rows.sections[-1].lines.append((rows.end, None))
        section.lines = [(f"## {named(found, file)}{rows.end}", None), (rows.end, None)]
        rows.sections.append(section)
    return section


def named(found: Corpus, file: int) -> str:
    """How a section of the index names a file."""
    return like(found, found.files[file].name)


def like(found: Corpus, file: str) -> str:
    """How a section names a file, maybe a new one: as the other sections do, by a path or by the bare name."""
    for _, name in found.sections:
        other = corpus.file_of(found, name)
        if other >= 0:
            own = found.files[other].name
            return name[: len(name) - len(own)] + file if name.endswith(own) else file.rpartition(".")[0]
    return os.path.relpath(os.path.join(found.place.folder, file), found.place.root).replace(os.sep, "/")
