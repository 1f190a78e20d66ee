"""Links to a decision, a section or a file: every printed link finds what it names.

`/when trigger`, `/when .Heading`, `/when ..file.md`; where two have one name, `/when ..file.md#Heading`, and where they
are in one file, or the name is a text, `/when ..file.md:12`, its line.
"""

from __future__ import annotations

from nmem.recall import markdown, words
from nmem.recall.corpus import File
from nmem.recall.index import BY_EXTRA, FILE, HEADING, LINE, OPERATOR, TRIGGER, Index

_LONGEST = 200
"""Characters of a name that is told as it is."""
_MOST = 40
"""Entries beside one that are told, those nearest to it."""


def file_link(name: str) -> str:
    """A whole file."""
    return f"/when ..{name}"


def section_link(index: Index, file: File, at: int) -> str:
    """A section by its heading."""
    title, line = file.headings[at].title, file.headings[at].line
    wanted = words.normal(title)
    if not wanted or len(title) > _LONGEST:
        return _in_file(file.name, title, line, once=False)
    if index.titles.get(wanted) == 1 and file.headings[at].level > 1:
        return f"/when .{title}"
    return _in_file(file.name, title, line, sum(words.normal(each.title) == wanted for each in file.headings) == 1)


def _in_file(name: str, title: str, line: int, once: bool) -> str:
    return f"/when ..{name}#{title}" if once else f"/when ..{name}:{line + 1}"


def entry_link(index: Index, doc: int) -> str:
    """An entry by its trigger; by its place where another has the same operator and trigger."""
    entry = index.docs[doc]
    link = f"/{entry[OPERATOR]} {entry[TRIGGER]}"
    if entry[LINE] < 0 or (len(link) <= _LONGEST and exact(index, *words.bare(link)) == [doc]):
        return link
    return _in_file(entry[FILE], entry[HEADING], entry[LINE], once=False)


def exact(index: Index, operator: str, text: str) -> list[int]:
    """The entries of a name: by trigger before heading before extra trigger, the asked operator's before others'."""
    key = words.normal(text)
    found = index.names.get(key) or index.names.get(words.name(text)) or []
    if not found and key.startswith("to "):
        found = index.names.get(key[3:], [])
    best = min((kind for kind, _ in found), default=BY_EXTRA)
    docs = [doc for kind, doc in found if kind == best]
    own = [doc for doc in docs if index.docs[doc][OPERATOR] == operator]
    return own or docs


def around(index: Index, file: File, at: int, doc: int = -1) -> tuple[list[str], list[str]]:
    """Broader links of a section, the nearest last but for the file; and the entries under the same heading."""
    ups = markdown.ancestors(file.headings, at)
    broader = [section_link(index, file, up) for up in ups] + [file_link(file.name)]
    parent = file.headings[at].parent
    same = {each.line for each in file.headings if each.parent == parent}
    line = file.headings[at].line
    beside = [
        other for other, entry in enumerate(index.docs)
        if other != doc and entry[FILE] == file.name and entry[LINE] in same and entry[LINE] != line
    ]  # fmt: skip
    if len(beside) > _MOST:
        near = sorted(beside, key=lambda other: abs(index.docs[other][LINE] - line))[:_MOST]
        beside = sorted(near)
    return broader, [entry_link(index, other) for other in beside]
