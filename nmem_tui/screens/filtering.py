"""Filtering the list of a screen: `/` opens the box, every key narrows, enter keeps the filter, esc takes it off."""

from __future__ import annotations

from typing import ClassVar

from textual import on
from textual.content import Content
from textual.timer import Timer

from nmem_tui.model import words
from nmem_tui.screens.marking import Marking
from nmem_tui.widgets.filter_box import FilterBox
from nmem_tui.widgets.lines import Lines
from nmem_tui.widgets.stream import Stream


class Filtering(Marking):
    """The part of a screen with a list that can be filtered."""

    HINT: ClassVar[str] = "words that must all be there, !word that must not"
    TYPING_S: ClassVar[float] = 0.0
    """Keys that come faster than this narrow together: where each asks the database."""

    def __init__(self) -> None:
        super().__init__()
        self.search = FilterBox(self.HINT)
        self.filtered = ""
        """The filter in force."""
        self._typing: Timer | None = None

    @property
    def words(self) -> words.Words:
        """The filter in force, for a list that is in memory."""
        return words.Words(self.filtered)

    @property
    def home(self) -> Lines | Stream:
        """The list, where the keyboard goes after a filter."""
        raise NotImplementedError

    def to_next(self) -> None:
        """One row down."""
        self.home.move(1)

    def narrow(self) -> None:
        """List what the filter in force leaves."""
        raise NotImplementedError

    def tally(self) -> tuple[int, int, bool]:
        """How many rows are listed, of how many, and whether more may come."""
        raise NotImplementedError

    def uncover(self) -> None:
        """Close what lies over the list."""

    def do_filter(self) -> None:
        """Type a filter."""
        self.uncover()
        self.search.open()
        self.tell_count()

    @on(FilterBox.Typed)
    def narrow_down(self, message: FilterBox.Typed) -> None:
        """Each keystroke filters anew."""
        if message.text == self.filtered:
            return
        self.filtered = message.text
        if self._typing is not None:
            self._typing.stop()
            self._typing = None
        if self.TYPING_S:
            self._typing = self.set_timer(self.TYPING_S, self.narrow)
        else:
            self.narrow()

    @on(FilterBox.Kept)
    def keep_filter(self) -> None:
        """On to the rows that are left."""
        self.set_focus(self.home)

    def unfilter(self) -> bool:
        """Everything is listed again; whether anything was left out, or the box was open."""
        was = self.search.display
        focused = self.search.typing
        self.search.close()
        if focused:
            self.set_focus(self.home)
        if self.filtered:
            self.filtered = ""
            self.narrow()
        return was

    def step_back(self) -> bool:
        """Out of the box, else the marks off, else the filter; whether there was one of them."""
        return (self.search.typing and self.unfilter()) or self.unmark() or self.unfilter()

    def tell_count(self) -> None:
        """The box says how many are left."""
        number, whole, more = self.tally()
        self.search.tell(words.count(number, whole, more=more), none=not number and not more)

    def titled(self, name: str, rest: str) -> Content:
        """The title of the list: the filter and the marks are never forgotten. `rest` is what else it tells."""
        self.tell_count()
        number, whole, more = self.tally()
        told = words.count(number, whole, more=more)
        return Content(words.title(name, rest, self.filtered, told, self.marks_told))
