"""Confirmations of maintenance on the screen Health: sweep, fix, upgrade."""

from __future__ import annotations

from collections.abc import Sequence
from sqlite3 import Connection
from typing import TYPE_CHECKING

from nmem.retention import policy
from nmem.retention.sweep import sweep
from nmem.text import printable
from nmem_tui.model import health_storage
from nmem_tui.model.health import say
from nmem_tui.model.line import Line, wrap
from nmem_tui.screens.confirm_dialog import ConfirmDialog

if TYPE_CHECKING:
    from nmem.audit import Finding
    from nmem.retention.sweep import Swept


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
