"""Pages of a search that stay stable while new rows arrive."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from nmem.search.rank import Ranked
    from nmem.search.rows import Row

RELEVANCE, NEWEST = "relevance", "newest"
_FORM = re.compile(r"(relevance|newest)\.(\d{1,6})\.(\d{1,15})\.(\d{1,15})(?:\.(\d)\.(\d{1,18}))?\Z")
_TABLES = ("search_docs", "work_units", "prompts", "observations")
Key = tuple[int, int, int]
"""What hits are ordered by when the newest come first: no two have the same."""


def key(row: Row) -> Key:
    """A row's place in time; of one millisecond, by its table, and the last stored first."""
    return -row.at, _TABLES.index(row.table), -row.number


@dataclass(frozen=True, slots=True)
class Cursor:
    """Where a page begins.

    By relevance: after `skip` hits, as of `now`: what is later does not count. By time: after the hit with the key
    (`at`, `table`, `number`); `skip` of that millisecond are found again.
    """

    order: str
    now: int
    skip: int = 0
    at: int = 0
    table: int = 0
    number: int = 0

    @classmethod
    def of(cls, text: str, order: str, now: int) -> Cursor:
        """The cursor that a text is; the first page for none. Raises ValueError."""
        if order not in (RELEVANCE, NEWEST):
            raise ValueError(f"order: {order!r} is neither relevance nor newest")
        if not text:
            return cls(order, now)
        found = _FORM.match(text)
        if found is None:
            raise ValueError("cursor: pass the `next` of an earlier page of the same query, unchanged")
        return cls(found[1], int(found[4]), int(found[2]), int(found[3]), int(found[5] or 0), int(found[6] or 0))

    def by_time(self) -> Cursor:
        """The same page, of an order by time."""
        return self if self.order == NEWEST else replace(self, order=NEWEST)

    @property
    def before(self) -> int | None:
        """Nothing later is wanted."""
        if self.order == NEWEST:
            return self.at or None
        return self.now if self.skip else None

    @property
    def overlap(self) -> int:
        """Hits of earlier pages that are found again."""
        return self.skip if self.order == NEWEST else 0

    def page(self, ranked: Sequence[Ranked], limit: int) -> Sequence[Ranked]:
        """The hits of this page, of all in order."""
        return ranked[(first := self._first(ranked)) : first + limit]

    def _first(self, ranked: Sequence[Ranked]) -> int:
        if self.order == RELEVANCE or not self.number:
            return self.skip
        last = -self.at, self.table, -self.number
        return sum(key(one.row) <= last for one in ranked)

    def further(self, ranked: Sequence[Ranked], page: Sequence[Ranked], *, more: bool) -> str:
        """The cursor of the page after this one, empty when there is none; `more`: not all hits are in `ranked`."""
        if not page or (self._first(ranked) + len(page) >= len(ranked) and not (more and self.order == NEWEST)):
            return ""
        if self.order == RELEVANCE:
            return f"{RELEVANCE}.{self.skip + len(page)}.0.{self.now}"
        at, table, number = key(page[-1].row)
        same = sum(one.row.at == -at for one in page) + (self.skip if -at == self.at else 0)
        return f"{NEWEST}.{same}.{-at}.{self.now}.{table}.{-number}"
