"""The box in which a list is filtered: the same on every screen, with how many it leaves at its right."""

from __future__ import annotations

from dataclasses import dataclass

from textual import on
from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.message import Message
from textual.widgets import Input

from nmem.text import pad
from nmem_tui.model.line import Line
from nmem_tui.widgets.drawn import Drawn
from nmem_tui.widgets.fields import Field
from nmem_tui.widgets.frame import Titled

_LONGEST = 400


class _Count(Drawn):
    """How many are left; always as wide, so that a key lays nothing out anew."""

    told, tone = "", "quiet"

    def tell(self, told: str, tone: str) -> None:
        """Say this from now on."""
        if (told, tone) != (self.told, self.tone):
            self.told, self.tone = told, tone
            self.redraw()

    def drawn(self, cells: int, rows: int) -> list[Line]:  # noqa: ARG002 -- as the base class has it
        """At the right."""
        return [[(pad(f"{self.told} ", cells, right=True), self.tone)]]


class FilterBox(Horizontal, Titled):
    """Hidden until it is opened, and again once nothing stands in it."""

    @dataclass
    class Typed(Message):
        """Something else stands in it."""

        text: str

    @dataclass
    class Kept(Message):
        """The person goes on to the list, and the filter stays."""

    def __init__(self, hint: str) -> None:
        super().__init__(classes="filter-box")
        self.field = Field(id="filter", placeholder=hint, compact=True, max_length=_LONGEST)
        self.field.cursor_blink = False
        self._told = _Count(id="filter-count")
        self.display = False

    def compose(self) -> ComposeResult:
        """What is typed, and what it leaves."""
        yield self.field
        yield self._told

    @property
    def text(self) -> str:
        """The filter."""
        return self.field.value.strip()

    @property
    def typing(self) -> bool:
        """Whether it has the keyboard."""
        return self.field.has_focus

    def open(self) -> None:
        """Type a filter, or change the one that is kept."""
        self.display = True
        self.screen.set_focus(self.field)  # at once: the keys behind this one are meant for it

    def put(self, text: str) -> None:
        """Have this in it, shown where it is something."""
        self.field.value = text
        self.display = bool(text) or self.typing

    def close(self) -> None:
        """Nothing stands in it, and it is hidden."""
        self.field.value = ""
        self.display = False

    def tell(self, told: str, *, none: bool) -> None:
        """So many are left; nothing is said of no filter."""
        self._told.tell(told if self.text else "", "warn" if none else "quiet")

    @on(Input.Changed)
    def pass_on(self, event: Input.Changed) -> None:
        """Each keystroke filters."""
        event.stop()
        self.post_message(self.Typed(event.value.strip()))

    @on(Input.Submitted)
    def keep(self, event: Input.Submitted) -> None:
        """An empty one is no filter."""
        event.stop()
        self.display = bool(self.text)
        self.post_message(self.Kept())
