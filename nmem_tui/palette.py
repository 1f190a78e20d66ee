"""The command palette: every action that applies, by its words."""

from __future__ import annotations

from contextlib import suppress
from functools import partial
from typing import Any

from textual.command import CommandPalette, DiscoveryHit, Hit, Hits, Provider
from textual.content import Content

from nmem_tui.actions import Action, of
from nmem_tui.screens.over import Once
from nmem_tui.store.writes import READ_ONLY

_NAMED = 100.0
"""More than any likeness of a description is worth."""


class Actions(Provider):
    """The actions of the screen that the palette was opened over."""

    def _actions(self) -> list[tuple[Action, str]]:
        """What applies now, and what only a cockpit that reads forbids, with that reason."""
        why_not, keys = self.app.why_not, self.app.keys  # type: ignore[attr-defined]
        skip = ("palette", "down", "up", "back")
        found = of(getattr(self.screen, "CONTEXT", ""), keys)
        every = [(item, why_not(item.id) or "") for item in found if item.id not in skip]
        return [(item, why) for item, why in every if why in ("", READ_ONLY)]

    def _run(self, action: Action) -> partial[None]:
        return partial(self.app.action_act, action.id)  # type: ignore[attr-defined]

    @staticmethod
    def _title(action: Action) -> str:
        return f"{action.label or action.id.replace('_', ' ')}  ·  {action.shown_key}"

    async def discover(self) -> Hits:
        """All of them while nothing is typed."""
        for action, why in self._actions():
            yield DiscoveryHit(_shown(self._title(action), why), self._run(action), self._title(action), action.help)

    async def search(self, query: str) -> Hits:
        """Those that match; by their names before those that do by what is told of them."""
        matcher = self.matcher(query)
        for action, why in self._actions():
            title = self._title(action)
            words = f"{title}  {action.help}"
            named = _NAMED if query.strip().lower() in title.lower() else 0.0
            if (score := matcher.match(words) + named) > 0:
                yield Hit(score, _shown(title, why), self._run(action), words, action.help)


def _shown(title: str, why: str) -> Content:
    """A line of the list; grey with the reason where it cannot be done."""
    return Content.styled(f"{title}  ─ {why}", "$nm-quiet") if why else Content(title)


class Palette(Once, CommandPalette):
    """The library's palette, for hands that are faster than it: a key may come before its list is laid out, or late."""

    def _select_or_command(self, event: Any = None) -> None:  # noqa: ANN401 -- as the base class has it
        super()._select_or_command(event)
        if not self._list_visible:
            self._selected_command = None  # it is done: a second enter finds nothing to do

    def _action_command_list(self, action: str) -> None:
        with suppress(KeyError):  # of a list that has no lines yet
            super()._action_command_list(action)
