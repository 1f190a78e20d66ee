"""The dialog that shows what a decision would add to the project's decision files before anything is written."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nmem.decisions import change
from nmem.decisions.read import Decision
from nmem.text import printable
from nmem_tui.model import diff
from nmem_tui.screens.previewing import Preview

if TYPE_CHECKING:
    from nmem.recall.remember import Plan


class Promote(Preview):
    """A decision said in passing becomes an entry of /when; gives back what was planned."""

    HINT = "y writes this · esc leaves"
    planned: Plan | None = None

    def __init__(self, decision: Decision, trigger: str) -> None:
        super().__init__()
        self.decision, self.trigger = decision, trigger

    def heading(self) -> str:
        """The decision and its situation."""
        return f"Write decision/{self.decision.id} as /when {printable(self.trigger)}"

    def look(self) -> None:
        """What the files would become."""
        decision, trigger = self.decision, self.trigger
        self.reads.ask("plan", lambda db: change.written(db, decision, trigger), self._show)

    def _show(self, planned: Plan) -> None:
        self.planned = planned
        remarks = [[(f"note: {printable(one)}", "warn")] for one in planned.remarks]
        head = diff.into(planned.file, planned.change.root, "into")
        self.show([head, *remarks], planned.change.diff().splitlines(), "nothing changes")

    def action_confirm(self) -> None:
        """Write it."""
        if self.planned is not None and not self.trouble:
            self.dismiss(self.planned)
