"""The dialog Ledger: what each compaction of a session dropped, kept, and what was given back; the last one first."""

from __future__ import annotations

from sqlite3 import Connection
from typing import ClassVar

from textual import getters
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Vertical
from textual.content import Content

from nmem.read import compactions
from nmem.read.compactions import Compaction
from nmem.text import printable
from nmem_tui.model import ledger
from nmem_tui.model.line import wrap
from nmem_tui.model.lists import plain_items
from nmem_tui.screens.modal import LEGEND, NOT_RECORDED, SCROLLING, Modal
from nmem_tui.widgets.item_lists import Items

_HINT, _SEVERAL = "j k scroll · ? words · esc leaves", "[ ] other compactions · "


class Ledger(Modal[None]):
    """The ledger of one session, derived when it is opened."""

    SIGNS = ledger.SIGNS
    BINDINGS: ClassVar[list[Binding]] = [
        Binding("q,enter,L", "leave", show=False),
        Binding("right_square_bracket,v,tab", "turn(1)", show=False),
        Binding("left_square_bracket,V,shift+tab", "turn(-1)", show=False),
        *SCROLLING,
        LEGEND,
    ]

    pane = getters.query_one("#ledger", Items)

    def __init__(self, session_id: str) -> None:
        super().__init__()
        self.session_id = session_id
        self.found: tuple[Compaction, ...] = ()
        self.place = 0

    def compose(self) -> ComposeResult:
        """A box with one list."""
        with Vertical(id="dialog") as box:
            box.border_title = Content(ledger.title((), 0, None))
            box.border_subtitle = Content(_HINT)
            yield Items(id="ledger")

    def on_mount(self) -> None:
        """The last compaction is shown once it is read."""
        self.set_focus(self.pane)
        self.pane.hint = "  reading ..."
        session_id = self.session_id

        def work(db: Connection) -> tuple[Compaction, ...]:
            db.row_factory = None
            return compactions.of_session(db, session_id)

        self.reads.ask("ledger", work, self._show)

    def _show(self, found: tuple[Compaction, ...]) -> None:
        self.found, self.place = found, max(0, len(found) - 1)
        self._draw()

    def _draw(self) -> None:
        found, place, zone = self.found, self.place, self.cockpit.zone
        box = self.query_one("#dialog")
        box.border_title = Content(ledger.title(found, place, zone))
        box.border_subtitle = Content((_SEVERAL if len(found) > 1 else "") + _HINT)
        self.pane.tell(
            lambda cells: list(plain_items(
                [[(" ", "text"), *line] for line in ledger.lines(found, place, cells - 1, zone)])), keep=False,
        )  # fmt: skip

    def refuse(self, reason: str) -> None:
        """Say why nothing can be shown."""
        said = wrap(printable(reason or NOT_RECORDED), 70, 6)
        self.pane.tell(lambda _cells: list(plain_items([[(row, "text")] for row in said])), keep=False)

    def action_turn(self, by: int) -> None:
        """Another compaction of the session."""
        if self.found:
            self.place = (self.place + by) % len(self.found)
            self._draw()

    def action_scroll(self, by: int) -> None:
        """Line by line."""
        self.pane.roll(by)
