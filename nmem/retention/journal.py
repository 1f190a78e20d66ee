"""Deletes what sweeps forget, logs how much of what it was, and looks after the file (SQL).

Killed anywhere, what is gone is traced and counted, and what is not gone is still there: what deletes also counts, in
one transaction.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from sqlite3 import Connection

from nmem import tables
from nmem.store.store import keep_upkeep_note
from nmem.text import json_object

PERSON, SETTLED, SIZE = "person", "settled", "size"
INDEXES = ("observations_fts", "prompts_fts", "narratives_fts", "search_docs_fts", "search_outputs_fts",
           "search_unspaced_fts", "search_parts")  # fmt: skip
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


# what goes


def delete(db: Connection, table: str, ids: Sequence[int]) -> int:
    """Delete rows; of prompts only those that nobody said and nothing hangs on. How many went."""
    unless = {
        "observations": "pinned = 0 AND obs_type != 'marker'",
        "prompts": "source != 'user' AND NOT EXISTS (SELECT 1 FROM observations o WHERE o.prompt_id = prompts.id)"
        " AND NOT EXISTS (SELECT 1 FROM unit_prompts x WHERE x.prompt_id = prompts.id)",
    }[table]
    return db.execute(f"DELETE FROM {table} WHERE id IN ({_listed(ids)}) AND {unless}").rowcount  # noqa: S608 - our words


def empty(db: Connection, ids: Sequence[int]) -> None:
    """Prompts lose their words."""
    db.execute(f"UPDATE prompts SET content = '' WHERE id IN ({_listed(ids)})")  # noqa: S608 - numbers


def keys(db: Connection, calls: Sequence[int], said: Sequence[int]) -> list[str]:
    """The keys that an import would know these by."""
    of, own = _listed(calls), _listed(said)
    found = db.execute(
        f"SELECT dedup_key FROM observations WHERE id IN ({of})"  # noqa: S608 - numbers
        f" UNION ALL SELECT dedup_key FROM merged_keys WHERE observation_id IN ({of})"
        f" UNION ALL SELECT dedup_key FROM prompts WHERE id IN ({own})"
    )
    return [str(row[0]) for row in found.fetchall()]


def _listed(ids: Sequence[int]) -> str:
    return ",".join(str(int(number)) for number in ids)


@contextmanager
def unnoticed(db: Connection, project_id: int) -> Iterator[None]:
    """What is made of rows stands, though they go meanwhile: candidates for context and words of the search."""
    taken = db.execute("SELECT taken FROM context_projects WHERE project_id = ?", (project_id,)).fetchone()
    stale = db.execute("SELECT done FROM search_state WHERE source = 'stale'").fetchone()
    yield
    if taken:
        db.execute("UPDATE context_projects SET taken = ? WHERE project_id = ?", (taken[0], project_id))
    if stale and not stale[0]:
        db.execute("UPDATE search_state SET done = 0 WHERE source = 'stale' AND done != 0")


def count_session(
    db: Connection,
    session_id: str,
    numbers: tuple[int, int, int],
    newest: int,
    files: Iterable[tuple[str, int]],
    now: int,
) -> None:
    """Add how many calls, prompts and sayings of a session went, and the files of the calls with their times."""
    db.execute(
        "INSERT INTO swept_sessions VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (session_id) DO UPDATE SET observations ="
        " observations + excluded.observations, prompts = prompts + excluded.prompts, sayings = sayings"
        " + excluded.sayings, newest = max(newest, excluded.newest), at = excluded.at",
        (session_id, *numbers, newest, now),
    )
    db.executemany(
        "INSERT INTO swept_files VALUES (?, ?, 1, ?, ?) ON CONFLICT (session_id, file_path) DO UPDATE SET calls ="
        " calls + 1, first_at = min(first_at, excluded.first_at), last_at = max(last_at, excluded.last_at)",
        [(session_id, path, at, at) for path, at in files],
    )


def recount_words(db: Connection, drift: float) -> None:
    """Let the search count its words anew once it counts so many times the texts that there are. In a transaction."""
    counted = db.execute("SELECT texts FROM search_state WHERE source = 'observations'").fetchone()[0]
    if counted > drift * max(100, db.execute("SELECT count(*) FROM observations").fetchone()[0]):
        db.execute("UPDATE search_state SET done = 1 WHERE source = 'stale'")


# notes of upkeep, and the file


def notes(db: Connection) -> dict[str, tuple[int, str]]:
    """What was done for the file, and notes of the clock: name -> (when, what came of it), the newest first."""
    found = db.execute("SELECT name, at, told FROM upkeep ORDER BY at DESC").fetchall()
    return {row[0]: (row[1], row[2]) for row in found}


def note(db: Connection, rows: Iterable[tuple[str, int, str]]) -> None:
    """Note these in place of those before. Inside a transaction."""
    for name, at, told in rows:
        keep_upkeep_note(db, name, at, told)


def drop_note(db: Connection, name: str) -> None:
    """Forget one."""
    db.execute("DELETE FROM upkeep WHERE name = ?", (name,))


def merge_index(db: Connection, index: str, pages: int) -> bool:
    """Merge some pages of a text index; whether there was anything to merge. Inside a transaction."""
    before = db.total_changes
    db.execute(f"INSERT INTO {index}({index}, rank) VALUES ('merge', ?)", (pages,))  # noqa: S608 - our names
    return db.total_changes - before >= 2  # SQLite's word for: there was something to merge


def optimize(db: Connection) -> None:
    """Fresh statistics for the planner, from a sample."""
    db.execute("PRAGMA analysis_limit=400")
    db.execute("PRAGMA optimize")


def checkpoint(db: Connection, *, cut: bool) -> bool:
    """Fold the log back without waiting for anybody, and cut it; whether a reader is in the way."""
    wait = db.execute("PRAGMA busy_timeout").fetchone()[0]
    db.execute("PRAGMA busy_timeout=0")
    try:
        busy, _, _ = db.execute(f"PRAGMA wal_checkpoint({'TRUNCATE' if cut else 'PASSIVE'})").fetchone()
    finally:
        db.execute(f"PRAGMA busy_timeout={wait}")
    return bool(busy)


def vacuum(db: Connection) -> None:
    """Write the file anew: nothing but rows is in it then. Long, and nobody else writes meanwhile."""
    db.execute("VACUUM")


def pages(db: Connection) -> tuple[int, int, int]:
    """How many pages the file has, how many of them are empty, and the bytes of one."""
    names = ("page_count", "freelist_count", "page_size")
    whole, free, each = (int(db.execute(f"PRAGMA {name}").fetchone()[0]) for name in names)
    return whole, free, each


@contextmanager
def unfolded(db: Connection, cache: int) -> Iterator[None]:
    """A cache of so many kilobytes, and a log that is folded back only by `checkpoint`."""
    db.execute(f"PRAGMA cache_size=-{cache}")
    folds = db.execute("PRAGMA wal_autocheckpoint").fetchone()[0]
    db.execute("PRAGMA wal_autocheckpoint=0")
    yield
    db.execute(f"PRAGMA wal_autocheckpoint={folds}")
