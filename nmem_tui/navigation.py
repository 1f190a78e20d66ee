"""Navigation between screens: to a screen, an episode, a learning, a moment, and back again."""

from __future__ import annotations

from collections.abc import Callable

from textual.widgets import Input

from nmem_tui.dispatcher import Dispatcher
from nmem_tui.model.locations import Asked, Place, Places


class Navigator(Dispatcher):
    """An app whose screens lead to each other, and that knows the way back."""

    places: Places

    # The way back

    def here(self) -> Place:
        """Where the person is now."""
        screen = self.standing
        return Place(self.current_mode, self.session.id if self.session else "", screen.spot() if screen else None)

    def leave(self) -> None:
        """Remember where one is, to come back to; before every way that leads elsewhere."""
        self.places.leave(self.here())
        self.call_later(self._check_keys)

    def _check_keys(self) -> None:
        """Whether there is a way back stands on the key bar."""
        if screen := self.standing:
            screen.check_keys()

    def may_previous(self) -> str | None:
        """Only where one came from somewhere."""
        return None if self.places.leads(self.here()) else "no earlier place to go back to"

    def do_previous(self) -> None:
        place = self.places.back(self.here())
        if place is None:
            return
        self.switch_mode(place.mode)
        if isinstance(place.anchor, Asked):
            self._ask_again(place.anchor)
            return
        if place.session and (self.session is None or self.session.id != place.session):
            self.chosen = place.session
            self._tell_choice()
        screen = self.standing
        if screen and place.anchor is not None and self.here() != place:
            screen.return_to(place.anchor)
        self.call_later(self._check_keys)

    # From a question of the review to what it is about, and back

    def read_for(self, asked: Asked, go: Callable[[], None]) -> None:
        """Go to what a question is about; the way back leads to the question."""
        mode, session = self.current_mode, self.session.id if self.session else ""
        go()
        self.places.leave(Place(mode, session, asked))

    def _ask_again(self, asked: Asked) -> None:
        from nmem_tui.screens.review import Review  # on use: start-up stays short

        self.push_screen(Review(queue=asked.queue, at=asked.key))

    def action_act(self, action_id: str) -> None:
        """Carry an action out; where one only reads for a question, esc leads back to that."""
        last = self.places.last
        reads = last is not None and isinstance(last.anchor, Asked) and self.view().is_current
        if action_id == "back" and reads and not isinstance(self.focused, Input):
            self.do_previous()
        else:
            super().action_act(action_id)

    # Sessions

    def choose(self, session_id: str | None) -> None:
        """Show another session; an empty id follows the newest, None leaves things as they are."""
        if session_id is None:
            return
        self.leave()
        self._choose(session_id)

    def _choose(self, session_id: str) -> None:
        self.chosen = session_id
        self._tell_choice()

    def _tell_choice(self) -> None:
        if screen := self.standing:
            screen.session_changed()

    def show_session(self, session_id: str) -> None:
        """The screen Now with a session."""
        self.visit("now")
        self._choose(session_id)

    def show_moment(self, session_id: str, at: int, key: int) -> None:
        """The screen Now with one row of a session's stream under the cursor."""
        if self.session is None or self.session.id != session_id:
            self.leave()
            self.chosen, self.wanted_row = session_id, (at, key)
            self.switch_mode("now")
            self._tell_choice()
        else:
            self.show_row(at, key)

    def show_row(self, at: int, key: int) -> None:
        """The screen Now with one row of the session's stream under the cursor."""
        self.leave()
        self.wanted_row = (at, key)
        self.switch_mode("now")
        if screen := self.standing:
            screen.open_row()

    # Other screens

    def show_episode(self, unit_id: int) -> None:
        """The screen Episodes with the story of one episode."""
        self.leave()
        self.wanted_episode = unit_id
        self._open("episodes")

    def show_learning(self, learning_id: int) -> None:
        """The screen Learnings with one of them opened."""
        self.leave()
        self.wanted_learning = learning_id
        self._open("learnings")

    def show_task(self, task_id: int) -> None:
        """The screen Tasks with one of them under the cursor."""
        self.leave()
        self.wanted_task = task_id
        self._open("tasks")

    def show_search(self, query: str) -> None:
        """The screen Search with a query."""
        self.leave()
        self.wanted_query = query
        self._open("search")

    def _open(self, mode: str) -> None:
        self.switch_mode(mode)
        if screen := self.standing:
            screen.open_wanted()

    def do_search_here(self) -> None:
        name = self.session.project if self.session else self.project
        quoted = f'"{name}"' if any(sign.isspace() or sign == "," for sign in name) else name
        self.show_search(f"project:{quoted} " if name and '"' not in name else "")
