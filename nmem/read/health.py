"""Reads the figures of the Health screen and `nmem status`: is capture alive, fast and complete; what hooks cost.

Inside: from the hook's first line to its commit, of the newest runs. As the client waits: the whole process, which only
`nmem doctor` can time; it is kept from when that ran last, with a bare interpreter's start, and judged by their ratio.
"""

from __future__ import annotations

import os
import re
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from sqlite3 import Connection

from capture import paths
from capture.files import opened
from capture.storage import spool
from nmem import tables
from nmem.read import figures
from nmem.read.figures import Run
from nmem.read.views import counters

_LOG_TAIL = 16_384


@dataclass(frozen=True, slots=True)
class Latency:
    """Percentiles of a duration in microseconds; None while nothing ran."""

    p50: int | None = None
    p95: int | None = None
    p99: int | None = None


@dataclass(frozen=True, slots=True)
class ClientRow:
    """One client: its newest event and how many were recorded lately."""

    client: str
    last_at: int
    last_event: str
    runs: int
    p50_us: int


@dataclass(frozen=True, slots=True)
class Drift:
    """A field that a client sent and no adapter knew."""

    client: str
    event: str
    field: str
    version: str
    first_at: int


@dataclass(frozen=True, slots=True)
class HealthView:
    """The state of capture and storage."""

    path: str
    wall: Latency
    cpu: Latency
    recent: tuple[int, ...]
    """Wall times of the newest runs, oldest first, in microseconds."""
    runs: int
    results: dict[str, int]
    """Of the newest runs: how many were stored, duplicate, dropped."""
    counters: dict[str, int]
    spool_files: int
    database_bytes: int
    wal_bytes: int
    rows: dict[str, int]
    """By table; of redactions, as everywhere, each secret that was taken out."""
    redactions: dict[str, int]
    drift: tuple[Drift, ...]
    clients: tuple[ClientRow, ...]
    log: tuple[str, ...]
    cost: HookCost
    """By event, against the limit, and why."""

    @property
    def stored(self) -> int:
        """Rows that were written for what came in."""
        return sum(count for table, count in self.rows.items() if table != "redactions")


def _latency(values: Sequence[int]) -> Latency:
    return Latency(*(percentile(values, share) for share in (0.5, 0.95, 0.99))) if values else Latency()


def _size(path: str) -> int:
    try:
        return os.stat(path).st_size  # noqa: PTH116 -- a name with a suffix, not a path of its own
    except OSError:
        return 0


def log_tail(path: str, limit: int = 8) -> tuple[str, ...]:
    """The newest lines of the log, newest last."""
    try:
        with open(paths.log(path), "rb", opener=opened) as file:
            file.seek(max(0, _size(paths.log(path)) - _LOG_TAIL))
            found = file.read().decode("utf-8", "replace").splitlines()
    except OSError:
        return ()
    return tuple(line for line in found if line.strip())[-limit:]


def _clients(runs: Sequence[Run]) -> tuple[ClientRow, ...]:
    """By hook runs where there are any, else by sessions (imported ones have no runs)."""
    by_client: dict[str, list[Run]] = {}
    for run in runs:
        by_client.setdefault(run.client, []).append(run)
    return tuple(ClientRow(client, some[0].at, some[0].event, len(some), percentile([run.wall for run in some], 0.5))
                 for client, some in by_client.items())  # fmt: skip


def health(db: Connection, path: str) -> HealthView:
    """The state of capture and storage now."""
    runs, tally, waits = figures.runs(db), counters(db), spool.waiting(path)
    tally["spooled"] = tally.get("drained", 0) + waits  # what was ever put aside
    return HealthView(
        path=path, wall=_latency([run.wall for run in runs]), cpu=_latency([run.cpu for run in runs]),
        recent=tuple(run.wall for run in reversed(runs[:200])), runs=len(runs),
        results=dict(Counter(run.result for run in runs)), counters=tally, spool_files=waits,
        database_bytes=_size(path), wal_bytes=_size(path + "-wal"), rows=figures.stored(db),
        redactions=figures.redactions(db), drift=tuple(Drift(*row) for row in figures.drift(db)),
        clients=_clients(runs), log=log_tail(path), cost=hook_cost(db, runs),
    )  # fmt: skip


# What hooks cost


HOOK_LIMIT = 3.0
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
    limit = f"{'above the ' * (ratio > HOOK_LIMIT)}limit {HOOK_LIMIT:.0f}x"
    return f"{ratio:.1f}x a bare interpreter's {bare:.0f} ms ({limit})"


def percentile(values: Sequence[int], share: float) -> int:
    """The value at a share of the ordered values; 0 of none."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))] if ordered else 0


def hook_cost(db: Connection, newest: Sequence[Run] | None = None) -> HookCost:
    """From the newest runs, and from what doctor kept."""
    runs = figures.runs(db) if newest is None else newest
    walls = [run.wall for run in runs]
    seen = measured(db)
    slow = None if seen is None else seen.ratio > HOOK_LIMIT
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


def keep_measured(db: Connection, whole: float, bare: float, now: int | None = None) -> None:
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
