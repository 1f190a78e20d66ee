"""Confirmations on the screen Health: sweep, fix, upgrade, the model on or off, retraining."""

from __future__ import annotations

from collections.abc import Sequence
from sqlite3 import Connection
from typing import TYPE_CHECKING

from nmem.retention import policy
from nmem.retention.sweep import sweep
from nmem.text import printable
from nmem_tui.model import health_storage, model_path, training
from nmem_tui.model.health import say
from nmem_tui.model.line import Line, wrap
from nmem_tui.screens.confirm_dialog import ConfirmDialog

if TYPE_CHECKING:
    from nmem.audit import Finding
    from nmem.retention.sweep import Swept
    from nmem.training.personal import Report


class Sweep(ConfirmDialog):
    """What is past its lifetime, by type and project: a dry run."""

    VERB = "forgets this, for good"

    def __init__(self) -> None:
        super().__init__("Sweep ─ what is past its lifetime")

    def look(self) -> None:
        """Count what would go."""
        at = self.cockpit.clock()

        def work(db: Connection) -> Swept:
            return sweep(db, policy.load(), at, dry=True, stopped=self.over)

        self.reads.ask("sweep", work, self._show)

    def _show(self, done: Swept) -> None:
        self.show(
            lambda cells: health_storage.sweep_head(done, cells),
            lambda _cells: health_storage.sweep_items(done),
            able=bool(done.count),
        )


class Fix(ConfirmDialog):
    """The findings that need no decision, and what is done about them."""

    VERB = "fixes this"

    def __init__(self, found: Sequence[Finding]) -> None:
        super().__init__("Fix findings that need no decision")
        self.found = found

    def look(self) -> None:
        """It is known already."""
        lines: list[Line] = [
            [("! ", "warn"), (f"{printable(one.check)}: ", "strong"), (printable(one.evidence), "text")]
            for one in self.found
        ]
        self.show(_mends, lambda _cells: [say(line) for line in lines], able=True)


def _mends(cells: int) -> list[Line]:
    said = ("Stores spooled rows, rebuilds damaged or incomplete text indexes, removes orphaned rows."
            " Recorded facts do not change.")  # fmt: skip
    return [[(row, "text")] for row in wrap(said, cells, 4)]


class Upgrade(ConfirmDialog):
    """What becomes of a database that an older nmem made."""

    VERB = "brings it up to date"

    def __init__(self, path: str) -> None:
        super().__init__("Upgrade ─ a database of an older nmem")
        self.path = path

    def look(self) -> None:
        """Nothing has to be read for that."""
        said = (
            f"{printable(self.path)} was made by an older nmem. Upgrading adds new tables and columns; "
            "no row is lost. An older nmem cannot read the file afterwards."
        )
        self.show(lambda cells: [[(row, "text")] for row in wrap(said, cells - 2, 6)], lambda _cells: [], able=True)


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
