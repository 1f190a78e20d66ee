"""What can be typed into the search box, each with what it finds; taking one puts it there."""

from __future__ import annotations

from functools import partial

from nmem.text import pad
from nmem_tui.model.line import Line, wrap
from nmem_tui.model.search import MANUAL
from nmem_tui.screens.dialog import Choice, Dialog

_CELLS = 26


class Manual(Dialog):
    """The language of the box."""

    TITLE_TEXT = "What can be typed ─"
    HINT = "enter puts it into the box · esc leaves"

    def on_mount(self) -> None:
        """Every form."""
        super().on_mount()
        self.offer([Choice(partial(_drawn, form, words), f"{form} {words}", form) for form, words in MANUAL])


def _drawn(form: str, words: str, cells: int) -> list[Line]:
    rows = wrap(words, max(8, cells - _CELLS), 3)
    return [[(pad("" if place else form, _CELLS), "key"), (row, "text")] for place, row in enumerate(rows)]
