"""Parts that all lists share: the row item, the marked rows, and the filter that narrows items by words."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from typing import Generic, NamedTuple, TypeVar

from nmem.text import fit, printable
from nmem_tui.model import symbols
from nmem_tui.model.line import Line, cut, plain
from nmem_tui.model.symbols import Sign

R = TypeVar("R")


class Item(NamedTuple):
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


def plain_items(lines: Sequence[Line]) -> Iterator[Item]:
    """Lines that are only there to be read."""
    for line in lines:
        yield Item(lambda cells, line=line: cut(line, cells))  # type: ignore[misc]


class Rows(Generic[R]):
    """Rows by their keys, as far as they were read: those used least are forgotten."""

    KEPT = 4096

    def __init__(self) -> None:
        self._rows: OrderedDict[int, R] = OrderedDict()
        self._asked: set[int] = set()

    def fill(self, rows: dict[int, R], asked: Iterable[int] = ()) -> None:
        """Keep rows that were asked for."""
        self._asked.difference_update(asked)
        for key, row in rows.items():
            self._rows[key] = row
            self._rows.move_to_end(key)
        while len(self._rows) > self.KEPT:
            self._rows.popitem(last=False)

    def cached(self, key: int) -> R | None:
        """A row if it is in memory."""
        row = self._rows.get(key)
        if row is not None:
            self._rows.move_to_end(key)
        return row


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
    return [head._replace(draw=lambda cells: cut(counts(number), cells))]


def count(listed: int, whole: int, *, more: bool = False) -> str:
    """How many of how many, 0 where that is not known; `more`: it is still being looked for."""
    return f"{listed:,}{'+' if more else ''}" + (f" of {whole:,}" if whole else "")


def title(name: str, rest: str, filtered: str, told: str, marked: str) -> str:
    """The title of a list: what is marked and what is left out stand before all else.

    `filtered`: the filter as typed; `told`: how many it lists of how many.
    """
    said = f"filter “{fit(printable(filtered), _LONGEST)}” · {told}" if filtered else ""
    return " ─ ".join(part for part in (name, marked, said, rest) if part)


SIGNS = (
    Sign("▌", "the row that keys are about", "accent"),
    Sign(
        "▸", "where the cursor rests while the keyboard is elsewhere; what is chosen in a bar; enter leads on", "accent"
    ),
    Sign("{marked}", "a marked row: space marks, keys are about all of them", "warn"),
    Sign("{cut}", "cut here: enter shows the whole", "quiet"),
)
