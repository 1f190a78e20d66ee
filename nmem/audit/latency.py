"""Checks whether hooks have become slower, by client and event (SQL), by the costs of nmem.read.health."""

from __future__ import annotations

from dataclasses import dataclass
from sqlite3 import Connection

from nmem.audit import NOTE, OK, Finding
from nmem.audit.shift import median, slower
from nmem.read.figures import NEWEST, runs
from nmem.read.health import EventCost, hook_cost, percentile

_RATIO = 1.5
"""Times as slow from which on it is told."""
_MENDS = "nmem doctor --fix (bytecode, rule cache, write-ahead log)"


@dataclass(frozen=True, slots=True)
class Latency:
    """One client's event: microseconds, of the newest quarter of all its runs that are kept and of those before."""

    client: str
    event: str
    runs: int
    p50: int
    before_p50: int | None
    slower: bool


def latencies(db: Connection) -> tuple[Latency, ...]:
    """Of the runs that are kept (some thousands), the most frequent events first. Raises sqlite3.Error."""
    walls: dict[tuple[str, str], list[int]] = {}
    for run in reversed(runs(db, -1)):
        walls.setdefault((run.client, run.event), []).append(run.wall)
    rows = sorted(walls.items(), key=lambda each: -len(each[1]))
    return tuple(_latency(client, event, found) for (client, event), found in rows)


def _latency(client: str, event: str, walls: list[int]) -> Latency:
    split = len(walls) * 3 // 4
    before, after = walls[:split], walls[split:]
    return Latency(client, event, len(walls), percentile(after if len(walls) >= 8 else walls, 0.5),
                   median(before) if before else None, slower(before, after, _RATIO))  # fmt: skip


def findings(db: Connection) -> list[Finding]:
    """Events whose hooks have become slower; else a line for each client; and whether what a client waits is much."""
    out = []
    found, cost = latencies(db), hook_cost(db)
    if cost.slow:
        said = f"{cost.verdict}; {cost.why or 'no cause found here: a busy machine has this effect'}"
        out.append(Finding("latency", NOTE, said, _MENDS if cost.why else ""))
    for client in dict.fromkeys(one.client for one in found):
        mine = [one for one in found if one.client == client]
        for one in (one for one in mine if one.slower):
            was, now = f"{(one.before_p50 or 0) / 1000:.0f} ms", f"{one.p50 / 1000:.0f} ms"
            said = f"{one.event} takes {now} lately, was {was} ({one.runs:,} runs)"
            out.append(Finding("latency", NOTE, said, _MENDS, client, one.p50 / 1000))
        if not any(one.slower for one in mine):
            said = ", ".join(_ms(one) for one in [each for each in cost.events if each.client == client][:4])
            if said:
                said = f"inside the hook half take up to, and 95 in 100 (of the newest {NEWEST:,}): {said}"
                out.append(Finding("latency", OK, said, "", client))
    return out


def _ms(one: EventCost) -> str:
    return f"{one.event} {one.p50 / 1000:.0f} and {one.p95 / 1000:.0f} ms"
