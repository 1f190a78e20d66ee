"""The dialog that corrects a call's labels: phase, scope, locus, novelty and friction, with one key for each."""

from __future__ import annotations

from typing import ClassVar

from textual import getters
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Vertical
from textual.content import Content

from nmem.labels import read
from nmem.labels.read import Labelled, Word
from nmem_tui.model import review
from nmem_tui.operations import commands
from nmem_tui.screens.modal import NOT_RECORDED, Modal
from nmem_tui.widgets.drawn import Panel

_ROOMY, _TALL = 24, 32
"""Rows of the terminal from which on there is room for reasons, and for two rows of each."""


class Relabel(Modal[None]):
    """What is said of one call; each key is one correction, undone as one."""

    BINDINGS: ClassVar[list[Binding]] = [
        Binding("enter,q", "leave", show=False),
        Binding("u", "undo", show=False),
        *(Binding(key, f"flip({name!r})", show=False) for name, key in review.KEYS.items()),
        *(Binding(key.upper(), f"clear({name!r})", show=False) for name, key in review.KEYS.items()),
    ]

    words = getters.query_one("#words", Panel)

    def __init__(self, observation_id: int) -> None:
        super().__init__()
        self.observation_id = observation_id
        self.found: Labelled | None = None

    def compose(self) -> ComposeResult:
        """A box with the call and its words."""
        with Vertical(id="dialog", classes="-small") as box:
            box.border_title = Content("Labels of this call")
            box.border_subtitle = Content("esc leaves")
            yield Panel(id="words")

    def on_mount(self) -> None:
        """Read them."""
        self.look_again()

    def look_again(self) -> None:
        """Something was said, or undone."""
        path, number = self.cockpit.db_path, self.observation_id
        self.reads.ask("labels", lambda db: read.labelled(db, path, number), self._show)

    def refuse(self, reason: str) -> None:
        """They could not be read."""
        self.words.show(lambda _cells, _rows: [[("✗ ", "bad"), (reason or NOT_RECORDED, "text")]])

    def _show(self, found: Labelled) -> None:
        self.found = found
        rows = self.app.size.height
        why = (rows >= _ROOMY) + (rows >= _TALL)
        self.words.show(lambda cells, _rows: review.relabel_lines(found, cells, why=why))

    def _word(self, dimension: str) -> Word | None:
        return next((word for word in self.found.words if word.dimension == dimension), None) if self.found else None

    def action_flip(self, dimension: str) -> None:
        """The other word."""
        if word := self._word(dimension):
            self._say(dimension, review.flipped(word))

    def action_clear(self, dimension: str) -> None:
        """The model's word again."""
        if self._word(dimension):
            self._say(dimension, None)

    def _say(self, dimension: str, word: str | None) -> None:
        self.cockpit.change(commands.relabel(self.observation_id, dimension, word))

    def action_undo(self) -> None:
        """The newest correction did not happen."""
        self.cockpit.action_act("undo")
