"""Confirmations on the screen Health for story telling and detection: the model on or off, retraining."""

from __future__ import annotations

from sqlite3 import Connection
from typing import TYPE_CHECKING

from nmem_tui.model import model_path, training
from nmem_tui.model.health import say
from nmem_tui.screens.confirm_dialog import ConfirmDialog

if TYPE_CHECKING:
    from nmem.training.personal import Report


class SwitchModel(ConfirmDialog):
    """Whom the stories would be asked of from now on, and what that costs."""

    VERB = "changes that"

    def __init__(self) -> None:
        super().__init__("Model ─ who writes the stories")
        self.plan: model_path.Plan | None = None

    def look(self) -> None:
        """Read the settings, the ledger, and which clients are installed."""
        self.reads.ask("model", model_path.plan, self._show)

    def _show(self, found: model_path.Plan | None) -> None:
        self.plan = found
        if found is None:
            self.show(lambda _cells: [[("no episodes yet: there is nothing to write", "quiet")]],
                      lambda _cells: [], able=False)  # fmt: skip
            return
        self.show(
            lambda cells: model_path.head(found, cells),
            lambda cells: [say(line) for line in model_path.beside(found, cells)],
            able=not found.reason,
        )


class Retrain(ConfirmDialog):
    """What the person's corrections would change about where episodes begin: a dry run."""

    VERB = "keeps what is better"

    def __init__(self, path: str) -> None:
        super().__init__("Retrain ─ where episodes begin, from your corrections")
        self.path = path

    def look(self) -> None:
        """Fit, and compare on sessions that the fit has not seen."""
        at, path = self.cockpit.clock(), self.path

        def work(db: Connection) -> Report:
            from nmem.training import personal  # on use: start-up stays short

            return personal.train(db, path, at, dry=True)

        self.reads.ask("retrain", work, self._show)

    def _show(self, done: Report) -> None:
        self.show(
            lambda cells: training.head(done, cells),
            lambda cells: [say(line) for line in training.lines(done, cells)],
            able=done.enough,
        )
