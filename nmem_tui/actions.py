"""Every action of the cockpit, once: bindings, the key bar, help and the palette are all made from this list.

An action is carried out by the method `do_<id>` of the active screen, else of the app. Whether it applies now is asked
of `may_<id>`, which gives the reason why not, or None; an action without such a method always applies.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from textual.binding import Binding

EVERYWHERE = "everywhere"


@dataclass(frozen=True, slots=True)
class Action:
    """Something that a person can do."""

    id: str
    keys: tuple[str, ...]
    label: str
    """One or two words for the key bar; empty: not on the bar."""
    help: str
    group: str
    context: str = EVERYWHERE
    """The screen it belongs to."""
    key_label: str = ""
    """How the keys are written; made from the first key where empty."""

    @property
    def shown_key(self) -> str:
        """The key as a person reads it."""
        return self.key_label or _NAMES.get(self.keys[0], self.keys[0])


_NAMES = {
    "question_mark": "?", "slash": "/", "colon": ":", "escape": "esc", "minus": "-", "down": "↓", "up": "↑",
    "ctrl+p": "^p", "ctrl+q": "^q", "ctrl+d": "^d", "ctrl+u": "^u",
}  # fmt: skip

ACTIONS: tuple[Action, ...] = (
    Action(
        "help", ("question_mark", "f1"), "help", "every key and what it does; type to filter, enter runs", "General"
    ),
    Action("filter", ("slash",), "filter", "show only rows with these words; esc clears", "Stream", "now"),
    Action("palette", ("colon", "ctrl+p"), "palette", "run any action by its name", "General"),
    Action("open", ("enter",), "open", "details of the row under the cursor; again closes them", "Stream", "now"),
    Action("follow", ("f",), "follow", "stay at the newest row as rows arrive", "Stream", "now"),
    Action("copy", ("y",), "copy", "copy the row's text to the clipboard", "Stream", "now"),
    Action("sessions", ("s",), "sessions", "choose which session is shown", "Session", "now"),
    Action("previous", ("minus",), "back", "go back to the session shown before", "Session", "now"),
    Action("down", ("j", "down"), "", "one row down", "Move", "now", "j ↓"),
    Action("up", ("k", "up"), "", "one row up", "Move", "now", "k ↑"),
    Action("half_down", ("ctrl+d", "pagedown"), "", "half a page down", "Move", "now"),
    Action("half_up", ("ctrl+u", "pageup"), "", "half a page up", "Move", "now"),
    Action("top", ("g", "home"), "", "the oldest row", "Move", "now"),
    Action("bottom", ("G", "end"), "", "the newest row; follows from there", "Move", "now"),
    Action("next_failure", ("n",), "", "the next failure, older than the cursor's row", "Move", "now"),
    Action("last_failure", ("N",), "", "the next failure, newer than the cursor's row", "Move", "now"),
    Action("details_down", ("J",), "", "scroll the open details down", "Move", "now"),
    Action("details_up", ("K",), "", "scroll the open details up", "Move", "now"),
    Action("scroll_down", ("j", "down"), "", "one line down", "Move", "health", "j ↓"),
    Action("scroll_up", ("k", "up"), "", "one line up", "Move", "health", "k ↑"),
    Action("page_down", ("ctrl+d", "pagedown"), "", "half a page down", "Move", "health"),
    Action("page_up", ("ctrl+u", "pageup"), "", "half a page up", "Move", "health"),
    Action("scroll_top", ("g", "home"), "", "to the top", "Move", "health"),
    Action("scroll_bottom", ("G", "end"), "", "to the end", "Move", "health"),
    Action("reload", ("r",), "read again", "read the figures again now", "Health", "health"),
    Action("back", ("escape",), "", "close what is open: details, filter, then follow again", "General"),
    Action("show_now", ("1",), "", "the screen Now: the session and its stream", "Screens"),
    Action("show_health", ("8",), "", "the screen Health: hooks, losses, storage", "Screens"),
    Action("next_screen", ("tab",), "", "the next screen", "Screens"),
    Action("previous_screen", ("shift+tab",), "", "the previous screen", "Screens"),
    Action("theme", ("t",), "theme", "dark or light", "General"),
    Action("demo", ("D",), "", "watch a recorded session played into a temporary database", "General"),
    Action("quit", ("q", "ctrl+q"), "quit", "leave the cockpit", "General"),
)
BY_ID = {action.id: action for action in ACTIONS}


def of(context: str) -> list[Action]:
    """The actions that work in a screen: its own, then those of every screen."""
    own = [action for action in ACTIONS if action.context == context]
    return own + [action for action in ACTIONS if action.context == EVERYWHERE]


def bindings(context: str) -> list[Binding]:
    """The bindings of one context; each runs its action by name."""
    return [
        Binding(",".join(action.keys), f"app.act({action.id!r})", action.label or action.help, show=False, id=action.id)
        for action in ACTIONS
        if action.context == context
    ]


def bar(context: str) -> list[list[Action]]:
    """The key bar's groups, most wanted first; the first is pinned."""
    shown = [action for action in of(context) if action.label]
    first = [action for action in shown if action.id in ("help", "filter", "palette")]
    first.sort(key=lambda action: ("help", "filter", "palette").index(action.id))
    groups: dict[str, list[Action]] = {}
    for action in shown:
        if action not in first:
            groups.setdefault(action.group, []).append(action)
    return [first, *groups.values()]


def matching(text: str, actions: Iterable[Action]) -> list[Action]:
    """The actions whose key, label, help or group has every word of `text`."""
    words = text.lower().split()
    return [
        action
        for action in actions
        if all(word in f"{action.shown_key} {action.label} {action.help} {action.group}".lower() for word in words)
    ]
