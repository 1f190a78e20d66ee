"""The virtual list of a session's prompts and calls: draws only rows on screen, requests those that are missing."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import tzinfo

from textual.events import Click, Resize
from textual.geometry import Region
from textual.message import Message
from textual.reactive import reactive
from textual.scroll_view import ScrollView
from textual.strip import Strip

from nmem.read.views import StreamRow
from nmem.text import width
from nmem_tui.model import actions, stream, symbols
from nmem_tui.model.lists import Marked
from nmem_tui.model.stream import Window
from nmem_tui.widgets.drawn import Palette, once_laid_out
from nmem_tui.widgets.lines import Attended, lengthen


class Stream(ScrollView, Attended, can_focus=True, inherit_bindings=False):
    """Rows with a cursor. Arriving rows never move the cursor unless it follows."""

    cursor: reactive[int] = reactive(0, repaint=False)
    following: reactive[bool] = reactive(True, repaint=False)

    @dataclass
    class Wanted(Message):
        """Rows that are drawn but not in memory."""

        keys: list[int]

    @dataclass
    class NearOldest(Message):
        """The cursor or the view nears the oldest slot that is known."""

    @dataclass
    class Moved(Message):
        """The cursor is on another row, or follows, or new rows wait below."""

    @dataclass
    class Opened(Message):
        """The row under the cursor was clicked a second time."""

    def __init__(self, zone: tzinfo | None, *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id)
        self.zone = zone
        self.window = Window()
        self.unseen = 0
        """Rows that arrived below while the cursor did not follow."""
        self.marked = Marked()
        """Keys of the rows that are marked."""
        self.hint = ""
        """What is said while there is no row."""
        self._palette: Palette | None = None

    def start(self, window: Window) -> None:
        """Show another stream, from its newest row; whoever has one tells its place."""
        self.window = window
        self.unseen = 0
        self.set_reactive(Stream.following, True)
        self._lengthen(0, 0)

    def grown(self, arrived: int, *, before: int = 0) -> None:
        """Slots were added: `arrived` anywhere, `before` of them known to be above the cursor."""
        self._lengthen(arrived, before)
        self.post_message(self.Moved())

    def _lengthen(self, arrived: int, before: int) -> None:
        lengthen(self, len(self.window))
        if self.following:
            self.set_reactive(Stream.cursor, max(0, len(self.window) - 1))
            self.scroll_to(y=self.max_scroll_y, animate=False, immediate=True, force=True)
        else:
            self.unseen += arrived - before if not before or arrived > before else 0
            if before:
                self.set_reactive(Stream.cursor, self.cursor + before)
                self.scroll_to(y=self.scroll_offset.y + before, animate=False, immediate=True, force=True)
        self.refresh()
        once_laid_out(self, self._place_bar)

    def _place_bar(self) -> None:
        """A scroll bar that only just appeared has missed the scrolling before."""
        if self.show_vertical_scrollbar:
            self.vertical_scrollbar.position = self.scroll_y

    @property
    def row(self) -> StreamRow | None:
        """The row under the cursor, if it is in memory."""
        return self.window.row(self.cursor)

    def move(self, by: int) -> None:
        """Move the cursor by so many rows."""
        self.go(self.cursor + by)

    def go(self, place: int) -> None:
        """Put the cursor on a place; at the newest row it follows again."""
        last = len(self.window) - 1
        place = max(0, min(place, last))
        self.following = place >= last
        if self.following and self.unseen:
            self.unseen = 0
            self.refresh()
        self.cursor = place
        top, height = self.scroll_offset.y, self.scrollable_content_region.height
        if place < top:
            self.scroll_to(y=place, animate=False, immediate=True, force=True)
        elif place >= top + height:
            self.scroll_to(y=place - height + 1, animate=False, immediate=True, force=True)
        if place < 2 * height and not self.window.complete:
            self.post_message(self.NearOldest())
        self.post_message(self.Moved())

    def page(self) -> int:
        """Half of the rows on screen."""
        return max(1, self.scrollable_content_region.height // 2)

    def watch_cursor(self, old: int, new: int) -> None:
        """Repaint the two rows that changed."""
        self._repaint(old, new)

    def _repaint(self, *places: int) -> None:
        top, width = self.scroll_offset.y, self.size.width
        for place in places:
            if 0 <= place - top < self.size.height:
                self.refresh(Region(0, place - top, width, 1))

    def places(self) -> tuple[int, int]:
        """The places on screen: first, and one past the last."""
        top = self.scroll_offset.y
        return top, min(len(self.window), top + self.scrollable_content_region.height)

    def redraw(self) -> None:
        """Rows came into memory, or are marked."""
        self.refresh()

    @property
    def count(self) -> int:
        """Rows, as far as they are known."""
        return len(self.window)

    def notify_style_update(self) -> None:
        """Another theme: resolve the tones again."""
        super().notify_style_update()
        self._palette = None

    def render_line(self, y: int) -> Strip:
        """The strip of one line of the screen."""
        if self._palette is None:
            self._palette = Palette(self)
        cells = self.scrollable_content_region.width
        strip = self._row(self.scroll_offset.y + y, cells, self._palette)
        pill = self.pill
        if not pill or y != self.scrollable_content_region.height - 1:
            return strip
        room = max(0, cells - width(pill))
        return Strip.join([strip.crop(0, room), self._palette.strip([(pill, "pill")], cells - room)])

    @property
    def pill(self) -> str:
        """What stands over the end of the lowest line while rows wait below it."""
        return f" {self.unseen:,} new {symbols.now().down}  {actions.key_of('follow')} follows " if self.unseen else ""

    def _row(self, place: int, cells: int, palette: Palette) -> Strip:
        if place >= len(self.window):
            return palette.strip([(self.hint, "quiet")] if not place else [], cells)
        row = self.window.row(place)
        here = place == self.cursor
        mark = ("▌" if here else " ", "accent")
        if self.window.key(place) in self.marked:
            mark = (symbols.now().marked, "warn")
        if row is None:
            self._ask()
            return palette.strip([mark, ("·" * min(12, cells // 2), "rest")], cells, cursor=here)
        return palette.strip([mark, *stream.draw(row, cells - 1, self.zone)], cells, cursor=here)

    def _ask(self) -> None:
        first, last = self.places()
        if keys := self.window.wanted(first, last):
            self.post_message(self.Wanted(list(keys)))

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        """Scrolling by mouse stops following, except at the end."""
        super().watch_scroll_y(old_value, new_value)
        if round(new_value) < round(old_value) and new_value < 40 and not self.window.complete:
            self.post_message(self.NearOldest())

    def on_mouse_scroll_up(self) -> None:
        """Reading further up: rows that arrive must not pull the view away."""
        self.following = False
        self.post_message(self.Moved())

    def on_resize(self, _event: Resize) -> None:
        """Keep the newest row in sight while following."""
        lengthen(self, len(self.window))
        if self.following:
            self.scroll_to(y=self.max_scroll_y, animate=False, immediate=True, force=True)
        elif len(self.window):
            once_laid_out(self, self.go, self.cursor)

    def on_click(self, event: Click) -> None:
        """A click moves the cursor; on the row it is already on, it opens."""
        place = self.scroll_offset.y + event.y
        region = self.scrollable_content_region
        if self.pill and event.y == region.height - 1 and event.x >= region.width - width(self.pill):
            self.go(len(self.window) - 1)
            return
        if place >= len(self.window):
            return
        if place == self.cursor:
            self.post_message(self.Opened())
        self.go(place)
