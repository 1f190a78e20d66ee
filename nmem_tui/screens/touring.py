"""Moving through the screen Stance: its list, what it lists, and where an item leads."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable

from textual import on

from nmem.stance.model import Stance
from nmem_tui.model import keyed
from nmem_tui.model.exported import Gather
from nmem_tui.model.items import Item
from nmem_tui.model.stance_reading import Reading
from nmem_tui.screens.giving import Take
from nmem_tui.screens.listing import Listed
from nmem_tui.screens.moving import Moving
from nmem_tui.widgets.items import Items
from nmem_tui.widgets.lines import Lines

ONE, OVER, MODELS = "one", "over", "models"


class Touring(Moving, Listed):
    """The part of the screen Stance that moves: it decides what is listed, and opens what is under the cursor."""

    CONTEXT = "stance"
    OPENS = "stance"
    HINT = "words of shifts, episodes or sessions; !word"

    def __init__(self) -> None:
        super().__init__()
        self.pane = Items(id="items")
        self.found: Reading | None = None
        self.mode = ONE
        """Whether one session is shown, the project's sessions, or the model cards."""
        self.sought = ("", "")
        """What the cursor goes to once it is listed."""

    def read_over(self) -> None:
        """Read the project's sessions."""
        raise NotImplementedError

    def read_models(self) -> None:
        """Read the model cards."""
        raise NotImplementedError

    def list_one(self, stance: Stance, *, keep: bool) -> None:
        """List what is known of one session."""
        raise NotImplementedError

    # What the keys do

    @property
    def active(self) -> Lines:
        """The only list."""
        return self.pane

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
            self.cockpit.choose(item.key)
        elif stance is not None and (place := place_of(stance, item)):
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
        self._turn(OVER, self.read_over)

    may_models = may_over

    def do_models(self) -> None:
        """The model cards, or back to the session."""
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
        return None if self.pane.count else "there is nothing to copy"

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
        from nmem_tui.model import exports

        return exports.stance(self.found, self.cockpit.clock(), self.cockpit.zone)

    def do_sessions(self) -> None:
        """Choose a session from the list."""
        from nmem_tui.screens.sessions import Sessions

        self.app.push_screen(Sessions(self.found.session.id if self.found else ""), self.cockpit.choose)

    may_sessions = may_over

    def do_back(self) -> None:
        """The filter off, then back to the one session; with nothing open the place is kept."""
        if not self.step_back() and self.mode != ONE:
            self._back_to_one()

    # The filter, the way back

    @property
    def home(self) -> Items:
        """The list."""
        return self.pane

    def may_filter(self) -> str | None:
        """Only what is a list."""
        if self.mode == MODELS:
            return f"the model cards are to be read: {keyed.of('models')} goes back to the session"
        return None if self.found else "no session is recorded yet"

    def spot(self) -> tuple[str, str, str]:
        """What is listed, and what the cursor is on."""
        item = self.pane.item
        return self.mode, item.kind if item else "", item.key if item else ""

    def return_to(self, place: tuple[str, str, str]) -> None:
        """To the item of a place."""
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
