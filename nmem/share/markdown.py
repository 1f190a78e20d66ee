"""Writes a document as Markdown in which no text from outside can become markup: each is escaped, or fenced.

What a reader would make a link of by itself (addresses, names with a dot, mentions, issues, hashes) becomes code.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from textwrap import wrap

from nmem.share.document import Block, Document, Fields, Heading, Item, Items, Paragraph, Said
from nmem.text import lines, printable

_ACTS = re.compile(r"([\\`*_\[\]|~$])")
_LINKED = re.compile(r"@|://|www\.|mailto:|javascript:|\w\.\w|#\d|GH-\d|^[0-9a-f]{7,40}$", re.IGNORECASE)
_BEGINS = re.compile(r"^([-+=#:]|\d+(?=[.)]))")
_AROUND = re.compile(r"([(\"'“‘]*)(.*?)([.,;:!?)\"'”’…]*)", re.DOTALL)
"""A word between the punctuation around it."""
_ENTITY = re.compile(r"&(?=#|\w)")
"""What could begin a character's name; any other `&` stands as it is."""
_TICKS = re.compile(r"`+")
_WIDE, _MOST = 110, 4_000
"""Characters of a line in a fence: a page does not wrap them; lines of a text."""


def write(document: Document) -> str:
    """The whole file."""
    parts = [f"# {escaped(document.title)}", *(part for block in document.blocks for part in _drawn(block))]
    return "\n\n".join(parts) + "\n"


def escaped(text: str) -> str:
    """A text on one line, in which nothing acts."""
    words = [_coded(word) if _LINKED.search(word) else _plain(word) for word in printable(text).split(" ") if word]
    return _BEGINS.sub(r"\\\1" if words and not words[0][:1].isdigit() else r"\1\\", " ".join(words))


def _coded(word: str) -> str:
    """A word as code, the punctuation around it outside, where what is left still is what was linked."""
    found = _AROUND.fullmatch(word)
    if found is None or not found[2] or not _LINKED.search(found[2]) or _LINKED.search(found[1] + " " + found[3]):
        return code(word)
    inner, after = found[2], found[3]
    while after[:1] == ")" and inner.count("(") > inner.count(")"):  # it closes what the word opens: [a](https://b.org)
        inner, after = f"{inner})", after[1:]
    return f"{_plain(found[1])}{code(inner)}{_plain(after)}"


def _plain(word: str) -> str:
    return _ACTS.sub(r"\\\1", _ENTITY.sub("&amp;", word).replace("<", "&lt;").replace(">", "&gt;"))


def code(text: str) -> str:
    """A text as code on one line, between more back quotes than it holds."""
    text = printable(" ".join(text.split()))
    ticks = "`" * (1 + max((len(run) for run in _TICKS.findall(text)), default=0))
    blank = " " if text[:1] == "`" or text[-1:] == "`" else ""
    return f"{ticks}{blank}{text}{blank}{ticks}" if text else ""


def fenced(text: str) -> str:
    """A text with its lines between fences that it cannot close; long lines are broken between words."""
    rows = [part for row in lines(text, _MOST) for part in _folded(row)]
    fence = "`" * max(3, 1 + max((len(run) for run in _TICKS.findall(text)), default=0))
    return "\n".join([f"{fence}text", *rows, fence])


def _folded(row: str) -> list[str]:
    if len(row) <= _WIDE:
        return [row]
    return wrap(row, _WIDE, break_long_words=False, break_on_hyphens=False, drop_whitespace=True) or [""]


def _drawn(block: Block) -> Iterator[str]:
    match block:
        case Heading(level, text):
            yield f"{'#' * min(level, 6)} {escaped(text)}"
        case Paragraph(text, quiet):
            yield f"*{escaped(text)}*" if quiet else escaped(text)
        case Fields(rows):
            yield "\n".join(f"- **{label}:** {escaped(text)}" for label, text in rows)
        case Items(rows, summary):
            if summary:
                yield f"**{summary}**"
            yield "\n".join(f"- {_line(row)}" for row in rows)
        case Said(who, at, text):
            yield f"**{who}**, {at}"
            yield fenced(text)


def _line(row: Item) -> str:
    ended = f"**{escaped(row.note)}**" if row.bad and row.note else escaped(row.note)
    begins = " ".join(part for part in (row.at, escaped(row.text), code(row.code)) if part)
    return f"{begins}: {ended}" if ended else begins
