"""The screen Learnings: failures and requests that recur across sessions, hottest first, with fix and evidence."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual import on
from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.content import Content

from nmem.learn import read
from nmem.learn.learning import FIX, OPEN, SKILL, Evidence, Learning
from nmem.text import printable
from nmem_tui.model import actions, learning_detail, learnings, symbols
from nmem_tui.model import learnings as reading
from nmem_tui.model.figures import several
from nmem_tui.model.learnings import CHOICES, PROJECT, SCOPES, SKILLS, Detail, Listing, Scope, moment
from nmem_tui.model.line import Line
from nmem_tui.model.lists import NO_MATCH
from nmem_tui.screens.base import Take
from nmem_tui.screens.learning_actions import LearningActions
from nmem_tui.widgets.charts import HeatMap
from nmem_tui.widgets.drawn import Frame, Panel
from nmem_tui.widgets.item_lists import Items
from nmem_tui.widgets.lines import Lines

if TYPE_CHECKING:
    from nmem_tui.model.exports import Gather

_TALL = 36
_NOTHING = "there is no learning here"
_AROUND = 8
"""Rows that are not the list's."""
_LEGEND = 6
"""Rows that the list leaves from which on they say what the signs mean."""
_MOST_WEEKS = 16
"""Rows that the heat map may take."""


class Learnings(LearningActions):
    """Patterns across sessions that shall end in something fixed."""

    OPENS = "learnings"
    HINT = "words of pattern, file, kind or fix; !word"

    def __init__(self) -> None:
        super().__init__()
        self.index: Lines = Lines(id="learnings")
        self.pane: Items = Items(id="learning")
        self.state, self.kind = OPEN, PROJECT
        self.detail: Detail | None = None
        """What is kept of the learning under the cursor, once it is read."""
        self.map: bool | None = None
        """Whether the heat map is wanted; None: where there is room."""
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
                yield Panel(lambda cells, rows: symbols.legend(self.CONTEXT, cells, rows), id="signs")
            with self.about:
                yield self.pane
        yield Panel(id="empty")

    def on_mount(self) -> None:
        """The list has the keyboard."""
        self.about.border_title = Content("Learning")
        self.query_one("#signs", Panel).border_title = Content("Signs")
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
        left = self.size.height - _AROUND - len(self.shown)
        spare = left >= height
        self.weeks.display = bool(self.shown) and (tall or spare if self.map is None else self.map)
        if self.weeks.styles.height is None or self.weeks.styles.height.value != height:
            self.weeks.styles.height = height
        left -= height if self.weeks.display else 0
        told = bool(self.shown) and self.has_class("-wide") and left >= _LEGEND
        short = "▲ hot  ↺ came back  ✓ fix known" if self.has_class("-wide") and not told else ""
        self.patterns.border_subtitle = Content(short)
        self.query_one("#signs").display = told
        self.index.styles.height = len(self.shown) + 1 if told else "1fr"

    def _scope(self) -> Scope:
        app = self.cockpit
        return reading.scope_of(self.kind, app.project, app.session)

    def open_wanted(self) -> None:
        """Another screen asks for one learning: whatever hides it is taken off."""
        if self.is_mounted:
            self._find_wanted()

    def return_to(self, place: tuple[int, bool]) -> None:
        self.cockpit.wanted_learning, self._inside = place
        self.uncover()
        self.open_wanted()

    def _find_wanted(self) -> None:
        wanted, at = self.cockpit.wanted_learning, self.cockpit.clock()
        if wanted:
            self.cockpit.wanted_learning = 0
            self.reads.ask("wanted", lambda db: read.learning(db, wanted, at), self._go_to)

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
        self.read_list()

    def read_list(self) -> None:
        """What is listed, in one visit."""
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
        shape = learnings.Shape(shown, states=states, where=where)
        ids = {one.id for one in shown}
        if self._gone in ids:
            keep, self._gone = self._gone, 0
        elif keep not in ids:
            self._gone = keep
        place = next((n for n, one in enumerate(shown) if one.id == keep), min(self.index.cursor, len(shown) - 1))
        if keep and self.pane.has_focus and keep not in ids:
            self.uncover()  # it is listed elsewhere now: the next key must not change its neighbour unseen

        def draw(place: int, cells: int) -> Line:
            return learnings.row(shown[place], shape, cells, at)

        self.index.hint = self._hint(found)
        self.index.show(len(shown), draw, None, max(0, place))
        self.weeks.tell(shown, place, at)
        self.query_one("#states", Panel).show(lambda cells, _rows: [learnings.bar(found.counts, found.state, cells)])
        self.query_one("#heads", Panel).show(
            lambda cells, _rows: [[(" ", "text"), *learnings.columns(shape, cells - 2)]]
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
        self.patterns.border_title = self.titled(printable(found.scope.words), count)
        self.header.show(
            lambda cells: learnings.header(found.counts, found.hot, found.hot_elsewhere, found.scope.words, cells)
        )

    def tally(self) -> tuple[int, int, bool]:
        """Learnings that the filter leaves."""
        return len(self.shown), len(self.listing.found) if self.listing else 0, False

    def chosen(self) -> list[Learning]:
        if not self.marked or self.listing is None:
            return [self.one] if self.one else []
        return [one for one in self.shown if one.id in self.marked]

    def row_keys(self) -> list[int]:
        return [one.id for one in self.shown]

    def name_list(self) -> None:
        if self.listing:
            self._titles(self.listing)

    def narrow(self) -> None:
        self.draw_list()

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
        from nmem_tui.model import exports  # on use: start-up stays short

        app = self.cockpit
        return exports.learnings(self._scope(), self.state, self.words, self.one, app.clock(), app.zone)

    def nothing_yet(self) -> None:
        self.listing, self.shown = None, []
        super().nothing_yet()

    @property
    def has_skills(self) -> bool:
        """Whether any skill is known in this scope."""
        return bool(self.listing and self.listing.counts.get(learnings.SKILLS)) or self.state == learnings.SKILLS

    @property
    def one(self) -> Learning | None:
        return self.shown[self.index.cursor] if 0 <= self.index.cursor < len(self.shown) else None

    @on(Lines.Moved, "#learnings")
    def tell_about(self) -> None:
        """Another learning is under the cursor: what is kept of it, and its weeks, follow once the cursor rests."""
        self._gone = 0
        self.once_quiet(self.REST_S, self._read_detail)

    @on(Lines.Moved, "#learning")
    def other_line(self) -> None:
        """Whether evidence is under the cursor decides what can be done."""
        self.check_keys()

    @property
    def known(self) -> Detail | None:
        """What is kept of the learning under the cursor; None until it is read."""
        found = self.detail
        return found if found and self.one and found.learning.id == self.one.id else None

    @property
    def proof(self) -> Evidence | None:
        """The piece of evidence under the cursor; the newest with a story while the list has the keyboard."""
        found = self.known
        if found is None:
            return None
        if not self.pane.has_focus:
            return next((each for each in found.evidence if each.unit_id), next(iter(found.evidence), None))
        item = self.pane.item
        return found.evidence[int(item.key)] if item and item.kind == learning_detail.EVIDENCE else None

    # What the keys do

    def do_next_evidence(self) -> None:
        self._to_evidence(1)

    def do_last_evidence(self) -> None:
        self._to_evidence(-1)

    def may_next_evidence(self) -> str | None:
        """Only of a learning."""
        return None if self.one else _NOTHING

    may_last_evidence = may_next_evidence
    may_copy = may_next_evidence

    def _to_evidence(self, step: int) -> None:
        if not self.pane.has_focus:
            self.into(self.pane)
        if not self.pane.step(step):
            self.notify("no further evidence that way", timeout=2)

    def may_open(self) -> str | None:
        """A learning can be opened, and evidence that is still there."""
        if self.one is None:
            return _NOTHING
        if not self.pane.has_focus:
            return None
        item = self.pane.item
        if item is None or not item.kind:
            return "put the cursor on a piece of evidence: ] goes to the next one"
        return None if self._place() else "its record is forgotten: only this line is kept"

    def _place(self) -> tuple[str, int, int] | None:
        """Session, time and key of the stream's row that is under the cursor."""
        item, found = self.pane.item, self.known
        if item is None or found is None:
            return None
        if item.kind == learning_detail.EVIDENCE:
            proof = found.evidence[int(item.key)]
            at = moment(proof)
            return (proof.session_id, *at) if at else None
        row = next((row for row in found.between if str(row.key) == item.key), None)
        ids = found.learning.remedy.observation_ids if found.learning.remedy else ()
        fix = next((each for each in found.evidence if each.role == FIX and each.observation_id in ids), None)
        return (fix.session_id, row.at, row.key) if row and fix else None

    def do_open(self) -> None:
        """Into what is told of it; from there to the moment in its session."""
        if not self.pane.has_focus:
            self.into(self.pane)
        elif place := self._place():
            self.cockpit.show_moment(*place)

    def may_story(self) -> str | None:
        """Only what is in an episode has a story."""
        if self.one is None:
            return _NOTHING
        if self.proof is None:
            return "put the cursor on a piece of evidence: ] goes to the next one"
        return None if self.proof.unit_id else "it belongs to no episode"

    def do_story(self) -> None:
        if self.proof and self.proof.unit_id:
            self.cockpit.show_episode(self.proof.unit_id)

    def give_text(self, take: Take) -> None:
        """All that is told of it as text."""
        take(self.pane.plain())

    def id_here(self) -> str:
        return f"learning/{self.one.id}" if self.one else ""

    def do_next_state(self) -> None:
        self._state(1)

    def do_last_state(self) -> None:
        self._state(-1)

    def _state(self, step: int) -> None:
        some = [one for one in CHOICES if one != SKILLS or self.has_skills]
        self.state = some[(some.index(self.state) + step) % len(some)]
        self.all_marked.clear()
        self.uncover()
        self.read_list()

    def do_projects(self) -> None:
        self.kind = SCOPES[(SCOPES.index(self.kind) + 1) % len(SCOPES)]
        self.all_marked.clear()
        self.uncover()
        self.read_list()

    def do_map(self) -> None:
        self.map = not self.query_one("#weeks").display
        self.fit()

    # The filter, the marks, the way back

    @property
    def row_key(self) -> int | None:
        return self.one.id if self.one and not self.pane.has_focus else None

    def spot(self) -> tuple[int, bool]:
        """The learning under the cursor, and whether one is in it."""
        return (self.one.id if self.one else 0), self.pane.has_focus

    @property
    def clickable(self) -> tuple[Lines, ...]:
        """Learnings and their evidence."""
        return self.index, self.pane

    def may_map(self) -> str | None:
        """Not under what lies over it."""
        if self.one is None:
            return "no learning is listed: the map would be empty"
        return "close this first with esc: the heat map is behind it" if self.covered else None
