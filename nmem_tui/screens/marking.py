"""Marking rows of a list: `space` marks the one under the cursor, `*` all that are listed, esc takes the marks off.

What lies over the list is what the keys are about: marks that nobody can see are kept, and rest until they show again.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from typing import ClassVar

from textual.widget import Widget

from nmem_tui.model.marked import MOST, Marked
from nmem_tui.screens.base import View

_COVERED = "the list is behind this: esc goes back to it"


class Marking(View):
    """The part of a screen whose rows can be marked; its actions then are about all of them."""

    CONTEXT = "now"
    OPENS = "stream"
    ALONE: ClassVar[frozenset[str]] = frozenset()
    """Actions that make no sense with several rows."""
    TOGETHER: ClassVar[frozenset[str]] = frozenset()
    """Actions that are about all marked rows."""

    def __init__(self) -> None:
        super().__init__()
        self.all_marked = Marked()
        """The marked rows, seen or not."""
        self._none = Marked()
        self.over: Widget | None = None
        """What is told of one row: in a narrow terminal it lies over the list once it is open."""

    @property
    def covered(self) -> bool:
        """Whether what is open lies over the list."""
        return self.over is not None and self.has_class("-narrow") and self.over.has_class("-open")

    @property
    def marked(self) -> Marked:
        """The marked rows that actions are about; none while the list is covered."""
        return self._none if self.covered else self.all_marked

    @property
    def row_key(self) -> Hashable:
        """What the row under the cursor is; None where there is none that can be marked."""
        return None

    def row_keys(self) -> Sequence[Hashable] | None:
        """What all listed rows are; None: they are not all read yet."""
        return ()

    def listed_keys(self) -> Iterable[Hashable]:
        """What the listed rows are, as far as they are read."""
        return self.row_keys() or ()

    @property
    def meant(self) -> list[Hashable]:
        """The marked rows that an action is about: those that are listed; what a filter hides is left alone."""
        return self._listed(self.marked)

    def _listed(self, marked: Marked) -> list[Hashable]:
        if not marked:
            return []
        listed = {key for key in self.listed_keys() if key in marked}
        return [key for key in marked if key in listed]

    @property
    def marks_told(self) -> str:
        """How many are marked, and how many of them are not listed, for a title."""
        return self.all_marked.told(len(self._listed(self.all_marked)))

    def marks_changed(self) -> None:
        """Draw the list and its title anew."""

    def to_next(self) -> None:
        """The cursor goes on to the next row."""

    def may_mark(self) -> str | None:
        """Only a row that can be seen."""
        if self.covered:
            return _COVERED
        return None if self.row_key is not None else "put the cursor on a row first"

    def do_mark(self) -> None:
        """Mark the row, or take its mark off, and go on."""
        key = self.row_key
        if key not in self.all_marked and len(self.all_marked) >= MOST:
            self.cockpit.say(f"{MOST:,} are marked: no more at once", severity="warning")
            return
        self.all_marked.flip(key)
        self.to_next()
        self._changed()

    def may_mark_all(self) -> str | None:
        """Not more than can be done at once, and nothing that cannot be seen."""
        if self.covered:
            return _COVERED
        keys = self.row_keys()
        if keys is None:
            return "not all rows are read yet: / lists fewer"
        if len(keys) > MOST:
            return f"{len(keys):,} are listed, {MOST:,} can be marked at once: / lists fewer"
        return None if keys else "nothing is listed"

    def do_mark_all(self) -> None:
        """Mark all that are listed, or none."""
        self.all_marked.every(self.row_keys() or ())
        self._changed()

    def unmark(self) -> bool:
        """Nothing that can be seen is marked any more; whether something was."""
        if not self.marked:
            return False
        self.all_marked.clear()
        self._changed()
        return True

    def _changed(self) -> None:
        self.marks_changed()
        self.check_keys()

    def may_alone(self, action_id: str) -> str | None:
        """Why an action cannot be about several rows; None where one is meant, or it can."""
        if self.marked and action_id in self.TOGETHER and not self.meant:
            return "none of the marked rows is listed: esc takes the marks off"
        if action_id not in self.ALONE or not self.marked:
            return None
        return f"{len(self.marked)} are marked, and this is done with one at a time: esc takes the marks off"
