"""The trajectory of a session in a frame: two lines, its shifts and episodes, and the one place that is chosen."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
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
        self._marks: tuple[list[Mark], list[Mark]] = ([], [])
        """Its shifts, and where it begins and ends."""
        self._chosen: tuple[int, int] | None = None
        """Sequence number and time of the place that is pointed out."""

    def tell(self, stance: Stance, ready: Trace | None, zone: tzinfo | None) -> None:
        """Show a stance; `ready` spares the work where it is of the right width."""
        self.stance, self._trace, self.zone = stance, ready, zone
        seqs, times = [each.seq for each in stance.points], (stance.points[0].at, stance.points[-1].at)
        self._marks = (
            [Mark(_place(seqs, each.seq), clock(each.at, zone)[:5]) for each in stance.shifts],
            [Mark(place, clock(at, zone)[:5]) for place, at in zip((0, len(seqs) - 1), times, strict=True)],
        )
        self.show(self._lines, titles(stance)[0])

    def choose(self, place: tuple[int, int] | None) -> None:
        """Point out the observation of this sequence number and time, or none."""
        if place != self._chosen:
            self._chosen = place
            self.redraw()

    def _lines(self, cells: int, rows: int) -> list[Line]:
        stance = self.stance
        if stance is None or not stance.points:
            return []
        if self._trace is None or self._trace.cells != cells:
            self._trace = trace(stance, cells)
        ready, (shifts, ends) = self._trace, self._marks
        chosen: list[Mark] = []
        if self._chosen is not None:
            seq, at = self._chosen
            glyph = "▲" if any(each.seq == seq for each in stance.shifts) else "┴"
            chosen = [Mark(_place(ready.seqs, seq), clock(at, self.zone)[:5], chosen=True, glyph=glyph)]
        return draw(ready, rows, [*shifts, *chosen], ready.episodes, ends)


def _place(seqs: Sequence[int], seq: int) -> int:
    """The place of an observation among those that have a point."""
    return min(bisect_left(seqs, seq), len(seqs) - 1)
