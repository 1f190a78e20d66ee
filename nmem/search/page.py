"""Pages of a search that do not shift while new rows come in."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from nmem.search.rows import Row
    from nmem.search.search import Hit

RELEVANCE, NEWEST = "relevance", "newest"
_FORM = re.compile(r"(relevance|newest)\.(\d{1,6})\.(\d{1,15})\.(\d{1,15})\Z")


@dataclass(frozen=True, slots=True)
class Cursor:
    """Where a page begins.

    By relevance: after `skip` hits, as of `now`: what is later does not count. By time: at `at`, after `skip` hits of
    just that millisecond.
    """

    order: str
    now: int
    skip: int = 0
    at: int = 0

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
        return cls(found[1], int(found[4]), int(found[2]), int(found[3]))

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

    def page(self, scored: Sequence[tuple[Hit, Row]], limit: int) -> Sequence[tuple[Hit, Row]]:
        """The hits of this page, of all in order."""
        return scored[self.skip : self.skip + limit]

    def further(self, scored: Sequence[tuple[Hit, Row]], page: Sequence[tuple[Hit, Row]], *, more: bool) -> str:
        """The cursor of the page after this one, empty when there is none; `more`: not all hits are in `scored`."""
        if not page or (self.skip + len(page) >= len(scored) and not (more and self.order == NEWEST)):
            return ""
        if self.order == RELEVANCE:
            return f"{RELEVANCE}.{self.skip + len(page)}.0.{self.now}"
        last = page[-1][0].at
        same = sum(hit.at == last for hit, _ in page) + (self.skip if last == self.at else 0)
        return f"{NEWEST}.{same}.{last}.{self.now}"
