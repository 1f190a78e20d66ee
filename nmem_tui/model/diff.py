"""A unified diff as lines to read: each wrapped, and its sign kept, so that nothing of it is hidden."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from nmem.text import fit_path, printable
from nmem_tui.model.items import Item, plain
from nmem_tui.model.line import Line, wrap

_TONES = {"+": "good", "-": "bad", "@": "accent", " ": "quiet"}


def items(lines: Sequence[str], cells: int, nothing: str) -> list[Item]:
    """The diff in so many cells; `nothing` is said where it is empty."""
    if not lines:
        return list(plain([[(row, "text")] for row in wrap(nothing, cells, 3)]))
    return list(plain([line for text in lines for line in _wrapped(text, cells)]))


def _wrapped(text: str, cells: int) -> Iterator[Line]:
    if text.startswith(("---", "+++", "@@", "\\")):
        yield [(printable(text), "quiet")]
        return
    sign, rest = text[:1] or " ", text[1:]
    indent = " " * (len(rest) - len(rest.lstrip()))
    for number, row in enumerate(wrap(printable(rest), max(8, cells - 2 - len(indent)), 12) or [""]):
        yield [(sign + " " if not number else "  ", _TONES.get(sign, "text")), (indent + row, _TONES.get(sign, "text"))]


def into(name: str, root: str, verb: str, there: str = "in") -> Line:
    """Which file it is about."""
    return [(f"{verb} ", "quiet"), (printable(name), "strong"), (f"  {there} {fit_path(printable(root), 60)}", "quiet")]


def trouble(reason: str, cells: int) -> list[Line]:
    """Why it cannot be done."""
    return [[("✗ " if not n else "  ", "bad"), (row, "text")] for n, row in enumerate(wrap(reason, cells - 2, 4))]
