"""Inserts and removes rules between markers in the bytes of an instructions file (CLAUDE.md); pure, no files.

    <!-- nmem:learnings -->
    - `npm test` fails here; `pnpm test` passes
    <!-- /nmem:learnings -->

Everything else in the file stays byte for byte: line ends, byte order mark, a missing newline at the end. What is put
before the block tells how to take it away again: after a text that ends with a newline it is one empty line, and the
block ends with a newline; after a text that does not, the block does not either. So the last rule that goes leaves the
file as it was, whatever came and went in between.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from nmem.errors import NmemError

OPEN, CLOSE = b"<!-- nmem:learnings -->", b"<!-- /nmem:learnings -->"
_BOM = b"\xef\xbb\xbf"
_BULLET = b"- "
_BULLETS = (b"- ", b"* ", b"+ ")
"""A formatter may have chosen another one."""
_FENCE = re.compile(rb"((?:[ \t>]|(?:[-*+]|\d{1,9}[.)])[ \t])*)(`{3,}|~{3,})(.*)")


class Unfit(NmemError):
    """The file is not one that rules can be put into; its text says where and why."""


@dataclass(frozen=True, slots=True)
class Put:
    """A file with a rule in it."""

    data: bytes
    wrote: bool
    """False: the rule stood there already."""
    made: bool
    """The block is new."""


@dataclass(frozen=True, slots=True)
class _Line:
    number: int
    start: int
    text: bytes
    """Without its line end and what is blank before that."""
    end: bytes
    """Its line end; empty at the end of a file without one."""
    fenced: bool

    @property
    def after(self) -> int:
        return self.start + len(self.text) + len(self.end)


@dataclass(frozen=True, slots=True)
class _Block:
    opening: _Line
    rules: tuple[_Line, ...]
    closing: _Line

    @property
    def eol(self) -> bytes:
        return b"\r\n" if self.opening.end.endswith(b"\r\n") else b"\n"


def put(data: bytes | None, rule: str) -> Put:
    """The file with a rule in its block, which is made at the end where there is none. Raises Unfit."""
    text = data or b""
    lines = _lines(text)
    block = _block(lines)
    if _stands(lines, rule):
        return Put(text, wrote=False, made=False)
    line = _BULLET + rule.encode()
    if block is not None:
        at = block.closing.start
        return Put(text[:at] + line + block.eol + text[at:], wrote=True, made=False)
    _whole(lines)
    eol = _eol(text)
    before, last = _around(text, eol)
    return Put(text + before + eol.join((OPEN, line, CLOSE)) + last, wrote=True, made=True)


def remove(data: bytes, rule: str, whole: bool) -> bytes:
    """The file without a rule, if it stands in the block as it was written; else as it is. Raises Unfit.

    `whole`: the block goes too when nothing is left in it.
    """
    block = _block(_lines(data))
    if block is None:
        return data
    ours = [line for line in block.rules if not line.fenced and _said(line) == rule.encode()]
    if ours:
        data = data[: ours[-1].start] + data[ours[-1].after :]
        block = _block(_lines(data))
    if block is None or not whole or any(line.text for line in block.rules):
        return data
    return _without(data, block)


def rules(data: bytes) -> tuple[str, ...]:
    """The rules in the block, also a person's own. Raises Unfit."""
    block = _block(_lines(data))
    if block is None:
        return ()
    found = (_said(line) for line in block.rules if not line.fenced)
    return tuple(said.decode("utf-8", "replace") for said in found if said is not None)


def _said(line: _Line) -> bytes | None:
    """What an item of a list says; None where the line is none."""
    return line.text[len(_BULLET) :] if line.text.startswith(_BULLETS) else None


def _lines(data: bytes) -> list[_Line]:
    return list(_read(data))


def _read(data: bytes) -> Iterator[_Line]:
    """The lines, and which of them are in a fenced code block."""
    at, fence = (len(_BOM) if data.startswith(_BOM) else 0), _Fence()
    for number, row in enumerate(data[at:].split(b"\n"), 1):
        last = at + len(row) == len(data)
        if last and not row:
            return
        text = row.rstrip(b" \t\r")
        end = row[len(text) :] + (b"" if last else b"\n")
        yield _Line(number, at, text, end, fence.takes(text, number))
        at += len(row) + 1


class _Fence:
    """Follows code fences, also in lists and quotations; those end where a line is no longer part of them."""

    def __init__(self) -> None:
        self._mark = b""
        self._inside = False
        self.opened = 0
        """The line that the newest one begins in."""

    def takes(self, text: bytes, number: int) -> bool:
        """Whether a line is code, or a fence around it."""
        found = _FENCE.fullmatch(text)
        if self._mark:
            if self._inside and text and text[:1] not in b" \t>":
                self._mark = b""
            elif found and found[2].startswith(self._mark) and not found[3]:
                self._mark = b""
                return True
        if not self._mark and found and not (found[2].startswith(b"`") and b"`" in found[3]):
            self._mark, self._inside, self.opened = found[2], bool(found[1]), number
            return True
        return bool(self._mark)


def _block(lines: list[_Line]) -> _Block | None:
    """Where the rules stand; None where there is no block."""
    marks = [line for line in lines if not line.fenced and (line.text == OPEN or line.text.startswith(CLOSE))]
    openings = [line for line in marks if line.text == OPEN]
    if not openings:
        return None
    if len(openings) > 1:
        raise Unfit(f"nmem's rules begin in line {openings[0].number} and again in line {openings[1].number}: keep one")
    opening = openings[0]
    closing = next((line for line in marks if line.text != OPEN and line.number > opening.number), None)
    if closing is None:
        raise Unfit(f"nmem's rules begin in line {opening.number} and no line {CLOSE.decode()} ends them: add it")
    return _Block(opening, tuple(lines[opening.number : closing.number - 1]), closing)


def _whole(lines: list[_Line]) -> None:
    """Nothing can be added after a fence that stays open: it would be code."""
    fence = _Fence()
    for line in lines:
        fence.takes(line.text, line.number)
    opened = fence.opened
    if fence.takes(OPEN, 0):
        raise Unfit(f"the code fence in line {opened} is never closed: an added rule would be code")


def _stands(lines: list[_Line], rule: str) -> bool:
    wanted = rule.encode()
    return any(wanted in (line.text, _said(line)) for line in lines if not line.fenced)


def _eol(text: bytes) -> bytes:
    """The line end that most lines have."""
    windows = text.count(b"\r\n")
    return b"\r\n" if windows > text.count(b"\n") - windows else b"\n"


def _around(text: bytes, eol: bytes) -> tuple[bytes, bytes]:
    """What goes before a new block, and after it."""
    if text in (b"", _BOM):
        return b"", eol
    return (eol, eol) if text.endswith(b"\n") else (eol + eol, b"")


def _without(data: bytes, block: _Block) -> bytes:
    """The file without the block and what was put before it; where somebody changed that, their bytes stay."""
    before, eol, closing = data[: block.opening.start], block.eol, block.closing
    glued = closing.text != CLOSE  # somebody appended to a last line without a line end
    after = data[closing.start + len(CLOSE) :] if glued else data[closing.after :]
    if glued or closing.end.endswith(b"\n"):
        rest = before.removesuffix(eol)
        return (rest if rest.endswith(b"\n") else before) + after
    rest = before.removesuffix(eol + eol)
    return rest if rest not in (b"", _BOM) and not rest.endswith(b"\n") else before
