"""The dialog that corrects the five labels of a stream row, with one key per word."""

from __future__ import annotations

from typing import ClassVar

from textual import getters, on
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Vertical
from textual.content import Content

from nmem.labels import read
from nmem.labels.read import Labelled, Word
from nmem.text import printable
from nmem_tui.messages import Loaded, ReadFailed
from nmem_tui.model import review
from nmem_tui.operations import commands
from nmem_tui.screens.modal import Modal
from nmem_tui.store.access import Reads
from nmem_tui.widgets.drawn import COMPONENTS, Panel

_ROOMY, _TALL = 24, 32
"""Rows of the terminal from which on there is room for reasons, and for two rows of each."""


class Relabel(Modal[None]):
    """What is said of one call; each key is one correction, undone as one."""

    COMPONENT_CLASSES: ClassVar[set[str]] = set(COMPONENTS)
    BINDINGS: ClassVar[list[Binding]] = [  # type: ignore[assignment]
        Binding("escape,enter,q", "leave", show=False),
        Binding("u", "undo", show=False),
        *(Binding(key, f"flip({name!r})", show=False) for name, key in review.KEYS.items()),
        *(Binding(key.upper(), f"clear({name!r})", show=False) for name, key in review.KEYS.items()),
    ]

    words = getters.query_one("#words", Panel)

    def __init__(self, observation_id: int) -> None:
        super().__init__()
        self.observation_id = observation_id
        self.found: Labelled | None = None
        self.reads = Reads(self, lambda: self.app.db_path)  # type: ignore[attr-defined]

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
        path, number = self.app.db_path, self.observation_id  # type: ignore[attr-defined]
        self.reads.ask("labels", lambda db: read.labelled(db, path, number), self._show)

    @on(Loaded)
    def hand_out(self, message: Loaded) -> None:
        """They were read."""
        if then := self.reads.done(message):
            then(message.value)

    @on(ReadFailed)
    def tell(self, message: ReadFailed) -> None:
        """They could not be read."""
        if self.reads.done(message):
            reason = printable(message.reason) or "nothing is recorded"
            self.words.show(lambda _cells, _rows: [[("✗ ", "bad"), (reason, "text")]])

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
        self.app.change(commands.relabel(self.observation_id, dimension, word))  # type: ignore[attr-defined]

    def action_undo(self) -> None:
        """The newest correction did not happen."""
        self.app.change(commands.undo)  # type: ignore[attr-defined]

    def action_leave(self) -> None:
        """Back to the stream."""
        self.dismiss(None)
