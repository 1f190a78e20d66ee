"""Navigation on the screen Context: list, text, mode, and from an item to its source."""

from __future__ import annotations

from textual import on
from textual.widgets import Input

from nmem.context.items import Item as Thing
from nmem.context.items import subject
from nmem.context.past import Told
from nmem_tui.model import actions, context
from nmem_tui.model.context_queries import MODES, PAST, PROMPT, START
from nmem_tui.model.context_queries import Told as Before
from nmem_tui.screens.context_actions import ContextActions
from nmem_tui.widgets.drawn import Frame
from nmem_tui.widgets.inputs import Field
from nmem_tui.widgets.item_lists import Items
from nmem_tui.widgets.lines import Lines

_LEADS = ("episode", "learning", "next")


class ContextNav(ContextActions):
    """The part of the screen Context that moves."""

    def __init__(self) -> None:
        super().__init__()
        self.index, self.pane = Items(id="context"), Items(id="words-told")
        self.over = self.exact = Frame(id="exact")
        self.asked = Field(id="asked", placeholder="as if I asked a new session ...", compact=True, max_length=4000)
        self.before: Before | None = None
        """What was told, once it is read."""

    def read_before(self) -> None:
        """Read what was told."""
        raise NotImplementedError

    def turned(self) -> None:
        """Something else is shown from now on."""
        raise NotImplementedError

    @property
    def one(self) -> Thing | None:
        """The thing under the list's cursor."""
        item = self.index.item
        if item is None or item.kind != context.THING or self.shown is None:
            return None
        return context.thing(self.shown.found, item.key)

    @property
    def telling(self) -> Told | None:
        """The text under the list's cursor that was told."""
        item = self.index.item
        if item is None or item.kind != context.TELLING or self.before is None:
            return None
        return next((each for each in self.before.past.found if str(each.id) == item.key), None)

    @property
    def active(self) -> Lines:
        """Where the keyboard is."""
        return self.pane if self.pane.has_focus else self.index

    # What is shown

    def do_next_view(self) -> None:
        """What is told next, then after a reset, then before."""
        self._turn(MODES[(MODES.index(self.mode) + 1) % len(MODES)])

    def do_last_view(self) -> None:
        """The other way round."""
        self._turn(MODES[(MODES.index(self.mode) - 1) % len(MODES)])

    def do_past(self) -> None:
        """What was told before, or back to what will be."""
        self._turn(START if self.mode == PAST else PAST)

    def do_ask(self) -> None:
        """Type what would be asked."""
        self._turn(PROMPT)
        self.set_focus(self.asked)

    def _turn(self, mode: str) -> None:
        if self.mode == mode:
            return
        self._close()
        self.all_marked.clear()
        self.unfilter()
        self.mode = mode
        self.turned()

    @on(Input.Changed, "#asked")
    def ask_anew(self) -> None:
        """Each keystroke shows what it would bring."""
        if self.mode == PROMPT:
            self.read_shown()

    @on(Input.Submitted, "#asked")
    def keep_asked(self) -> None:
        """The things that it brings get the keyboard."""
        self.set_focus(self.index)

    # What the keys do

    def may_open(self) -> str | None:
        """The text can be read always; from there a thing leads somewhere."""
        if self.telling is None and (self.mode == PAST or not (self.shown and self.shown.found)):
            return "nothing is shown yet"
        return self.may_story() if self.pane.has_focus else None

    def do_open(self) -> None:
        """Into the text; from there to what the thing stands for."""
        if self.pane.has_focus:
            self.do_story()
        else:
            self.exact.add_class("-open")
            self.set_focus(self.pane)
            self.check_keys()

    @on(Lines.Opened, "#context")
    def open_clicked(self) -> None:
        """A second click opens."""
        if not self.may_open():
            self.do_open()

    def may_story(self) -> str | None:
        """Episodes and learnings have screens of their own; of a text the session that was told it."""
        if self.telling is not None:
            return None
        return None if self._leads() else "put the cursor on an episode or a learning"

    def _leads(self) -> tuple[str, int] | None:
        one = self.one
        kind, _, number = one.id.removeprefix("pin/").partition("/") if one else ("", "", "")
        return (kind, int(number)) if kind in _LEADS and number.isdecimal() else None

    def do_story(self) -> None:
        """The episode's story, the learning, or the session that was told."""
        if told := self.telling:
            self.cockpit.show_session(told.session_id)
        elif leads := self._leads():
            kind, number = leads
            if kind == "learning":
                self.cockpit.show_learning(number)
            else:
                self.cockpit.show_episode(number)

    def do_details_down(self) -> None:
        """Scroll the text."""
        self.pane.move(5)

    def do_details_up(self) -> None:
        """Scroll it back."""
        self.pane.move(-5)

    def id_here(self) -> str:
        """The thing's; of a text that was told the session's."""
        if self.mode == PAST:
            return f"session/{self.telling.session_id}" if self.telling else ""
        return self.one.id.removeprefix("pin/") if self.one else ""

    def may_copy(self) -> str | None:
        """Only where something is told."""
        if self.mode == PAST:
            return None if self.telling else "nothing to copy"
        return None if self.shown and self.shown.found and self.shown.found.text else "nothing is told"

    def do_sessions(self) -> None:
        """Choose a session: its project's context is shown."""
        from nmem_tui.screens.prompt_dialogs import Sessions  # on use: start-up stays short

        shown = self.shown or self.before
        self.app.push_screen(Sessions(shown.session.id if shown else ""), self.cockpit.choose)

    def may_sessions(self) -> str | None:
        """Only where there are some."""
        return "no session is recorded yet" if self.has_class("-empty") else None

    def forget_changes(self) -> bool:
        """What changed is no longer marked; whether it was."""
        raise NotImplementedError

    def do_back(self) -> None:
        """Close the innermost thing that is open; where nothing is, the place is kept."""
        if self.pane.has_focus or self.asked.has_focus:
            self._close()
        elif not (self.step_back() or self.forget_changes()) and self.mode != START:
            self._turn(START)
        self.check_keys()

    def _close(self) -> None:
        self.exact.remove_class("-open")
        self.set_focus(self.index)

    uncover = _close

    # The filter, the marks, the way back

    @property
    def home(self) -> Lines:
        """The list."""
        return self.index

    def narrow(self) -> None:
        """List what the filter leaves."""
        self.index.narrow(self.words)
        self.name_list()
        self.index.post_message(Lines.Moved(self.index))

    def tally(self) -> tuple[int, int, bool]:
        """Things that the filter leaves."""
        return self.index.taken, self.index.whole, False

    @property
    def row_key(self) -> str | None:
        """The thing under the list's cursor."""
        return subject(self.one.id) if self.one and not self.pane.has_focus else None

    def row_keys(self) -> list[str]:
        """All that are listed."""
        return [item.key for item in self.index.items if item.kind == context.THING]

    def may_mark(self) -> str | None:
        """What was told stays told."""
        return (
            f"past injections cannot change: {actions.key_of('next_view')} shows what will be told"
            if self.mode == PAST
            else super().may_mark()
        )

    def may_mark_all(self) -> str | None:
        """What was told stays told."""
        return (
            f"past injections cannot change: {actions.key_of('next_view')} shows what will be told"
            if self.mode == PAST
            else super().may_mark_all()
        )

    def marks_changed(self) -> None:
        """The gutter and the title."""
        self.index.refresh()
        self.name_list()

    def name_list(self) -> None:
        """The list's title."""
        raise NotImplementedError

    def spot(self) -> tuple[str, str, str]:
        """What is shown, and the thing under the cursor."""
        item = self.index.item
        return self.mode, item.kind if item else "", item.key if item else ""

    def return_to(self, place: tuple[str, str, str]) -> None:
        """To the thing of a place."""
        mode, kind, key = place
        self._turn(mode)
        self._close()
        self.index.seek(kind, key)
