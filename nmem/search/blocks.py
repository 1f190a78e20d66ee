"""Divides row ids into blocks of known time (SQL), so that a search walks the newest rows first.

Ids follow time only as long as nothing is imported; a block knows its earliest and latest moment, its projects and
clients. Ids after the last block are new: they are always walked, and first.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from sqlite3 import Connection
from typing import NamedTuple

FOREVER = 2**62
_GROWTH = 4
_WIDEST = 256
"""Blocks that are walked at once at most: the text index cannot be interrupted inside one."""
_NEWEST, _RANGES = 5, 4
"""The newest fifth of the blocks is walked first, in at most four ranges."""
_STEP = 100_000
"""Ids walked at once where there are no blocks yet."""


class Block(NamedTuple):
    first: int
    last: int
    newest: int
    """No row in it, or in any block after it, is later than this."""


def blocks(
    db: Connection, source: str, since: int | None = None, projects: Sequence[int] = (), clients: Sequence[str] = ()
) -> list[Block]:
    """All stretches that can hold such rows, the one with the latest row first; they cover every id."""
    sql, values = "", list[object]()
    for column, wanted in (("projects", projects), ("clients", clients)):
        if wanted:
            sql += " AND (" + " OR ".join([f"instr({column}, ?)"] * len(wanted)) + ")"
            values += [f" {one} " for one in wanted]
    kept = db.execute(
        f"SELECT first_id, last_id, max_at FROM search_blocks WHERE source = ? AND max_at >= ?{sql}"  # noqa: S608
        " ORDER BY max_at DESC",
        (source, since or -FOREVER, *values),
    ).fetchall()
    return [*_fresh(db, source), *map(Block._make, kept)]


def _fresh(db: Connection, source: str) -> list[Block]:
    """Ids after the last block, and all ids where there are no blocks: in steps, the highest first."""
    last = db.execute("SELECT max(last_id) FROM search_blocks WHERE source = ?", (source,)).fetchone()[0] or 0
    top = db.execute(f"SELECT max(id) FROM {source}").fetchone()[0] or 0  # noqa: S608 -- our names
    return [Block(first + 1, first + _STEP, FOREVER) for first in reversed(range(last, top, _STEP))]


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
