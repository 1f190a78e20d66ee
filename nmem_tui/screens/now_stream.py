"""The stream of prompts and calls on the screen Now: loads, filters and follows it, and opens one row in full."""

from __future__ import annotations

from textual import getters, on
from textual.containers import Vertical

from nmem.read import stream
from nmem.read.stream import Marks, Query, Stretch
from nmem.read.views import StreamRow
from nmem_tui.model.figures import day
from nmem_tui.model.lists import NO_MATCH
from nmem_tui.model.now_queries import MOST_SPAN, SPAN, Opening, Tick, older, opening, tick
from nmem_tui.model.stream import UNLABELLED, Window
from nmem_tui.screens.base import Take
from nmem_tui.screens.list_screen import ListScreen
from nmem_tui.widgets.details import Details
from nmem_tui.widgets.stream import Stream

FOLLOWS = (0, 0)
"""The place of a stream that follows."""
_REST_S = 0.4
"""A filter that nobody types on for so long is looked for further back."""


class NowStream(ListScreen):
    """The part of the screen Now that shows one session row by row, and one row in full."""

    CONTEXT = "now"
    OPENS = "stream"
    ALONE = frozenset({"relabel", "copy_id", "pin"})
    TOGETHER = frozenset({"purge", "copy", "editor"})
    HINT = "words, !word, type:test, is:failed (calls), file:upload"
    TYPING_S = 0.06

    frame = getters.query_one("#frame", Vertical)
    stream = getters.query_one(Stream)
    details = getters.query_one(Details)

    def __init__(self) -> None:
        super().__init__()
        self._opening = False
        """Whether the details open once the row is read: the screen is laid out once, with what stands in them."""
        self.session_id = ""
        self.marks = Marks()
        self.query_now = Query()
        self._purged = (0, 0)
        """Changes when rows went or came back."""
        self._again: tuple[int, int] | None = None
        """Time and key of the row that the cursor goes back to."""
        self._before: tuple[int, int] | None = None
        """Where the next, older stretch ends."""
        self._span = SPAN
        self._whole = 0
        """Rows of the session without a filter; 0: not known."""
        self._to_top = False

    def look_again(self) -> None:
        """What a person changes is read with the next commit that is seen: the stream follows each at once."""

    def _read_stream(self) -> None:
        session_id, seen, query = self.session_id, self.marks, self.query_now
        stale = self.stream.window.stale(*self.stream.places())
        self.reads.ask("stream", lambda db: (stream.purged(db), tick(db, session_id, seen, query, stale)), self._ticked)

    def _open_stream(self) -> None:
        session_id, query = self.session_id, self.query_now
        self.reads.forget("stream", "older", "rows", "number")
        self.not_quiet(self._read_older)
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
        self._before, self._span = found.before, SPAN
        window.older(found.slots, complete=found.before is None)
        window.fill(found.rows, ())
        self._looked(window)
        self.stream.start(window)
        again, self._again = self._again, None
        if again is not None and (oldest := window.oldest()) is not None and oldest <= again:
            self.stream.go(min(window.find(*again), len(window) - 1))
        self.tell_place()
        if self.cockpit.wanted_row is not None:
            self.open_row()
        elif not window.complete and self.query_now:
            self.once_quiet(_REST_S, self._read_older)

    def _looked(self, window: Window) -> None:
        """So far it was looked: say so where nothing is found, and count all rows once that costs nobody a key."""
        self.stream.hint = (NO_MATCH if window.complete else "  looking further back …") if self.query_now else ""
        if not self.query_now:
            self._whole = len(window) if window.complete else 0
        elif window.complete and not self._whole:
            session_id = self.session_id
            self.reads.ask("number", lambda db: stream.number(db, session_id), self._count_whole)

    def _count_whole(self, number: int) -> None:
        self._whole = number
        self.tell_place()

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
        session_id, query, before = self.session_id, self.query_now, self._before
        self.not_quiet(self._read_older)
        if before is None:
            return  # all is there
        size = self._span if query else stream.PAGE
        self.reads.ask("older", lambda db: (before, older(db, session_id, before, query, size)), self._show_older)

    def _show_older(self, found: tuple[tuple[int, int] | None, Stretch]) -> None:
        asked, page = found
        if asked != self._before:
            return  # asked for twice
        self._before, self._span = page.before, min(MOST_SPAN, 2 * self._span)
        complete, window = page.before is None, self.stream.window
        window.older(page.slots, complete=complete)
        self._looked(window)
        self.stream.grown(len(page.slots), before=len(page.slots))
        if self.cockpit.wanted_row is not None:
            self.open_row()
        elif not complete and (self.query_now or self._to_top):
            self._read_older()
        elif self._to_top:
            self._to_top = False
            self.stream.go(0)

    def open_row(self) -> None:
        """Another screen asks for one row of the stream; what filters it away is taken off."""
        wanted = self.cockpit.wanted_row
        if wanted is None or not self.is_mounted or not self.session_id:
            return
        shown = self.cockpit.session
        if self.query_now or (shown and shown.id != self.session_id):
            self.search.close()
            self.filtered, self.query_now = "", Query()
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
        """The view nears the oldest slot that is known; of a filtered stream older ones come without that."""
        if not (self.stream.window.complete or self.query_now):
            self._read_older()

    @on(Stream.Wanted)
    def read_rows(self, message: Stream.Wanted) -> None:
        """Rows came into view that are not in memory."""
        keys, window = message.keys, self.stream.window

        def keep(rows: dict[int, StreamRow]) -> None:
            window.fill(rows, keys)
            self.stream.redraw()

        self.reads.ask(f"rows {keys[0]}", lambda db: stream.rows(db, keys), keep)

    @on(Stream.Moved)
    def tell_place(self) -> None:
        """The frame's title says where the cursor is and what waits; open details follow the cursor."""
        shown, total = self.stream, len(self.stream.window)
        more = "" if shown.window.complete else "+"
        place = "following" if shown.following else f"row {shown.cursor + 1:,} of {total:,}{more}"
        self.frame.border_title = self.titled("Stream", place + self._day())
        self.check_keys()
        if self.opened:
            self._describe()

    def _day(self) -> str:
        """The day of the row under the cursor, unless it is today."""
        at, zone = self.stream.window.slots.at, self.cockpit.zone
        if self.stream.cursor >= len(at):
            return ""
        found = day(at[self.stream.cursor], zone)[:10]
        return "" if found == day(self.cockpit.clock(), zone)[:10] else f" ─ {found}"

    # One row

    @property
    def index(self) -> Stream:  # type: ignore[override] # it stands once the screen is composed
        """The stream."""
        return self.stream

    @property
    def row_key(self) -> int | None:
        return self.stream.window.key(self.stream.cursor)

    @property
    def opened(self) -> bool:
        """Whether the details are open, or will be at once."""
        return self._opening or bool(self.details.display)

    @property
    def covered(self) -> bool:
        """Whether the details lie over the stream."""
        return self.is_mounted and self.has_class("-narrow") and bool(self.details.display)

    def may_open(self) -> str | None:
        """Only a row can be opened."""
        return None if len(self.stream.window) else "no row yet"

    may_copy = may_open
    may_purge = may_open
    may_next_failure = may_open
    may_last_failure = may_open

    def do_open(self) -> None:
        if self.opened:
            self.close_details()
        else:
            self._opening = True
            self._describe()

    def close_details(self) -> None:
        """Hide the details."""
        self._opening = self.details.display = False

    def _describe(self) -> None:
        if (key := self.row_key) is not None:
            self.reads.ask("details", lambda db: stream.rows(db, [key], whole=True).get(key), self._show_details)

    def _show_details(self, row: StreamRow | None) -> None:
        if row is None:  # it went meanwhile: nothing opens
            self._opening = False
            return
        self.details.show(row)
        self.details.display, self._opening = self.opened, False

    def may_relabel(self) -> str | None:
        """Only a call has labels."""
        row = self.stream.row
        return None if row is not None and row.outcome and row.word not in UNLABELLED else "only calls have labels"

    def do_relabel(self) -> None:
        from nmem_tui.screens.relabel import Relabel  # on use: start-up stays short

        if (key := self.row_key) is not None:
            self.app.push_screen(Relabel(key // 2))

    def may_blame(self) -> str | None:
        """Only the file of a call."""
        row = self.stream.row
        return None if row is not None and row.path else "put the cursor on a call with a file"

    def do_blame(self) -> None:
        from nmem_tui.screens.reason_dialogs import Why  # on use: start-up stays short

        if (row := self.stream.row) is not None:
            self.app.push_screen(Why(self.session_id, row.path))

    def give_text(self, take: Take) -> None:
        """The row's whole text, or that of all marked ones in their order."""

        def give(found: dict[int, StreamRow]) -> None:
            rows = sorted(found.values(), key=lambda row: (row.at, row.key))
            if rows:
                take("\n\n".join(row.text or row.path for row in rows))

        if keys := self._chosen():
            self.reads.ask("copy", lambda db: stream.rows(db, keys, whole=True), give)

    def _chosen(self) -> list[int]:
        """The marked rows that are listed, else the one under the cursor."""
        here = [] if self.marked or self.row_key is None else [self.row_key]
        return [each for each in self.meant if isinstance(each, int)] or here

    def id_here(self) -> str:
        return "" if self.row_key is None else _id(self.row_key)

    def do_purge(self) -> None:
        """See what goes with the row, or with all marked ones, then let it go."""
        self.purge([_id(key) for key in self._chosen()])

    @on(Stream.Opened)
    def row_clicked(self) -> None:
        """A second click opens."""
        self.do_open()

    # What the keys do

    @property
    def active(self) -> Stream:
        """The only list."""
        return self.stream

    def do_top(self) -> None:
        if self.stream.window.complete:
            self.stream.go(0)
        else:
            self._to_top, self.stream.following = True, False
            self._read_older()

    def do_follow(self) -> None:
        self.do_bottom()

    def may_follow(self) -> str | None:
        """Only where it does not yet."""
        here = self.stream.following and self.stream.cursor >= len(self.stream.window) - 1
        return "already following: new rows appear at the bottom" if here else None

    def do_next_failure(self) -> None:
        self._to_failure(-1)

    def do_last_failure(self) -> None:
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

    # The filter, the marks, the way back

    def name_list(self) -> None:
        """The frame's title says where the cursor is and what waits; open details follow the cursor."""
        self.tell_place()

    def narrow(self) -> None:
        """Each keystroke filters anew; an answer to an older one is dropped."""
        self.query_now = Query(self.filtered)
        self._open_stream()

    def tally(self) -> tuple[int, int, bool]:
        """Rows that the filter leaves, of all."""
        return len(self.stream.window), self._whole, not self.stream.window.complete

    def row_keys(self) -> list[int] | None:
        """All rows, once all are known."""
        return self.listed_keys() if self.stream.window.complete else None

    def listed_keys(self) -> list[int]:
        return list(self.stream.window.slots.key)

    def spot(self) -> tuple[int, int]:
        """Time and key of the row under the cursor, or that it follows."""
        shown = self.stream
        if shown.following or shown.cursor >= len(shown.window):
            return FOLLOWS
        return shown.window.slots.at[shown.cursor], shown.window.slots.key[shown.cursor]

    def return_to(self, place: tuple[int, int]) -> None:
        """To the row of a place; another session is read first."""
        self.cockpit.wanted_row = None if place == FOLLOWS else place
        if self.cockpit.chosen and self.cockpit.chosen != self.session_id:
            return
        if place == FOLLOWS:
            self.do_bottom()
        else:
            self.open_row()

    def do_back(self) -> None:
        """Close the innermost thing that is open; where nothing is, the place is kept."""
        if self.search.typing:
            self.unfilter()
        elif self.unmark():
            return
        elif self.opened:
            self.close_details()
        else:
            self.unfilter()


def _id(key: int) -> str:
    """A row's own id."""
    return f"{'obs' if key % 2 else 'prompt'}/{key // 2}"
