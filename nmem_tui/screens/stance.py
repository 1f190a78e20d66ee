"""The screen Stance: how a session moves between thinking and acting; the project's sessions; the model cards."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from textual import on
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.content import Content

from nmem.stance.model import SessionStance, Stance
from nmem_tui.model import actions, stance_list
from nmem_tui.model import stance as words
from nmem_tui.model.empty import no_labels
from nmem_tui.model.figures import several
from nmem_tui.model.line import plain
from nmem_tui.model.lists import Item
from nmem_tui.model.stance import Reading, reading, sessions
from nmem_tui.model.stance_list import Models, models
from nmem_tui.screens.base import Take
from nmem_tui.screens.list_screen import ListScreen
from nmem_tui.widgets.charts import Chart, Plane
from nmem_tui.widgets.drawn import Card, Frame, Panel
from nmem_tui.widgets.item_lists import Items
from nmem_tui.widgets.lines import Lines

if TYPE_CHECKING:
    from nmem_tui.model.exports import Gather

ONE, OVER, MODELS = "one", "over", "models"
_BROAD = 150
"""Cells from which on the words stand in cards beside the lists."""
_EVERY_S = 0.5
"""The stance is read at most this often."""


class StanceView(ListScreen):
    """The trajectory of one session; or the project's sessions, one a row."""

    CONTEXT = "stance"
    OPENS = "stance"
    HINT = "words of shifts, episodes or sessions; !word"
    DEFAULT_CLASSES = "-blank"

    def __init__(self) -> None:
        super().__init__()
        self.index: Items = Items(id="items")
        self.pane: Items = self.index
        self.found: Reading | None = None
        self.mode = ONE
        """Whether one session is shown, the project's sessions, or the model cards."""
        self.sought = ("", "")
        """What the cursor goes to once it is listed."""
        self.chart, self.plane = Chart(id="trajectory"), Plane(id="plane")
        self.frame = Frame(id="turns")
        self._shown = ""
        """The session that the list is about."""
        self._called = ("", "")
        """What is listed, and how many."""

    def body(self) -> ComposeResult:
        """The drawings above, the lists and the words below."""
        self.set_class(self.app.size.width >= _BROAD, "-broad")
        yield Panel(id="where")
        with Horizontal(id="drawn"):
            yield self.chart
            yield self.plane
        with Horizontal(id="told"):
            with self.frame:
                yield self.search
                yield self.pane
            with Vertical(id="beside"):
                yield Card(id="guidance")
                yield Card(id="usual")
            yield Card(id="shares")
        yield Panel(id="empty")

    def on_mount(self) -> None:
        """The list has the keyboard."""
        self.set_focus(self.pane)

    def on_screen_resume(self) -> None:
        """Another session may have been chosen meanwhile."""
        if self.seen != -1 and self.is_old():
            self._read()

    def on_resize(self) -> None:
        """Another width may have room for the cards, or for the plane."""
        self.set_class(self.size.width >= _BROAD, "-broad")
        if self.found and self.mode == ONE:
            self.call_after_refresh(self.list_one, self.found.stance, keep=True)

    # What is read

    def session_changed(self) -> None:
        self.mode, self.found, self.sought = ONE, None, ("", "")
        self.reads.forget("stance", OVER, MODELS)
        self._read()

    def refresh_data(self) -> None:
        self.catch_up_soon(_EVERY_S, self._read, shown=self.found is not None)

    look_again = refresh_data

    def _read(self) -> None:
        self.reads_now()
        whose, cells = self.whose(), self.chart.content_size.width
        one = self.found.following if self.found else None
        self.reads.ask("stance", lambda db: reading(db, whose, one, cells), self._show)

    def read_over(self) -> None:
        """The newest sessions of the project that the shown one is of; once that is known."""
        if self.found:
            row = self.found.session
            self.reads.ask(OVER, lambda db: sessions(db, row.root or row.project), self._show_over)

    def read_models(self) -> None:
        """The cards of the model in force."""
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
        told = bool(found.stance.points or found.calls)
        self.set_class(not told and self.mode == ONE, "-unlabelled")
        self.set_class(not found.stance.points, "-undrawn")
        self.header.show(lambda cells: words.header(found.stance, found.session.project, found.session.name, cells))
        if told:
            self._draw(found, keep=same)
        else:
            calls = found.stance.observations
            self.query_one("#empty", Panel).show(lambda cells, rows: no_labels(cells, rows, calls))
        if self.mode == ONE:
            self.list_one(found.stance, keep=same)
        elif self.mode == OVER:
            self.read_over()

    def _draw(self, found: Reading, *, keep: bool) -> None:
        stance, zone = found.stance, self.cockpit.zone
        if not keep:
            self.chart.choose(None)
        self.query_one("#where", Panel).show(lambda cells, _rows: [words.now(stance, cells)])
        if stance.points:
            self.chart.tell(stance, found.trace, zone)
            self.plane.tell(stance)
        self.query_one("#guidance", Card).show(lambda c, r: words.guidance(stance.guidance, c, r), "Guidance")
        self.query_one("#shares", Card).show(
            lambda c, _r: [*words.shares(stance, c), [], *words.figure_lines(stance, c)], "Quadrants and figures"
        )
        self.query_one("#usual", Card).show(lambda c, r: words.usual(stance.usual, c, r), "Beside your other sessions")

    def list_one(self, stance: Stance, *, keep: bool) -> None:
        """Its shifts and episodes; in one column with all that stands in cards elsewhere."""
        zone, column, plane = self.cockpit.zone, not self.has_class("-broad"), not self.has_class("-wide")
        calls = self.found.calls if self.found else ()
        self.remove_class("-over")
        self.pane.tell(
            lambda cells: stance_list.of_session(stance, cells, zone, calls, column=column, plane=plane),
            free=column,
            keep=keep,
        )
        self._called = (
            "Calls, shifts and episodes" if calls else "Shifts and episodes",
            (f"{several(len(stance.shifts), 'shift')}, {several(len(stance.strips), 'episode')}"),
        )
        self.name_list()
        self.frame.border_subtitle = Content("")
        self.check_keys()
        self.seek_sought()

    def _show_over(self, found: Sequence[SessionStance]) -> None:
        if self.mode != OVER:
            return
        first = not self.has_class("-over")
        self.remove_class("-unlabelled")
        self.add_class("-over")
        current, zone = self.found.session.id if self.found else "", self.cockpit.zone
        now = self.cockpit.clock()
        self.pane.tell(lambda _cells: stance_list.of_sessions(found, current, zone, now), free=False, keep=not first)
        self._called = "Sessions of the project", f"{several(len(found), 'session')}, the one worked in last on top"
        self.name_list()
        self.frame.border_subtitle = Content(plain([words.legend()]))
        self.pane.hint = "  no session of this project yet"
        self.check_keys()
        self.seek_sought()

    def _show_models(self, found: Models) -> None:
        if self.mode != MODELS:
            return
        self.remove_class("-unlabelled")
        self.add_class("-over")
        self.pane.tell(lambda cells: stance_list.of_models(found, cells), free=True, keep=False)
        self._called = "Model cards", "what labels calls, and how reliably"
        self.name_list()
        self.frame.border_subtitle = Content("")
        self.check_keys()

    def name_list(self) -> None:
        name, rest = self._called
        self.frame.border_title = self.titled(name, "" if self.filtered else rest)

    @on(Lines.Moved, "#items")
    def point_out(self) -> None:
        """The chart shows where the cursor's shift or episode is."""
        self.sought = ("", "")
        item = self.pane.item
        stance = self.found.stance if self.found else None
        self.chart.choose(place_of(stance, item) if stance and item else None)
        self.check_keys()

    def nothing_yet(self) -> None:
        self.found, self.mode, self._shown = None, ONE, ""
        self.remove_class("-blank")
        super().nothing_yet()

    # What the keys do

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
        elif item.kind == stance_list.CALL:
            self.cockpit.show_row(item.at, int(item.key))
        elif item.kind == "session":
            self.cockpit.choose(item.key)
        elif stance is not None and (place := place_of(stance, item)):
            point = stance.points[bisect_left(stance.points, place[0], key=lambda each: each.seq)]
            self.cockpit.show_row(point.at, 2 * point.observation_id + 1)

    def may_story(self) -> str | None:
        """Only what is in an episode has a story."""
        return None if self._unit() else "put the cursor on a shift or an episode"

    def do_story(self) -> None:
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
        self._turn(OVER, self.read_over)

    may_models = may_over

    def do_models(self) -> None:
        self._turn(MODELS, self.read_models)

    def _turn(self, mode: str, read: Callable[[], None]) -> None:
        if self.mode == mode:
            self._back_to_one()
            return
        self.unfilter()
        self.mode = mode
        read()

    def _back_to_one(self) -> None:
        self.unfilter()
        self.mode = ONE
        if self.found:
            self.set_class(not self.found.stance.points, "-unlabelled")
            self.list_one(self.found.stance, keep=False)

    def may_copy(self) -> str | None:
        """Only where something stands."""
        return None if self.pane.count else "nothing to copy"

    def give_text(self, take: Take) -> None:
        """The list as text."""
        take(self.pane.plain())

    def id_here(self) -> str:
        """That of the episode or the session; of a shift the call's that it came with."""
        item, found = self.pane.item, self.found
        if found is None:
            return ""
        if item is not None and item.kind in ("episode", "session"):
            return f"{item.kind}/{item.key}"
        if item is not None and (place := place_of(found.stance, item)):
            at = bisect_left(found.stance.points, place[0], key=lambda each: each.seq)
            return f"obs/{found.stance.points[at].observation_id}"
        return f"session/{found.session.id}"

    def gather(self) -> Gather:
        """The session's stance, and those of the project's others where they are listed."""
        from nmem_tui.model import exports  # on use: start-up stays short

        return exports.stance(self.found, self.cockpit.clock(), self.cockpit.zone)

    def do_sessions(self) -> None:
        self.choose_session(self.found.session.id if self.found else "")

    may_sessions = may_over

    def do_back(self) -> None:
        """The filter off, then back to the one session; with nothing open the place is kept."""
        if not self.step_back() and self.mode != ONE:
            self._back_to_one()

    # The filter, the way back

    def may_filter(self) -> str | None:
        """Only what is a list."""
        if self.mode == MODELS:
            return f"not on the model cards: {actions.key_of('models')} goes back to the session"
        return None if self.found else "no session is recorded yet"

    def spot(self) -> tuple[str, str, str]:
        """What is listed, and what the cursor is on."""
        item = self.pane.item
        return self.mode, item.kind if item else "", item.key if item else ""

    def return_to(self, place: tuple[str, str, str]) -> None:
        mode, kind, key = place
        if mode == ONE and self.mode != ONE:
            self._back_to_one()
        elif mode != self.mode:
            self._turn(mode, self.read_over if mode == OVER else self.read_models)
        self.sought = kind, key
        if self.found:
            self.seek_sought()

    def seek_sought(self) -> None:
        """The cursor on what one came back for, if it is listed by now."""
        if self.sought[0] and self.pane.seek(*self.sought):
            self.sought = ("", "")


def place_of(stance: Stance, item: Item) -> tuple[int, int] | None:
    """Sequence number and time of what an item is about."""
    if item.kind == "shift":
        return int(item.key.rpartition(" ")[2]), item.at
    if item.kind in ("episode", "stuck"):
        place = bisect_left(stance.points, item.at, key=lambda point: point.at)
        return (stance.points[place].seq, stance.points[place].at) if place < len(stance.points) else None
    return None
