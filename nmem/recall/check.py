"""Checks index against decisions: every entry has its heading, every decision its entry, names are unique.

Names are compared exactly (case, hyphens and punctuation aside): what ranking would forgive is a fault here.
"""

from __future__ import annotations

from bisect import bisect
from dataclasses import dataclass

from nmem.recall import corpus, markdown, words
from nmem.recall.corpus import Corpus, Entry, File

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
    out = [Finding(UNREAD, "", 0, text, "it answers nothing until it can be read") for text in found.warnings]
    if found.index_lines:
        out += [Finding(FORM, index, fault.number + 1, fault.text, f"{fault.why}: /when trigger | extra, extra")
                for fault in found.faults]  # fmt: skip
        out += _sections(found, index)
        out += _entries(found, index)
        out += _ordered(found, index)
        out += _orphans(found)
    out += _doubles(found)
    out += [Finding(FENCE, file.name, at + 1, file.lines[at], "this fence is never closed: what follows is no heading")
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
            out.append(Finding(ORDER, index, entry.number + 1, text, "stands before the entry above it in the file"))
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
                    Finding(SAME_HEADING, file.name, heading.line + 1, heading.text, f"{where} is called the same")
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
