"""Computes the cost of hooks to the waiting client: percentiles, verdict, likely cause; for every display.

Inside: from the hook's first line to its commit, of the newest runs. As the client waits: the whole process, which only
`nmem doctor` can time; it is kept from when that ran last, with a bare interpreter's start, and judged by their ratio.
"""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from dataclasses import dataclass
from sqlite3 import Connection

from nmem import tables
from nmem.read import figures
from nmem.read.figures import Run

LIMIT = 3.0
"""Bare interpreters that a hook may take; one more where it tells a session something."""
_MEASURED = "hooks measured"
_TOLD = re.compile(r"([\d.]+) ms as the client waits, a bare interpreter ([\d.]+) ms")
_PROMPTS = frozenset(("UserPromptSubmit", "BeforeAgent", "beforeSubmitPrompt", "userPromptSubmitted", "chat.message"))
_SLOW_US = 50_000
_TAIL = 3
"""Times the usual from which on the slowest runs are asked for their reason."""
_LARGE = 100_000
"""Bytes of an event."""


@dataclass(frozen=True, slots=True)
class EventCost:
    """One client's event, inside the hook, in microseconds."""

    client: str
    event: str
    runs: int
    p50: int
    p95: int


@dataclass(frozen=True, slots=True)
class Measured:
    """What doctor timed, in milliseconds."""

    at: int
    whole: float
    bare: float

    @property
    def ratio(self) -> float:
        """In bare interpreters."""
        return self.whole / self.bare if self.bare else 0.0


@dataclass(frozen=True, slots=True)
class HookCost:
    """What hooks cost, by event, whether that is too much, and why."""

    runs: int = 0
    p50: int = 0
    p95: int = 0
    events: tuple[EventCost, ...] = ()
    """The most frequent first."""
    measured: Measured | None = None
    slow: bool | None = None
    """Above the limit; None: doctor has not measured it yet."""
    why: str = ""
    """The likeliest reason, where they are slow or some are."""

    @property
    def verdict(self) -> str:
        """What the client waits, against the limit, in words."""
        seen = self.measured
        if seen is None:
            return "the client's waiting time is not measured yet: `nmem doctor` measures it"
        return (
            f"the client waits {seen.whole:.0f} ms for each event that nmem doctor sends,"
            f" {times(seen.ratio, seen.bare)}"
        )


def times(ratio: float, bare: float) -> str:
    """A hook's whole time, in bare interpreters, and what it may be."""
    return f"{ratio:.1f}x a bare interpreter's {bare:.0f} ms ({'above the ' * (ratio > LIMIT)}limit {LIMIT:.0f}x)"


def percentile(values: Sequence[int], share: float) -> int:
    """The value at a share of the ordered values; 0 of none."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))] if ordered else 0


def hook_cost(db: Connection, newest: Sequence[Run] | None = None) -> HookCost:
    """From the newest runs, and from what doctor kept."""
    runs = figures.runs(db) if newest is None else newest
    walls = [run.wall for run in runs]
    seen = measured(db)
    slow = None if seen is None else seen.ratio > LIMIT
    events = _events(runs)
    return HookCost(len(runs), percentile(walls, 0.5), percentile(walls, 0.95), events, seen, slow,
                    _why(db, runs, events, seen, slow=bool(slow)))  # fmt: skip


def _events(runs: Sequence[Run]) -> tuple[EventCost, ...]:
    walls: dict[tuple[str, str], list[int]] = {}
    for run in runs:
        walls.setdefault((run.client, run.event), []).append(run.wall)
    found = [EventCost(*name, len(each), percentile(each, 0.5), percentile(each, 0.95)) for name, each in walls.items()]
    return tuple(sorted(found, key=lambda one: (-one.runs, one.client, one.event)))


def _why(db: Connection, runs: Sequence[Run], events: Sequence[EventCost], seen: Measured | None, *, slow: bool) -> str:
    """The likeliest reason why hooks are slow, or why the slowest of them are; nothing where none is."""
    if not runs:
        return ""
    usual = percentile([run.wall for run in runs], 0.5)
    bound = max(_SLOW_US, _TAIL * usual) if usual < _SLOW_US else _SLOW_US
    late = [run for run in runs if run.wall >= bound]
    if slow and seen is not None and seen.whole - usual / 1000 > 2 * seen.bare:
        return "start-up takes longest: bytecode or the rule cache is missing: nmem doctor --fix"
    if not slow and len(late) * 50 < len(runs):
        return ""
    of = late or runs
    waits = percentile([run.wall - run.cpu for run in of], 0.5)
    if waits > usual / 2 and waits > _SLOW_US / 2:
        tally = figures.counters(db)
        tried = any(tally.get(name, 0) > 0 for name in ("spooled", "drained"))
        held = "another process locks the database" if tried else "the disk of the database is slow, or busy"
        which = "they wait" if slow else f"the slowest {len(late)} of {len(runs)} wait"
        return f"{which} {waits / 1000:.0f} ms without working: {held}"
    if percentile([run.size for run in of], 0.5) > _LARGE:
        size = percentile([run.size for run in of], 0.5) / 1000
        return f"large events: half of the slow ones hold {size:,.0f} kB or more"
    if sum(run.event in _PROMPTS for run in of) * 2 > len(of):
        return "prompts: context is selected while the session waits"
    worst = max(events, key=lambda one: one.p95)
    return f"mostly {worst.event}: 95 in 100 take up to {worst.p95 / 1000:.0f} ms"


def measured(db: Connection) -> Measured | None:
    """What doctor timed last; None when it never did."""
    row = figures.note(db, _MEASURED)
    found = _TOLD.match(row[1]) if row else None
    return Measured(row[0], float(found[1]), float(found[2])) if row and found else None


def keep(db: Connection, whole: float, bare: float, now: int | None = None) -> None:
    """Keep what was timed, in milliseconds. On a writing connection, outside a transaction."""
    if tables.version(db) and bare:
        said = f"{whole:.1f} ms as the client waits, a bare interpreter {bare:.1f} ms"
        figures.keep(db, _MEASURED, time.time_ns() // 1_000_000 if now is None else now, said)


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
    runs = [run for run in figures.runs(db, -1) if run.at <= now]
    oldest = min((run.at for run in runs), default=now)
    length = next((each for each in _SIZES if (now - oldest) < SPANS * each), WEEK)
    found: dict[int, list[int]] = {}
    for run in runs:
        found.setdefault((now - run.at) // length, []).append(run.wall)
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
    for back, rows in figures.came_in(db, now, WEEK, WEEKS):
        counts[WEEKS - 1 - int(back)] = int(rows or 0)
    return tuple(counts)
