"""Checks the index of decisions against their files, and fixes the index: sections, order, missing entries.

Lines that are no entries stay where they are, and no line is ever taken away; mended once, nothing is left to mend.

Names are compared exactly (case, hyphens and punctuation aside): what ranking would forgive is a fault here.
"""

from __future__ import annotations

import os
from bisect import bisect
from dataclasses import dataclass

from nmem.recall import corpus, grammar, markdown, words
from nmem.recall.corpus import Corpus, Entry, File


def mended(found: Corpus, lines: list[str]) -> list[str]:
    """The lines of the index as they should be; `lines` are those of the file, line ends (\\r) included."""
    if not found.index_lines:
        return lines
    ended = lines[-1] == ""
    end = "\r" if lines[0].endswith("\r") else ""
    own = lines[:-1] if ended else [*lines[:-1], lines[-1] + end]
    rows = _gathered(found, own, end)
    taken = {words.name(entry.trigger) for entry in found.entries}
    for file, at in missing(found):
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


FORM, TWICE, NO_HEADING, NO_ENTRY, ELSEWHERE, STRUCTURE, SAME_HEADING, NO_FILE, ORDER, UNREAD, FENCE = (
    "form", "twice", "no-heading", "no-entry", "elsewhere", "structure", "same-heading", "no-file", "order", "unread",
    "fence",
)  # fmt: skip
MENDS = (ELSEWHERE, ORDER, NO_ENTRY)
"""What `--fix` mends: entries are moved and added, nothing is taken away."""


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that is wrong: where (a file and a line from 1), what, and what to do."""

    kind: str
    file: str
    line: int
    text: str
    todo: str

    def form(self) -> dict[str, object]:
        """As plain values."""
        return {"kind": self.kind, "file": self.file, "line": self.line, "text": self.text, "todo": self.todo,
                "mended_by_fix": self.kind in MENDS}  # fmt: skip


def check(found: Corpus) -> list[Finding]:
    """All findings, those of the index first, in the order of lines."""
    index = found.place.index
    out = [Finding(UNREAD, "", 0, text, "unreadable, so this line answers nothing") for text in found.warnings]
    if found.index_lines:
        out += [Finding(FORM, index, fault.number + 1, fault.text, f"{fault.why}: /when trigger | extra, extra")
                for fault in found.faults]  # fmt: skip
        out += _sections(found, index)
        out += _entries(found, index)
        out += _ordered(found, index)
        out += _orphans(found)
    out += _doubles(found)
    out += [Finding(FENCE, file.name, at + 1, file.lines[at], "this fence is never closed: all that follows is code")
            for file in found.files if (at := open_fence(file.lines)) >= 0]  # fmt: skip
    return out


def _sections(found: Corpus, index: str) -> list[Finding]:
    used = {entry.section for entry in found.entries}  # an empty section leads nobody astray
    return [
        Finding(NO_FILE, index, number + 1, f"## {name}", "no such file in the decisions folder: name another")
        for number, name in found.sections if name in used and corpus.file_of(found, name) < 0
    ]  # fmt: skip


def _entries(found: Corpus, index: str) -> list[Finding]:
    out: list[Finding] = []
    first: dict[tuple[int, int], Entry] = {}
    triggers: dict[str, Entry] = {}
    for entry in found.entries:
        line, text = entry.number + 1, f"/{entry.operator} {entry.trigger}"
        key = words.name(entry.trigger)
        if key in triggers:
            out.append(
                Finding(TWICE, index, line, text, f"line {triggers[key].number + 1} has this trigger: rename one")
            )
            continue
        triggers[key] = entry
        if entry.heading < 0:
            out.append(_headless(found, entry, index, text))
            continue
        place = (entry.file, entry.heading)
        if place in first:
            out.append(Finding(TWICE, index, line, text, f"line {first[place].number + 1} leads to the same heading"))
        first.setdefault(place, entry)
        own = corpus.file_of(found, entry.section)
        if own >= 0 and own != entry.file:
            name = found.files[entry.file].name
            out.append(
                Finding(ELSEWHERE, index, line, text, f"its heading is in {name}: move the line to that section")
            )
    return out


def _headless(found: Corpus, entry: Entry, index: str, text: str) -> Finding:
    key = words.name(entry.trigger)
    for file in found.files:
        if any(each.dotted and words.normal(each.title) == key for each in file.headings):
            return Finding(STRUCTURE, index, entry.number + 1, text, f"its heading in {file.name} only orders others")
    wanted = corpus.heading_of(entry.operator, entry.trigger)
    return Finding(
        NO_HEADING,
        index,
        entry.number + 1,
        text,
        f"no heading “{wanted}” in {entry.section}: write it, or correct the trigger",
    )


def _ordered(found: Corpus, index: str) -> list[Finding]:
    starts = [number for number, _ in found.sections]
    last: dict[int, int] = {}
    out: list[Finding] = []
    for entry in found.entries:
        if entry.heading < 0 or corpus.file_of(found, entry.section) != entry.file:
            continue
        section = bisect(starts, entry.number)
        if entry.heading < last.get(section, -1):
            text = f"/{entry.operator} {entry.trigger}"
            out.append(Finding(ORDER, index, entry.number + 1, text, "comes before the entry above it in the file"))
        last[section] = max(entry.heading, last.get(section, -1))
    return out


def missing(found: Corpus) -> list[tuple[File, int]]:
    """Headings of decisions without an entry. A heading below a decision's is part of it, unless it asks by itself."""
    known = {(entry.file, entry.heading) for entry in found.entries}
    return [
        (file, place) for at, file in enumerate(found.files) for place, heading in enumerate(file.headings)
        if heading.level > 1 and not heading.dotted and (at, place) not in known
        and (corpus.asks(heading) or not _below(file, place, at, known))
    ]  # fmt: skip


def _below(file: File, place: int, at: int, known: set[tuple[int, int]]) -> bool:
    return any((at, up) in known for up in markdown.ancestors(file.headings, place))


def _orphans(found: Corpus) -> list[Finding]:
    return [
        Finding(NO_ENTRY, file.name, file.headings[at].line + 1, file.headings[at].text,
                "no entry leads to it: add one, or put a dot before the heading if it only orders others")
        for file, at in missing(found)
    ]  # fmt: skip


def _doubles(found: Corpus) -> list[Finding]:
    seen: dict[str, tuple[str, int]] = {}
    out: list[Finding] = []
    for file in found.files:
        for heading in file.headings:
            if heading.level < 2 or heading.dotted or not corpus.asks(heading):
                continue
            key = words.name(heading.text)
            if key in seen:
                where = f"{seen[key][0]}:{seen[key][1]}"
                out.append(
                    Finding(SAME_HEADING, file.name, heading.line + 1, heading.text, f"{where} has the same name")
                )
            seen.setdefault(key, (file.name, heading.line + 1))
    return out


def open_fence(lines: list[str]) -> int:
    """The line of a code fence that is never closed; -1 when all are."""
    fence, at = "", -1
    for number, line in enumerate(lines):
        bare = line.strip()
        if fence:
            if markdown.closes(bare, fence):
                fence = ""
        elif bare[:3] in markdown.FENCES and (fence := markdown.fence_of(bare)):
            at = number
    return at if fence else -1
