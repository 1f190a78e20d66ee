"""Ghosts: the names of the sessions that are recorded."""

from __future__ import annotations

from textual.app import ComposeResult

from nmem.read import views
from nmem.read.views import SessionRow
from nmem_tui.model import actions
from nmem_tui.model.actions import Action
from nmem_tui.screens.base import View
from nmem_tui.widgets.drawn import Panel

actions.add(Action("boo", ("b",), "boo", "frighten the reader", "Ghosts", "ghosts"))


class Ghosts(View):
    """A line for each session."""

    CONTEXT = OPENS = "ghosts"

    def body(self) -> ComposeResult:
        """One panel."""
        yield Panel(id="ghosts")

    def refresh_data(self) -> None:
        """Read the sessions in a thread; the answer is shown when it is there."""
        self.reads.ask("ghosts", views.sessions, self._show)

    def _show(self, found: list[SessionRow]) -> None:
        lines = [[(f"{one.id} in {one.project}", "text")] for one in found]
        self.query_one("#ghosts", Panel).show(lambda _cells, _rows: [*lines])

    def do_boo(self) -> None:
        """A toast."""
        self.cockpit.say("boo")
