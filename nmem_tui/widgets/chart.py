"""The trajectory of a session in a frame: two lines, its shifts and episodes, and the one place that is chosen."""

from __future__ import annotations

from bisect import bisect_left
from datetime import tzinfo

from nmem.stance.model import Stance
from nmem_tui.model.figures import clock
from nmem_tui.model.line import Line
from nmem_tui.model.stance import titles
from nmem_tui.model.stance_chart import Mark, Trace, draw, trace
from nmem_tui.widgets.card import Card


class Chart(Card):
    """What it draws is made ready once for each width and each stance; choosing a place only draws it anew."""

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id)
        self.stance: Stance | None = None
        self.zone: tzinfo | None = None
        self._trace: Trace | None = None
        self._chosen: tuple[int, int] | None = None
        """Sequence number and time of the place that is pointed out."""

    def tell(self, stance: Stance, ready: Trace | None, zone: tzinfo | None) -> None:
        """Show a stance; `ready` spares the work where it is of the right width."""
        self.stance, self._trace, self.zone = stance, ready, zone
        self.show(self._lines, titles(stance)[0])

    def choose(self, place: tuple[int, int] | None) -> None:
        """Point out the observation of this sequence number and time, or none."""
        if place != self._chosen:
            self._chosen = place
            self.refresh()

    def _lines(self, cells: int, rows: int) -> list[Line]:
        stance = self.stance
        if stance is None or not stance.points:
            return []
        if self._trace is None or self._trace.cells != cells:
            self._trace = trace(stance, cells)
        ready = self._trace
        marks = [Mark(_place(ready, each.seq), clock(each.at, self.zone)[:5]) for each in stance.shifts]
        if self._chosen is not None:
            seq, at = self._chosen
            marks.append(Mark(_place(ready, seq), clock(at, self.zone)[:5], chosen=True))
        return draw(ready, rows, marks, ready.episodes)


def _place(ready: Trace, seq: int) -> int:
    """The place of an observation among those that have a point."""
    return min(bisect_left(ready.seqs, seq), ready.count - 1)
