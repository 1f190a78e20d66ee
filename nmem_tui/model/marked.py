"""Rows that a person marked, to do something with all of them: by what they are, wherever they stand in a list."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence

from nmem_tui.model import symbols

MOST = 1000
"""So many may be marked at once."""


class Marked:
    """The marked rows, in the order in which they were marked."""

    def __init__(self) -> None:
        self._keys: dict[Hashable, None] = {}

    def __len__(self) -> int:
        return len(self._keys)

    def __iter__(self) -> Iterator[Hashable]:
        return iter(self._keys)

    def __contains__(self, key: object) -> bool:
        return key in self._keys

    def flip(self, key: Hashable) -> None:
        """Mark a row, or take its mark off."""
        if key in self._keys:
            del self._keys[key]
        else:
            self._keys[key] = None

    def every(self, keys: Sequence[Hashable]) -> None:
        """Mark all of these, or none where all of them are marked."""
        if all(key in self._keys for key in keys):
            for key in keys:
                del self._keys[key]
        else:
            self._keys |= dict.fromkeys(keys)

    def clear(self) -> None:
        """Nothing is marked."""
        self._keys.clear()

    def told(self, listed: int) -> str:
        """How many, and how many of them are not listed, for a title; empty where there is none."""
        hidden = f", {len(self) - listed} hidden" if listed < len(self) else ""
        return f"{symbols.now().marked} {len(self)} marked{hidden}" if self._keys else ""
