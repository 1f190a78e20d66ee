"""The output of an attempt: the lines of its pane since its start, or its printed output without a pane."""

from __future__ import annotations

import os

from nmem.dispatch import tmux
from nmem.dispatch.tail import Ring, kept
from nmem.errors import NmemError


class Screen:
    """Bounded, cleaned and redacted whenever it is looked at."""

    def __init__(self, headless: bool) -> None:
        self.ring = Ring()
        socket, pane = os.environ.get("TMUX", "").partition(",")[0], os.environ.get("TMUX_PANE", "")
        self._socket, self._pane = ("", "") if headless else (socket, pane)
        self._shown = ""
        self._full = ""
        self._from = 0
        if self._pane:
            found = self._ask()
            self._from = found.line if found else 0

    def look(self) -> str:
        """What it shows now; what it showed last when its pane has gone."""
        return self._show(whole=False)

    def last(self) -> str:
        """What it showed in the end, and before it what a program of the whole screen showed last."""
        shown = self._show(whole=True)
        return kept(f"{self._full}\n\n{shown}") if self._full and self._full != shown else shown

    def _show(self, whole: bool) -> str:
        if not self._pane:
            return self.ring.text(whole)
        try:
            found = tmux.pane(self._socket, self._pane)
            shown = kept(tmux.capture(self._socket, self._pane, self._from)) if found else ""
        except NmemError:
            found, shown = None, ""
        if found and found.alternate:
            self._full = shown
        self._shown = shown or self._shown
        return self._shown

    def _ask(self) -> tmux.Pane | None:
        try:
            return tmux.pane(self._socket, self._pane)
        except NmemError:
            return None
