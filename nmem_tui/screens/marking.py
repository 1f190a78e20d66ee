"""Marking rows of a list: `space` marks the one under the cursor, `*` all that are listed, esc takes the marks off."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from typing import ClassVar

from nmem_tui.model.marked import MOST, Marked
from nmem_tui.screens.base import View


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
        self.marked = Marked()

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
        if not self.marked:
            return []
        listed = {key for key in self.listed_keys() if key in self.marked}
        return [key for key in self.marked if key in listed]

    @property
    def marks_told(self) -> str:
        """How many are marked, and how many of them are not listed, for a title."""
        return self.marked.told(len(self.meant))

    def marks_changed(self) -> None:
        """Draw the list and its title anew."""

    def to_next(self) -> None:
        """The cursor goes on to the next row."""

    def may_mark(self) -> str | None:
        """Only a row."""
        return None if self.row_key is not None else "put the cursor on a row first"

    def do_mark(self) -> None:
        """Mark the row, or take its mark off, and go on."""
        key = self.row_key
        if key not in self.marked and len(self.marked) >= MOST:
            self.cockpit.say(f"{MOST:,} are marked: no more at once", severity="warning")
            return
        self.marked.flip(key)
        self.to_next()
        self._changed()

    def may_mark_all(self) -> str | None:
        """Not more than can be done at once."""
        keys = self.row_keys()
        if keys is None:
            return "not all rows are read yet: / lists fewer"
        if len(keys) > MOST:
            return f"{len(keys):,} are listed, {MOST:,} can be marked at once: / lists fewer"
        return None if keys else "nothing is listed"

    def do_mark_all(self) -> None:
        """Mark all that are listed, or none."""
        self.marked.every(self.row_keys() or ())
        self._changed()

    def unmark(self) -> bool:
        """Nothing is marked any more; whether something was."""
        was = bool(self.marked)
        self.marked.clear()
        if was:
            self._changed()
        return was

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
