"""The one-line bars of every screen: header, tabs, and the keys that apply where the cursor stands."""

from __future__ import annotations

from collections.abc import Callable

from textual.events import Click
from textual.widgets import Input

from nmem.text import width
from nmem_tui.model.actions import Action, bar
from nmem_tui.model.line import Line, Span, length
from nmem_tui.model.screens import TABS
from nmem_tui.widgets.drawn import Drawn


class Bar(Drawn):
    """One line; some stretches of it run an action when clicked."""

    DEFAULT_CSS = "Bar { height: 1; }"

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id)
        self.spots: list[tuple[int, int, str]] = []
        """Clickable cells [from, to) and the action they run."""

    def line(self, cells: int) -> Line:
        """What the bar says in so many cells."""
        raise NotImplementedError

    def drawn(self, cells: int, rows: int) -> list[Line]:  # noqa: ARG002 -- it has one
        """The line as it is now."""
        return [self.line(cells)]

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
        self.redraw()

    def line(self, cells: int) -> Line:
        """What was shown last; of a database that was deleted nothing is true any more."""
        if self.app.feed.deleted:  # type: ignore[attr-defined]
            return [(" nmem ▸ ", "quiet"), ("the database is gone", "bad")]
        return self.draw(cells)


class Tabs(Bar):
    """The screens, by their numbers."""

    def __init__(self, current: str) -> None:
        super().__init__()
        self.current = current
        self.hot = 0
        """Hot learnings that are open."""
        self.live = (0, 0)
        """Tasks that run, and that wait for the person."""

    def line(self, cells: int) -> Line:
        """All names, as roomy as they fit, at last cut short; the current one is whole and stands out."""
        for before, after, size in ((" ", " ", 99), ("", " ", 99), ("", "", 99), ("", "", 3), ("", "", 1)):
            line, spots = self._names(before, after, size)
            if length(line) <= cells + 1:  # it ends in a blank
                break
        self.spots = spots
        return line

    def _names(self, before: str, after: str, size: int) -> tuple[Line, list[tuple[int, int, str]]]:
        line: Line = [(" ", "text")]
        spots = []
        for key, name, mode, _ in TABS:
            here = mode == self.current
            start = length(line)
            line += [
                (f"{before}{key} ", "accent" if here else "quiet"),
                (f"{name if here else name[:size]} ", "tab" if here else "quiet"),
                self._count(mode),
                (after, "text"),
            ]
            spots.append((start, length(line), f"show_{mode}"))
        return line, spots

    def _count(self, mode: str) -> Span:
        if mode == "learnings" and self.hot:
            return f"▲{self.hot} ", "bad"
        runs, asks = self.live
        if mode == "tasks" and runs + asks:
            return f"·{runs + asks} ", "warn" if asks else "accent"
        return "", "text"


_TYPING: Line = [("enter", "key"), (" takes what is typed  ", "quiet"), ("esc", "key"), (" leaves the box", "quiet")]
_FILTERING: Line = [("enter", "key"), (" keeps the filter  ", "quiet"), ("esc", "key"), (" clears it", "quiet")]


_READ_ONLY: Line = [("read-only ", "warn"), ("│ ", "line")]


class KeyBar(Bar):
    """The keys that do something where the cursor stands, the most used first, as far as there is room."""

    def __init__(self, context: str) -> None:
        super().__init__()
        self.context = context
        self._shown: tuple[list[Action], Line] = ([], [])

    def check(self, *, anew: bool = False) -> None:
        """Draw again if another set of actions applies now, or none because something is typed."""
        if anew or self._state() != self._shown:
            self.redraw()

    def _state(self) -> tuple[list[Action], Line]:
        """Which actions apply now, and what is said of a box."""
        app = self.screen.cockpit  # type: ignore[attr-defined]
        return [action for action in bar(self.context, app.keys) if app.why_not(action.id) is None], self._typing

    @property
    def _typing(self) -> Line:
        """What to say while every key goes into a box; nothing where none has the keyboard."""
        box = self.screen.focused
        if not isinstance(box, Input):
            return []
        return _FILTERING if box.id == "filter" else _TYPING

    def line(self, cells: int) -> Line:
        """What does not fit is left out, the least used first. How to leave is always said."""
        able, typing = self._shown = self._state()  # whoever had it drawn
        line: Line = [(" ", "text")]
        if self.screen.cockpit.read_only:  # type: ignore[attr-defined]
            line += _READ_ONLY
        self.spots = []
        if typing:
            return [*line, *typing]
        shown = fitting(able, cells - length(line))
        for action in shown:
            start = length(line)
            line += [(action.shown_key, "key"), (f" {action.label}  ", "quiet")]
            self.spots.append((start, length(line), action.id))
            if action in (shown[0], shown[-2]) and action is not shown[-1]:
                line.append(("│ ", "line"))
        return line


def fitting(able: list[Action], cells: int) -> list[Action]:
    """As many of the actions, in their order, as there is room for; the first and the last always."""
    first, *others, last = able
    room = cells - _cells(first) - _cells(last) - 4
    kept = []
    for action in others:
        if _cells(action) <= room:
            kept.append(action)
            room -= _cells(action)
    return [first, *kept, last]


def _cells(action: Action) -> int:
    return width(action.shown_key) + width(action.label) + 3
