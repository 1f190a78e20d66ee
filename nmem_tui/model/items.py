"""A list of unlike lines as places: each is drawn when it comes on screen, and knows what it stands for."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from nmem_tui.model.line import Line, cut


@dataclass(frozen=True, slots=True)
class Item:
    """One place of a list."""

    draw: Callable[[int], Line]
    kind: str = ""
    """What it stands for; empty: it is only there to be read."""
    key: str = ""
    """What tells it from others of its kind."""
    at: int = 0
    """When it was, in milliseconds; 0 where that does not matter."""
    words: str = ""
    """What a filter finds it by; empty: what is drawn of it."""
    counts: Callable[[int], Line] | None = None
    """A heading for so many below it, where it says how many: a filter leaves fewer."""


def plain(lines: Sequence[Line]) -> Iterator[Item]:
    """Lines that are only there to be read."""
    for line in lines:
        yield Item(lambda cells, line=line: cut(line, cells))  # type: ignore[misc]
