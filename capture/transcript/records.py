"""Reads the records of a transcript one at a time, each with its start and end position."""

from __future__ import annotations

import os

from capture.files import regular
from capture.jsonio import BadJson, loads, raw_loads
from capture.transcript.cursor import MAX_LINE, lines

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import TextIO

_BLOCK = 1 << 18
_LIST = '"messages"'
_PEEK = 65536


def records(
    path: str, offset: int = 0, *, tail: bool = False, largest: int = 1 << 30
) -> Iterator[tuple[int, int, dict[str, object] | None]]:  # fmt: skip
    """(start, end, record) of every whole record since an offset; None for one that is no JSON object or too long.

    With `tail`, a last line without a newline counts if it is JSON. A document of more than `largest` bytes is passed
    over. Raises OSError, also for what is no regular file.
    """
    if is_document(path):
        if os.stat(path).st_size <= largest:
            yield from _document(path, offset)
        return
    start = offset
    for end, line in lines(path, offset, tail=tail):
        if not line.isspace():
            record = _parsed(line.decode("utf-8", "replace"))
            if record is None and line and not line.endswith(b"\n"):
                return
            yield start, end, record
        start = end


def _parsed(line: str) -> dict[str, object] | None:
    try:
        value = loads(line)
    except BadJson:
        return None
    return value if isinstance(value, dict) else None


def is_document(path: str) -> bool:
    """Whether a file is one JSON object over many lines, not an object a line."""
    if not path.endswith(".json"):
        return False
    with open(path, "rb", opener=regular) as file:
        first = file.readline(_PEEK)
    return first.strip() == b"{" or _LIST.encode() in first


def _document(path: str, offset: int) -> Iterator[tuple[int, int, dict[str, object] | None]]:
    """The head of a document, then its messages one by one; only the last of them ends at the file's size.

    A document is written anew as a whole: one that was read to its end is not read again.
    """
    size = os.stat(path).st_size
    if offset >= size:
        return
    with open(path, encoding="utf-8", errors="replace", opener=regular) as file:
        text = file.read(_BLOCK)
        mark = text.find(_LIST)
        start = text.find("[", mark) + 1 if mark >= 0 else 0
        if not start:
            yield 0, size, None
            return
        yield 0, 0, _parsed(text[:mark].rstrip().rstrip(",") + "}")
        for message in _elements(file, text[start:]):
            yield 0, 0, message
    yield 0, size, {}


def _elements(file: TextIO, text: str) -> Iterator[dict[str, object] | None]:
    """The elements of a list whose beginning was read; stops at its end or where it is broken off."""
    at, block = 0, _BLOCK
    while True:
        while text[at : at + 1] in {" ", "\n", "\r", "\t", ","}:
            at += 1
        if text[at : at + 1] == "]":
            return
        try:
            value, end = raw_loads(text, at)
        except BadJson:
            more = file.read(block) if len(text) - at <= MAX_LINE else ""
            if not more:
                if text[at:]:
                    yield None
                return
            # twice as much each time, so that a large element is not parsed over and over
            text, at, block = text[at:] + more, 0, block * 2
            continue
        at, block = end, _BLOCK
        yield value if isinstance(value, dict) else None
