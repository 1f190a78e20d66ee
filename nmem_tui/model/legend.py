"""The signs of a screen with what they mean, as what draws there declares them: for the help, and for spare room."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module

from nmem.text import pad, width
from nmem_tui.model.line import Line, wrap
from nmem_tui.model.symbols import Sign

_SIGN = 18
"""Cells of a sign; a longer one takes more."""
_DRAWS: Mapping[str, tuple[str, ...]] = {
    "now": ("now_cards", "stream", "stance_chart", "stance", "now_gauges", "learnings"),
    "episodes": ("episodes", "band", "story", "stream"),
    "stance": ("stance", "stance_chart", "stream"),
    "learnings": ("learnings", "learning_detail", "stream"),
    "context": ("context", "context_text"),
    "search": ("search", "episodes", "stream", "tasks", "story"),
    "tasks": ("tasks",),
    "health": ("health", "health_cards", "health_storage"),
    "sessions": ("sessions",),
    "review": ("review", "stream"),
}
"""What draws on a screen beside its tabs and its list: modules beside this one."""


def of(context: str) -> list[Sign]:
    """Every sign that a screen can show, each once, its own first."""
    names = (*_DRAWS.get(context, ()), "lists", "screens")
    found = [sign for name in names for sign in import_module(f"nmem_tui.model.{name}").SIGNS]
    return list({(one.sign, one.means): one for one in found}.values())


def line(one: Sign, cells: int) -> list[Line]:
    """A sign and what it means, over more lines where there is no room."""
    sign = one.drawn()
    indent = max(_SIGN, width(sign) + 1)
    first, *rest = wrap(one.means, max(8, cells - indent), 3)
    head: Line = [(pad(sign, indent), one.tone), (first, "text")]
    return [head, *([(" " * indent, "text"), (row, "text")] for row in rest)]


def lines(context: str, cells: int, rows: int) -> list[Line]:
    """As many whole signs of a screen as there is room for."""
    out: list[Line] = []
    for one in of(context):
        drawn = line(one, cells)
        if len(out) + len(drawn) > rows:
            break
        out += drawn
    return out
