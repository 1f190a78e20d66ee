"""The last lines of a client's output: bounded, cleaned and redacted before storage."""

from __future__ import annotations

from capture.redaction import redact
from capture.text import clean

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
