"""Bounded walks over the text indexes: the newest matching ids, block by block, within the time limit.

Ids follow time only as long as nothing is imported; a block knows its earliest and latest moment, its projects and
clients. Ids after the last block are new: they are always walked, and first.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from sqlite3 import Connection

from nmem.search import store
from nmem.search.clock import Clock
from nmem.search.index_store import FOREVER, Block
from nmem.search.store import Source, Where, one_of

_GROWTH = 4
_WIDEST = 256
"""Blocks that are walked at once at most: the text index cannot be interrupted inside one."""
_NEWEST, _RANGES = 5, 4
"""The newest fifth of the blocks is walked first, in at most four ranges."""
_SESSIONS = 60
_TOP = 2**61
EVERYWHERE = (Block(0, _TOP, FOREVER),)
_LISTED = 2_000
"""Ids that are listed before their rows are looked at; where more match, the rows of stretches are."""
_AT_ONCE = 100


def widening(order: Sequence[Block], width: int) -> Iterator[tuple[Block, int]]:
    """Stretches, the newest first, wider and wider, each with the latest moment of all that is left after it."""
    at = 0
    while at < len(order):
        some = _joined(order[at : at + width])
        at += width
        for place, block in enumerate(some, 1):
            yield block, max((one.newest for one in (*some[place:], *order[at : at + 1])), default=-FOREVER)
        width = min(width * _GROWTH, _WIDEST)


def newest_first(order: Sequence[Block]) -> list[Block]:
    """Few stretches: those that hold the newest, unless they have the highest ids; then all.

    The text index opens the lists of all words anew for each range, and reads them to the first match wherever that is.
    """
    every = _joined(order)
    newest = _joined(order[: len(order) // _NEWEST])
    if len(newest) == 1 and newest[0].last == every[0].last:
        return every
    return [*newest[:_RANGES], *every]


def by_time(ids: Iterable[int], order: Sequence[Block]) -> list[tuple[int, int]]:
    """Ids in these blocks, by their blocks, each with the latest moment of its block."""
    rising, out = sorted(ids), list[tuple[int, int]]()
    for block in order:
        some = rising[bisect_left(rising, block.first) : bisect_right(rising, block.last)]
        out += [(number, block.newest) for number in reversed(some)]
    return out


def _joined(some: Sequence[Block]) -> list[Block]:
    """Neighbours as one, the highest ids first."""
    out: list[Block] = []
    for block in sorted(some, reverse=True):
        if out and block.last + 1 >= out[-1].first:
            out[-1] = Block(block.first, out[-1].last, max(block.newest, out[-1].newest))
        else:
            out.append(block)
    return out


@dataclass(slots=True)
class Found:
    """Ids and their times (0 when nobody asked), and whether that is all there are."""

    ids: list[tuple[int, int]] = field(default_factory=list)
    complete: bool = True
    cut: bool = False
    """Time was over before the limit was reached."""

    def stop(self) -> None:
        """Time is over; what came until then stays."""
        self.complete, self.cut = False, True


def walk(
    db: Connection, source: Source, match: str, where: Where, order: Sequence[Block], limit: int, clock: Clock,
    *, timed: bool = False, rare: bool = False,
) -> Found:  # fmt: skip
    """At most `limit` of the newest ids that match; with `timed`, the newest by their time, else nearly so.

    `order` is walked as it stands, a statement a stretch. The exact order, and conditions on sessions, cost a look at
    each row: the order is then of blocks, and of `rare` words all ids are listed first, and only the newest looked at.
    """
    walker = _Walker(db, source, match, where, order, limit, clock, timed)
    found = walker.found
    looked = timed or where.sessions
    with clock.watching(db, found.stop):
        if not (looked and rare and walker.listed()):
            walker.stretches(widening(order, 1 if timed else 4) if looked else ((one, -FOREVER) for one in order))
    if timed:
        found.ids.sort(key=lambda pair: (-pair[1], -pair[0]))
    del found.ids[limit:]
    return found


@dataclass(slots=True)
class _Walker:
    """One walk over one index."""

    db: Connection
    source: Source
    match: str
    where: Where
    order: Sequence[Block]
    limit: int
    clock: Clock
    timed: bool
    found: Found = field(default_factory=Found)

    def stretches(self, steps: Iterable[tuple[Block, int]]) -> None:
        """Stretch by stretch, each with the latest moment of what is left; they may overlap."""
        most = -1 if self.timed else self.limit
        for block, newest_left in steps:
            self.clock.check()
            self.found.ids += store.matching(
                self.db, self.source, self.match, self.where, block[:2], most, timed=self.timed
            )
            self.found.ids[:] = dict.fromkeys(self.found.ids)
            if self._enough(newest_left):
                return

    def listed(self) -> bool:
        """All ids that match, then a look at the rows of the newest; False where too many match."""
        self.clock.check()
        db, source = self.db, self.source
        matching = list(store.matching(db, source, self.match, Where(), (0, _TOP), _LISTED + 1, timed=False))
        if len(matching) > _LISTED:
            return False
        ids = by_time([row[0] for row in matching], self.order)
        for start in range(0, len(ids), _AT_ONCE):
            some = [number for number, _ in ids[start : start + _AT_ONCE]]
            self.clock.check()
            self.found.ids += store.fulfilling(db, source, one_of("o.id", some) & self.where)
            if self._enough(max((newest for _, newest in ids[start + _AT_ONCE :][:1]), default=-FOREVER)):
                break
        return True

    def _enough(self, newest_left: int) -> bool:
        """Whether the limit is reached; by time only when no row that was not looked at can be among the newest."""
        ids = self.found.ids
        if len(ids) < self.limit:
            return False
        if self.timed and sorted((at for _, at in ids), reverse=True)[self.limit - 1] <= newest_left:
            return False
        self.found.complete = False
        return True


def browse(db: Connection, source: Source, where: Where, limit: int, clock: Clock, *, index: str) -> Found:
    """The newest rows that fulfil conditions, without any word; by an index, "" for whichever finds few."""
    found = Found()
    with clock.watching(db, found.stop):
        found.ids.extend(store.fulfilling(db, source, where, limit, newest=True, index=index))
    found.complete = found.complete and len(found.ids) < limit
    return found


def browse_sessions(
    db: Connection, source: Source, where: Where, places: Where, limit: int, clock: Clock
) -> Found | None:
    """The newest rows of the newest sessions of a project or client; None when these are not sure to hold them."""
    chosen = store.newest_sessions(db, places, _SESSIONS)
    mine = one_of("o.session_id", [row[0] for row in chosen])
    found = browse(db, source, mine & where, limit, clock, index=source.by_session)
    if len(chosen) == _SESSIONS and (len(found.ids) < limit or found.ids[-1][1] < chosen[-1][1]):
        return None
    return found
