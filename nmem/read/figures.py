"""What figures are made of (SQL): hook runs, counters, days, and what sessions did with each lesson."""

from __future__ import annotations

import json
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime, timedelta, tzinfo
from sqlite3 import Connection
from typing import Any, NamedTuple

from capture.storage.store import transaction
from nmem import tables
from nmem.read import store
from nmem.store.store import keep_upkeep_note, upkeep_note
from nmem.text import json_object

NEWEST = 1000
"""The newest hook runs that every figure is made of."""
_TABLES = ("projects", "sessions", "prompts", "observations", "hook_runs", "redactions", "payload_drift")
_NOTED = ("session_start", "session_resume", "session_clear", "session_compact", "marker")
"""What is no call."""


# Hooks, and what is stored


class Run(NamedTuple):
    """One run of a hook; its times are microseconds, when it was milliseconds."""

    client: str
    event: str
    wall: int
    cpu: int
    size: int
    at: int
    result: str


def runs(db: Connection, most: int = NEWEST) -> list[Run]:
    """The newest runs first; -1: all that are kept."""
    sql = "SELECT client, event, wall_us, cpu_us, bytes, at, result FROM hook_runs ORDER BY id DESC LIMIT ?"
    return [Run(*row) for row in db.execute(sql, (most,)).fetchall()]


def counters(db: Connection) -> dict[str, int]:
    """All counters in the database by name."""
    return dict(map(tuple, db.execute("SELECT name, value FROM counters").fetchall()))


def note(db: Connection, name: str) -> tuple[int, str] | None:
    """When something was done for the file, and what came of it."""
    row = upkeep_note(db, name) if tables.version(db) else None
    return (int(row[0]), str(row[1])) if row else None


def keep(db: Connection, name: str, at: int, told: str) -> None:
    """Keep such a note. On a writing connection, outside a transaction."""
    with transaction(db):
        keep_upkeep_note(db, name, at, told)


def stored(db: Connection) -> dict[str, int]:
    """How much is in each table; of redactions, which are kept as a sum for each day and kind, each secret."""
    what = {name: "coalesce(sum(count), 0)" if name == "redactions" else "count(*)" for name in _TABLES}
    return {name: db.execute(f"SELECT {count} FROM {name}").fetchone()[0] for name, count in what.items()}  # noqa: S608


def redactions(db: Connection) -> dict[str, int]:
    """How many secrets were taken out, by kind, the most first."""
    found = db.execute("SELECT kind, sum(count) FROM redactions GROUP BY kind ORDER BY 2 DESC")
    return dict(map(tuple, found.fetchall()))


def drift(db: Connection) -> list[tuple[str, str, str, str, int]]:
    """Fields that a client sent and no adapter knew, the newest first: (client, event, field, version, when)."""
    sql = "SELECT client, event, field, client_version, first_at FROM payload_drift ORDER BY first_at DESC LIMIT 20"
    return db.execute(sql).fetchall()


def came_in(db: Connection, now: int, week: int, weeks: int) -> list[tuple[int, int]]:
    """Rows that came in by week, as sessions counted them: how many weeks ago, how many."""
    sql = "SELECT (?1 - last_at) / ?2, sum(seq) FROM sessions WHERE last_at > ?1 - ?3 AND last_at <= ?1 GROUP BY 1"
    return db.execute(sql, (now, week, weeks * week)).fetchall()


# Days: nothing older is scanned, sessions are found by when they were active last, calls by an index over time


DAYS_SHOWN = 14
"""Days that are counted, today among them."""


class Days(NamedTuple):
    """What was done in one project by day, the oldest day first."""

    project_id: int
    starts: tuple[int, ...]
    """When each day began in milliseconds; the last one is today."""
    calls: tuple[int, ...]
    """What the agent did on each day, as many as `starts`."""
    episodes: int
    """Of today, as is the next."""
    pinned: int


def midnights(at: int, zone: tzinfo | None, count: int = DAYS_SHOWN) -> tuple[int, ...]:
    """When each of the last days began in a zone (None: the machine's own), the oldest first; none for no such time."""
    try:
        today = datetime.fromtimestamp(at / 1000, zone)
        days = [today - timedelta(days=back) for back in range(count - 1, -1, -1)]
        return tuple(int(datetime(d.year, d.month, d.day, tzinfo=zone).timestamp() * 1000) for d in days)
    except (ValueError, OverflowError, OSError):
        return ()


def days(db: Connection, session_id: str, starts: Sequence[int], known: Days | None = None) -> Days | None:
    """The days of a session's project; the days before today are taken from `known` where that counted the same ones.

    None where there is no such session or no such time.
    """
    project, whole = store.project_of(db, session_id), tuple(starts)
    if project is None or not whole:
        return None
    if known is not None and (known.project_id, known.starts) == (project, whole):
        calls = (*known.calls[:-1], *_calls(db, project, whole[-1:]))
    else:
        calls = _calls(db, project, whole)
    today = calls[-1] - _noted(db, project, whole[-1])
    return Days(project, whole, (*calls[:-1], today), *_episodes(db, project, whole[-1]))


def _calls(db: Connection, project_id: int, starts: tuple[int, ...]) -> tuple[int, ...]:
    """What is stored by day; a session of a single day, as most are, is counted where it is found."""
    counts = [0] * len(starts)
    sql = """SELECT id, started_at, last_at, (SELECT count(*) FROM observations WHERE session_id = s.id AND at >= ?1)
        FROM sessions s WHERE project_id = ?2 AND last_at >= ?1"""
    found = db.execute(sql, (starts[0], project_id)).fetchall()
    for session_id, began, last, calls in found:
        first = max(0, bisect_right(starts, began) - 1)
        end = max(first, bisect_right(starts, last) - 1)
        if first == end:
            counts[end] += calls
        else:
            for day, number in _by_day(db, session_id, starts, first, end):
                counts[day] += number
    return tuple(counts)


def _noted(db: Connection, project_id: int, since: int) -> int:
    """How much of it is only noted, as that a session began: today's figure is exact, for it is said in words."""
    marks = ",".join("?" for _ in _NOTED)
    sql = f"""SELECT count(*) FROM sessions s CROSS JOIN observations o
        ON o.session_id = s.id AND o.at >= ? WHERE s.project_id = ? AND s.last_at >= ? AND o.obs_type IN ({marks})"""  # noqa: S608
    return int(db.execute(sql, (since, project_id, since, *_NOTED)).fetchone()[0])


def _by_day(db: Connection, session_id: str, starts: Sequence[int], first: int, end: int) -> Iterator[tuple[int, int]]:
    """What one session did from its first day to its last; what came before or after is theirs."""
    for day in range(first, end + 1):
        since = starts[day] if day > first else starts[0]
        until = starts[day + 1] if day < end else 2**62
        sql = "SELECT count(*) FROM observations WHERE session_id = ? AND at >= ? AND at < ?"
        yield day, db.execute(sql, (session_id, since, until)).fetchone()[0]


def _episodes(db: Connection, project_id: int, since: int) -> tuple[int, int]:
    """How many episodes were worked on since then, and how many of them are pinned."""
    if not tables.version(db):
        return 0, 0
    sql = """SELECT count(*), total(u.pinned)
        FROM work_units u CROSS JOIN sessions s ON s.id = u.session_id WHERE u.last_at >= ? AND s.project_id = ?"""
    found = db.execute(sql, (since, project_id)).fetchone()
    return int(found[0]), int(found[1])


# Lessons


def lesson_sessions(db: Connection, project_id: int | None, since: int) -> list[tuple[Any, ...]]:
    """Sessions that were read and had calls: (id, project, beginning, whether it was told, or denied, something)."""
    sql = """SELECT s.id, s.project_id, s.started_at, total(j.text != '' AND NOT j.withheld AND i.id IS NOT NULL) > 0,
        total(j.withheld AND i.id IS NOT NULL) > 0 FROM sessions s JOIN learned_sessions l ON l.session_id = s.id
        LEFT JOIN injections j ON j.session_id = s.id LEFT JOIN injection_items i ON i.injection_id = j.id AND
        i.position = (SELECT min(position) FROM injection_items WHERE injection_id = j.id AND kind != 'ask') WHERE s.seq
        > 0 AND s.started_at >= ?1 AND (?2 IS NULL OR s.project_id = ?2) GROUP BY s.id ORDER BY s.started_at, s.id"""
    return db.execute(sql, (since, project_id)).fetchall()


def accepted_at(db: Connection, target: str) -> int:
    """When a learning was accepted last; 0: it never was, or that was undone."""
    sql = "SELECT max(at) FROM corrections WHERE target = ? AND kind = 'accept' AND undone_at IS NULL"
    return int(db.execute(sql, (target,)).fetchone()[0] or 0)


def exposed(db: Connection, item: str) -> list[tuple[str, int, int]]:
    """Which sessions an item was for, when first, and whether it was kept back."""
    sql = """SELECT j.session_id, min(j.at), max(j.withheld) FROM injection_items i
        JOIN injections j ON j.id = i.injection_id WHERE i.item = ? AND j.text != '' GROUP BY 1"""
    return db.execute(sql, (item,)).fetchall()


SAME_TOOL = """o.tool_name IN (SELECT DISTINCT x.tool_name FROM learning_evidence e
    JOIN observations x ON x.id = e.observation_id WHERE e.learning_id = ?1 AND e.role = 'occurrence')"""
SAME_FILE, SAME_END = "o.file_path = ?1", "substr(o.file_path, -length(?1) - 1) = '/' || ?1"
"""Which calls are meant: those of the tool that a learning is about, of a file, of a file by the end of its path."""


def worked(db: Connection, project_id: int, where: str, given: str) -> dict[str, int]:
    """When such a call last went well, by session."""
    sql = f"""SELECT o.session_id, max(o.at) FROM sessions s CROSS JOIN observations o
        ON o.session_id = s.id WHERE {where} AND o.outcome = 'ok' AND s.project_id = ?2 GROUP BY 1"""  # noqa: S608
    return dict(map(tuple, db.execute(sql, (given, project_id)).fetchall()))


def findings(
    db: Connection, project_id: int, kind: str, keys: Iterable[str] | None = None
) -> list[tuple[str, str, dict[str, object]]]:
    """What was found of a kind in sessions of a project, of some keys or of all: (session, key, data)."""
    sql, values = "SELECT session_id, key, data FROM learning_findings WHERE project_id = ? AND kind = ?", [kind]
    if keys is not None:
        sql += " AND key IN (SELECT value FROM json_each(?))"
        values.append(json.dumps(sorted(keys)))
    return [(row[0], row[1], json_object(row[2])) for row in db.execute(sql, (project_id, *values)).fetchall()]


def calls_with(db: Connection, project_id: int, text: str) -> list[tuple[Any, ...]]:
    """The calls in a project that hold a text and were not refused: the session, then what a learning's Row has."""
    sql = """SELECT o.session_id, o.id, o.at, o.seq, NULL, o.obs_type, coalesce(o.tool_name, ''), '',
        o.content, o.outcome, '' FROM sessions s CROSS JOIN observations o ON o.session_id = s.id WHERE s.project_id = ?
        AND instr(o.content, ?) AND NOT instr(coalesce(o.metadata, ''), '"refused":') ORDER BY o.seq"""
    return db.execute(sql, (project_id, text)).fetchall()


def entries_asked(db: Connection, project_id: int | None) -> list[tuple[str, int | None, str, str]]:
    """Written decisions that sessions asked for or were offered: (entry, project, its name, session)."""
    sql = """SELECT c.entry, c.project_id, coalesce(p.name, ''), c.session_id FROM recall_calls c LEFT JOIN projects p
        ON p.id = c.project_id WHERE c.entry <> '' AND c.session_id IS NOT NULL AND (?1 IS NULL OR c.project_id = ?1)
        GROUP BY 1, 2, 4 ORDER BY 1, 2"""
    return db.execute(sql, (project_id,)).fetchall()
