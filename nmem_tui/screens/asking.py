"""Small dialogs: a name to type, an episode to choose."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from sqlite3 import Connection
from typing import ClassVar

from textual import getters, on
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Input

from nmem.read.episodes import EpisodeRow
from nmem.text import pad, printable
from nmem_tui.messages import Loaded, ReadFailed
from nmem_tui.model import episodes
from nmem_tui.model.figures import day
from nmem_tui.model.unit import flat
from nmem_tui.screens.dialog import Choice, Dialog
from nmem_tui.screens.over import Over
from nmem_tui.store.reads import Reads
from nmem_tui.widgets.fields import Field

Read = Callable[[Connection], Sequence[EpisodeRow]]


class Name(Over[str | None]):
    """Type a name; enter takes it, an empty one takes the name away."""

    BINDINGS: ClassVar[list[Binding]] = [Binding("escape", "leave", show=False)]  # type: ignore[assignment]
    HINT: ClassVar[str] = "enter takes · empty removes the name · esc leaves"
    LONGEST: ClassVar[int] = 200

    field = getters.query_one(Input)

    def __init__(self, title: str, current: str, hint: str) -> None:
        super().__init__()
        self.title_text, self.current, self.hint = title, current, hint

    def compose(self) -> ComposeResult:
        """A box with one line to type in."""
        with Vertical(id="dialog", classes="-small") as box:
            box.border_title = Content(self.title_text)
            box.border_subtitle = Content(self.HINT)
            field = Field(value=self.current, placeholder=self.hint, compact=True, max_length=self.LONGEST)
            field.cursor_blink = False
            yield field

    def on_mount(self) -> None:
        """The line has the keyboard."""
        self.set_focus(self.field)

    @on(Input.Submitted)
    def take(self) -> None:
        """This is the name."""
        self.dismiss(" ".join(self.field.value.split()))

    def action_leave(self) -> None:
        """Change nothing."""
        self.dismiss(None)


class Words(Name):
    """Type a sentence; enter takes it, an empty one changes nothing."""

    HINT: ClassVar[str] = "enter takes · esc leaves"
    LONGEST: ClassVar[int] = 1_000


class Pick(Dialog):
    """Choose one of some episodes."""

    def __init__(self, title: str, read: Read, but: int) -> None:
        super().__init__()
        self.title_text, self._read, self._but = title, read, but
        self.reads = Reads(self, lambda: self.app.db_path)  # type: ignore[attr-defined]

    @property
    def TITLE_TEXT(self) -> str:  # type: ignore[override] # noqa: N802 -- the base class's word for it
        """What is chosen."""
        return self.title_text

    def on_mount(self) -> None:
        """Read them."""
        super().on_mount()
        self.reads.ask("episodes", self._read, self._offer_all)

    @on(Loaded)
    def hand_out(self, message: Loaded) -> None:
        """They were read."""
        if then := self.reads.done(message):
            then(message.value)

    @on(ReadFailed)
    def tell(self, message: ReadFailed) -> None:
        """They could not be read."""
        self.offer([Choice([("✗ ", "bad"), (printable(message.reason), "text")], "", None)])

    def _offer_all(self, found: Sequence[EpisodeRow]) -> None:
        zone = self.app.zone  # type: ignore[attr-defined]
        others = [row for row in found if row.id != self._but]
        if not others:
            self.offer([Choice([("there is no other episode to choose", "quiet")], "", None)])
            return
        self.offer(
            [
                Choice(
                    [
                        (day(row.started_at, zone)[5:16] + "  ", "quiet"),
                        (pad(episodes.state(row)[0], 10) + " ", episodes.state(row)[1]),
                        (flat(row.name), "text"),
                    ],
                    episodes.words(row),
                    str(row.id),
                )
                for row in others
            ]
        )
