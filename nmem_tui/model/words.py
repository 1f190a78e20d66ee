"""What is typed into a filter: words that must all be there, `!word` that must not; and what a title says of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from nmem.text import fit, printable
from nmem_tui.model.items import Item
from nmem_tui.model.line import cut, plain

NO_MATCH = "  nothing matches: esc clears the filter"
_LONGEST = 24
"""Cells of a filter that a title shows."""
_DRAWN = 200
"""Cells in which an item is read whose words are not told."""


class Words:
    """A filter, case aside."""

    def __init__(self, text: str = "") -> None:
        self.text = text.strip()
        parts = self.text.lower().split()
        self.wanted = [part for part in parts if not part.startswith("!")]
        self.unwanted = [part[1:] for part in parts if part.startswith("!") and part != "!"]

    def __bool__(self) -> bool:
        return bool(self.text)

    def match(self, text: str) -> bool:
        """Whether a text, in small letters, passes."""
        return all(word in text for word in self.wanted) and not any(word in text for word in self.unwanted)


def text_of(item: Item) -> str:
    """What an item is found by, in small letters."""
    return (item.words or plain([item.draw(_DRAWN)])).lower()


def narrowed(items: Sequence[Item], texts: Sequence[str], words: Words) -> list[Item]:
    """The items that match, each group below the line that stands over it; `texts` are those of the items."""
    groups: list[tuple[Item | None, list[Item]]] = [(None, [])]
    for item, text in zip(items, texts, strict=True):
        if not item.kind:
            groups.append((item, []))
        elif words.match(text):
            groups[-1][1].append(item)
    return [each for head, found in groups if found for each in (*_headed(head, len(found)), *found)]


def _headed(head: Item | None, number: int) -> list[Item]:
    """The line over a group, saying how many are listed, where it says how many there are."""
    if head is None or (counts := head.counts) is None:
        return [head] if head is not None else []
    return [replace(head, draw=lambda cells: cut(counts(number), cells))]


def count(listed: int, whole: int, *, more: bool = False) -> str:
    """How many of how many, 0 where that is not known; `more`: it is still being looked for."""
    return f"{listed:,}{'+' if more else ''}" + (f" of {whole:,}" if whole else "")


def title(name: str, rest: str, filtered: str, told: str, marked: str) -> str:
    """The title of a list: what is marked and what is left out stand before all else.

    `filtered`: the filter as typed; `told`: how many it lists of how many.
    """
    said = f"filter “{fit(printable(filtered), _LONGEST)}” · {told}" if filtered else ""
    return " ─ ".join(part for part in (name, marked, said, rest) if part)
