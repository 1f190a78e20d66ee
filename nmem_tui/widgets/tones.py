"""Turns lines of tones into what the terminal library draws. Text never passes through markup."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any
from weakref import WeakKeyDictionary

from rich.segment import Segment
from rich.style import Style
from textual.app import App
from textual.content import Content
from textual.strip import Strip
from textual.widget import Widget

from nmem_tui.model.line import TONES, Line

COMPONENTS = frozenset(f"tone-{tone}" for tone in TONES)
"""Component classes that a style sheet gives a look; the app and every screen have them."""
_KEPT = 128
"""Lines that a palette remembers: a screen or two full. What is drawn again is mostly what was drawn before."""
_LOOKS: WeakKeyDictionary[App[Any], tuple[object, dict[str, Style]]] = WeakKeyDictionary()
"""Of each app the theme, and what its tones look like in it: the same for all of its widgets."""


def content(lines: Iterable[Line]) -> Content:
    """Lines as one Content."""
    parts: list[tuple[str, str] | str] = []
    for number, line in enumerate(lines):
        if number:
            parts.append("\n")
        parts += [(text, f".tone-{tone}") for text, tone in line]
    return Content.assemble(*parts)


def _looks(app: App[Any]) -> dict[str, Style]:
    own = sorted((name, value) for name, value in app.theme_variables.items() if name.startswith("nm-"))
    theme = (app.theme, app.no_color, app.native_ansi_color, own)
    if (known := _LOOKS.get(app)) is not None and known[0] == theme:
        return known[1]
    found = {tone: app.get_component_styles(f"tone-{tone}").partial_rich_style for tone in TONES}
    _LOOKS[app] = (theme, found)
    return found


class Palette:
    """The looks of all tones on one widget, resolved once a theme."""

    def __init__(self, widget: Widget) -> None:
        looks, base = _looks(widget.app), widget.rich_style
        ground = base + looks["cursor"]
        self.grounds = (base, ground)
        self._plain = {tone: base + style for tone, style in looks.items()}
        self._here = {
            tone: ground if ground.reverse else ground + Style(color=style.color, bold=style.bold)
            for tone, style in (looks | {"rest": looks["off"]}).items()  # fainter, it would be lost on that ground
        }
        self._segments: dict[tuple[tuple[tuple[str, str], ...], int, bool], list[Segment]] = {}
        """No strips: each keeps every form that the library ever cut it into, and grows for as long as it is kept."""

    def strip(self, line: Line, cells: int, *, cursor: bool = False) -> Strip:
        """One line of `cells` cells; under the cursor its ground changes and its tones stay."""
        key = (tuple(line), cells, cursor)
        if (known := self._segments.get(key)) is not None:
            return Strip(known, cells)
        looks = self._here if cursor else self._plain
        segments = [Segment(text, looks[tone]) for text, tone in line]
        made = Strip(segments).adjust_cell_length(cells, self.grounds[cursor])
        if len(self._segments) >= _KEPT:
            self._segments.clear()
        self._segments[key] = list(made)
        return made
