"""The list of hits: two lines each, under one cursor, and what stands below the last of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from textual.events import Click
from textual.geometry import Region

from nmem_tui.model.line import Line
from nmem_tui.widgets.lines import Lines

TALL = 2
DrawHit = Callable[[int, int, int], Line]
"""Which hit, which of its lines, in so many cells."""


class Hits(Lines):
    """Places are lines; the cursor rests on the first of each hit."""

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id)
        self.hits = 0
        self._tail: Sequence[Line] = ()

    def tell(self, hits: int, draw: DrawHit, tail: Sequence[Line], at: int) -> None:
        """Show so many hits, with the cursor on one of them, and these lines below."""
        self.hits, self._tail = hits, tail
        top = TALL * hits

        def line(place: int, cells: int) -> Line:
            return draw(place // TALL, place % TALL, cells) if place < top else self._tail[place - top]

        self.show(top + len(tail), line, lambda place: place < top and place % TALL == 0, TALL * at)

    @property
    def hit(self) -> int:
        """The hit under the cursor; -1 where there is none."""
        return self.cursor // TALL if self.hits and self.cursor < TALL * self.hits else -1

    def move(self, by: int) -> None:
        """Move the cursor by so many hits."""
        self.go(max(0, min(self.cursor + TALL * by, TALL * self.hits - TALL)))

    def go(self, place: int, step: int = 1, below: int = 0) -> None:
        """To a hit; the last one brings what stands below it into sight."""
        place = min(place, TALL * self.hits - TALL) if self.hits else 0
        last = place >= TALL * self.hits - TALL
        super().go(place - place % TALL, step, max(below, TALL - 1 + (len(self._tail) if last else 0)))

    def page(self) -> int:
        """Half of the hits on screen."""
        return max(1, super().page() // TALL)

    def watch_cursor(self, old: int, new: int) -> None:
        """Repaint both lines of the two hits that changed."""
        top = self.scroll_offset.y
        for place in (old, new):
            self.refresh(Region(0, max(0, place - top), self.size.width, TALL))

    def _row(self, y: int, cells: int) -> tuple[Line, bool]:
        """The line of one row of the screen, and whether the cursor is on it."""
        place = self.scroll_offset.y + y
        if place >= self.count:
            return [] if place else [(self.empty, "quiet")], False
        here = place < TALL * self.hits and place // TALL == self.hit
        if place % TALL or place >= TALL * self.hits:
            mark = ("▌" if here and self.has_focus else " ", "accent")
        else:
            mark = self.edge(place, here=here)
        return [mark, *self._draw(place, cells - 1)], here and self.has_focus

    def on_click(self, event: Click) -> None:
        """A click moves the cursor; on the hit it is already on, it opens."""
        event.prevent_default()
        hit = (self.scroll_offset.y + event.y) // TALL
        if hit >= self.hits:
            return
        if hit == self.hit and self.has_focus:
            self.post_message(self.Opened(self))
        self.go(TALL * hit)
