"""Reading a list again: at once where nothing is shown yet, or the person changed something; else soon."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar


class Renewing:
    """The part of a screen whose list is read in one visit."""

    EVERY_S: ClassVar[float]
    """The list is read again at most this often."""
    listing: Any = None
    """What is listed; None: nothing was read yet."""
    set_timer: Callable[..., Any]
    _due = False

    def read_list(self) -> None:
        """Read what is listed."""
        self._due = False

    def refresh_data(self) -> None:
        """At once where nothing is shown yet, else soon."""
        if self.listing is None:
            self.read_list()
        elif not self._due:
            self._due = True
            self.set_timer(self.EVERY_S, self.read_list)

    def look_again(self) -> None:
        """The person changed something: show it at once."""
        self.read_list()
