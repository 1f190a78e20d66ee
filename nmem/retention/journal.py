"""Logs each sweep with the number of rows deleted by type (SQL), in the transactions that delete."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from sqlite3 import Connection

from nmem import tables
from nmem.text import json_object

PERSON, SETTLED, SIZE = "person", "settled", "size"
FINISHED, TIME, STOPPED = "finished", "time", "stopped"


@dataclass(frozen=True, slots=True)
class Counted:
    """So many of one type, in one project."""

    project: str
    type: str
    days: float
    count: int
    oldest: int
    newest: int


@dataclass(frozen=True, slots=True)
class Entry:
    """One sweep."""

    id: int
    started_at: int
    last_at: int
    why: str
    done: str
    """Why it ended; empty while it runs."""
    project: str
    """The only one that was swept; empty: all."""
    sessions: int
    skipped: Mapping[str, int]
    """Sessions let alone, by reason."""
    policy: Mapping[str, object]
    counts: tuple[Counted, ...]

    @property
    def count(self) -> int:
        """How much was forgotten."""
        return sum(one.count for one in self.counts)


def begin(db: Connection, why: str, project_id: int | None, policy: Mapping[str, object], now: int) -> int:
    """A new entry; what an earlier sweep left open was stopped. Inside a transaction."""
    db.execute("UPDATE sweep_journal SET ended_at = last_at, done = ? WHERE ended_at IS NULL", (STOPPED,))
    made = db.execute(
        "INSERT INTO sweep_journal (started_at, last_at, why, project_id, policy) VALUES (?, ?, ?, ?, ?)",
        (now, now, why, project_id, json.dumps(policy, ensure_ascii=False)),
    )
    return int(made.lastrowid or 0)


def count(db: Connection, sweep_id: int, project_id: int, gone: Iterable[tuple[str, int]],
          days: Mapping[str, float], now: int) -> None:  # fmt: skip
    """Add what goes, as (type, when it happened). Inside the transaction in which it goes."""
    sums: dict[str, list[int]] = {}
    for type_, at in gone:
        one = sums.setdefault(type_, [0, at, at])
        one[0], one[1], one[2] = one[0] + 1, min(one[1], at), max(one[2], at)
    db.executemany(
        "INSERT INTO sweep_counts VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (sweep_id, project_id, type) DO UPDATE SET"
        " count = count + excluded.count, oldest = min(oldest, excluded.oldest), newest = max(newest, excluded.newest)",
        [(sweep_id, project_id, type_, days.get(type_, 0.0), *one) for type_, one in sums.items()],
    )
    db.execute("UPDATE sweep_journal SET last_at = ? WHERE id = ?", (now, sweep_id))


def end(db: Connection, sweep_id: int, done: str, sessions: int, skipped: Mapping[str, int], now: int) -> None:
    """The sweep is over. Inside a transaction."""
    db.execute(
        "UPDATE sweep_journal SET ended_at = ?1, last_at = ?1, done = ?2, sessions = ?3, skipped = ?4 WHERE id = ?5",
        (now, done, sessions, json.dumps(skipped), sweep_id),
    )


def drop(db: Connection, sweep_id: int) -> None:
    """Nothing went: nothing to keep, but when a sweep was last made by itself. Inside a transaction."""
    db.execute(
        "DELETE FROM sweep_journal WHERE id != ?1 AND ended_at IS NOT NULL AND why = (SELECT why FROM sweep_journal"
        " WHERE id = ?1) AND NOT EXISTS (SELECT 1 FROM sweep_counts c WHERE c.sweep_id = sweep_journal.id)",
        (sweep_id,),
    )


def entries(db: Connection, limit: int = 20) -> tuple[Entry, ...]:
    """The newest sweeps, the newest first."""
    rows = db.execute(
        "SELECT j.id, j.started_at, j.last_at, j.why, j.done, coalesce(p.name, ''), j.sessions, j.skipped, j.policy"
        " FROM sweep_journal j LEFT JOIN projects p ON p.id = j.project_id ORDER BY j.id DESC LIMIT ?",
        (limit,),
    ).fetchall()
    return tuple(
        Entry(row[0], row[1], row[2], row[3], row[4], row[5], row[6], json_object(row[7]), json_object(row[8]),
              _counts(db, row[0]))
        for row in rows
    )  # fmt: skip


def _counts(db: Connection, sweep_id: int) -> tuple[Counted, ...]:
    rows = db.execute(
        "SELECT p.name, c.type, c.days, c.count, c.oldest, c.newest FROM sweep_counts c"
        " JOIN projects p ON p.id = c.project_id WHERE c.sweep_id = ? ORDER BY c.count DESC, c.type",
        (sweep_id,),
    )
    return tuple(Counted(*row) for row in rows.fetchall())


def last(db: Connection) -> tuple[int, bool] | None:
    """When the newest sweep of all projects began, and whether it came to its end; None before the first."""
    row = db.execute(
        "SELECT started_at, done = ? FROM sweep_journal WHERE project_id IS NULL ORDER BY id DESC LIMIT 1", (FINISHED,)
    ).fetchone()
    return (int(row[0]), bool(row[1])) if row else None


@dataclass(frozen=True, slots=True)
class Gone:
    """What is known by its trace only."""

    observations: int = 0
    prompts: int = 0
    """Whose words are gone."""
    sayings: int = 0
    newest: int = 0
    """When the last of it happened."""

    @property
    def said(self) -> str:
        """One sentence, or nothing."""
        parts = []
        if self.observations:
            one = self.observations == 1
            parts.append(f"{self.observations:,} older {'call is' if one else 'calls are'} known by their trace only")
        if self.prompts:
            one = self.prompts == 1
            parts.append(f"the words of {self.prompts:,} older {'prompt' if one else 'prompts'} are forgotten")
        return "; ".join(parts)


def gone(db: Connection) -> Gone:
    """What was forgotten; empty before the first sweep."""
    if not tables.version(db):
        return Gone()
    row = db.execute(
        "SELECT total(g.observations), total(g.prompts), total(g.sayings), coalesce(max(g.newest), 0)"
        " FROM swept_sessions g JOIN sessions s ON s.id = g.session_id"
    ).fetchone()
    return Gone(int(row[0]), int(row[1]), int(row[2]), int(row[3]))
