"""A screen whose list is in memory: what its filter does, and how many rows that leaves."""

from __future__ import annotations

from nmem_tui.screens.filtering import Filtering
from nmem_tui.widgets.items import Items
from nmem_tui.widgets.lines import Lines


class Listed(Filtering):
    """The part of such a screen; `home` is its list."""

    @property
    def home(self) -> Items:
        """The list."""
        raise NotImplementedError

    def narrow(self) -> None:
        """List what the filter leaves."""
        self.home.narrow(self.words)
        self.name_list()
        self.home.post_message(Lines.Moved(self.home))

    def tally(self) -> tuple[int, int, bool]:
        """Rows that the filter leaves, of all that can be taken."""
        return self.home.taken, self.home.whole, False

    def name_list(self) -> None:
        """The list's title."""
        raise NotImplementedError
