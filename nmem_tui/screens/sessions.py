"""The list of sessions: which one shall the cockpit show?"""

from __future__ import annotations

from textual import on

from nmem.read import views
from nmem.read.views import SessionRow
from nmem.text import pad, printable
from nmem_tui.messages import Loaded, ReadFailed
from nmem_tui.model.cards import CLIENTS
from nmem_tui.model.figures import age
from nmem_tui.reads import Reads
from nmem_tui.screens.dialog import Choice, Dialog

FOLLOW = Choice([("↻ ", "accent"), ("follow the newest session", "strong")], "follow newest auto", "")


class Sessions(Dialog):
    """All sessions, newest first."""

    TITLE_TEXT = "Sessions"

    def __init__(self, current: str) -> None:
        super().__init__()
        self.current = current
        self.reads = Reads(self, lambda: self.app.db_path)  # type: ignore[attr-defined]

    def on_mount(self) -> None:
        """Read them."""
        super().on_mount()
        project = self.app.project  # type: ignore[attr-defined]
        self.reads.ask("sessions", lambda db: views.sessions(db, 200, project), self._offer_all)

    @on(Loaded)
    def hand_out(self, message: Loaded) -> None:
        """They were read."""
        if then := self.reads.done(message):
            then(message.value)

    @on(ReadFailed)
    def tell(self, message: ReadFailed) -> None:
        """They could not be read."""
        self.offer([Choice([("✗ ", "bad"), (printable(message.reason), "text")], "", None)])

    def _offer_all(self, found: list[SessionRow]) -> None:
        at = self.app.clock()  # type: ignore[attr-defined]
        self.offer([FOLLOW, *(self._choice(row, at) for row in found)])

    def _choice(self, row: SessionRow, at: int) -> Choice:
        live = row.state != "ended" and at - row.last_at < 1_800_000
        glyph = ("● ", "good") if live else ("○ ", "quiet")
        here = ("▸", "accent") if row.id == self.current else (" ", "text")
        project = printable(row.project)
        intent = printable(" ".join(row.intent.split())) or "no prompt"
        line = [
            here, glyph, (pad(project, 18) + " ", "strong"), (pad(printable(row.branch), 12) + " ", "accent"),
            (pad(CLIENTS.get(row.client, printable(row.client)), 11) + " ", "text"),
            (pad(age(at - row.last_at), 5, right=True) + "  ", "quiet"), (intent, "text"),
        ]  # fmt: skip
        return Choice(line, f"{project} {row.branch} {row.client} {intent} {'live' if live else ''}", row.id)
