"""The list of episodes as places: a heading a day, within it one a thread, below them the episodes, newest first.

A session that is by itself gets no heading of its own: all of a day share one, and none when there are no threads.

Slots arrive newest first in pages; what a page adds is grouped, the day it begins in once more. No terminal, no
database. Row texts come in blocks, and those used least are forgotten.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, tzinfo
from typing import NamedTuple

from nmem.read.episodes import EpisodeRow, Slot

BLOCK = 64
_KEPT = 4096


class Entry(NamedTuple):
    """One place: a heading of a day or of a thread, or an episode."""

    kind: str
    """day, thread, single (of sessions that are by themselves) or unit."""
    day: int
    """Days since the year 1."""
    id: int
    """The episode, or the first one below the heading."""
    size: int
    """Episodes below a heading."""


def day_of(at: int, zone: tzinfo | None) -> int:
    """The day of a time, as a number; 0 for a time no calendar has."""
    try:
        return datetime.fromtimestamp(at / 1000, zone).toordinal()
    except (ValueError, OverflowError, OSError):
        return 0


def day_name(day: int, today: int) -> str:
    """How a heading calls a day."""
    if day <= 0:
        return "at an unknown time"
    named = {today: "Today ─ ", today - 1: "Yesterday ─ "}.get(day, "")
    return named + datetime.fromordinal(day).replace(tzinfo=UTC).strftime("%a %d %b %Y")


class Shelf:
    """What is known of the list."""

    def __init__(self, zone: tzinfo | None = None) -> None:
        self.zone = zone
        self.slots: list[Slot] = []
        self.entries: list[Entry] = []
        self.places: dict[int, int] = {}
        """Episode -> its place."""
        self.order: dict[int, int] = {}
        """Episode -> which of the slots is its own."""
        self.complete = True
        self._rows: OrderedDict[int, EpisodeRow] = OrderedDict()
        self._asked: set[int] = set()
        self._open: list[Slot] = []

    def __len__(self) -> int:
        return len(self.entries)

    def add(self, page: Sequence[Slot], *, complete: bool) -> None:
        """Put an older page after what there is."""
        self.complete = complete
        self.order |= {slot.id: number for number, slot in enumerate(page, len(self.slots))}
        self.slots += page
        pending = self._open + list(page)
        if self._open:  # the last day goes on: group it again
            first = next(place for place in range(len(self.entries) - 1, -1, -1) if self.entries[place].kind == "day")
            del self.entries[first:]
        days: dict[int, list[Slot]] = {}
        for slot in pending:
            days.setdefault(day_of(slot.last_at, self.zone), []).append(slot)
        for day, slots in days.items():
            self._put(day, slots)
        self._open = next(reversed(days.values()), [])

    def _put(self, day: int, slots: list[Slot]) -> None:
        self.entries.append(Entry("day", day, slots[0].id, len(slots)))
        threads: dict[int | None, list[Slot]] = {}
        for slot in slots:
            threads.setdefault(slot.thread_id, []).append(slot)
        for thread, group in threads.items():
            if thread is not None or len(threads) > 1:
                kind = "single" if thread is None else "thread"
                self.entries.append(Entry(kind, day, group[0].id, len(group)))
            for slot in group:
                self.places[slot.id] = len(self.entries)
                self.entries.append(Entry("unit", day, slot.id, 0))

    def able(self, place: int) -> bool:
        """Whether the cursor may rest there."""
        return 0 <= place < len(self.entries) and self.entries[place].kind == "unit"

    def oldest(self) -> Slot | None:
        """Where the next older page ends."""
        return self.slots[-1] if self.slots else None

    def unit(self, place: int) -> int | None:
        """The episode at a place."""
        return self.entries[place].id if self.able(place) else None

    def row(self, unit_id: int) -> EpisodeRow | None:
        """The row of an episode if it is in memory."""
        row = self._rows.get(unit_id)
        if row is not None:
            self._rows.move_to_end(unit_id)
        return row

    def wanted(self, first: int, last: int) -> list[int]:
        """Episodes around [first, last) that are neither in memory nor asked for; now they are asked for."""
        low, high = max(0, first - BLOCK), min(len(self.entries), last + BLOCK)
        ids = {entry.id for entry in self.entries[low:high]}
        found = [each for each in ids if each not in self._rows and each not in self._asked]
        shown = {entry.id for entry in self.entries[max(0, first) : last]}
        if not shown & set(found):
            return []
        self._asked.update(found)
        return found

    def shown(self, first: int, last: int) -> list[int]:
        """The episodes on screen, to be read again."""
        return list({entry.id for entry in self.entries[max(0, first) : last]})

    def fill(self, rows: dict[int, EpisodeRow], asked: Iterable[int] = ()) -> None:
        """Keep rows that were asked for."""
        self._asked.difference_update(asked)
        for key, row in rows.items():
            self._rows[key] = row
            self._rows.move_to_end(key)
        while len(self._rows) > _KEPT:
            self._rows.popitem(last=False)

    def inherit(self, other: Shelf) -> None:
        """Take over the rows of an older list."""
        self._rows.update(other._rows)
