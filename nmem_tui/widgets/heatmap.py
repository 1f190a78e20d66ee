"""The heat map in a frame: the patterns of the list, week by week, with the one under the cursor pointed out."""

from __future__ import annotations

from collections.abc import Sequence

from textual.content import Content

from nmem.learn.learning import Learning
from nmem_tui.model import heatmap
from nmem_tui.model.line import Line
from nmem_tui.widgets.card import Card


class HeatMap(Card):
    """As many patterns as it has rows for."""

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id)
        self.weeks = heatmap.Weeks()
        self.place = 0
        self.border_title = Content(f"Weeks ─ {heatmap.legend()}")

    def tell(self, found: Sequence[Learning], place: int, at: int) -> None:
        """Show these patterns."""
        self.weeks, self.place = heatmap.Weeks(found, at), place
        self.show(self._lines)

    def choose(self, place: int) -> None:
        """Point another one out."""
        if place != self.place:
            self.place = place
            self.redraw()

    def _lines(self, cells: int, rows: int) -> list[Line]:
        return self.weeks.draw(self.place, cells, rows)
