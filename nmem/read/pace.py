"""Cost of hooks over time, and growth (SQL): are hooks slow, since when, how fast does the memory grow?"""

from __future__ import annotations

from dataclasses import dataclass
from sqlite3 import Connection

HOUR = 3_600_000
WEEK = 7 * 24 * HOUR
_SIZES = (HOUR, 6 * HOUR, 24 * HOUR, WEEK)
"""Lengths of a span, in milliseconds: the shortest that needs no more than SPANS of them."""
SPANS = 48
WEEKS = 12
_RUNS = 5
"""Fewer runs say nothing about a span."""
_SLOWER, _SLOWER_US = 1.5, 10_000
"""How much above what was usual is slower: so many times, and so many microseconds."""


@dataclass(frozen=True, slots=True)
class Span:
    """The hooks of one stretch of time."""

    at: int
    """When it began, in milliseconds."""
    runs: int
    p50: int
    """Wall time in microseconds, as is the next."""
    worst: int


@dataclass(frozen=True, slots=True)
class Pace:
    """Hooks by hour, by six hours, by day or by week; and rows by week."""

    length: int
    """Of a span, in milliseconds."""
    spans: tuple[Span | None, ...]
    """Oldest first, up to now; None where no hook ran."""
    usual: int | None
    """What was usual before they became slower; else what is."""
    slower: Span | None
    """The span since which they are slower, if they are."""
    weeks: tuple[int, ...]
    """Rows that came in by week, as sessions counted them; the last one is the seven days up to now."""


def pace(db: Connection, now: int) -> Pace:
    """From the runs that are kept, a few thousand, and from the sessions of twelve weeks."""
    runs = db.execute("SELECT at, wall_us FROM hook_runs WHERE at <= ? ORDER BY id", (now,)).fetchall()
    oldest = min((int(row[0]) for row in runs), default=now)
    length = next((each for each in _SIZES if (now - oldest) < SPANS * each), WEEK)
    found: dict[int, list[int]] = {}
    for at, wall in runs:
        found.setdefault((now - int(at)) // length, []).append(int(wall))
    count = min(SPANS, max(found, default=-1) + 1)
    spans = tuple(_span(found.get(back), now - (back + 1) * length) for back in range(count - 1, -1, -1))
    usual, slower = _verdict([one for one in spans if one is not None and one.runs >= _RUNS])
    return Pace(length, spans, usual, slower, _weeks(db, now))


def _span(walls: list[int] | None, at: int) -> Span | None:
    if not walls:
        return None
    return Span(at, len(walls), _middle(walls), max(walls))


def _middle(values: list[int]) -> int:
    return sorted(values)[len(values) // 2]


def _verdict(spans: list[Span]) -> tuple[int | None, Span | None]:
    """What was usual, and the first of the newest spans that are all slower than that."""
    if not spans:
        return None, None
    since: Span | None = None
    for place in range(len(spans) - 1, 0, -1):
        before = _middle([one.p50 for one in spans[:place]])
        if any(one.p50 < max(before * _SLOWER, before + _SLOWER_US) for one in spans[place:]):
            break
        since = spans[place]
    if since is None:
        return _middle([one.p50 for one in spans]), None
    return _middle([one.p50 for one in spans[: spans.index(since)]]), since


def _weeks(db: Connection, now: int) -> tuple[int, ...]:
    counts = [0] * WEEKS
    for back, rows in db.execute(
        "SELECT (?1 - last_at) / ?2, sum(seq) FROM sessions WHERE last_at > ?1 - ?3 AND last_at <= ?1 GROUP BY 1",
        (now, WEEK, WEEKS * WEEK),
    ):
        counts[WEEKS - 1 - int(back)] = int(rows or 0)
    return tuple(counts)
