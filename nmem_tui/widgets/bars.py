"""The one-line bars: header, tabs, keys."""

from __future__ import annotations

from collections.abc import Callable

from textual.content import Content
from textual.events import Click
from textual.widget import Widget

from nmem.text import width
from nmem_tui.actions import Action, bar
from nmem_tui.model.line import Line, cut, length
from nmem_tui.widgets.tones import content

TABS = (
    ("1", "Now", "now"),
    ("2", "Episodes", "episodes"),
    ("3", "Stance", "stance"),
    ("4", "Learnings", "learnings"),
    ("8", "Health", "health"),
)
"""Key, name and mode of each screen."""
_ROOMY = 100
"""Cells from which on the bar names the palette; help does everywhere."""


class Bar(Widget):
    """One line; some stretches of it run an action when clicked."""

    DEFAULT_CSS = "Bar { height: 1; }"

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id)
        self.spots: list[tuple[int, int, str]] = []
        """Clickable cells [from, to) and the action they run."""

    def line(self, cells: int) -> Line:
        """What the bar says in so many cells."""
        raise NotImplementedError

    def render(self) -> Content:
        """The line as it is now."""
        return content([cut(self.line(self.size.width), self.size.width)])

    async def on_click(self, event: Click) -> None:
        """Run the action under the pointer."""
        for start, end, action in self.spots:
            if start <= event.x < end:
                await self.run_action(f"app.act({action!r})")


class Header(Bar):
    """Where, who, how long, and whether capture works."""

    def __init__(self) -> None:
        super().__init__()
        self.draw: Callable[[int], Line] = lambda _cells: [(" nmem", "title")]

    def show(self, draw: Callable[[int], Line]) -> None:
        """Say this from now on."""
        self.draw = draw
        self.refresh()

    def line(self, cells: int) -> Line:
        """What was shown last."""
        return self.draw(cells)


class Tabs(Bar):
    """The screens, by their numbers."""

    def __init__(self, current: str) -> None:
        super().__init__()
        self.current = current
        self.hot = 0
        """Hot learnings that are open."""

    def line(self, cells: int) -> Line:  # noqa: ARG002 -- the names fit everywhere
        """All names; the current one stands out."""
        line: Line = [(" ", "text")]
        self.spots = []
        for key, name, mode in TABS:
            here = mode == self.current
            start = length(line)
            line += [
                (f" {key} ", "accent" if here else "quiet"),
                (f"{name} ", "tab" if here else "quiet"),
                (f"▲{self.hot} " if mode == "learnings" and self.hot else "", "bad"),
                (" ", "text"),
            ]
            self.spots.append((start, length(line), f"show_{mode}"))
        return line


class KeyBar(Bar):
    """The keys that apply now: help first, then group by group as far as there is room."""

    def __init__(self, context: str) -> None:
        super().__init__()
        self.context = context
        self._able: list[bool] = []

    def check(self) -> None:
        """Draw again if another set of actions applies now."""
        able = [self._applies(action) for group in bar(self.context) for action in group]
        if able != self._able:
            self._able = able
            self.refresh()

    def _applies(self, action: Action) -> bool:
        return self.app.why_not(action.id) is None  # type: ignore[attr-defined]

    def line(self, cells: int) -> Line:
        """What does not fit is left out, the last keys of a group first. How to leave is always said."""
        line: Line = [(" ", "text")]
        self.spots = []
        for number, group in enumerate(_fitting(bar(self.context), cells - 1)):
            if number:
                line.append(("│ ", "line"))
            for action in group:
                start = length(line)
                able = self._applies(action)
                line += [
                    (action.shown_key, "key" if able else "rest"),
                    (f" {action.label}  ", "quiet" if able else "rest"),
                ]
                self.spots.append((start, length(line), action.id))
        return line


def _fitting(groups: list[list[Action]], cells: int) -> list[list[Action]]:
    """The groups in their order, each with as many of its first keys as there is room for, and the last one whole."""
    first, *others, last = groups
    first, room = list(first), cells - _needed(last)
    while len(first) > 1 and (_needed(first) - 2 > room or (cells < _ROOMY and first[-1].id == "palette")):
        first.pop()
    room -= _needed(first) - 2
    kept = []
    for group in others:
        some = list(group)
        while some and _needed(some) > room:
            some.pop()
        if some:
            kept.append(some)
            room -= _needed(some)
    return [first, *kept, last]


def _needed(group: list[Action]) -> int:
    """Cells that a group takes, with the line before it."""
    return sum(_cells(action) for action in group) + 2


def _cells(action: Action) -> int:
    return width(action.shown_key) + width(action.label) + 3
