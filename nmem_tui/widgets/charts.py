"""Chart widgets: a session's stance over time and in a plane, the heat map of learnings, the strip of episodes."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import tzinfo

from textual.content import Content
from textual.events import Click
from textual.message import Message

from nmem.learn.learning import Learning
from nmem.stance.model import Stance
from nmem_tui.model import band, learning_detail, stance_chart
from nmem_tui.model.band import Segment, Stretch
from nmem_tui.model.episodes import Shelf
from nmem_tui.model.figures import clock
from nmem_tui.model.line import Line
from nmem_tui.model.stance import titles
from nmem_tui.model.stance_chart import Mark, Trace, draw, trace
from nmem_tui.widgets.drawn import Card, Panel


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


class Plane(Card):
    """Where the session is, and how it got there."""

    def tell(self, stance: Stance) -> None:
        """Show a stance."""
        way = stance_chart.way(stance)

        def lines(cells: int, rows: int) -> list[Line]:
            return stance_chart.draw_plane(way, stance_chart.told(stance), cells, rows)

        self.show(lines, titles(stance)[1])


class HeatMap(Card):
    """As many patterns as it has rows for."""

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id)
        self.weeks = learning_detail.Weeks()
        self.place = 0
        self.border_title = Content(f"Weeks ─ {learning_detail.legend()}")

    def tell(self, found: Sequence[Learning], place: int, at: int) -> None:
        """Show these patterns."""
        self.weeks, self.place = learning_detail.Weeks(found, at), place
        self.show(self._lines)

    def choose(self, place: int) -> None:
        """Point another one out."""
        if place != self.place:
            self.place = place
            self.redraw()

    def _lines(self, cells: int, rows: int) -> list[Line]:
        return self.weeks.draw(self.place, cells, rows)


class Band(Panel):
    """Two rows, or more where there is room; none where nothing is listed, or the terminal is low."""

    @dataclass
    class Chosen(Message):
        """An episode was clicked."""

        unit_id: int

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id)
        self.stretch = Stretch()
        self.segments: list[Segment] = []
        self._shelf = Shelf()
        self._chosen: int | None = None
        self._total = 0

    def follow(self, shelf: Shelf, unit_id: int | None, total: int, at: int, zone: tzinfo | None) -> None:
        """Show where the episode under the cursor stands among those around it."""
        self._shelf, self._chosen, self._total = shelf, unit_id, total
        self._lay()
        self.show(
            lambda cells, rows: band.draw(self.segments, self._chosen, self.stretch.letters, cells, rows, at, zone)
        )

    def _lay(self) -> None:
        """The segments for the room there is; the ones there are stay while the next episode is read."""
        found = self.stretch.around(self._shelf, self._chosen, self.content_size.width)
        if found or self._chosen is None:
            self.segments = found
        self.border_title = Content(band.title(self.segments, self._total))

    def on_resize(self) -> None:
        """Another width, another stretch."""
        self._lay()
        self.refresh()

    def on_click(self, event: Click) -> None:
        """A segment leads to its episode in the list."""
        place = event.get_content_offset(self)
        unit_id = band.at(self.segments, place.x) if place is not None else None
        if unit_id is not None:
            self.post_message(self.Chosen(unit_id))
