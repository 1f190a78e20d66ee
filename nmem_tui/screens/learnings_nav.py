"""Navigation on the screen Learnings: list, detail, filters, evidence."""

from __future__ import annotations

from textual import on

from nmem.learn.learning import FIX, OPEN, Evidence
from nmem_tui.model import learning_detail
from nmem_tui.model.learnings import CHOICES, PROJECT, SCOPES, SKILLS, Detail, moment
from nmem_tui.screens.base import Take
from nmem_tui.screens.learning_actions import LearningActions
from nmem_tui.widgets.item_lists import Items
from nmem_tui.widgets.lines import Lines

_NOTHING = "there is no learning here"


class LearningsNav(LearningActions):
    """The part of the screen Learnings that moves: it decides what is listed, and opens what is under the cursor."""

    HINT = "words of pattern, file, kind or fix; !word"

    def __init__(self) -> None:
        super().__init__()
        self.index, self.pane = Lines(id="learnings"), Items(id="learning")
        self.state, self.kind = OPEN, PROJECT
        self.detail: Detail | None = None
        """What is kept of the learning under the cursor, once it is read."""
        self.map: bool | None = None
        """Whether the heat map is wanted; None: where there is room."""

    def read_list(self) -> None:
        """Read the list anew."""
        raise NotImplementedError

    def draw_list(self) -> None:
        """Draw the list anew."""
        raise NotImplementedError

    @property
    def has_skills(self) -> bool:
        """Whether any skill is known in this scope."""
        raise NotImplementedError

    def fit(self) -> None:
        """Make room for the heat map, or take it."""
        raise NotImplementedError

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

    @property
    def active(self) -> Lines:
        """Where the keyboard is."""
        return self.pane if self.pane.has_focus else self.index

    def do_details_down(self) -> None:
        """Scroll what is told of it."""
        self.pane.move(5)

    def do_details_up(self) -> None:
        """Scroll it back."""
        self.pane.move(-5)

    def do_next_evidence(self) -> None:
        """The next place where it was met."""
        self._to_evidence(1)

    def do_last_evidence(self) -> None:
        """The place before."""
        self._to_evidence(-1)

    def may_next_evidence(self) -> str | None:
        """Only of a learning."""
        return None if self.one else _NOTHING

    may_last_evidence = may_next_evidence
    may_copy = may_next_evidence

    def _to_evidence(self, step: int) -> None:
        if not self.pane.has_focus:
            self._into_pane()
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
            self._into_pane()
        elif place := self._place():
            self.cockpit.show_moment(*place)

    def _into_pane(self) -> None:
        self.query_one("#about").add_class("-open")
        self.set_focus(self.pane)
        self.check_keys()

    @on(Lines.Opened, "#learnings")
    def open_clicked(self) -> None:
        """A second click opens."""
        self.do_open()

    @on(Lines.Opened, "#learning")
    def open_evidence(self) -> None:
        """A second click goes there."""
        if not self.may_open():
            self.do_open()

    def may_story(self) -> str | None:
        """Only what is in an episode has a story."""
        if self.one is None:
            return _NOTHING
        if self.proof is None:
            return "put the cursor on a piece of evidence: ] goes to the next one"
        return None if self.proof.unit_id else "it belongs to no episode"

    def do_story(self) -> None:
        """The story of the episode that it was met in."""
        if self.proof and self.proof.unit_id:
            self.cockpit.show_episode(self.proof.unit_id)

    def give_text(self, take: Take) -> None:
        """All that is told of it as text."""
        take(self.pane.plain())

    def id_here(self) -> str:
        """The learning's."""
        return f"learning/{self.one.id}" if self.one else ""

    def do_next_state(self) -> None:
        """List the next state."""
        self._state(1)

    def do_last_state(self) -> None:
        """List the state before."""
        self._state(-1)

    def _state(self, step: int) -> None:
        some = [one for one in CHOICES if one != SKILLS or self.has_skills]
        self.state = some[(some.index(self.state) + step) % len(some)]
        self.all_marked.clear()
        self._close()
        self.read_list()

    def do_projects(self) -> None:
        """Of this project, of all, or what several share."""
        self.kind = SCOPES[(SCOPES.index(self.kind) + 1) % len(SCOPES)]
        self.all_marked.clear()
        self._close()
        self.read_list()

    def may_map(self) -> str | None:
        """Not under what lies over it."""
        if self.one is None:
            return "no learning is listed: the map would be empty"
        hidden = self.has_class("-narrow") and self.query_one("#about").has_class("-open")
        return "close this first with esc: the heat map is behind it" if hidden else None

    def do_map(self) -> None:
        """Show the heat map, or hide it."""
        self.map = not self.query_one("#weeks").display
        self.fit()

    def do_back(self) -> None:
        """Close the innermost thing that is open; where nothing is, the place is kept."""
        if self.pane.has_focus:
            self._close()
        else:
            self.step_back()
        self.check_keys()

    def _close(self) -> None:
        self.query_one("#about").remove_class("-open")
        self.set_focus(self.index)

    uncover = _close

    # The filter, the marks, the way back

    @property
    def home(self) -> Lines:
        """The list."""
        return self.index

    def narrow(self) -> None:
        """List what the filter leaves."""
        self.draw_list()

    @property
    def row_key(self) -> int | None:
        """The learning under the list's cursor."""
        return self.one.id if self.one and not self.pane.has_focus else None

    def spot(self) -> tuple[int, bool]:
        """The learning under the cursor, and whether one is in it."""
        return (self.one.id if self.one else 0), self.pane.has_focus

    def return_to(self, place: tuple[int, bool]) -> None:
        """To the learning of a place."""
        raise NotImplementedError
