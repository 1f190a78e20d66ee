"""Input widgets: safe text fields, a choice of words, and the filter box of lists."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Horizontal
from textual.content import Content
from textual.events import Click
from textual.geometry import Size
from textual.message import Message
from textual.reactive import reactive, var
from textual.validation import ValidationResult
from textual.widget import Widget
from textual.widgets import Input

from capture.text import clean
from nmem.text import pad, printable, width
from nmem_tui.model.line import Line
from nmem_tui.widgets.drawn import Drawn, Titled, content


class Field(Input):
    """One line."""

    cursor_blink: var[bool] = var(False, init=False)
    virtual_size: reactive[Size] = reactive(Size(), layout=False)
    """The library lays the whole screen out anew for each letter; the room for a line stays the same."""

    def validate_value(self, value: str) -> str:
        """Without controls and hidden characters; a line break is a blank."""
        return value if value.isascii() and value.isprintable() else " ".join(clean(value).split("\n"))

    def fill(self, value: str) -> None:
        """Hold this instead, to go on with at its end."""
        self.value = value
        self.cursor_position = len(self.value)

    def update_node_styles(self, animate: bool = True) -> None:
        """Not before it is somewhere: the library styles it anew with the first class that it is made with."""
        if self.is_attached:
            super().update_node_styles(animate)

    def validate(self, value: str) -> ValidationResult | None:
        """Nothing that is typed here is wrong; the library styles it anew as right."""
        return super().validate(value) if self.validators else None


class Choice(Widget, can_focus=True):
    """All words side by side; the chosen one is marked."""

    BINDINGS: ClassVar[list[Binding]] = [  # type: ignore[assignment]
        Binding("right,l,space", "step(1)", show=False),
        Binding("left,h", "step(-1)", show=False),
    ]
    value: reactive[str] = reactive("")

    @dataclass
    class Changed(Message):
        """Another word is chosen."""

        choice: Choice

        @property
        def control(self) -> Choice:
            """Where."""
            return self.choice

    def __init__(self, words: Sequence[str], value: str, *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id)
        self.words = tuple(dict.fromkeys([*words, value]))
        self.set_reactive(Choice.value, value)

    def watch_value(self) -> None:
        """Tell it."""
        self.post_message(self.Changed(self))

    def action_step(self, by: int) -> None:
        """The next word, or the one before."""
        self.value = self.words[(self.words.index(self.value) + by) % len(self.words)]

    def render(self) -> Content:
        """The words."""
        line: Line = []
        for word in self.words:
            here = word == self.value
            line += [("▸" if here else " ", "accent"), (printable(word), "tab" if here else "quiet"), (" ", "text")]
        return content([line])

    def on_click(self, event: Click) -> None:
        """A click chooses."""
        start = 0
        for word in self.words:
            end = start + width(printable(word)) + 2
            if start <= event.x < end:
                self.value = word
            start = end


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
