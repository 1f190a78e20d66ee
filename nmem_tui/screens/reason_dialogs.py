"""Dialogs that show what an episode changed as a diff, and why the lines of a file are as they are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

from nmem.blame import changes, reasons
from nmem.blame.text import paragraph
from nmem.text import fit_path, printable
from nmem_tui.model.figures import several
from nmem_tui.model.line import Line
from nmem_tui.model.symbols import Sign
from nmem_tui.screens.diff_dialog import DiffDialog
from nmem_tui.screens.modal import LEGEND

if TYPE_CHECKING:
    from textual.binding import Binding

    from nmem.blame.changes import Changes
    from nmem.blame.reasons import Answer

_ROOM = 60


_CHANGED = (
    Sign("+", "a line that was added", "good"),
    Sign("-", "a line that was removed", "bad"),
    Sign("+++ b/…", "the file, as it is called now; --- /dev/null: the session made it", "quiet"),
    Sign("@@ obs/7 … @@", "an edit: its id, when it was, lines added and removed; failed, where it did", "quiet"),
    Sign("@@ commit … @@", "a commit of the episode, as git shows it", "quiet"),
    Sign("\\", "what is not shown: texts that were not kept, or more than there is room for", "quiet"),
)
_WHY = (
    Sign("3 of 9 lines explained", "so many lines lead to a recorded edit", "quiet"),
    Sign("@@ … @@", "lines that are as they are for the same reason", "quiet"),
    Sign("episode", "the work in which they were edited; session: where there is no episode", "text"),
    Sign("asked", "the prompt before the edit", "text"),
    Sign("edited", "when, by which client, and the edit's id", "text"),
    Sign("instead of", "the lines that stood there before", "text"),
    Sign("failed before", "what failed before the edit", "text"),
    Sign("tests", "how the tests after the edit ended", "text"),
    Sign("decided", "decisions of the episode that name the file, or have words in common with the lines", "text"),
    Sign("commit", "the commit that last changed them", "text"),
)


class Shown(DiffDialog):
    """A text to read: it asks nothing, `y` copies it."""

    HINT: ClassVar[str] = "y copies it · ? words · esc leaves"
    BINDINGS: ClassVar[list[Binding]] = [LEGEND]

    def __init__(self) -> None:
        super().__init__()
        self.read: Sequence[str] = ()

    def tell_lines(self, head: Line, lines: Sequence[str], nothing: str) -> None:
        """Show what was read."""
        self.read = lines
        self.show([head], lines, nothing)

    def action_confirm(self) -> None:
        """Copy it."""
        self.cockpit.copy_out("\n".join(self.read))


class Changed(Shown):
    """What an episode changed."""

    SIGNS = _CHANGED

    def __init__(self, unit_id: int) -> None:
        super().__init__()
        self.unit_id = unit_id

    def heading(self) -> str:
        """The episode by its number."""
        return f"Episode {self.unit_id} ─ what it changed"

    def look(self) -> None:
        """Its edits, and its commits as git shows them."""
        unit_id = self.unit_id
        self.reads.ask("changes", lambda db: changes.changes(db, unit_id), self._show)

    def _show(self, found: Changes | None) -> None:
        if found is None:
            self.refuse(f"there is no episode {self.unit_id} any more")
            return
        edits = sum(len(one.hunks) for one in found.files) + found.left_out
        told = [several(len(found.files), "file"), several(edits, "edit"), several(len(found.commits), "commit")]
        self.tell_lines([(" · ".join(told), "quiet")], changes.unified(found), "it changed no file")


class Why(Shown):
    """Why the lines of a file are as they are: a paragraph for lines with the same reason."""

    SIGNS = _WHY

    def __init__(self, session_id: str, path: str) -> None:
        super().__init__()
        self.session_id, self.path = session_id, path

    def heading(self) -> str:
        """The file."""
        return f"Why ─ {fit_path(printable(self.path), _ROOM)}"

    def look(self) -> None:
        """Its lines with their commits, beside what is recorded."""
        session, path = self.session_id, self.path
        self.reads.ask("why", lambda db: reasons.blame(db, reasons.of_session(db, session, path)), self._show)

    def _show(self, found: Answer) -> None:
        lines = [row for one in found.blocks for row in paragraph(one)]
        explained = f"{found.explained} of {several(found.written, 'line')} explained"
        self.tell_lines([(explained, "quiet")], lines, "the file is empty")
