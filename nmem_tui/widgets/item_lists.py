"""List widgets: rows with a cursor, a task's output that follows its end, and the list of search hits."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import ClassVar

from textual.events import Click
from textual.geometry import Region
from textual.strip import Strip

from nmem_tui.model.line import Line, plain
from nmem_tui.model.lists import NO_MATCH, Item, Words, narrowed, text_of
from nmem_tui.widgets.drawn import once_laid_out
from nmem_tui.widgets.lines import Lines

Make = Callable[[int], Sequence[Item]]
"""The items for so many cells."""
_LEAST = 20
"""Made for so many before it has a place: what can be opened and copied is known by then."""


class Items(Lines):
    """Lines to read with some among them that can be opened."""

    resting: ClassVar[str] = " "

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id)
        self.items: Sequence[Item] = ()
        self._make: Make = lambda _cells: ()
        self._free = True
        self._meant: int | None = None
        """Where the cursor would be if it might rest on every line; None once a person puts it elsewhere."""
        self._cells = 0
        self._late = False
        self.words = Words()
        """The filter: what does not match is left out."""
        self.whole = self.taken = 0
        """How many can be taken: without a filter, and with it."""
        self._all: list[Item] = []
        self._texts: list[str] = []
        """What each of all is found by; read once they are filtered."""

    def narrow(self, words: Words) -> None:
        """Leave out what does not match, from now on; the cursor stays where it is, if that is left."""
        self.words = words
        self._list(self.item, 0)

    def tell(self, make: Make, *, keep: bool, free: bool = True) -> None:
        """Show these items; `keep`: the cursor stays where it is, else it goes to the top.

        `free`: it may rest on every line, else only on what can be opened.
        """
        here, place = (self.item, self.cursor) if keep else (None, 0)
        if not keep:
            self._meant = 0
            self.scroll_to(y=0, animate=False, immediate=True, force=True)
        elif free and self._meant is not None:
            here, place = None, self._meant
        elif self._free and not free and not (here and here.kind):
            self._meant = place
        self._make, self._free = make, free
        self._meant = None if free else self._meant
        self._build(here, place)

    def go(self, place: int, step: int = 1, below: int = 0) -> None:
        """Where a person puts the cursor, it is meant to be."""
        self._meant = None
        super().go(place, step, below)

    def _build(self, here: Item | None, place: int) -> None:
        self._cells = self.scrollable_content_region.width
        self._all, self._texts = list(self._make(max(_LEAST, self._cells - 1))), []
        self.whole = sum(bool(item.kind) for item in self._all)
        self._list(here, place)

    def _list(self, here: Item | None, place: int) -> None:
        items: Sequence[Item] = self._all
        if self.words:
            self._texts = self._texts or [text_of(item) if item.kind else "" for item in self._all]
            items = narrowed(self._all, self._texts, self.words)
        self.items = items
        self.taken = sum(bool(item.kind) for item in items) if self.words else self.whole
        if here is not None and here.kind:
            same = (at for at, item in enumerate(items) if (item.kind, item.key) == (here.kind, here.key))
            place = next(same, place)
        self.show(len(items), self._line, self._takes, place)

    @property
    def empty(self) -> str:
        """A filter that leaves nothing says so."""
        return NO_MATCH if self.words and self._all else super().empty

    def _takes(self, place: int) -> bool:
        return self._free or bool(self.items[place].kind)

    def _line(self, place: int, cells: int) -> Line:
        return self.items[place].draw(cells)

    @property
    def item(self) -> Item | None:
        """What the cursor is on."""
        return self.items[self.cursor] if 0 <= self.cursor < len(self.items) else None

    def seek(self, kind: str, key: str) -> bool:
        """To what stands for this; whether it is listed."""
        place = next((place for place, item in enumerate(self.items) if (item.kind, item.key) == (kind, key)), None)
        if place is not None:
            self.go(place)
        return place is not None

    def step(self, by: int) -> bool:
        """To the next item that stands for something, or the one before; whether there is one."""
        at = self.cursor + by
        while 0 <= at < len(self.items):
            if self.items[at].kind:
                self.go(at, below=3)
                return True
            at += by
        return False

    def on_resize(self) -> None:
        """Another width wraps otherwise."""
        self._fit()
        super().on_resize()

    def _fit(self) -> None:
        self._late = False
        if self.scrollable_content_region.width != self._cells:
            self._build(self.item, self.cursor)

    def render_line(self, y: int) -> Strip:
        """One that was hidden when it was told is not always told of its width: it sees that when it is drawn."""
        if not self._late and self.scrollable_content_region.width != self._cells:
            self._late = True
            once_laid_out(self, self._fit)
        return super().render_line(y)

    def plain(self) -> str:
        """All of it as text."""
        return plain(item.draw(160) for item in self.items)


class Tail(Items):
    """Lines that are followed."""

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id)
        self.following = True

    def grow(self, make: Make, *, fresh: bool) -> None:
        """Show these lines; `fresh`: they are of something else than those before, and followed from their end."""
        self.following = fresh or self.following
        self.tell(make, keep=not fresh)
        self._end()

    def _end(self) -> None:
        if self.following and self.count:
            self.set_reactive(Tail.cursor, self.count - 1)
            self.scroll_to(y=max(0, self.count - self.size.height), animate=False, immediate=True, force=True)
            self.redraw()

    def go(self, place: int, step: int = 1, below: int = 0) -> None:
        """Moving up stops following; at the end it begins again."""
        super().go(place, step, below)
        self.following = self.cursor >= self.count - 1

    def on_resize(self) -> None:
        """Another height: the end is elsewhere."""
        super().on_resize()
        once_laid_out(self, self._end)


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
