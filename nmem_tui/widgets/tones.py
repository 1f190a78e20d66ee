"""Turns lines of tones into what the terminal library draws. Text never passes through markup."""

from __future__ import annotations

from collections.abc import Iterable

from rich.segment import Segment
from rich.style import Style
from textual.content import Content
from textual.strip import Strip
from textual.widget import Widget

from nmem_tui.model.line import TONES, Line

COMPONENTS = frozenset(f"tone-{tone}" for tone in TONES)
"""Component classes that a style sheet gives a look; every screen has them."""


def content(lines: Iterable[Line]) -> Content:
    """Lines as one Content."""
    parts: list[tuple[str, str] | str] = []
    for number, line in enumerate(lines):
        if number:
            parts.append("\n")
        parts += [(text, f".tone-{tone}") for text, tone in line]
    return Content.assemble(*parts)


class Palette:
    """The looks of all tones on one widget, resolved once a theme."""

    def __init__(self, widget: Widget) -> None:
        self.styles = {tone: widget.get_component_rich_style(f"tone-{tone}", partial=True) for tone in TONES}
        self.base = widget.rich_style
        self.cursor = widget.get_component_rich_style("tone-cursor", partial=False)

    def strip(self, line: Line, cells: int, *, cursor: bool = False) -> Strip:
        """One line of `cells` cells; under the cursor its ground changes and its tones stay."""
        ground = self.base + self.cursor if cursor else self.base
        segments = [Segment(text, self._look(tone, ground, cursor=cursor)) for text, tone in line]
        return Strip(segments).adjust_cell_length(cells, ground)

    def _look(self, tone: str, ground: Style, *, cursor: bool) -> Style:
        style = self.styles[tone]
        if not cursor or ground.reverse:
            return ground if cursor else ground + style
        return ground + Style(color=style.color, bold=style.bold)
