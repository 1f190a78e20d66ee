"""Rows of filters that are added to a query and removed from it, by key or by mouse."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from textual.content import Content
from textual.events import Click
from textual.message import Message
from textual.widget import Widget

from nmem.text import fit, pad, width
from nmem_tui.model.line import Line, cut, length
from nmem_tui.model.search import Chip
from nmem_tui.widgets.drawn import content

_NAME = 6
_WIDEST = 28


class Chips(Widget, can_focus=True, inherit_bindings=False):
    """A row of chips for each name; a row that is too long moves with the cursor."""

    @dataclass
    class Toggled(Message):
        """A chip was taken."""

        filter: str

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id)
        self.rows: Sequence[tuple[str, Sequence[Chip]]] = ()
        self.row = self.place = 0
        self._spots: list[tuple[int, int, int, int, int]] = []

    def tell(self, rows: Sequence[tuple[str, Sequence[Chip]]]) -> None:
        """Show these from now on; the cursor stays on the filter it was on."""
        here = self.chip
        self.rows = rows
        found = (
            (row, place)
            for row, (_, chips) in enumerate(rows)
            for place, chip in enumerate(chips)
            if here and chip.filter == here.filter
        )
        self.row, self.place = next(found, (self.row, self.place))
        self._bound()
        self.refresh()

    def _bound(self) -> None:
        self.row = max(0, min(self.row, len(self.rows) - 1))
        self.place = max(0, min(self.place, len(self.rows[self.row][1]) - 1)) if self.rows else 0

    @property
    def chip(self) -> Chip | None:
        """The one under the cursor."""
        chips = self.rows[self.row][1] if self.row < len(self.rows) else ()
        return chips[self.place] if self.place < len(chips) else None

    def step(self, by: int) -> None:
        """To the next chip of the row."""
        self.place += by
        self._bound()
        self.refresh()

    def change_row(self, by: int) -> bool:
        """To the row below or above; whether there is one."""
        if not 0 <= self.row + by < len(self.rows):
            return False
        self.row += by
        self._bound()
        self.refresh()
        return True

    def on_focus(self) -> None:
        """The cursor shows."""
        self.refresh()

    def on_blur(self) -> None:
        """The cursor is gone."""
        self.refresh()

    def render(self) -> Content:
        """The rows for the room there is."""
        self._spots = []
        return content(self._line(number, self.size.width) for number in range(len(self.rows)))

    def _line(self, number: int, cells: int) -> Line:
        name, chips = self.rows[number]
        line: Line = [(" " + pad(name, _NAME - 1), "quiet")]
        begin = self._begin(number, cells - _NAME - 2)
        if begin:
            line.append(("‹", "quiet"))
        for place in range(begin, len(chips)):
            chip, here = chips[place], self.has_focus and (number, place) == (self.row, self.place)
            start = length(line)
            drawn = _drawn(chip, here=here)
            if start + length(drawn) > cells - (place < len(chips) - 1):
                line.append(("›", "quiet"))
                break
            line += drawn
            self._spots.append((number, start, length(line), number, place))
        return cut(line, cells)

    def _begin(self, number: int, room: int) -> int:
        """The first chip that is shown: the cursor's is in sight."""
        if number != self.row or not self.has_focus:
            return 0
        chips, begin = self.rows[number][1], 0
        while begin < self.place and sum(_cells(chip) for chip in chips[begin : self.place + 1]) > room:
            begin += 1
        return begin

    async def on_click(self, event: Click) -> None:
        """The chip under the pointer is taken."""
        for y, start, end, row, place in self._spots:
            if event.y == y and start <= event.x < end:
                self.row, self.place = row, place
                if chip := self.chip:
                    self.post_message(self.Toggled(chip.filter))
                return


def _drawn(chip: Chip, *, here: bool) -> Line:
    tone = "tab" if here else "good" if chip.on else "text"
    mark = "✓" if chip.on else "▸" if here else " "
    number = f" {chip.count}" if chip.count else ""
    return [(mark, "good" if chip.on else "accent"), (fit(chip.label, _WIDEST), tone), (number, "quiet"), (" ", "text")]


def _cells(chip: Chip) -> int:
    return width(fit(chip.label, _WIDEST)) + (len(str(chip.count)) + 1 if chip.count else 0) + 2
