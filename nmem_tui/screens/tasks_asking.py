"""The question before a task is run, cancelled or removed: `y` does it, nothing else does."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Vertical
from textual.content import Content

from nmem_tui.model.line import Line
from nmem_tui.screens.over import Over
from nmem_tui.widgets.card import Panel
from nmem_tui.widgets.tones import COMPONENTS


class AskTask(Over[bool]):
    """Says what would happen, and asks; the key that opened it does not answer it."""

    COMPONENT_CLASSES: ClassVar[set[str]] = set(COMPONENTS)
    BINDINGS: ClassVar[list[Binding]] = [  # type: ignore[assignment]
        Binding("y", "answer(True)", show=False),
        Binding("escape,n,q", "answer(False)", show=False),
    ]

    def __init__(self, title: str, said: Sequence[Line], does: str) -> None:
        super().__init__()
        self.title_text, self.said, self.does = title, said, does

    def compose(self) -> ComposeResult:
        """A box with what would happen."""
        with Vertical(id="dialog", classes="-small") as box:
            box.border_title = Content(self.title_text)
            box.border_subtitle = Content(f"y {self.does} · esc leaves")
            yield Panel(lambda _cells, _rows: list(self.said), id="asked-about")

    def action_answer(self, answer: bool) -> None:
        """Done or left."""
        self.dismiss(answer)
