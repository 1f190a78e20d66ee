"""A written decision in the pane beside the hits: as `nmem when` prints it, wrapped."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import PurePath

from nmem.search.decisions import Decision
from nmem.text import printable, width
from nmem_tui.model.line import Line, wrap

_LINES = 4_000
_LINKS = ("Broader:", "Related:")


def title(found: Decision) -> str:
    """Where it is written."""
    return printable(f"Decision ─ {PurePath(found.path).name}:{found.line}")


def lines(found: Decision, cells: int) -> Iterator[Line]:
    """Its lines, those too long for the pane over several."""
    fence = False
    for place, text in enumerate(found.text.splitlines()[:_LINES]):
        fence ^= text.lstrip().startswith(("```", "~~~"))
        yield from _line(text.replace("\t", "    "), cells, _tone(text, place, fence))


def _tone(text: str, place: int, fence: bool) -> str:
    if place == 0 or (not fence and text.startswith("#")):
        return "title"
    if text in _LINKS or text.startswith("Source: "):
        return "quiet"
    return "key" if text.startswith(("/when ", "/how ")) else "text"


def _line(text: str, cells: int, tone: str) -> Iterator[Line]:
    if width(text) < cells:
        yield [(f" {text}", tone)]
        return
    indent = " " * min(len(text) - len(text.lstrip()), 8)
    for row in wrap(printable(text), max(8, cells - 2 - len(indent)), _LINES):
        yield [(f" {indent}{row}", tone)]
