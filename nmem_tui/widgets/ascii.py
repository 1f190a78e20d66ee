"""The last thing that happens to a line where the terminal is drawn on in ASCII: every glyph becomes its twin."""

from __future__ import annotations

from rich.cells import cell_len
from rich.segment import Segment
from textual.color import Color
from textual.filter import LineFilter

from nmem_tui.model import symbols


class Twins(LineFilter):
    """Frames, scroll bars and texts alike; no line changes its width.

    `strict`: the terminal can show nothing else, so what people wrote in other scripts becomes question marks.
    """

    def __init__(self, *, strict: bool = False) -> None:
        super().__init__()
        self._table, self._strict = symbols.twins(), strict

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:  # noqa: ARG002 -- as the base class
        """The segments of a line with what is not ASCII exchanged."""
        return [
            one if one.text.isascii() else Segment(self._plain(one.text), one.style, one.control) for one in segments
        ]

    def _plain(self, text: str) -> str:
        text = text.translate(self._table)
        if not self._strict or text.isascii():
            return text
        return "".join(char if char.isascii() else "?" * cell_len(char) for char in text)
