"""Moving through the screen Stance: its list, what it lists, and where an item leads."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable

from textual import on

from nmem.stance.model import Stance
from nmem_tui.model.items import Item
from nmem_tui.model.stance_reading import Reading
from nmem_tui.screens.base import View
from nmem_tui.screens.moving import Moving
from nmem_tui.widgets.items import Items
from nmem_tui.widgets.lines import Lines

ONE, OVER, MODELS = "one", "over", "models"


class Touring(Moving, View):
    """The part of the screen Stance that moves: it decides what is listed, and opens what is under the cursor."""

    CONTEXT = "stance"
    OPENS = "stance"

    def __init__(self) -> None:
        super().__init__()
        self.pane = Items(id="items")
        self.found: Reading | None = None
        self.mode = ONE
        """Whether one session is shown, the project's sessions, or the model cards."""

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
            self.mode = ONE
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
        self.mode = mode
        read()

    def _back_to_one(self) -> None:
        self.mode = ONE
        if self.found:
            self.set_class(not self.found.stance.points, "-unlabelled")
            self.list_one(self.found.stance, keep=False)

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


def place_of(stance: Stance, item: Item) -> tuple[int, int] | None:
    """Sequence number and time of what an item is about."""
    if item.kind == "shift":
        return int(item.key.rpartition(" ")[2]), item.at
    if item.kind in ("episode", "stuck"):
        place = bisect_left(stance.points, item.at, key=lambda point: point.at)
        return (stance.points[place].seq, stance.points[place].at) if place < len(stance.points) else None
    return None
