"""The screen Learnings: recurring patterns, the hottest first; beside them details, fix and evidence."""

from __future__ import annotations

from textual import on
from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.content import Content
from textual.timer import Timer

from nmem.learn.learning import SKILL, Learning
from nmem.text import printable
from nmem_tui.model import actions, exports, learning_detail, learnings
from nmem_tui.model import learnings as reading
from nmem_tui.model.exports import Gather
from nmem_tui.model.figures import several
from nmem_tui.model.learnings import Detail, Listing, Scope
from nmem_tui.model.line import Line
from nmem_tui.model.lists import NO_MATCH
from nmem_tui.screens.learnings_nav import LearningsNav
from nmem_tui.screens.list_screen import DebouncedReload
from nmem_tui.widgets.charts import HeatMap
from nmem_tui.widgets.drawn import Frame, Panel
from nmem_tui.widgets.lines import Lines

_REST_S = 0.06
"""A cursor that stands so long rests: while a key is held, no evidence is read."""
_TALL = 36
_AROUND = 8
"""Rows that are not the list's."""
_MOST_WEEKS = 16
"""Rows that the heat map may take."""


class Learnings(DebouncedReload, LearningsNav):
    """Patterns across sessions that shall end in something fixed."""

    EVERY_S = 0.5
    CONTEXT = "learnings"
    OPENS = "learnings"

    def __init__(self) -> None:
        super().__init__()
        self.weeks = HeatMap(id="weeks")
        self.patterns, self.about = Frame(id="patterns"), Frame(id="about")
        self.over = self.about
        self.scope = Scope(reading.EVERYWHERE)
        self.listing: Listing | None = None
        self.shown: list[Learning] = []
        self._keep = 0
        """The learning that the cursor goes to once it is listed."""
        self._open = False
        self._inside = True
        """Whether the learning that is wanted shall be opened."""
        self._rest: Timer | None = None
        self._gone = 0
        """The learning that left the list from under the cursor: taken back, it has the cursor again."""

    def body(self) -> ComposeResult:
        """The list with the heat map below it; beside it the learning under the cursor."""
        self.index.marked = lambda place: self.shown[place].id in self.all_marked
        with Horizontal(id="learned"):
            with self.patterns:
                yield self.search
                yield Panel(id="states")
                yield Panel(id="heads")
                yield self.index
                yield self.weeks
            with self.about:
                yield self.pane
        yield Panel(id="empty")

    def on_mount(self) -> None:
        """The list has the keyboard."""
        self.about.border_title = Content("Learning")
        self.set_focus(self.index)
        self._find_wanted()

    def on_screen_resume(self) -> None:
        """Another session may have been chosen meanwhile."""
        if self.listing and self.scope != self._scope():
            self.read_list()

    def on_resize(self) -> None:
        """Room for the heat map, or none."""
        self.fit()

    def fit(self) -> None:
        """Give the heat map the rows that it asks for, where it is wanted."""
        tall = self.size.height >= _TALL
        height = min(_MOST_WEEKS, len(self.shown) + 4, max(7, self.size.height // (2 if not tall else 3)))
        spare = self.size.height - _AROUND - len(self.shown) >= height
        self.weeks.display = bool(self.shown) and (tall or spare if self.map is None else self.map)
        if self.weeks.styles.height is None or self.weeks.styles.height.value != height:
            self.weeks.styles.height = height

    def _scope(self) -> Scope:
        app = self.cockpit
        return reading.scope_of(self.kind, app.project, app.session)

    def open_wanted(self) -> None:
        """Another screen asks for one learning: whatever hides it is taken off."""
        if self.is_mounted:
            self._find_wanted()

    def return_to(self, place: tuple[int, bool]) -> None:
        """To the learning of a place."""
        self.cockpit.wanted_learning, self._inside = place
        self._close()
        self.open_wanted()

    def _find_wanted(self) -> None:
        wanted, at = self.cockpit.wanted_learning, self.cockpit.clock()
        if wanted:
            self.cockpit.wanted_learning = 0
            self.reads.ask("wanted", lambda db: reading.find(db, wanted, at), self._go_to)

    def _go_to(self, one: Learning | None) -> None:
        if one is None:
            self.cockpit.say("this learning is gone", severity="warning")
            return
        self.unfilter()
        self.all_marked.clear()
        self.state, self._keep, self._open = one.state, one.id, self._inside
        if one.kind == SKILL:
            self.state = learnings.SKILLS
        self._inside = True
        self.kind = reading.PROJECT
        if one.project not in (self._scope().name, self._scope().project):
            self.kind = reading.EVERYWHERE
        self.read_list()

    # What is read

    def session_changed(self) -> None:
        """Another session, perhaps of another project."""
        self.read_list()

    def read_list(self) -> None:
        """What is listed, in one visit."""
        super().read_list()
        scope, state, at = self._scope(), self.state, self.cockpit.clock()
        self.scope, self.cockpit.listed = scope, self.kind
        self.reads.ask("learnings", lambda db: reading.listing(db, scope, state, at), self._show)

    def _read_detail(self) -> None:
        one = self.one
        if one is None:
            self.detail = None
            self.pane.tell(lambda _cells: [], keep=False)
            self.about.border_title = Content("Learning")
            self.check_keys()
            return
        self.reads.ask("learning", lambda db: reading.detail(db, one), self._show_detail)

    # What the answers change

    def _show(self, found: Listing) -> None:
        if (found.scope, found.state) != (self.scope, self.state):
            return
        self.listing = found
        self.show_hot(found.hot)
        nothing = not found.elsewhere and not any(
            found.counts.get(each, 0) for each in (learnings.ALL, learnings.SKILLS)
        )
        self.set_class(nothing, "-empty")
        if nothing:
            self.tell_empty()
        self.draw_list()

    def draw_list(self) -> None:
        """Draw the list anew with the cursor where it was, and tell what is under it."""
        found = self.listing
        if found is None:
            return
        keep = self._keep or (self.one.id if self.one else 0)
        at, where, states = self.cockpit.clock(), found.scope.kind != reading.PROJECT, found.state == learnings.ALL
        shown = self.shown = learnings.matching(self.words, found.found)
        ids = {one.id for one in shown}
        if self._gone in ids:
            keep, self._gone = self._gone, 0
        elif keep not in ids:
            self._gone = keep
        place = next((n for n, one in enumerate(shown) if one.id == keep), min(self.index.cursor, len(shown) - 1))
        if keep and self.pane.has_focus and keep not in ids:
            self._close()  # it is listed elsewhere now: the next key must not change its neighbour unseen

        def draw(place: int, cells: int) -> Line:
            return learnings.row(shown[place], cells, at, states=states, where=where)

        self.index.hint = self._hint(found)
        self.index.show(len(shown), draw, None, max(0, place))
        self.weeks.tell(shown, place, at)
        self.query_one("#states", Panel).show(lambda cells, _rows: [learnings.bar(found.counts, found.state, cells)])
        self.query_one("#heads", Panel).show(
            lambda cells, _rows: [[(" ", "text"), *learnings.columns(cells - 2, states=states, where=where)]]
        )
        self._titles(found)
        self.fit()
        if self._keep and self._open:
            self.do_open()
        self._keep, self._open = 0, False
        self._read_detail()
        self.check_keys()

    def _titles(self, found: Listing) -> None:
        state = "" if found.state in (learnings.ALL, learnings.SKILLS) else f", {found.state}"
        word = "skill" if found.state == learnings.SKILLS else "learning"
        count = "" if self.filtered else f"{several(len(self.shown), word)}{state}"
        self.patterns.border_subtitle = Content("▲ hot  ↺ came back  ✓ fix known" if self.has_class("-wide") else "")
        self.patterns.border_title = self.titled(printable(found.scope.words), count)
        self.header.show(
            lambda cells: learnings.header(found.counts, found.hot, found.hot_elsewhere, found.scope.words, cells)
        )

    def tally(self) -> tuple[int, int, bool]:
        """Learnings that the filter leaves."""
        return len(self.shown), len(self.listing.found) if self.listing else 0, False

    def chosen(self) -> list[Learning]:
        """The marked learnings that are listed, else the one under the cursor."""
        if not self.marked or self.listing is None:
            return [self.one] if self.one else []
        return [one for one in self.shown if one.id in self.marked]

    def row_keys(self) -> list[int]:
        """All that are listed."""
        return [one.id for one in self.shown]

    def marks_changed(self) -> None:
        """The gutter and the title."""
        self.index.redraw()
        if self.listing:
            self._titles(self.listing)

    def _hint(self, found: Listing) -> str:
        if self.words:
            return NO_MATCH
        if found.counts.get(learnings.ALL, 0):
            return f"  nothing is {found.state} here: {actions.key_of('next_state')} shows what is in another state"
        if found.scope.kind == reading.ACROSS:
            return f"  no pattern that two projects share · {actions.key_of('projects')} shows each project's own"
        more = f"{actions.key_of('projects')} shows all projects, with {found.elsewhere}"
        return f"  no recurring pattern in this project yet · {more}"

    def _show_detail(self, found: Detail) -> None:
        one = self.one
        if one is None or found.learning.id != one.id:
            return
        self.weeks.choose(self.index.cursor)
        same = self.detail is not None and self.detail.learning.id == one.id
        if same and found == self.detail:
            return
        self.detail = found
        at, zone = self.cockpit.clock(), self.cockpit.zone
        self.about.border_title = Content(learning_detail.title(one))
        self.pane.tell(lambda cells: learning_detail.items(found, cells, at, zone), keep=same)

    def gather(self) -> Gather:
        """The list, and the learning under the cursor with its evidence."""
        app = self.cockpit
        return exports.learnings(self._scope(), self.state, self.words, self.one, app.clock(), app.zone)

    def nothing_yet(self) -> None:
        """Nothing is recorded at all."""
        self.listing, self.shown = None, []
        super().nothing_yet()

    @property
    def has_skills(self) -> bool:
        """Whether any skill is known in this scope."""
        return bool(self.listing and self.listing.counts.get(learnings.SKILLS)) or self.state == learnings.SKILLS

    @property
    def one(self) -> Learning | None:
        """The learning under the cursor."""
        return self.shown[self.index.cursor] if 0 <= self.index.cursor < len(self.shown) else None

    @on(Lines.Moved, "#learnings")
    def tell_about(self) -> None:
        """Another learning is under the cursor: what is kept of it, and its weeks, follow once the cursor rests."""
        self._gone = 0
        if self._rest is not None:
            self._rest.stop()
        self._rest = self.set_timer(_REST_S, self._rested)

    def _rested(self) -> None:
        self._rest = None
        self._read_detail()

    @on(Lines.Moved, "#learning")
    def other_line(self) -> None:
        """Whether evidence is under the cursor decides what can be done."""
        self.check_keys()
