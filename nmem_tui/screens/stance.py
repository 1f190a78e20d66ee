"""The screen Stance: how the session moves between thinking and acting, and how that compares with others."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Sequence

from textual import on
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.content import Content

from nmem.stance.model import SessionStance, Stance
from nmem_tui.model import stance as words
from nmem_tui.model import stance_list
from nmem_tui.model.empty import no_labels, nothing
from nmem_tui.model.figures import several
from nmem_tui.model.stance_list import Item
from nmem_tui.model.stance_models import Models, models
from nmem_tui.model.stance_reading import Reading, Wanted, reading, sessions
from nmem_tui.screens.base import View
from nmem_tui.widgets.card import Card, Panel
from nmem_tui.widgets.chart import Chart
from nmem_tui.widgets.lines import Lines
from nmem_tui.widgets.plane import Plane
from nmem_tui.widgets.stance import StancePane

_BROAD = 150
"""Cells from which on the words stand in cards beside the lists."""
ONE, OVER, MODELS = "one", "over", "models"
_EVERY_S = 0.5
"""The stance is read at most this often."""


class StanceView(View):
    """The trajectory of one session; or the project's sessions, one a row."""

    CONTEXT = "stance"
    OPENS = "stance"

    def __init__(self) -> None:
        super().__init__()
        self.chart, self.plane = Chart(id="trajectory"), Plane(id="plane")
        self.pane = StancePane()
        self.frame = Vertical(id="turns")
        self.found: Reading | None = None
        self.mode = ONE
        """Whether one session is shown, the project's sessions, or the model cards."""
        self._due = False
        self._shown = ""
        """The session that the list is about."""

    def body(self) -> ComposeResult:
        """The drawings above, the lists and the words below."""
        yield Panel(id="where")
        with Horizontal(id="drawn"):
            yield self.chart
            yield self.plane
        with Horizontal(id="told"):
            with self.frame:
                yield self.pane
            with Vertical(id="beside"):
                yield Card(id="guidance")
                yield Card(id="usual")
            yield Card(id="shares")
        yield Panel(id="empty")

    def on_mount(self) -> None:
        """The list has the keyboard."""
        self.add_class("-blank")
        super().on_mount()
        self.set_focus(self.pane)

    def on_screen_resume(self) -> None:
        """Another session may have been chosen meanwhile."""
        if self.seen != -1:
            self._read()

    def on_resize(self) -> None:
        """Another width may have room for the cards, or for the plane."""
        self.set_class(self.size.width >= _BROAD, "-broad")
        if self.found and self.mode == ONE:
            self.call_after_refresh(self._list, self.found.stance, keep=True)

    # What is read

    def refresh_data(self) -> None:
        """At once where nothing is shown yet, else soon."""
        if self.found is None:
            self._read()
        elif not self._due:
            self._due = True
            self.set_timer(_EVERY_S, self._read)

    def session_changed(self) -> None:
        """The person chose another session."""
        self.mode, self.found = ONE, None
        self.reads.forget("stance", OVER, MODELS)
        self._read()

    look_again = refresh_data

    def _read(self) -> None:
        self._due = False
        app, cells = self.cockpit, self.chart.content_size.width
        wanted = Wanted(app.chosen, app.session.id if app.session else "", app.project, app.clock())
        one = self.found.following if self.found else None
        self.reads.ask("stance", lambda db: reading(db, wanted, one, cells), self._show)
        if self.mode == OVER:
            self._read_over()

    def _read_over(self) -> None:
        row = self.found.session if self.found else None
        project = (row.root or row.project) if row else self.cockpit.project
        self.reads.ask(OVER, lambda db: sessions(db, project), self._show_over)

    def _read_models(self) -> None:
        path = self.cockpit.db_path
        self.reads.ask(MODELS, lambda db: models(db, path), self._show_models)

    # What the answers change

    def _show(self, found: Reading | None) -> None:
        if found is None:
            self.nothing_yet()
            return
        same = self._shown == found.session.id
        self._shown = found.session.id
        self.cockpit.shown(found.session)
        self.found = found
        self.remove_class("-empty", "-blank")
        self.set_class(not found.stance.points and self.mode == ONE, "-unlabelled")
        self.header.show(lambda _cells: words.header(found.stance, found.session.project, found.session.intent))
        if found.stance.points:
            self._draw(found, keep=same)
        else:
            calls = found.stance.observations
            self.query_one("#empty", Panel).show(lambda cells, rows: no_labels(cells, rows, calls))
        if self.mode == ONE:
            self._list(found.stance, keep=same)

    def _draw(self, found: Reading, *, keep: bool) -> None:
        stance, zone = found.stance, self.cockpit.zone
        if not keep:
            self.chart.choose(None)
        self.query_one("#where", Panel).show(lambda cells, _rows: [words.now(stance, cells)])
        self.chart.tell(stance, found.trace, zone)
        self.plane.tell(stance)
        self.query_one("#guidance", Card).show(lambda c, r: words.guidance(stance.guidance, c, r), "Guidance")
        self.query_one("#shares", Card).show(
            lambda c, _r: [*words.shares(stance, c), [], *words.figures(stance, c)], "Quadrants and figures"
        )
        self.query_one("#usual", Card).show(lambda c, r: words.usual(stance.usual, c, r), "Beside your other sessions")

    def _list(self, stance: Stance, *, keep: bool) -> None:
        zone, column, plane = self.cockpit.zone, not self.has_class("-broad"), not self.has_class("-wide")
        self.remove_class("-over")
        self.pane.tell(
            lambda cells: stance_list.of_session(stance, cells, zone, column=column, plane=plane),
            free=column,
            keep=keep,
        )
        self.frame.border_title = Content(
            f"Shifts and episodes ─ {several(len(stance.shifts), 'shift')}, {several(len(stance.strips), 'episode')}"
        )
        self.frame.border_subtitle = Content("")
        self.check_keys()

    def _show_over(self, found: Sequence[SessionStance]) -> None:
        if self.mode != OVER:
            return
        first = not self.has_class("-over")
        self.remove_class("-unlabelled")
        self.add_class("-over")
        current, zone = self.found.session.id if self.found else "", self.cockpit.zone
        self.pane.tell(lambda _cells: stance_list.of_sessions(found, current, zone), free=False, keep=not first)
        self.frame.border_title = Content(f"Sessions of the project ─ {several(len(found), 'session')}")
        self.frame.border_subtitle = Content("░ explore  ▒ reason  ▓ scaffold  █ finish")
        self.pane.hint = "  no session of this project yet"
        self.check_keys()

    def _show_models(self, found: Models) -> None:
        if self.mode != MODELS:
            return
        self.remove_class("-unlabelled")
        self.add_class("-over")
        self.pane.tell(lambda cells: stance_list.of_models(found, cells), free=True, keep=False)
        self.frame.border_title = Content("Model cards ─ what labels a call, and how far to trust it")
        self.frame.border_subtitle = Content("")
        self.check_keys()

    @on(Lines.Moved, "#items")
    def point_out(self) -> None:
        """The chart shows where the cursor's shift or episode is."""
        item = self.pane.item
        stance = self.found.stance if self.found else None
        self.chart.choose(_place(stance, item) if stance and item else None)
        self.check_keys()

    def nothing_yet(self) -> None:
        """Nothing is recorded at all."""
        self.found, self.mode, self._shown = None, ONE, ""
        self.remove_class("-blank")
        self.add_class("-empty")
        self.query_one("#empty", Panel).show(lambda cells, rows: nothing(cells, rows, self.cockpit.project))
        self.header.show(lambda _cells: [(" nmem ▸ ", "quiet"), ("nothing recorded yet", "title")])
        self.check_keys()

    def is_blank(self) -> bool:
        """Whether nothing was read yet."""
        return self.has_class("-blank")

    # What the keys do

    def do_down(self) -> None:
        """One place down."""
        self.pane.move(1)

    def do_up(self) -> None:
        """One place up."""
        self.pane.move(-1)

    def do_half_down(self) -> None:
        """Half a page down."""
        self.pane.move(self.pane.page())

    def do_half_up(self) -> None:
        """Half a page up."""
        self.pane.move(-self.pane.page())

    def do_top(self) -> None:
        """The first place."""
        self.pane.scroll_to(y=0, animate=False, immediate=True, force=True)
        self.pane.go(0)

    def do_bottom(self) -> None:
        """The last place."""
        self.pane.go(self.pane.count - 1, -1)

    def may_open(self) -> str | None:
        """Only a shift, an episode or a session can be opened."""
        item = self.pane.item
        return None if item and item.kind else "put the cursor on a shift, an episode or a session"

    def do_open(self) -> None:
        """A shift in the stream, an episode's story, a session instead of this one."""
        item, stance = self.pane.item, self.found.stance if self.found else None
        if item is None:
            return
        if item.kind == "episode":
            self.cockpit.show_episode(int(item.key))
        elif item.kind == "session":
            self.mode = ONE
            self.cockpit.choose(item.key)
        elif stance is not None and (place := _place(stance, item)):
            point = stance.points[bisect_left(stance.points, place[0], key=lambda each: each.seq)]
            self.cockpit.show_row(point.at, 2 * point.observation_id + 1)

    @on(Lines.Opened, "#items")
    def open_clicked(self) -> None:
        """A second click opens."""
        if not self.may_open():
            self.do_open()

    def may_story(self) -> str | None:
        """Only what is in an episode has a story."""
        return None if self._unit() else "put the cursor on a shift or an episode"

    def do_story(self) -> None:
        """The story of the episode that the shift is in."""
        if unit_id := self._unit():
            self.cockpit.show_episode(unit_id)

    def _unit(self) -> int:
        item, stance = self.pane.item, self.found.stance if self.found else None
        if item is None or stance is None or item.kind not in ("shift", "stuck", "episode"):
            return 0
        begun = [strip for strip in stance.strips if strip.started_at <= item.at]
        return int(item.key) if item.kind == "episode" else begun[-1].unit_id if begun else 0

    def may_over(self) -> str | None:
        """Only where there is a session."""
        return None if self.found else "no session is recorded yet"

    def do_over(self) -> None:
        """The project's sessions, or back to the one."""
        self._turn(OVER, self._read_over)

    may_models = may_over

    def do_models(self) -> None:
        """The model cards, or back to the session."""
        self._turn(MODELS, self._read_models)

    def _turn(self, mode: str, read: Callable[[], None]) -> None:
        if self.mode == mode:
            self._back_to_one()
            return
        self.mode = mode
        read()

    def _back_to_one(self) -> None:
        self.mode = ONE
        if self.found:
            self.set_class(not self.found.stance.points, "-unlabelled")
            self._list(self.found.stance, keep=False)

    def may_copy(self) -> str | None:
        """Only where something stands."""
        return None if self.pane.count else "there is nothing to copy"

    def do_copy(self) -> None:
        """The list as text."""
        self.cockpit.copy_out(self.pane.plain())

    def do_sessions(self) -> None:
        """Choose a session from the list."""
        from nmem_tui.screens.sessions import Sessions

        self.app.push_screen(Sessions(self.found.session.id if self.found else ""), self.cockpit.choose)

    may_sessions = may_over

    def may_previous(self) -> str | None:
        """Only after another session was shown."""
        return None if self.cockpit.before else "no other session was shown before"

    def do_previous(self) -> None:
        """Back to the session shown before."""
        self.cockpit.go_back()

    def do_back(self) -> None:
        """Back to the one session, else to the top."""
        if self.mode != ONE:
            self._back_to_one()
        else:
            self.do_top()


def _place(stance: Stance, item: Item) -> tuple[int, int] | None:
    """Sequence number and time of what an item is about."""
    if item.kind == "shift":
        return int(item.key.rpartition(" ")[2]), item.at
    if item.kind in ("episode", "stuck"):
        place = bisect_left(stance.points, item.at, key=lambda point: point.at)
        return (stance.points[place].seq, stance.points[place].at) if place < len(stance.points) else None
    return None
