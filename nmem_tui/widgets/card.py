"""A titled frame around lines that a function draws for the room there is."""

from __future__ import annotations

from collections.abc import Callable

from textual.content import Content

from nmem_tui.model.line import Line
from nmem_tui.widgets.drawn import Drawn

Draw = Callable[[int, int], list[Line]]
"""Lines for so many cells and rows."""


class Panel(Drawn):
    """Lines without a frame; as high as what it shows where the style sheet says `height: auto`."""

    DEFAULT_CSS = "Panel { height: auto; }"

    def __init__(self, draw: Draw | None = None, *, id: str | None = None, classes: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id, classes=classes)
        self._draw: Draw = draw or (lambda _cells, _rows: [])
        self._title = ""

    def show(self, draw: Draw, title: str = "") -> None:
        """Draw this from now on."""
        self._draw = draw
        if title and title != self._title:
            self._title = title
            self.border_title = Content(title)
        size = self.content_size
        if self.styles.is_auto_height and (not size.width or max(1, len(draw(size.width, 99))) != size.height):
            self.refresh(layout=True)
        else:
            self.redraw()

    def drawn(self, cells: int, rows: int) -> list[Line]:
        """The lines for the room there is."""
        return self._draw(cells, rows or 99)

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
