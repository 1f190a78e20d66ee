"""The query box of the screen Search: its text, its history, its focus."""

from __future__ import annotations

from textual import on
from textual.widgets import Input

from nmem_tui.screens.list_screen import MarkableList
from nmem_tui.widgets.chips import Chips
from nmem_tui.widgets.inputs import Field
from nmem_tui.widgets.item_lists import Items
from nmem_tui.widgets.lines import Lines

_LONGEST = 2_000


class SearchBox(MarkableList):
    """The part of the screen Search that is typed into."""

    def __init__(self) -> None:
        super().__init__()
        self.box = Field(id="box", placeholder='words, "a phrase", !not, type:test file:upload is:failed since:7d',
                         compact=True, max_length=_LONGEST, select_on_focus=False)  # fmt: skip
        self.chips, self.pane = Chips(id="chips"), Items(id="hit")
        self._back = -1
        """Which of the last queries is in the box, the newest being 0; -1: none of them."""
        self._dropped = ""
        """What is in the box but not to be offered again: it was there when something was purged."""

    def look(self) -> None:
        """Look for what stands in the box, at once."""
        raise NotImplementedError

    def uncover(self) -> None:
        """Back to the list out of what lies over it."""
        raise NotImplementedError

    @property
    def active(self) -> Lines:
        """Where the keyboard is, or goes."""
        raise NotImplementedError

    @property
    def asking(self) -> bool:
        """Whether something stands in the box."""
        return bool(self.box.value.strip())

    def do_seek(self) -> None:
        """Type what to look for."""
        self.uncover()
        self.set_focus(self.box)

    def arrive(self) -> None:
        """The box has the keyboard, its query is selected: what is typed replaces it."""
        if self.is_mounted and self.recorded:
            self.do_seek()
            self.box.select_all()

    def do_down(self) -> None:
        """One hit down; out of the box into the list, or to a later one of the last queries."""
        if self.box.has_focus:
            if self._back >= 0:
                self._recall(self._back - 1)
            else:
                self.set_focus(self.active)
        elif self.chips.has_focus:
            if not self.chips.change_row(1):
                self.set_focus(self.active)
        else:
            super().do_down()

    def do_up(self) -> None:
        """One hit up; in the empty box the last queries, in the list's first row the box."""
        if self.box.has_focus:
            if not self.asking or self._back >= 0:
                self._recall(self._back + 1)
        elif self.chips.has_focus:
            if not self.chips.change_row(-1):
                self.set_focus(self.box)
        elif self.active.cursor <= 0 and not self.pane.has_focus:
            self.set_focus(self.box)
        else:
            super().do_up()

    def _recall(self, place: int) -> None:
        asked = self.cockpit.asked
        if place < len(asked):
            self.put(asked[place] if place >= 0 else "")
            self._back = max(-1, place)

    def put(self, text: str) -> None:
        """Have this in the box, and look for it."""
        self.box.value = text
        self.box.cursor_position = len(text)
        self.look()

    @on(Input.Submitted, "#box")
    def keep(self) -> None:
        """What was typed is worth remembering; the hits get the keyboard."""
        self.remember()
        self.look()
        self.set_focus(self.active)

    def forget_asked(self) -> None:
        """Offer no last query any more, nor what is in the box: any may have the words that were purged."""
        self._dropped = self.box.value.strip()
        self.cockpit.asked.clear()
        if self.is_mounted and not self.asking:
            self.look()

    def remember(self) -> None:
        """Keep the query among the last ones."""
        self._back = -1
        text, asked = self.box.value.strip(), self.cockpit.asked
        if text and text != self._dropped:
            asked[:] = [text, *(each for each in asked if each != text)][:50]
