"""A terminal's view of what a program prints: every sequence by its name, and a screen of cells and their looks.

Widths come from the Unicode tables of the interpreter, not from the library that draws.
"""

from __future__ import annotations

import codecs
import re
import unicodedata
from collections.abc import Iterator
from functools import cache

_CSI = re.compile(r"\x1b\[([<-?]?)([0-9:;]*)([ -/]*)([@-~])")
_STRING = re.compile(r"\x1b([\]PX^_])(.*?)(\x07|\x1b\\)", re.DOTALL)
_SHORT = re.compile(r"\x1b([ -/]*)([0-OQ-WYZ\\`-~])")
_NAMES = {"]": "OSC", "P": "DCS", "X": "SOS", "^": "PM", "_": "APC"}
_LONGEST = 100_000


@cache
def width(char: str) -> int:
    """Cells of one character on a terminal; those that agree on nothing else count vowel signs with their letter."""
    jamo = "\u1160" <= char <= "\u11ff" or "\ud7b0" <= char <= "\ud7ff"
    if jamo or unicodedata.category(char) in ("Mn", "Me", "Mc", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1


@cache
def unprinted(char: str) -> bool:
    """Whether a character has no place in a cell."""
    return unicodedata.category(char) in ("Cc", "Cf", "Cs", "Zl", "Zp")


class Screen:
    """What stands in each cell; `sequences` are those met so far, `wrong` what no terminal should be sent."""

    def __init__(self, columns: int, rows: int) -> None:
        self.columns, self.rows = columns, rows
        self.sequences: set[str] = set()
        self.wrong: list[str] = []
        self._decoder = codecs.getincrementaldecoder("utf-8")("strict")
        self._waiting = ""
        self._clear()

    def _clear(self) -> None:
        self.cells = [[" "] * self.columns for _ in range(self.rows)]
        self.looks = [[""] * self.columns for _ in range(self.rows)]
        self._look = ""
        self.row = self.column = 0

    def feed(self, data: bytes) -> None:
        """Take in what was printed; raises UnicodeDecodeError for what is not UTF-8."""
        text = self._waiting + self._decoder.decode(data)
        at = 0
        while at < len(text):
            if text[at] != "\x1b":
                self._character(text[at])
                at += 1
                continue
            length = self._sequence(text, at)
            if not length:
                break
            at += length
        self._waiting = text[at:]
        assert len(self._waiting) < _LONGEST, "a sequence without an end"

    def _sequence(self, text: str, at: int) -> int:
        """How many characters the sequence takes that begins here; 0: its end has not come yet."""
        if csi := _CSI.match(text, at):
            private, numbers, between, final = csi.groups()
            known = f"{private}{numbers if final in 'hlnpqtu' else ''}{between}{final}"
            self.sequences.add(f"CSI {known}")
            if final == "m" and not private:
                self._look = "" if numbers == "0" else numbers  # each stretch is printed with all of its look
            elif not private and not between:
                self._command(final, [int(each or 0) for each in re.split("[:;]", numbers)])
            elif known == "?1049h":
                self._clear()
            return len(csi[0])
        if string := _STRING.match(text, at):
            self.sequences.add(f"{_NAMES[string[1]]} {string[2][:20]!r}")
            return len(string[0])
        if short := _SHORT.match(text, at):
            self.sequences.add(f"ESC {short[1]}{short[2]}")
            return len(short[0])
        return 0

    def _command(self, final: str, numbers: list[int]) -> None:
        first = max(1, numbers[0])
        if final in "Hf":
            self.row, self.column = first - 1, max(1, numbers[1] if len(numbers) > 1 else 1) - 1
        elif final == "J":
            self._clear()
        elif final == "K":
            self.cells[self.row][self.column :] = [" "] * (self.columns - self.column)
        elif final in "ABCD":
            step = first if final in "BC" else -first
            if final in "AB":
                self.row += step
            else:
                self.column += step

    def _character(self, char: str) -> None:
        if char == "\r":
            self.column = 0
        elif char == "\n":
            self.row += 1
        elif unprinted(char):
            self.wrong.append(f"U+{ord(char):04X} at {self.row},{self.column}")
        else:
            self._put(char, width(char))

    def _put(self, char: str, cells: int) -> None:
        if not (0 <= self.row < self.rows and self.column + cells <= self.columns):
            self.wrong.append(f"{char!r} outside the screen at {self.row},{self.column}")
            return
        if cells == 1:
            self.cells[self.row][self.column] = char
            self.looks[self.row][self.column] = self._look
            self.column += 1
        elif cells:
            self.cells[self.row][self.column : self.column + cells] = [char] + [""] * (cells - 1)
            self.looks[self.row][self.column : self.column + cells] = [self._look] * cells
            self.column += cells
        elif self.column:
            self.cells[self.row][self.column - 1] += char

    def text(self) -> list[str]:
        """The screen's rows."""
        return ["".join(row).rstrip() for row in self.cells]

    def at(self, row: int, column: int) -> str:
        """What stands in a cell."""
        return self.cells[row][column]

    def crooked(self) -> Iterator[str]:
        """Boxes whose right side does not go straight down from its corner."""
        for row in range(self.rows):
            for column in range(self.columns):
                if self.at(row, column) in ("╮", "┐", "┓"):
                    yield from self._side(row, column)

    def _side(self, top: int, column: int) -> Iterator[str]:
        for row in range(top + 1, self.rows - 1):  # what is scrolled ends at the key bar
            here = self.at(row, column)
            if here in ("╯", "┘", "┛"):
                return
            if here not in ("│", "┃", "┤"):
                yield f"{here!r} at {row},{column} under the corner of row {top}: {self.text()[row]}"
                return
