"""The strip of a stretch of the history, over the list: it follows the cursor, and a click leads to an episode."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import tzinfo

from textual.content import Content
from textual.events import Click
from textual.message import Message

from nmem_tui.model import band
from nmem_tui.model.band import Segment, Stretch
from nmem_tui.model.shelf import Shelf
from nmem_tui.widgets.card import Panel


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
