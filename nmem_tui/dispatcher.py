"""Turns keys into actions: checks whether one applies, calls its handler, shows the toast."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import Any

from textual import on
from textual.app import App
from textual.events import Event, Key
from textual.message import Message
from textual.screen import Screen
from textual.widgets import Input

from nmem_tui.appearance import themes
from nmem_tui.messages import Changed
from nmem_tui.model import actions
from nmem_tui.model.actions import BY_ID, EVERYWHERE, handlers
from nmem_tui.model.screens import MODES
from nmem_tui.operations.commands import Undo
from nmem_tui.screens.base import View
from nmem_tui.screens.host import Host
from nmem_tui.store.access import READ_ONLY

_SHOWS = {f"show_{mode}": mode for mode in MODES}
_EMPTY_TOO = ("new_task", "later", "before", "again", "reload")
"""What can be done where nothing is recorded yet, beside what every screen has."""
OPENING = "the screen is opening"
_PATIENCE_S = 1.0
"""A key waits at most so long for the screen that the key before it opened."""


class Dispatcher(Host):
    """An app whose actions come from the registry."""

    def __init__(self, *given: Any, **named: Any) -> None:  # noqa: ANN401 -- as the base class has it
        super().__init__(*given, **named)
        self._undo = Undo(lambda: self.zone)

    async def on_event(self, event: Event) -> None:
        """Keys are taken one after the other, each by the screen that the one before it opened."""
        if isinstance(event, Key) and self.leaving:
            return  # also one that a dialog had and hands on: what would open now never stands
        if isinstance(event, Key) and not event.is_forwarded and self._running:
            await self._opened()
            if self.leaving:
                return
            # every key is text in a box, also the screens' numbers: people look for "404"
            if not isinstance(self.focused, Input) and await self._bound(event.key):
                self.app_focus = True
                return
        await super().on_event(event)

    async def _opened(self) -> None:
        """The screen on top stands, and shows what it was opened for."""
        if not self.screen_stack:
            return
        screen = self.screen
        with suppress(TimeoutError):
            async with asyncio.timeout(_PATIENCE_S):
                await screen._mounted_event.wait()  # what is public waits only for a screen that one opens oneself
                if isinstance(screen, View):
                    await screen.ready.wait()

    async def _bound(self, key: str) -> bool:
        return await self._check_bindings(key, priority=True) or await self._check_bindings(key)

    def view(self) -> Screen[Any]:
        """The numbered screen, also while a dialog is open over it."""
        return next((screen for screen in reversed(self.screen_stack) if isinstance(screen, View)), self.screen)

    @property
    def standing(self) -> View | None:
        """The numbered screen, once its widgets stand; one that opens takes up by itself what is wanted of it."""
        view = self.view() if self.screen_stack else None
        return view if isinstance(view, View) and view.composed else None

    def tell_view(self, message: Message) -> None:
        """Pass a message on to the numbered screen; while the cockpit closes there is none any more."""
        if self.screen_stack:
            self.view().post_message(message)

    @property
    def context(self) -> str:
        """The context of the numbered screen; empty before the first one stands."""
        view = self.view()
        return view.CONTEXT if isinstance(view, View) else ""

    def why_not(self, action_id: str) -> str | None:
        """Why an action does not apply now; None when it does."""
        # while the cockpit closes nobody acts any more, and its screens may have lost their widgets
        return self._why_not(BY_ID[action_id], self.view()) if self.is_running else None

    def _why_not(self, action: actions.Action, view: Screen[Any]) -> str | None:
        action_id = action.id
        context = view.CONTEXT if isinstance(view, View) else ""
        if action.context != EVERYWHERE and not action.works_in(context):
            return f"only on the screen {action.context.capitalize()}"
        owner = self._owner(action_id, view)
        if not owner and action_id not in _SHOWS:
            return "not on this screen"
        if action.writes and self.read_only:
            return READ_ONLY
        if action.writes and self.gone and action_id != "upgrade":
            return self.gone
        if isinstance(view, View) and not view.composed and owner is view:
            return OPENING  # what would carry it out does not stand yet
        if isinstance(view, View) and (alone := view.may_alone(action_id)):
            return alone
        for each in (view, self):
            if may := handlers(type(each), "may_").get(action_id):
                why: str | None = may(each)
                if why is not None:
                    return why
                break
        return self._nothing_yet() if action.works_in(context) and action_id not in _EMPTY_TOO else None

    def _nothing_yet(self) -> str | None:
        """Why nothing can be done with what is recorded; None where something is."""
        if self._recorded:
            return None
        first = "a session of your coding client begins it" if self.connected else "`nmem init` connects your client"
        return f"nothing is recorded yet: {first}, {actions.key_of('demo')} plays a demo"

    @property
    def _recorded(self) -> bool:
        """Whether there is a database, as far as the screen knows."""
        view = self.view()
        return not isinstance(view, View) or view.recorded

    def _owner(self, action_id: str, view: Screen[Any]) -> Screen[Any] | App[Any] | None:
        """Who carries an action out: the screen, else the app; None where neither does."""
        return next((each for each in (view, self) if action_id in handlers(type(each), "do_")), None)

    def action_act(self, action_id: str) -> None:
        """Carry an action out, or say why it does not apply; one that comes once the cockpit leaves is nobody's."""
        if self.leaving:
            return
        if reason := self.why_not(action_id):
            self.say(reason, severity="warning")
            return
        if mode := _SHOWS.get(action_id):
            self.visit(mode)
            return
        if owner := self._owner(action_id, self.view()):
            handlers(type(owner), "do_")[action_id](owner)

    def do_help(self) -> None:
        self._help()

    def _help(self, words: str = "") -> None:
        from nmem_tui.screens.palette import Help  # on use: start-up stays short

        self.push_screen(Help(self.context, words), self._run_later)

    def do_signs(self) -> None:
        self._help("signs ")

    def _run_later(self, action_id: str | None) -> None:
        if action_id:
            self.call_later(self.action_act, action_id)

    def do_palette(self) -> None:
        from nmem_tui.screens.palette import Palette  # on use: start-up stays short

        if not isinstance(self.screen, Palette):
            self.push_screen(Palette())

    action_command_palette = do_palette

    def do_cost(self) -> None:
        from nmem_tui.screens.cost_dialog import Cost  # on use: start-up stays short

        self.push_screen(Cost())

    def do_team(self) -> None:
        from nmem_tui.screens.team_dialog import Team, first  # on use: start-up stays short

        context = getattr(self.screen, "CONTEXT", "")
        self.push_screen(Team(self.project, first(context), self.clock()))

    def do_theme(self) -> None:
        self.theme = themes.other(self.theme)

    def do_settings(self) -> None:
        self.say("in a shell: `nmem config` lists every setting, `nmem config set attention.how bell` changes one")

    def do_quit(self) -> None:
        self.exit()

    def leave(self) -> None:
        """Remember where one is, to come back to."""

    def visit(self, mode: str) -> None:
        """To a numbered screen."""
        if mode != self.current_mode:
            self.leave()
        self.switch_mode(mode)
        if screen := self.standing:
            screen.arrive()

    def do_next_screen(self) -> None:
        self._step(1)

    def do_previous_screen(self) -> None:
        self._step(-1)

    def _step(self, by: int) -> None:
        self.visit(MODES[(MODES.index(self.current_mode) + by) % len(MODES)])

    @on(Changed)
    def tell_change(self, message: Changed) -> None:
        """A change is done or could not be."""
        self.say(message.text, severity="warning" if message.failed else "information")
        for screen in dict.fromkeys((self.standing, self.screen) if self.screen_stack else ()):
            if look := getattr(screen, "look_again", None):
                look()

    def show_job(self) -> None:
        """How far the work in the background is."""
        if screen := self.standing:
            screen.show_job()

    def look_again(self) -> None:
        """The numbered screen on top reads its data again, if it can."""
        if screen := self.standing:
            screen.look_again()

    def may_undo(self) -> str | None:
        """Only where there is a database."""
        return self._nothing_yet()

    def do_undo(self) -> None:
        self.change(self._undo)

    def do_review(self) -> None:
        from nmem_tui.screens.review import Review  # on use: start-up stays short

        self.push_screen(Review())
