"""The dialog of a project's instructions: what is wrong in them, and on a further key the diff that mends it.

`d` goes from the findings to the diff and back; `y` writes, and only while the diff is shown.
"""

from __future__ import annotations

from pathlib import Path
from sqlite3 import Connection
from typing import TYPE_CHECKING, ClassVar

from textual.binding import Binding
from textual.containers import Vertical
from textual.content import Content

from nmem.errors import NmemError
from nmem.text import printable
from nmem_tui.model import previews
from nmem_tui.model.line import wrap
from nmem_tui.screens.diff_dialog import DiffDialog

if TYPE_CHECKING:
    from nmem.native.review import Report
    from nmem.recall.changes import Change

_GONE = "its folder is not on this machine any more: there are no instructions to look at"
_SURE = "no line is surely stale or repeated: what is found is for you to judge"


class Instructions(DiffDialog):
    """What clients load in a project, held against its files and records; gives back the changes to write."""

    BINDINGS: ClassVar[list[Binding]] = [Binding("d", "turn", show=False)]
    HINT = "d the diff that mends it · j k scroll · esc leaves"
    _DIFF = "y writes this · d the findings · esc leaves"

    def __init__(self, project: str, now: int) -> None:
        super().__init__()
        self.project, self.now = project, now
        self.found: tuple[Report, list[Change]] | None = None
        self.as_diff = False

    def heading(self) -> str:
        """The project by its name."""
        return f"Instructions of {printable(self.project) or 'this folder'} ─ what is stale, contradicted, repeated"

    def look(self) -> None:
        """Hold the files against the checkout and the records."""
        project, now, here, home = self.project, self.now, str(Path.cwd()), str(Path.home())

        def work(db: Connection) -> tuple[Report, list[Change]]:
            from nmem.learn.places import FolderGone  # on use: start-up stays short
            from nmem.native import review  # on use: start-up stays short

            try:
                where = review.place(db, project, here)
            except FolderGone:
                raise NmemError(_GONE) from None
            report = review.review(db, *where, home, now)
            return report, review.plan(report)

        self.told.show(lambda _cells, _rows: [[("reading the files, git and the records …", "quiet")]])
        self.reads.ask("instructions", work, self._show)

    def _show(self, found: tuple[Report, list[Change]]) -> None:
        self.found = found
        self._draw()

    def refuse(self, reason: str) -> None:
        """Say why there is nothing to look at; no key but esc does anything then."""
        super().refuse(reason)
        self.query_one("#dialog", Vertical).border_subtitle = Content("esc leaves")

    def _draw(self) -> None:
        if self.found is None:
            return
        from nmem.native import review, told  # on use: start-up stays short

        report, planned = self.found
        subtitle = self._DIFF if self.as_diff and planned else self.HINT
        self.query_one("#dialog", Vertical).border_subtitle = Content(subtitle)
        if self.as_diff:
            mends = f"{sum(one.sure for one in report.findings)} of {len(report.findings)} findings"
            self.show([previews.into(mends, report.root, "mends")], review.diff(planned), _SURE)
            return
        said = told.summary(report)
        self.told.show(lambda cells, _rows: [[(row, "strong")] for row in wrap(printable(said), cells, 2)])
        self.pane.tell(lambda cells: previews.instructions(report, cells), keep=False)

    def action_turn(self) -> None:
        """From the findings to the diff, or back."""
        if self.found is not None and not self.trouble:
            self.as_diff = not self.as_diff
            self._draw()

    def action_confirm(self) -> None:
        """Write what the diff shows."""
        if self.found is not None and self.as_diff and self.found[1] and not self.trouble:
            self.dismiss(self.found[1])
