"""Reads the figures of the Health screen and `nmem status`: is capture alive, fast and complete; storage."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from sqlite3 import Connection

from capture import paths
from capture.files import opened
from capture.storage import spool
from nmem.read import figures
from nmem.read.figures import Run
from nmem.read.hook_cost import HookCost, hook_cost, percentile
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


def _percentile(ordered: Sequence[int], share: float) -> int | None:
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))] if ordered else None


def _latency(values: Sequence[int]) -> Latency:
    ordered = sorted(values)
    return Latency(*(_percentile(ordered, share) for share in (0.5, 0.95, 0.99)))


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
    return tuple(
        ClientRow(client, some[0].at, some[0].event, len(some), percentile([run.wall for run in some], 0.5))
        for client, some in by_client.items()
    )


def health(db: Connection, path: str) -> HealthView:
    """The state of capture and storage now."""
    runs = figures.runs(db)
    tally = counters(db)
    waits = spool.waiting(path)
    tally["spooled"] = tally.get("drained", 0) + waits  # what was ever put aside
    return HealthView(
        path=path,
        wall=_latency([run.wall for run in runs]),
        cpu=_latency([run.cpu for run in runs]),
        recent=tuple(run.wall for run in reversed(runs[:200])),
        runs=len(runs),
        results=dict(Counter(run.result for run in runs)),
        counters=tally,
        spool_files=waits,
        database_bytes=_size(path),
        wal_bytes=_size(path + "-wal"),
        rows=figures.stored(db),
        redactions=figures.redactions(db),
        drift=tuple(Drift(*row) for row in figures.drift(db)),
        clients=_clients(runs),
        log=log_tail(path),
        cost=hook_cost(db, runs),
    )
