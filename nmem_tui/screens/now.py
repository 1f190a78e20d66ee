"""The screen Now: the current work unit, how the work goes, and the live stream."""

from __future__ import annotations

from textual import getters, on
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.widgets import Input

from nmem.read import stream
from nmem.read.episodes import CurrentUnit
from nmem.read.stream import Marks, Query, Slots
from nmem.read.views import NowView, StreamRow
from nmem.text import printable
from nmem_tui import steering
from nmem_tui.model import cards
from nmem_tui.model.empty import nothing
from nmem_tui.model.figures import day, several
from nmem_tui.model.reading import FIRST, Glance, Opening, Tick, glance, opening, pick, tick
from nmem_tui.model.window import Window
from nmem_tui.screens.base import View
from nmem_tui.widgets.card import Panel
from nmem_tui.widgets.details import Details
from nmem_tui.widgets.lines import NO_MATCH
from nmem_tui.widgets.overview import Overview
from nmem_tui.widgets.stream import Stream

_CARDS_S = 0.25
"""The cards are read at most this often; the stream at once."""


class Now(View):
    """The session that is worked in, at a glance and row by row."""

    CONTEXT = "now"

    stream = getters.query_one(Stream)
    details = getters.query_one(Details)
    frame = getters.query_one("#frame", Vertical)
    search = getters.query_one("#filter", Input)

    def __init__(self) -> None:
        super().__init__()
        self.view: NowView | None = None
        self.unit: CurrentUnit | None = None
        self.session_id = ""
        self.marks = Marks()
        self.query_now = Query()
        self._cards_due = False

    def body(self) -> ComposeResult:
        """Cards above, the stream below, details beside it."""
        yield Panel(id="summary")
        yield Overview()
        with Horizontal(id="lower"):
            with Vertical(id="frame"):
                field = Input(id="filter", placeholder="words, !word, type:test, is:failed, file:upload", compact=True)
                field.cursor_blink = False
                yield field
                yield Stream(self.cockpit.zone, id="stream")
            yield Details(self.cockpit.zone)
        yield Panel(id="empty")

    def on_mount(self) -> None:
        """The stream has the keyboard."""
        super().on_mount()
        self.stream.focus()
        self.set_interval(5, self._draw_cards)

    # What is read

    def refresh_data(self) -> None:
        """The stream at once, the cards soon."""
        if self.session_id:
            self._read_stream()
        self._cards_soon()

    def _cards_soon(self) -> None:
        if not self.view:
            self._read_cards()
        elif not self._cards_due:
            self._cards_due = True
            self.set_timer(_CARDS_S, self._read_cards)

    def _read_cards(self) -> None:
        self._cards_due = False
        app, current = self.cockpit, self.session_id
        chosen, project, at = app.chosen, app.project, app.clock()
        self.reads.ask("cards", lambda db: glance(db, pick(db, chosen, current, project, at), at), self._show_cards)

    def _read_stream(self) -> None:
        session_id, seen, query = self.session_id, self.marks, self.query_now
        stale = self.stream.window.stale(*self.stream.places())
        self.reads.ask("stream", lambda db: tick(db, session_id, seen, query, stale), self._grow)

    def _open_stream(self) -> None:
        session_id, query = self.session_id, self.query_now
        self.reads.forget("stream", "older", "rows")
        self.reads.ask("stream", lambda db: opening(db, session_id, query), self._show_stream)

    # What the answers change

    def _show_cards(self, found: Glance | None) -> None:
        if found is None:
            self.nothing_yet()
            return
        view = self.view = found.view
        self.unit = found.unit
        self.remove_class("-empty")
        if view.session.id != self.session_id:
            self.session_id = view.session.id
            self.close_details()
            self._open_stream()
            self.cockpit.shown(view.session)
        self._draw_cards()

    def _draw_cards(self) -> None:
        if self.view is None:
            return
        view, here, at = self.view, self.unit, self.cockpit.clock()
        self.header.show(lambda cells: cards.header(view, at, cells, here))
        if self.has_class("-wide"):
            self.query_one(Overview).tell(view, here, at, self.cockpit.zone)
            return
        rows, zone = 9 if self.has_class("-tall") else 4, self.cockpit.zone
        self.query_one("#summary", Panel).show(lambda c, _: cards.narrow(view, at, zone, c, rows, here))

    def _show_stream(self, found: Opening) -> None:
        if found.session_id != self.session_id:
            return
        self.marks = found.marks
        window = Window()
        window.older(found.slots, complete=len(found.slots) < FIRST)
        window.fill(found.rows, ())
        self.stream.hint = NO_MATCH if self.query_now and window.complete else ""
        self.stream.start(window)
        if not window.complete and self.query_now:
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
        if not complete and (self.query_now or self._to_top):
            self._read_older()
        elif self._to_top:
            self._to_top = False
            self.stream.go(0)

    _to_top = False

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

    def nothing_yet(self) -> None:
        """The screen that says what to do first."""
        self.view, self.unit, self.session_id = None, None, ""
        self.add_class("-empty")
        self.query_one("#empty", Panel).show(lambda cells, rows: nothing(cells, rows, self.cockpit.project))
        self.header.show(lambda _cells: [(" nmem ▸ ", "quiet"), ("nothing recorded yet", "title")])

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

    def do_copy(self) -> None:
        """Copy the row's whole text."""
        key = self.stream.window.key(self.stream.cursor)
        if key is not None:
            self.reads.ask("copy", lambda db: stream.rows(db, [key], whole=True).get(key), self._copy)

    def _copy(self, row: StreamRow | None) -> None:
        if row is not None:
            self.cockpit.copy_out(row.text or row.path)

    def do_filter(self) -> None:
        """Type a filter."""
        self.search.display = True
        self.search.focus()

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
        self.stream.focus()

    def do_back(self) -> None:
        """Close the innermost thing that is open."""
        if self.details.display and not self.search.has_focus:
            self.close_details()
        elif self.search.display:
            self.search.value = ""
            self.search.display = False
            self.stream.focus()
        else:
            self.do_bottom()

    def may_pin(self) -> str | None:
        """Only a work unit can be pinned."""
        return None if self.unit else "no work unit is known yet"

    may_story = may_pin

    def do_pin(self) -> None:
        """Pin the work unit, or unpin it."""
        if self.unit:
            self.cockpit.change(steering.pin(self.unit.id, not self.unit.pinned))

    def do_story(self) -> None:
        """The story of the work unit, on the screen Episodes."""
        if self.unit:
            self.cockpit.show_episode(self.unit.id)

    def do_sessions(self) -> None:
        """Choose a session from the list."""
        from nmem_tui.screens.sessions import Sessions

        self.app.push_screen(Sessions(self.session_id), self.cockpit.choose)

    def may_sessions(self) -> str | None:
        """Only where there are some."""
        return "no session is recorded yet" if self.has_class("-empty") else None

    def may_previous(self) -> str | None:
        """Only after another session was shown."""
        return None if self.cockpit.before else "no other session was shown before"

    def do_previous(self) -> None:
        """Back to the session shown before."""
        self.cockpit.go_back()

    def session_changed(self) -> None:
        """The person chose another session."""
        self.reads.forget("cards")
        self._read_cards()
