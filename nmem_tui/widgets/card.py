"""A titled frame around lines that a function draws for the room there is."""

from __future__ import annotations

from collections.abc import Callable

from textual.content import Content
from textual.widget import Widget

from nmem_tui.model.line import Line, cut
from nmem_tui.widgets.tones import content

Draw = Callable[[int, int], list[Line]]
"""Lines for so many cells and rows."""


class Panel(Widget):
    """Lines without a frame; as high as what it shows where the style sheet says `height: auto`."""

    DEFAULT_CSS = "Panel { height: auto; }"

    def __init__(self, draw: Draw | None = None, *, id: str | None = None, classes: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id, classes=classes)
        self._draw: Draw = draw or (lambda _cells, _rows: [])

    def show(self, draw: Draw, title: str = "") -> None:
        """Draw this from now on."""
        self._draw = draw
        if title:
            self.border_title = Content(title)
        self.refresh(layout=self.styles.is_auto_height)

    def render(self) -> Content:
        """The lines for the room there is."""
        size = self.content_size
        lines = self._draw(size.width, size.height or 99) if size.width else []
        return content(cut(line, size.width) for line in lines)

    def lines(self, rows: int) -> list[Line]:
        """What it would show in so many rows."""
        width = self.content_size.width
        return self._draw(width, rows) if width else []

    def get_content_height(self, container: object, viewport: object, width: int) -> int:  # noqa: ARG002
        """As many rows as there are lines."""
        return max(1, len(self._draw(width, 99)))


class Card(Panel):
    """A panel in a frame."""

    DEFAULT_CSS = "Card { height: 1fr; }"
