"""A canvas of cells on which lines are drawn in dots, two across and four down in each cell (braille patterns)."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from nmem_tui.model import symbols
from nmem_tui.model.line import Line

ACROSS, DOWN = 2, 4
"""Dots of one cell."""
_BITS = ((0x01, 0x08), (0x02, 0x10), (0x04, 0x20), (0x40, 0x80))
_EMPTY = 0x2800


class Canvas:
    """`cells` by `rows` cells; the origin is at the top left. What is drawn later has its tone; text covers dots."""

    def __init__(self, cells: int, rows: int) -> None:
        self.cells, self.rows = max(0, cells), max(0, rows)
        self._dots = [[0] * self.cells for _ in range(self.rows)]
        self._text = [[""] * self.cells for _ in range(self.rows)]
        self._tones = [["text"] * self.cells for _ in range(self.rows)]

    def dot(self, x: int, y: int, tone: str) -> None:
        """One dot; outside of the canvas nothing happens."""
        cell, row = x // ACROSS, y // DOWN
        if 0 <= cell < self.cells and 0 <= row < self.rows:
            self._dots[row][cell] |= _BITS[y % DOWN][x % ACROSS]
            self._tones[row][cell] = tone

    def text(self, cell: int, row: int, text: str, tone: str) -> None:
        """Characters of one cell each, over whatever is there; what does not fit is left out."""
        if not 0 <= row < self.rows:
            return
        for place, char in enumerate(text, cell):
            if 0 <= place < self.cells:
                self._text[row][place] = char
                self._tones[row][place] = tone

    def behind(self, cell: int, row: int, char: str, tone: str) -> None:
        """A character, only where nothing is drawn yet."""
        free = 0 <= row < self.rows and 0 <= cell < self.cells
        if free and not self._dots[row][cell] and not self._text[row][cell]:
            self.text(cell, row, char, tone)

    def lines(self) -> list[Line]:
        """What was drawn; each line fills the canvas' cells."""
        return [self._line(row) for row in range(self.rows)]

    def _line(self, row: int) -> Line:
        out: Line = []
        glyph = _rough if symbols.now().name == symbols.ASCII else _dotted
        for text, dots, tone in zip(self._text[row], self._dots[row], self._tones[row], strict=True):
            char = text or (glyph(dots) if dots else " ")
            tone = tone if char != " " else "text"  # noqa: PLW2901 -- blanks have none
            if out and out[-1][1] == tone:
                out[-1] = (out[-1][0] + char, out[-1][1])
            else:
                out.append((char, tone))
        return out


_ROWS = (0x09, 0x12, 0x24, 0xC0)
_LEFT = 0x47
_THICK, _THIN = '"==_', "'::."
"""What stands for dots side by side, and for single ones, in the four rows of a cell."""


def _dotted(dots: int) -> str:
    return chr(_EMPTY + dots)


def _rough(dots: int) -> str:
    """The sign that lies nearest: upright where three rows are dotted, heavier where dots stand side by side."""
    rows = [row for row, bits in enumerate(_ROWS) if dots & bits]
    if rows[-1] - rows[0] > 1:
        return "|"
    signs = _THICK if dots & _LEFT and dots & ~_LEFT else _THIN
    return signs[sum(rows) // len(rows)]


def level(value: float, dots: int) -> int:
    """The dot row, from the top, of a value from -1 (lowest) to 1."""
    value = max(-1.0, min(1.0, value))
    return round((1 - value) / 2 * (dots - 1))


def stretched(values: Sequence[float], columns: int) -> list[float]:
    """One value a column: means where there are more values than columns, straight lines between them where fewer."""
    count = len(values)
    if not count or columns <= 0:
        return []
    if count > columns:
        edges = [column * count // columns for column in range(columns + 1)]
        return [sum(values[low:high]) / (high - low) for low, high in pairwise(edges)]
    if count == 1 or columns == 1:
        return [values[-1]] * columns
    out = []
    for column in range(columns):
        place = column * (count - 1) / (columns - 1)
        low = min(int(place), count - 2)
        out.append(values[low] + (values[low + 1] - values[low]) * (place - low))
    return out


def column_of(place: int, count: int, columns: int) -> int:
    """The column in which the value at a place stands."""
    if count > columns:
        return max(0, min(columns - 1, ((place + 1) * columns - 1) // count))
    return round(place * (columns - 1) / (count - 1)) if count > 1 else columns - 1
