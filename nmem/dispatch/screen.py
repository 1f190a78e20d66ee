"""Holds the output of an attempt, from its pane or its printed stream: bounded, cleaned, redacted."""

from __future__ import annotations

import os

from capture.redaction import redact
from capture.text import clean
from nmem.dispatch import tmux
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


KEPT = 16_000
"""Characters that are kept."""
READ = 65_536
"""Bytes that are looked at: a secret that begins before what is kept is whole when it is looked for."""


def kept(text: str, whole: bool = True) -> str:
    """What is kept of a text: its end, from a line's beginning. `whole`: its last line is finished."""
    text = clean(text[-READ:])
    if not whole:
        text = text[: text.rfind("\n") + 1]
    text = redact("\n".join(line.rstrip() for line in text.split("\n")).strip("\n"))
    if len(text) <= KEPT:
        return text
    text = text[-KEPT:]
    first = text.find("\n") + 1
    return "…\n" + (text[first:] if 0 < first < KEPT // 2 else text)


class Ring:
    """The last bytes of a stream."""

    def __init__(self) -> None:
        self._data = bytearray()
        self.total = 0

    def add(self, data: bytes) -> None:
        """More of it."""
        self.total += len(data)
        self._data += data
        if len(self._data) > 2 * READ:
            del self._data[:-READ]

    def text(self, whole: bool) -> str:
        """What is kept; a first line that is torn is left out."""
        data = bytes(self._data[-READ:])
        if self.total > len(data) and b"\n" in data:
            data = data[data.index(b"\n") + 1 :]
        return kept(data.decode("utf-8", "replace"), whole)
