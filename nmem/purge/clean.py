"""Remembers short texts that redaction left as they are: while history is gone over, the same come again and again."""

from __future__ import annotations

from capture.redaction import PLACES, redact, redact_tree, settings
from capture.redaction.verdict import NONE, strength

_SHORT, _KEPT = 400, 20_000
"""Characters of a text that is remembered where it holds nothing, and how many of them are."""


class Clean:
    """Short texts that hold nothing by the rules in force: the same stand in row after row, and twice in one."""

    def __init__(self) -> None:
        self._by: settings.Settings | None = None
        self._seen: set[tuple[bool, str]] = set()
        """Whether it is a place, and the text."""

    def follow(self) -> None:
        """Forget all where the rules are others than those at the last call, as they are from part to part."""
        now = settings.load()
        if now is not self._by:
            self._by = now
            self._seen.clear()

    def text(self, text: str, counts: dict[str, int] | None = None, *, place: bool = False) -> str:
        """As `redact`."""
        if (place, text) in self._seen:
            return text
        new = redact(text, counts, place=place)
        if new == text and len(text) <= _SHORT:
            if len(self._seen) >= _KEPT:
                self._seen.clear()
            self._seen.add((place, text))
        return new

    def value(self, text: str, counts: dict[str, int], name: str) -> str:
        """As `redact_tree`, of a text that stands under a name."""
        if name.isidentifier() and strength(name) == NONE:  # as most do: the text alone decides
            return self.text(text, counts, place=name in PLACES)
        return str(redact_tree(text, counts, name))
