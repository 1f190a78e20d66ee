"""Blocks of ids by time (SQL): the order in which a search for the newest walks them.

Ids follow time only as long as nothing is imported; a block knows its earliest and latest moment, its projects and
clients. Ids after the last block are new: they are always walked, and first.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from sqlite3 import Connection

FOREVER = 2**62
_GROWTH = 4
_WIDEST = 64
"""Blocks that are walked at once at most: the text index cannot be interrupted inside one."""
_STEP = 100_000
"""Ids walked at once where there are no blocks yet."""


@dataclass(frozen=True, slots=True)
class Block:
    first: int
    last: int
    newest: int
    """No row in it, or in any block after it, is later than this."""


def blocks(
    db: Connection, source: str, since: int | None = None, projects: Sequence[int] = (), clients: Sequence[str] = ()
) -> list[Block]:
    """All stretches that can hold such rows, the one with the latest row first; they cover every id."""
    rows = db.execute(
        "SELECT first_id, last_id, max_at, projects, clients FROM search_blocks WHERE source = ? AND max_at >= ?"
        " ORDER BY max_at DESC",
        (source, since or -FOREVER),
    ).fetchall()
    wanted = [f" {one} " for one in projects], [f" {one} " for one in clients]
    kept = [
        Block(first, last, newest)
        for first, last, newest, its_projects, its_clients in rows
        if (not projects or any(one in its_projects for one in wanted[0]))
        and (not clients or any(one in its_clients for one in wanted[1]))
    ]
    return [*_fresh(db, source), *kept]


def _fresh(db: Connection, source: str) -> list[Block]:
    """Ids after the last block, and all ids where there are no blocks: in steps, the highest first."""
    last = db.execute("SELECT max(last_id) FROM search_blocks WHERE source = ?", (source,)).fetchone()[0] or 0
    top = db.execute(f"SELECT max(id) FROM {source}").fetchone()[0] or 0  # noqa: S608 -- our names
    steps = list(range(last, max(top, last + 1), _STEP))
    out = [Block(first + 1, first + _STEP, FOREVER) for first in reversed(steps)]
    return [Block(out[0].first, FOREVER, FOREVER), *out[1:]]


@dataclass(slots=True)
class Walk:
    """Ranges of ids, the newest first; wider and wider while little is found."""

    order: Sequence[Block]
    at: int = 0
    width: int = 4

    def ranges(self) -> Iterator[tuple[int, int]]:
        """(first, last) ids; neighbouring blocks are one range."""
        while self.at < len(self.order):
            some = self.order[self.at : self.at + self.width]
            self.at += len(some)
            yield from _joined(some)
            self.width = min(self.width * _GROWTH, _WIDEST)

    @property
    def newest_left(self) -> int:
        """No row that was not walked yet is later than this."""
        return self.order[self.at].newest if self.at < len(self.order) else -FOREVER


def _joined(some: Sequence[Block]) -> list[tuple[int, int]]:
    out: list[tuple[int, int]] = []
    for block in sorted(some, key=lambda one: -one.first):
        if out and block.last + 1 >= out[-1][0]:
            out[-1] = (block.first, out[-1][1])
        else:
            out.append((block.first, block.last))
    return out
