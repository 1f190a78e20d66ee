"""One of a few words in a form: left and right change it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from textual.binding import Binding
from textual.content import Content
from textual.events import Click
from textual.message import Message
from textual.reactive import reactive
from textual.widget import Widget

from nmem.text import printable, width
from nmem_tui.model.line import Line
from nmem_tui.widgets.tones import content


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
