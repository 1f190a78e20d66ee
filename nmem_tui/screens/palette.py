"""The command palette and the help screen: every action with its key and description."""

from __future__ import annotations

import inspect
from contextlib import suppress
from functools import partial
from typing import Any

from textual import work
from textual.command import CommandList, CommandPalette, DiscoveryHit, Hit, Hits, Provider
from textual.content import Content

from nmem.text import pad, width
from nmem_tui.model import symbols
from nmem_tui.model.actions import Action, of
from nmem_tui.model.line import Line, length, wrap
from nmem_tui.screens.modal import Choice, CloseOnce, Dialog, sign_choice
from nmem_tui.store.access import READ_ONLY
from nmem_tui.widgets.inputs import Field

_NAMED = 100.0
"""More than any likeness of a description is worth."""


class Actions(Provider):
    """The actions of the screen that the palette was opened over."""

    def _actions(self) -> list[tuple[Action, str]]:
        """What applies now, and what only a cockpit that reads forbids, with that reason."""
        why_not, keys = self.app.why_not, self.app.keys  # type: ignore[attr-defined]
        skip = ("palette", "down", "up", "back")
        found = of(self.app.context, keys)  # type: ignore[attr-defined]
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
            words = f"{title}  {action.help}  {action.id.replace('_', ' ')}"
            named = _NAMED if query.strip().lower() in title.lower() else 0.0
            if (score := matcher.match(words) + named) > 0:
                yield Hit(score, _shown(title, why), self._run(action), words, action.help)


def _shown(title: str, why: str) -> Content:
    """A line of the list; grey with the reason where it cannot be done."""
    return Content.styled(f"{title}  ─ {why}", "$nm-quiet") if why else Content(title)


_gather: Any = inspect.unwrap(CommandPalette._gather_commands)
"""The library's search, without the worker that runs it."""


class Palette(CloseOnce, CommandPalette):
    """The library's palette, for hands that are faster than it: a key may come before its list is laid out, or late."""

    @work(exclusive=True, group="--textual-command-palette-gather-commands")
    async def _gather_commands(self, search_value: str) -> None:
        if self.query(CommandList):  # a palette that is left before its search begins has no list
            await _gather(self, search_value)

    def _select_or_command(self, event: Any = None) -> None:  # noqa: ANN401 -- as the base class has it
        super()._select_or_command(event)
        if not self._list_visible:
            self._selected_command = None  # it is done: a second enter finds nothing to do

    def _action_command_list(self, action: str) -> None:
        with suppress(KeyError):  # of a list that has no lines yet
            super()._action_command_list(action)


_INDENT = 8
SIGNS = "signs"
"""What lists nothing but the signs when it is typed."""


class Help(Dialog):
    """The list of all actions."""

    TITLE_TEXT = "Help ─ every key, then every sign"
    HINT = f"enter runs it · “{SIGNS}” lists the signs · esc leaves"

    def __init__(self, context: str, words: str = "") -> None:
        super().__init__()
        self.context, self._words_first = context, words

    def on_mount(self) -> None:
        """Grouped as the registry has them."""
        super().on_mount()
        self.query_one(Field).fill(self._words_first)
        self.offer(self._choices())

    def _choices(self) -> list[Choice]:
        out: list[Choice] = []
        known = of(self.context, self.app.keys)  # type: ignore[attr-defined]
        groups = list(dict.fromkeys(action.group for action in known))
        for group in groups:
            members = [action for action in known if action.group == group]
            words = " ".join(self._words(action) for action in members)
            out.append(Choice([(group, "title")], words, None))
            out += [self._choice(action) for action in members]
        signs = [sign_choice(one, f"{SIGNS} legend") for one in symbols.of_screen(self.context)]
        out.append(Choice([("Signs on this screen", "title")], " ".join(each.words for each in signs), None))
        return out + signs

    @staticmethod
    def _words(action: Action) -> str:
        return f"{action.shown_key} {action.label} {action.help} {action.group} {action.id.replace('_', ' ')}"

    def _choice(self, action: Action) -> Choice:
        reason = self.app.why_not(action.id)  # type: ignore[attr-defined]
        return Choice(lambda cells: _lines(action, reason, cells), self._words(action), action.id)


def _lines(action: Action, reason: str | None, cells: int) -> list[Line]:
    """Key and help; the reason why not stands behind them, or below where there is no room."""
    indent = max(_INDENT, width(action.shown_key) + 3)
    room = max(8, cells - indent)
    first, *rest = wrap(action.help, room, 3)
    tone = "quiet" if reason else "text"
    lines: list[Line] = [[("  ", "text"), (pad(action.shown_key, indent - 2), "quiet" if reason else "key")]]
    lines[0].append((first, tone))
    lines += [[(" " * indent, "text"), (text, tone)] for text in rest]
    if not reason:
        return lines
    told = f"─ not now: {reason}"
    if length(lines[-1]) + 2 + width(told) <= cells:
        lines[-1].append((f"  {told}", "warn"))
        return lines
    return lines + [[(" " * indent, "text"), (text, "warn")] for text in wrap(told, room, 2)]
