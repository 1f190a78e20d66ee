"""A bar of keys, each with its effect: shown, highlighted and clickable."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from textual.content import Content
from textual.events import Click
from textual.message import Message
from textual.widget import Widget

from nmem.text import fit, width
from nmem_tui.model.line import Line, length
from nmem_tui.widgets.drawn import content

_BETWEEN = (2, 0)
"""Blanks between two ways, beside their own; the closer ones where that saves a row."""


@dataclass(frozen=True, slots=True)
class Way:
    """One key; its label is printable."""

    key: str
    label: str
    chosen: bool = False
    tone: str = "text"
    mark: str = ""
    """How the key is written; the key itself where empty."""


class OptionBar(Widget):
    """A row of ways to go on, over more rows where there is no room."""

    DEFAULT_CSS = "OptionBar { height: auto; padding: 0 1; }"

    @dataclass
    class Taken(Message):
        """One was clicked."""

        key: str
        ways: OptionBar

        @property
        def control(self) -> OptionBar:
            """Where it was."""
            return self.ways

    def __init__(self, ways: Sequence[Way] = (), *, id: str | None = None, stands: bool = False) -> None:  # noqa: A002
        super().__init__(id=id)
        self.can_focus = stands
        self.ways = tuple(ways)

    def tell(self, ways: Sequence[Way]) -> None:
        """These are the ways from now on."""
        self.ways = tuple(ways)
        self.display = bool(ways)
        self.refresh(layout=True)

    def _rows(self, cells: int) -> list[list[tuple[int, int, Way]]]:
        """Ways with where they begin and end, row by row."""
        wide, close = (self._spread(cells, between) for between in _BETWEEN)
        return close if len(close) < len(wide) else wide

    def _spread(self, cells: int, between: int) -> list[list[tuple[int, int, Way]]]:
        rows: list[list[tuple[int, int, Way]]] = [[]]
        at = 0
        for way in self.ways:
            size = min(cells, width(way.mark or way.key) + width(way.label) + 3)
            if rows[-1] and at + size > cells:
                rows.append([])
                at = 0
            rows[-1].append((at, at + size, way))
            at += size + between
        return rows

    def _line(self, row: list[tuple[int, int, Way]]) -> Line:
        line: Line = []
        for begin, end, way in row:
            key = way.mark or way.key
            label = fit(way.label, end - begin - width(key) - 3)
            line.append((" " * (begin - length(line)), "text"))
            if way.chosen:
                line += [(f"▸{key} {label}◂", "cursor")]
            else:
                line += [(f" {key} ", "key"), (f"{label} ", way.tone)]
        return line

    def render(self) -> Content:
        """The rows."""
        cells = self.content_size.width
        return content(self._line(row) for row in self._rows(cells)) if cells else Content("")

    def get_content_height(self, container: object, viewport: object, width: int) -> int:  # noqa: ARG002
        """As many rows as are needed."""
        return len(self._rows(max(1, width)))

    def on_click(self, event: Click) -> None:
        """The way under the pointer is taken."""
        rows = self._rows(self.content_size.width)
        place = event.get_content_offset(self)
        if place is None or place.y >= len(rows):
            return
        for begin, end, way in rows[place.y]:
            if begin <= place.x < end:
                event.stop()
                self.post_message(self.Taken(way.key, self))
