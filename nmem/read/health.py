"""Reads the figures of the Health screen and `nmem status`: is capture alive, fast and complete; storage."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from sqlite3 import Connection

from capture import paths
from capture.files import opened
from capture.storage import spool
from nmem.read.hook_cost import RUNS, HookCost, hook_cost
from nmem.read.views import counters

_TABLES = ("projects", "sessions", "prompts", "observations", "hook_runs", "redactions", "payload_drift")
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


def _clients(db: Connection) -> tuple[ClientRow, ...]:
    """By hook runs where there are any, else by sessions (imported ones have no runs)."""
    found = db.execute("SELECT client, at, event, wall_us FROM hook_runs ORDER BY id DESC LIMIT ?", (RUNS,)).fetchall()
    walls: dict[str, list[int]] = {}
    newest: dict[str, tuple[int, str]] = {}
    for row in found:
        walls.setdefault(row["client"], []).append(row["wall_us"])
        newest.setdefault(row["client"], (row["at"], row["event"]))
    return tuple(
        ClientRow(client, at, event, len(walls[client]), _percentile(sorted(walls[client]), 0.5) or 0)
        for client, (at, event) in newest.items()
    )


def _counted(table: str) -> str:
    """What a person counts of a table: redactions are kept as a sum for each day and kind."""
    return "coalesce(sum(count), 0)" if table == "redactions" else "count(*)"


def health(db: Connection, path: str) -> HealthView:
    """The state of capture and storage now."""
    runs = db.execute("SELECT wall_us, cpu_us, result FROM hook_runs ORDER BY id DESC LIMIT ?", (RUNS,)).fetchall()
    results: dict[str, int] = {}
    for row in runs:
        results[row["result"]] = results.get(row["result"], 0) + 1
    drift = db.execute(
        "SELECT client, event, field, client_version, first_at FROM payload_drift ORDER BY first_at DESC LIMIT 20"
    )
    tally = counters(db)
    waits = spool.waiting(path)
    tally["spooled"] = tally.get("drained", 0) + waits  # what was ever put aside
    kinds = db.execute("SELECT kind, sum(count) FROM redactions GROUP BY kind ORDER BY 2 DESC")
    return HealthView(
        path=path,
        wall=_latency([row["wall_us"] for row in runs]),
        cpu=_latency([row["cpu_us"] for row in runs]),
        recent=tuple(row["wall_us"] for row in reversed(runs[:200])),
        runs=len(runs),
        results=results,
        counters=tally,
        spool_files=waits,
        database_bytes=_size(path),
        wal_bytes=_size(path + "-wal"),
        rows={name: db.execute(f"SELECT {_counted(name)} FROM {name}").fetchone()[0] for name in _TABLES},  # noqa: S608
        redactions=dict(tuple(row) for row in kinds.fetchall()),
        drift=tuple(Drift(*row) for row in drift.fetchall()),
        clients=_clients(db),
        log=log_tail(path),
        cost=hook_cost(db),
    )
