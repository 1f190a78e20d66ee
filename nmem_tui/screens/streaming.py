"""The stream on the screen Now: reading it, moving through it, its filter and the details of a row."""

from __future__ import annotations

from textual import getters, on
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Input

from nmem.read import stream
from nmem.read.stream import Marks, Query, Slots
from nmem.read.views import StreamRow
from nmem.text import printable
from nmem_tui.model import labels
from nmem_tui.model.figures import day, several
from nmem_tui.model.reading import FIRST, Opening, Tick, opening, tick
from nmem_tui.model.window import Window
from nmem_tui.screens.base import View
from nmem_tui.widgets.details import Details
from nmem_tui.widgets.lines import NO_MATCH
from nmem_tui.widgets.stream import Stream


class Streaming(View):
    """The part of the screen Now that shows one session row by row."""

    CONTEXT = "now"
    OPENS = "stream"

    stream = getters.query_one(Stream)
    details = getters.query_one(Details)
    frame = getters.query_one("#frame", Vertical)
    search = getters.query_one("#filter", Input)

    def __init__(self) -> None:
        super().__init__()
        self.session_id = ""
        self.marks = Marks()
        self.query_now = Query()
        self._purged = (0, 0)
        """Changes when rows went or came back."""
        self._again: tuple[int, int] | None = None
        """Time and key of the row that the cursor goes back to."""

    def _read_stream(self) -> None:
        session_id, seen, query = self.session_id, self.marks, self.query_now
        stale = self.stream.window.stale(*self.stream.places())
        self.reads.ask("stream", lambda db: (stream.purged(db), tick(db, session_id, seen, query, stale)), self._ticked)

    def _open_stream(self) -> None:
        session_id, query = self.session_id, self.query_now
        self.reads.forget("stream", "older", "rows")
        self.reads.ask("stream", lambda db: (stream.purged(db), opening(db, session_id, query)), self._opened)

    def _opened(self, found: tuple[tuple[int, int], Opening]) -> None:
        self._purged, opened = found
        self._show_stream(opened)

    def _ticked(self, found: tuple[tuple[int, int], Tick]) -> None:
        purged, news = found
        if purged == self._purged:
            self._grow(news)
            return
        shown = self.stream  # rows went, or came back: the stream is read anew, the cursor stays where it is
        if not shown.following and shown.cursor < len(shown.window):
            self._again = shown.window.slots.at[shown.cursor], shown.window.slots.key[shown.cursor]
        self._open_stream()

    def _show_stream(self, found: Opening) -> None:
        if found.session_id != self.session_id:
            return
        self.marks = found.marks
        window = Window()
        window.older(found.slots, complete=len(found.slots) < FIRST)
        window.fill(found.rows, ())
        self.stream.hint = NO_MATCH if self.query_now and window.complete else ""
        self.stream.start(window)
        again, self._again = self._again, None
        if again is not None and (oldest := window.oldest()) is not None and oldest <= again:
            self.stream.go(min(window.find(*again), len(window) - 1))
        if self.cockpit.wanted_row is not None:
            self.open_row()
        elif not window.complete and self.query_now:
            self._read_older()

    def _grow(self, news: Tick) -> None:
        self.marks = news.marks
        window, here = self.stream.window, self.stream.cursor
        at = window.slots.at[here] if here < len(window) else 0
        key = window.key(here) or 0
        added = window.newer(news.slots)
        window.fill(news.rows, ())
        moved = window.find(at, key) - here if added and not self.stream.following else 0
        self.stream.grown(added, before=max(0, moved))

    def _read_older(self) -> None:
        session_id, query, before = self.session_id, self.query_now, self.stream.window.oldest()
        self.reads.ask("older", lambda db: stream.page(db, session_id, before, query), self._show_older)

    def _show_older(self, page: Slots) -> None:
        complete = len(page) < stream.PAGE
        if complete and self.query_now:
            self.stream.hint = NO_MATCH
        self.stream.window.older(page, complete=complete)
        self.stream.grown(len(page), before=len(page))
        if self.cockpit.wanted_row is not None:
            self.open_row()
        elif not complete and (self.query_now or self._to_top):
            self._read_older()
        elif self._to_top:
            self._to_top = False
            self.stream.go(0)

    _to_top = False

    def open_row(self) -> None:
        """Another screen asks for one row of the stream; what filters it away is taken off."""
        wanted = self.cockpit.wanted_row
        if wanted is None or not self.is_mounted or not self.session_id:
            return
        shown = self.cockpit.session
        if self.query_now or (shown and shown.id != self.session_id):
            self.search.value, self.search.display, self.query_now = "", False, Query()
            self._open_stream()
            return
        oldest = self.stream.window.oldest()
        if oldest is None or (oldest > wanted and not self.stream.window.complete):
            self._read_older()
            return
        self.cockpit.wanted_row = None
        self.set_focus(self.stream)
        self.stream.go(self.stream.window.find(*wanted))

    @on(Stream.NearOldest)
    def read_older(self) -> None:
        """The view nears the oldest slot that is known."""
        if not self.stream.window.complete:
            self._read_older()

    @on(Stream.Wanted)
    def read_rows(self, message: Stream.Wanted) -> None:
        """Rows came into view that are not in memory."""
        keys, window = message.keys, self.stream.window

        def keep(rows: dict[int, StreamRow]) -> None:
            window.fill(rows, keys)
            self.stream.filled()

        self.reads.ask(f"rows {keys[0]}", lambda db: stream.rows(db, keys), keep)

    @on(Stream.Moved)
    def tell_place(self) -> None:
        """The frame's title says where the cursor is and what waits; open details follow the cursor."""
        shown, total = self.stream, len(self.stream.window)
        more = "" if shown.window.complete else "+"
        what = several(total, "row") if not self.query_now else f"{several(total, 'match', 'matches')}{more}"
        place = "following" if shown.following else f"row {shown.cursor + 1} of {total}{more}"
        place += self._day()
        self.frame.border_title = Content(f"Stream ─ {place}")
        self.frame.border_subtitle = Content(f"▼ {shown.unseen} new · G goes there") if shown.unseen else Content("")
        self.frame.set_class(bool(shown.unseen), "-unseen")
        self.search.border_title = None
        if self.query_now:
            self.frame.border_title = Content(f"Stream ─ {what} for “{printable(self.query_now.text)}” ─ {place}")
        self.check_keys()
        if self.details.display:
            self._describe()

    def _day(self) -> str:
        """The day of the row under the cursor, unless it is today."""
        at, zone = self.stream.window.slots.at, self.cockpit.zone
        if self.stream.cursor >= len(at):
            return ""
        found = day(at[self.stream.cursor], zone)[:10]
        return "" if found == day(self.cockpit.clock(), zone)[:10] else f" ─ {found}"

    # What the keys do

    def do_down(self) -> None:
        """One row down."""
        self.stream.move(1)

    def do_up(self) -> None:
        """One row up."""
        self.stream.move(-1)

    def do_half_down(self) -> None:
        """Half a page down."""
        self.stream.move(self.stream.page())

    def do_half_up(self) -> None:
        """Half a page up."""
        self.stream.move(-self.stream.page())

    def do_top(self) -> None:
        """The oldest row, once all slots are known."""
        if self.stream.window.complete:
            self.stream.go(0)
            return
        self._to_top = True
        self.stream.following = False
        self._read_older()

    def do_bottom(self) -> None:
        """The newest row."""
        self.stream.go(len(self.stream.window) - 1)

    do_follow = do_bottom

    def do_next_failure(self) -> None:
        """The next failure towards older rows."""
        self._to_failure(-1)

    def do_last_failure(self) -> None:
        """The next failure towards newer rows."""
        self._to_failure(1)

    def _to_failure(self, step: int) -> None:
        shown = self.stream
        place = shown.cursor + step
        while 0 <= place < len(shown.window):
            row = shown.window.row(place)
            if row is None or row.outcome == "failed":
                shown.go(place)
                return
            place += step
        self.notify("no further failure that way", timeout=2)

    def may_open(self) -> str | None:
        """Only a row can be opened."""
        return None if len(self.stream.window) else "there is no row yet"

    may_copy = may_open
    may_purge = may_open
    may_next_failure = may_open
    may_last_failure = may_open

    def do_open(self) -> None:
        """Open the details, or close them."""
        if self.details.display:
            self.close_details()
        else:
            self.details.display = True
            self._describe()

    @on(Stream.Opened)
    def open_clicked(self) -> None:
        """A second click opens."""
        self.do_open()

    def close_details(self) -> None:
        """Hide the details."""
        self.details.display = False

    def _describe(self) -> None:
        key = self.stream.window.key(self.stream.cursor)
        if key is not None:
            self.reads.ask("details", lambda db: stream.rows(db, [key], whole=True).get(key), self._show_details)

    def _show_details(self, row: StreamRow | None) -> None:
        if row is not None:
            self.details.show(row)

    def do_details_down(self) -> None:
        """Scroll the details."""
        self.details.scroll_relative(y=5, animate=False)

    def do_details_up(self) -> None:
        """Scroll the details back."""
        self.details.scroll_relative(y=-5, animate=False)

    def may_relabel(self) -> str | None:
        """Only a call has labels."""
        row = self.stream.row
        return (
            None if row is not None and row.outcome and row.word not in labels.UNLABELLED else "only a call has labels"
        )

    def do_relabel(self) -> None:
        """Its labels, and why; one key each says them better."""
        from nmem_tui.screens.relabel import Relabel

        key = self.stream.window.key(self.stream.cursor)
        if key is not None:
            self.app.push_screen(Relabel(key // 2))

    def do_copy(self) -> None:
        """Copy the row's whole text."""
        key = self.stream.window.key(self.stream.cursor)
        if key is not None:
            self.reads.ask("copy", lambda db: stream.rows(db, [key], whole=True).get(key), self._copy)

    def _copy(self, row: StreamRow | None) -> None:
        if row is not None:
            self.cockpit.copy_out(row.text or row.path)

    def do_purge(self) -> None:
        """See what goes with the row, then let it go."""
        from nmem_tui.screens.purging import ask_id

        key = self.stream.window.key(self.stream.cursor)
        if key is not None:
            ask_id(self.cockpit, "obs" if key % 2 else "prompt", key // 2)

    def do_filter(self) -> None:
        """Type a filter."""
        self.search.display = True
        self.set_focus(self.search)

    @on(Input.Changed, "#filter")
    def filter_rows(self, event: Input.Changed) -> None:
        """Each keystroke filters anew; an answer to an older one is dropped."""
        query = Query(event.value)
        if query.text != self.query_now.text:
            self.query_now = query
            self._open_stream()

    @on(Input.Submitted, "#filter")
    def keep_filter(self) -> None:
        """Back to the rows that are left."""
        if not self.query_now:
            self.search.display = False
        self.set_focus(self.stream)

    def do_back(self) -> None:
        """Close the innermost thing that is open."""
        if self.details.display and not self.search.has_focus:
            self.close_details()
        elif self.search.display:
            self.search.value = ""
            self.search.display = False
            self.set_focus(self.stream)
        else:
            self.do_bottom()
