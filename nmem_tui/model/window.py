"""Which rows of a stream there are, and which of them are in memory. No terminal, no database.

A row is addressed by its place among the slots. Slots arrive newest first in pages, and one by one as rows are
stored; a late row goes where its time says. Row texts come in blocks and the blocks used least are forgotten.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import OrderedDict
from collections.abc import Iterable, Sequence

from nmem.read.stream import Slots
from nmem.read.views import StreamRow

BLOCK = 128
_KEPT = 8192


class Window:
    """The slots of one stream and a bounded cache of its rows."""

    def __init__(self) -> None:
        self.slots = Slots.of(())
        self.complete = False
        """Whether the oldest slot is the stream's oldest."""
        self._rows: OrderedDict[int, StreamRow] = OrderedDict()
        self._asked: set[int] = set()

    def __len__(self) -> int:
        return len(self.slots)

    def older(self, page: Slots, *, complete: bool) -> None:
        """Put an older page before what there is."""
        self.slots.at[:0] = page.at
        self.slots.key[:0] = page.key
        self.complete = complete

    def newer(self, page: Slots) -> int:
        """Put stored rows where they belong; how many were not there yet."""
        added = 0
        for at, key in zip(page.at, page.key, strict=True):
            place = self._place(at, key)
            if place < len(self) and self.slots.key[place] == key:
                continue
            if place == 0 and not self.complete and len(self):
                continue  # it will come with its page
            self.slots.at.insert(place, at)
            self.slots.key.insert(place, key)
            added += 1
        return added

    def _place(self, at: int, key: int) -> int:
        low = bisect_left(self.slots.at, at)
        while low < len(self) and self.slots.at[low] == at and self.slots.key[low] < key:
            low += 1
        return low

    def key(self, place: int) -> int | None:
        """The key at a place."""
        return self.slots.key[place] if 0 <= place < len(self) else None

    def find(self, at: int, key: int) -> int:
        """The place of a slot, or where it would be; never past the end."""
        return max(0, min(self._place(at, key), len(self) - 1))

    def oldest(self) -> tuple[int, int] | None:
        """Where the next older page ends."""
        return (self.slots.at[0], self.slots.key[0]) if len(self) else None

    def row(self, place: int) -> StreamRow | None:
        """The row at a place if it is in memory."""
        key = self.key(place)
        if key is None or key not in self._rows:
            return None
        self._rows.move_to_end(key)
        return self._rows[key]

    def wanted(self, first: int, last: int) -> Sequence[int]:
        """Keys of the blocks around [first, last) that are neither in memory nor asked for; now they are asked for."""
        low = max(0, first // BLOCK * BLOCK)
        high = min(len(self), -(-last // BLOCK) * BLOCK)
        keys = [key for key in self.slots.key[low:high] if key not in self._rows and key not in self._asked]
        keys = keys[: 4 * BLOCK]
        self._asked.update(keys)
        return keys

    def fill(self, rows: dict[int, StreamRow], asked: Iterable[int]) -> None:
        """Keep rows that were asked for."""
        self._asked.difference_update(asked)
        for key, row in rows.items():
            self._rows[key] = row
            self._rows.move_to_end(key)
        while len(self._rows) > _KEPT:
            self._rows.popitem(last=False)

    def stale(self, first: int, last: int) -> list[int]:
        """Keys on screen, to be read again: a stored row may have been merged into or mended since."""
        return list(self.slots.key[max(0, first) : max(0, last)])
