"""A virtual list with a cursor: only the lines on screen are drawn, and only changed parts are painted."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, Self

from textual.events import Blur, Click, DescendantBlur, DescendantFocus, Focus
from textual.geometry import Region, Size
from textual.message import Message
from textual.reactive import reactive
from textual.scroll_view import ScrollView
from textual.strip import Strip
from textual.widget import Widget

from nmem_tui.model import symbols
from nmem_tui.model.line import Line, Span
from nmem_tui.widgets.drawn import Palette, Titled, once_laid_out


class Attended(Widget):
    """The library paints the whole of it, and looks all of its styles up."""

    def on_focus(self, event: Focus) -> None:
        """The keyboard is here."""
        event.prevent_default()
        self.has_focus = True
        self.attend()
        if self.parent is not None:
            self.parent.post_message(DescendantFocus(self))

    def on_blur(self, event: Blur) -> None:
        """It is elsewhere."""
        event.prevent_default()
        self.has_focus = False
        self.attend()
        if self.parent is not None:
            self.parent.post_message(DescendantBlur(self))

    def watch_has_focus(self, has_focus: bool) -> None:
        """Only where it has a frame of its own do styles depend on it."""
        if self.styles.border_top[0]:
            super().watch_has_focus(has_focus)

    def attend(self) -> None:
        """Paint what shows where the keyboard is."""


def lengthen(view: ScrollView, count: int) -> None:
    """A list has so many lines from now on; the library would lay out the whole screen for it."""
    size = Size(view.size.width, count)
    if size == view.virtual_size:
        return
    turns = view.styles.overflow_y == "auto" and view.show_vertical_scrollbar != (count > view.container_size.height)
    if turns or not view.size:
        view.virtual_size = size
        return
    view.set_reactive(ScrollView.virtual_size, size)
    if view.show_vertical_scrollbar:
        view.vertical_scrollbar.window_virtual_size = count
    if view.scroll_y > view.max_scroll_y:
        view.scroll_to(y=view.max_scroll_y, animate=False, immediate=True, force=True)


DrawLine = Callable[[int, int], Line]
"""The line at a place in so many cells."""


class Lines(Titled, Attended, ScrollView, can_focus=True, inherit_bindings=False):
    """Any number of lines; the cursor rests only on places that can be taken."""

    resting: ClassVar[str] = "▸"
    """Marks the cursor's place while the keyboard is elsewhere."""
    cursor: reactive[int] = reactive(0, repaint=False)

    @dataclass
    class Moved(Message):
        """The cursor is on another place."""

        lines: Lines

        @property
        def control(self) -> Lines:
            """Whose cursor."""
            return self.lines

    @dataclass
    class Opened(Message):
        """The place under the cursor was clicked a second time."""

        lines: Lines

        @property
        def control(self) -> Lines:
            """Whose place."""
            return self.lines

    @dataclass
    class Scrolled(Message):
        """Other places are on screen."""

        lines: Lines

        @property
        def control(self) -> Lines:
            """Whose places."""
            return self.lines

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id)
        self._hint = ""
        self.count = 0
        self._draw: DrawLine = lambda _place, _cells: []
        self._able: Callable[[int], bool] = lambda _place: True
        self.marked: Callable[[int], bool] = lambda _place: False
        """Whether the row at a place is marked."""
        self._palette: Palette | None = None
        self._painted: dict[int, tuple[Line, bool]] = {}
        """What stands in each row of the screen, and whether the cursor is on it."""
        self._ahead: dict[int, tuple[Line, bool]] = {}
        """What the rows that are to be painted will show, where that is known already,"""
        self._ahead_for = (0, 0)
        """for this width and this first place."""

    def show(self, count: int, draw: DrawLine, able: Callable[[int], bool] | None = None, cursor: int = 0) -> None:
        """Show these lines from now on, with the cursor at or after a place."""
        self.count, self._draw = count, draw
        self._able = able or (lambda _place: True)
        lengthen(self, count)
        self.set_reactive(Lines.cursor, self._nearest(max(0, min(cursor, count - 1)), 1))
        self._into_view()
        self.redraw()
        once_laid_out(self, self._place_bar)

    def _place_bar(self) -> None:
        """A scroll bar that only just appeared has missed the scrolling before."""
        if self.show_vertical_scrollbar:
            self.vertical_scrollbar.position = self.scroll_y

    def _nearest(self, place: int, step: int) -> int:
        """The first place from here that can be taken, looking this way first, then the other."""
        for way in (step, -step):
            at = place
            while 0 <= at < self.count:
                if self._able(at):
                    return at
                at += way
        return place

    def move(self, by: int) -> None:
        """Move the cursor by so many places."""
        self.go(self.cursor + by, 1 if by > 0 else -1)

    def go(self, place: int, step: int = 1, below: int = 0) -> None:
        """Put the cursor on a place, or on the next that can be taken; so many lines below it are in sight."""
        self.cursor = self._nearest(max(0, min(place, self.count - 1)), step)
        self._into_view(below)
        self.post_message(self.Moved(self))

    def _into_view(self, below: int = 0) -> None:
        top, height = self.scroll_offset.y, self.scrollable_content_region.height
        if height < 1:
            return  # not on screen yet: its first size brings the cursor into sight
        first = self.cursor
        while first > 0 and self.cursor - first < 3 and not self._able(first - 1):
            first -= 1  # headings above the place belong to it
        if self._nearest(0, 1) == self.cursor:
            first = 0  # with the first place that can be taken, all of the beginning
        first = max(first, self.cursor - height + 1)
        if first < top:
            self.scroll_to(y=first, animate=False, immediate=True, force=True)
        elif self.cursor + below >= top + height:
            self.scroll_to(y=self.cursor + below - height + 1, animate=False, immediate=True, force=True)

    def roll(self, by: int) -> None:
        """Scroll by so many lines where there is no cursor to see; it goes along."""
        top = max(0, min(self.scroll_offset.y + by, self.count - self.scrollable_content_region.height))
        self.set_reactive(Lines.cursor, top)
        self.scroll_to(y=top, animate=False, immediate=True, force=True)

    def page(self) -> int:
        """Half of the places on screen."""
        return max(1, self.scrollable_content_region.height // 2)

    def places(self) -> tuple[int, int]:
        """The places on screen: first, and one past the last."""
        top = self.scroll_offset.y
        return top, min(self.count, top + max(1, self.scrollable_content_region.height))

    def watch_cursor(self, old: int, new: int) -> None:
        """Repaint the two places that changed."""
        top = self.scroll_offset.y
        for place in (old, new):
            if 0 <= place - top < self.size.height:
                self.refresh(Region(0, place - top, self.size.width, 1))

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        """Rows that come on screen may have to be read."""
        super().watch_scroll_y(old_value, new_value)
        if round(old_value) != round(new_value):
            self.post_message(self.Scrolled(self))

    def notify_style_update(self) -> None:
        """Another theme: resolve the tones again."""
        super().notify_style_update()
        self._palette = None

    def on_resize(self) -> None:
        """Keep the cursor in sight."""
        lengthen(self, self.count)
        once_laid_out(self, self._into_view)

    def attend(self) -> None:
        """The cursor shows where the keyboard is; elsewhere it stays, but as a mark only."""
        self.redraw()

    def redraw(self) -> None:
        """Repaint the rows that changed."""
        width, height = self.scrollable_content_region.size
        every = {row: self._row(row, width) for row in range(height)}
        changed = {row: line for row, line in every.items() if self._painted.get(row) != line}
        if changed:
            self.refresh(*(Region(0, row, self.size.width, 1) for row in changed))
        self._ahead, self._ahead_for = changed, (width, self.scroll_offset.y)

    def refresh(
        self, *regions: Region, repaint: bool = True, layout: bool = False, recompose: bool = False
    ) -> Self:  # fmt: skip
        """Whoever asks for a row to be painted, wants it as it is by then."""
        if not self.retitling:
            self._ahead = {}
        return super().refresh(*regions, repaint=repaint, layout=layout, recompose=recompose)

    def render_line(self, y: int) -> Strip:
        """The strip of one line of the screen."""
        if self._palette is None:
            self._palette = Palette(self)
        cells = self.scrollable_content_region.width
        known = self._ahead.pop(y, None) if self._ahead_for == (cells, self.scroll_offset.y) else None
        line, here = self._painted[y] = known or self._row(y, cells)
        return self._palette.strip(line, cells, cursor=here)

    def _row(self, y: int, cells: int) -> tuple[Line, bool]:
        """The line of one row of the screen, and whether the cursor is on it."""
        place = self.scroll_offset.y + y
        if place >= self.count:
            return [] if place else [(self.empty, "quiet")], False
        here = place == self.cursor and self._able(place)
        return [self.edge(place, here=here), *self._draw(place, cells - 1)], here and self.has_focus

    @property
    def hint(self) -> str:
        """What is said while there is no line; it may come after the lines went."""
        return self._hint

    @hint.setter
    def hint(self, text: str) -> None:
        changed, self._hint = text != self._hint, text
        if changed and not self.count and self.is_attached:
            self.redraw()

    @property
    def empty(self) -> str:
        """What is said while there is no line."""
        return self.hint

    def edge(self, place: int, *, here: bool) -> Span:
        """The cell before a line: its mark, else whether the cursor is there."""
        if self._able(place) and self.marked(place):
            return symbols.now().marked, "warn"
        return ("▌" if self.has_focus else self.resting, "accent") if here else (" ", "accent")

    def on_click(self, event: Click) -> None:
        """A click moves the cursor; on the place it is already on, it opens."""
        place = self.scroll_offset.y + event.y
        if place >= self.count or not self._able(place):
            return
        if place == self.cursor and self.has_focus:
            self.post_message(self.Opened(self))
        self.go(place)
