"""Answers what the audit and `nmem doctor` ask of the memory (SQL): payloads, calls, texts, redactions, injections and
their times; damage, indexes, and the rows of a probe.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass
from sqlite3 import Connection
from typing import Any

from capture.labels import DIMENSIONS
from nmem.context.inject import LATE
from nmem.episodes.units import forget_session

TEXTS = ("observations", "prompts")


def counter(db: Connection, name: str) -> int | None:
    """What a counter stands at; None: it was never begun."""
    row = db.execute("SELECT value FROM counters WHERE name = ?", (name,)).fetchone()
    return int(row[0]) if row else None


def newest(db: Connection, table: str) -> int:
    """The highest id of a table."""
    return int(db.execute(f"SELECT coalesce(max(id), 0) FROM {table}").fetchone()[0])  # noqa: S608


def text(db: Connection, table: str, number: int) -> tuple[int, str] | None:
    """(when, what) of a row of texts."""
    row = db.execute(f"SELECT at, content FROM {table} WHERE id = ?", (number,)).fetchone()  # noqa: S608 -- our names
    return (row[0], row[1]) if row else None


# payloads


def payloads(db: Connection) -> int:
    """How many came."""
    return int(db.execute("SELECT total(payloads) FROM session_shapes").fetchone()[0])


def shapes(db: Connection, sessions: int) -> list[tuple[Any, ...]]:
    """(client, version, project, event, tool, fields, how many, the first) of the newest sessions; 0: of all."""
    last = "SELECT last_at FROM sessions ORDER BY last_at DESC LIMIT 1 OFFSET ?"
    row = db.execute(last, (sessions,)).fetchone() if sessions else None
    return db.execute(
        "SELECT p.client, coalesce(s.client_version, ''), coalesce(s.project_id, 0), p.event, p.tool, p.fields,"
        " sum(x.payloads), min(x.first_at) FROM session_shapes x JOIN payload_shapes p ON p.id = x.shape_id"
        " LEFT JOIN sessions s ON s.id = x.session_id WHERE x.last_at >= ?"
        " GROUP BY p.id, s.client_version, s.project_id",
        (int(row[0]) if row else 0,),
    ).fetchall()


# calls

_GROUPS = """CASE WHEN o.obs_type IN ('command', 'test', 'build', 'lint', 'install', 'git_commit', 'git_push',
 'git_other', 'github') THEN 'shell' WHEN o.obs_type IN ('file_read', 'file_edit', 'file_write') THEN 'file'
 WHEN o.obs_type = 'search' THEN 'search' ELSE 'other' END"""
_NOT_CALLS = "('session_start', 'session_resume', 'session_clear', 'session_compact', 'marker')"


@dataclass(frozen=True, slots=True)
class Measure:
    """A share: which rows count, and of which."""

    name: str
    words: str
    group: str
    """shell file search other, or empty for every call."""
    hit: str
    of: str = "1"


MEASURES = (
    Measure("empty shell", "shell calls without a command", "shell", "o.content = ''"),
    Measure("empty file", "file calls without content", "file", "o.content = ''"),
    Measure("empty search", "searches without content", "search", "o.content = ''"),
    Measure("empty other", "other calls without content", "other", "o.content = ''"),
    Measure("unknown tool", "calls of a tool that nobody knows", "", "o.obs_type = 'tool_other'"),
    Measure("unknown outcome shell", "shell calls of unknown outcome", "shell", "o.outcome = 'unknown'"),
    Measure("unknown outcome file", "file calls of unknown outcome", "file", "o.outcome = 'unknown'"),
    Measure("unknown outcome search", "searches of unknown outcome", "search", "o.outcome = 'unknown'"),
    Measure("no path", "file calls without a path", "file", "coalesce(o.file_path, '') = ''"),
    Measure("no exit code", "failed shell calls without an exit code", "shell", "o.exit_code IS NULL",
            "o.outcome = 'failed'"),
    Measure("no lines", "edits without their lines", "file", "o.lines_added IS NULL",
            "o.outcome = 'ok' AND o.obs_type IN ('file_edit', 'file_write')"),
)  # fmt: skip


def _cases(measure: Measure) -> str:
    group = f"{_GROUPS} = '{measure.group}'" if measure.group else "1"
    return f"({group}) AND ({measure.of})"


def measured(db: Connection, window: int) -> list[tuple[Any, ...]]:
    """(client, version, begun, hits and cases of each measure) of the sessions of the newest calls."""
    sums = ", ".join(f"total({_cases(one)} AND {one.hit}), total({_cases(one)})" for one in MEASURES)
    return db.execute(
        f"SELECT s.client, coalesce(s.client_version, ''), s.started_at, {sums} FROM observations o NOT INDEXED"  # noqa: S608 -- our own words
        " JOIN sessions s ON s.id = o.session_id"
        f" WHERE o.id > (SELECT coalesce(max(id), 0) FROM observations) - ? AND o.obs_type NOT IN {_NOT_CALLS}"
        " AND s.origin <> 'demo' GROUP BY o.session_id",
        (window,),
    ).fetchall()


def examples(db: Connection, client: str, version: str, measure: Measure, window: int) -> tuple[str, ...]:
    """The newest calls of a version that a measure counts."""
    rows = db.execute(
        "SELECT o.id FROM observations o NOT INDEXED JOIN sessions s ON s.id = o.session_id"  # noqa: S608 -- our own words
        " WHERE o.id > (SELECT max(id) FROM observations) - ? AND s.client = ? AND coalesce(s.client_version, '') = ?"
        f" AND {_cases(measure)} AND {measure.hit} AND o.obs_type NOT IN {_NOT_CALLS} ORDER BY o.id DESC LIMIT 3",
        (window, client, version),
    )
    return tuple(f"obs/{row[0]}" for row in rows)


def labelled(db: Connection, since: int, window: int) -> list[tuple[Any, ...]]:
    """(came since then, unanswered, answered and second words of each dimension) of the newest calls, by session."""
    sums = ", ".join(f"total({one} IS NULL), count({one}), total({one} > 0)" for one in DIMENSIONS)
    return db.execute(
        f"SELECT o.at >= ?, {sums} FROM observations o NOT INDEXED"  # noqa: S608 -- our names
        " WHERE o.id > (SELECT coalesce(max(id), 0) FROM observations) - ? AND o.label_model IS NOT NULL"
        " AND instr(o.label_model, '+') = 0 GROUP BY o.session_id, 1",
        (since, window),
    ).fetchall()


def recorded(db: Connection, before: int, most: int) -> list[tuple[str, str, str, int, str]]:
    """(id, client, transcript, begun, folder) of the newest recorded sessions that have a transcript."""
    return db.execute(
        "SELECT id, client, transcript_path, started_at, cwd FROM sessions WHERE origin = 'hook' AND last_at < ?"
        " AND coalesce(transcript_path, '') <> '' ORDER BY last_at DESC LIMIT ?",
        (before, most),
    ).fetchall()


def keys(db: Connection, session_id: str) -> frozenset[str]:
    """All keys by which the calls of a session are known."""
    rows = db.execute(
        "SELECT dedup_key FROM observations WHERE session_id = ?1 UNION ALL"
        " SELECT dedup_key FROM merged_keys WHERE session_id = ?1 UNION ALL"
        " SELECT tool_use_id FROM observations WHERE session_id = ?1 AND tool_use_id IS NOT NULL",
        (session_id,),
    )
    return frozenset(row[0] for row in rows)


# what sessions were told

_INJECTED = (
    "j.id > (SELECT coalesce(max(id), 0) FROM injections) - ? AND (j.text = '' OR EXISTS"
    " (SELECT 1 FROM injection_items WHERE injection_id = j.id AND kind != 'ask'))"
)


def used(db: Connection, since: int, window: int) -> list[tuple[str, bool, int, int]]:
    """(kind, told since then, of use, told) by session, of the newest injections whose use is known."""
    rows = db.execute(
        "SELECT i.kind, j.at >= ?, total(i.used), count(i.used) FROM injections j"  # noqa: S608
        f" JOIN injection_items i ON i.injection_id = j.id WHERE {_INJECTED} AND j.withheld = 0 AND i.used IS NOT NULL"
        " GROUP BY i.kind, j.session_id, 2",
        (since, window),
    ).fetchall()
    return [(kind, bool(recent), int(hits), int(cases)) for kind, recent, hits, cases in rows]


def occasions(db: Connection, window: int) -> tuple[int, int, int]:
    """Of the newest occasions those on which nothing was said, all, and those withheld."""
    silent, every, withheld = db.execute(
        "SELECT total(j.text = '' AND j.withheld = 0), count(*), total(j.withheld) FROM injections j"  # noqa: S608
        f" WHERE {_INJECTED}",
        (window,),
    ).fetchone()
    return int(silent), int(every), int(withheld)


# redactions


def redactions(db: Connection) -> dict[str, dict[int, int]]:
    """How often each kind was found, by day since 1970."""
    found: dict[str, dict[int, int]] = {}
    sql = "SELECT CAST(strftime('%s', day) AS INTEGER) / 86400, kind, count FROM redactions"
    for day, kind, count in db.execute(sql):
        found.setdefault(kind, {})[day] = count
    return found


def texts_by_day(db: Connection, since: int, until: int, day: int) -> dict[int, int]:
    """How many texts were stored on each day of so many ms."""
    out: dict[int, int] = {}
    for table in TEXTS:
        sql = f"SELECT at / {day}, count(*) FROM {table} WHERE at >= ? AND at <= ? GROUP BY 1"  # noqa: S608 -- our names
        for number, count in db.execute(sql, (since, until)):
            out[number] = out.get(number, 0) + count
    return out


def verdicts(db: Connection) -> list[tuple[str, str, int, int]]:
    """(kind, found by, real, false) of what a person judged."""
    rows = db.execute(
        "SELECT kind, found_by, total(verdict = 'real'), total(verdict = 'false') FROM redaction_reviews"
        " WHERE verdict IS NOT NULL GROUP BY kind, found_by ORDER BY 1, 2"
    )
    return [(kind, by, int(real), int(false)) for kind, by, real, false in map(tuple, rows.fetchall())]


def project_names(db: Connection) -> set[str]:
    """Whatever a project is called: its names, roots and keys."""
    return {str(one) for row in db.execute("SELECT name, root, key FROM projects").fetchall() for one in tuple(row)}


def redacted(db: Connection, table: str, most: int) -> list[tuple[int, int, str]]:
    """(id, when, text) of the newest rows with a redaction: the text index knows them."""
    rows = db.execute(
        f"SELECT t.id, t.at, t.content FROM {table}_fts f JOIN {table} t ON t.id = f.rowid"  # noqa: S608 -- our names
        f" WHERE {table}_fts MATCH 'content : redacted' ORDER BY f.rowid DESC LIMIT ?",
        (most,),
    )
    return [(row[0], row[1], row[2]) for row in rows.fetchall()]


def add_review(db: Connection, row: tuple[str, int, int, str, str], found_by: str, now: int) -> int:
    """Queue (source, row, place, kind, day); 0 where that was drawn before."""
    return db.execute(
        "INSERT OR IGNORE INTO redaction_reviews (source, row_id, place, kind, day, found_by, drawn_at)"
        " VALUES (?, ?, ?, ?, ?, ?, ?)",
        (*row, found_by, now),
    ).rowcount


def reviews(db: Connection, limit: int, *, judged: bool) -> list[tuple[Any, ...]]:
    """(id, source, row, place, kind, found by, day, verdict) of the oldest that wait, or of the newest judged ones."""
    where = "verdict IS NOT NULL ORDER BY judged_at DESC" if judged else "verdict IS NULL ORDER BY id"
    rows = db.execute(
        "SELECT id, source, row_id, place, kind, found_by, day, verdict FROM redaction_reviews"  # noqa: S608
        f" WHERE {where} LIMIT ?",
        (limit,),
    )
    return [tuple(row) for row in rows.fetchall()]


def unjudged(db: Connection) -> int:
    """How many wait for a verdict."""
    return int(db.execute("SELECT count(*) FROM redaction_reviews WHERE verdict IS NULL").fetchone()[0])


def review(db: Connection, number: int) -> tuple[str, str, str | None] | None:
    """(kind, found by, verdict) of one; None: it is gone."""
    row = db.execute("SELECT kind, found_by, verdict FROM redaction_reviews WHERE id = ?", (number,)).fetchone()
    return tuple(row) if row is not None else None


def set_verdict(db: Connection, number: int, verdict: str | None, now: int) -> None:
    """What a person said of one."""
    db.execute("UPDATE redaction_reviews SET verdict = ?, judged_at = ? WHERE id = ?",
               (verdict, now if verdict else None, number))  # fmt: skip


# times


def sessions_after(db: Connection, at: int) -> list[tuple[str, int, int]]:
    """(id, last event, row) of the sessions that lie after a time, the first stored first."""
    return db.execute("SELECT id, last_at, rowid FROM sessions WHERE last_at > ? ORDER BY rowid", (at,)).fetchall()


def around(db: Connection, session_id: str, row: int, at: int) -> tuple[int | None, int | None, int | None]:
    """The last time of a session up to a moment, its first after it, and when the next session began up to it."""
    before, first, following = db.execute(
        "WITH own(at) AS (SELECT at FROM observations WHERE session_id = ?1"
        "  UNION ALL SELECT at FROM prompts WHERE session_id = ?1)"
        " SELECT (SELECT max(at) FROM own WHERE at <= ?2), (SELECT min(at) FROM own WHERE at > ?2),"
        " (SELECT min(started_at) FROM sessions WHERE rowid > ?3 AND started_at <= ?2)",
        (session_id, at, row),
    ).fetchone()
    return before, first, following


def _times(db: Connection) -> Iterator[tuple[str, str, str, bool]]:
    """Table, column and condition of every time that a session has, and whether the table's rows are numbered."""
    threads = "id IN (SELECT thread_id FROM session_threads WHERE session_id = ?)"
    where = {"sessions": "id = ?", "threads": threads}
    tables = db.execute("SELECT name, sql LIKE '%WITHOUT ROWID%' FROM sqlite_master WHERE type = 'table'"
                        " AND sql NOT LIKE '%VIRTUAL%'").fetchall()  # fmt: skip
    for table, keyed in tables:
        names = [row[1] for row in db.execute(f"PRAGMA table_info({table})").fetchall()]
        condition = where.get(table) or ("session_id = ?" if "session_id" in names else "")
        for name in (each for each in names if condition and (each == "at" or each.endswith("_at"))):
            yield table, name, condition, not keyed


def move_back(db: Connection, session_id: str, at: int, by: int) -> dict[str, tuple[int, int, list[int]]]:
    """Times of a session after a moment go back; by table.column the first, the last, and the numbered rows."""
    moved = {}
    for table, name, which, numbered in _times(db):
        condition = f"FROM {table} WHERE {which} AND {name} > ?"
        values = session_id, at
        least, most = db.execute(f"SELECT min({name}), max({name}) {condition}", values).fetchone()
        if least is None:
            continue
        numbers = f"SELECT rowid {condition} ORDER BY rowid"
        rows = [row[0] for row in db.execute(numbers, values)] if numbered else []
        moved[f"{table}.{name}"] = least - by, most - by, rows
        db.execute(
            f"UPDATE {table} SET {name} = {name} - ? WHERE {which} AND {name} > ?",  # noqa: S608 - our names
            (by, *values),
        )
    _made_again(db, session_id)
    return moved


def move_forward(db: Connection, session_id: str, by: int, before: dict[str, Any]) -> None:
    """Times that were moved back, as far as they are still as the move left them: (first, last, runs of rows)."""
    for table, name, which, numbered in _times(db):
        if (moved := before.get(f"{table}.{name}")) is None:
            continue
        least, most, runs = moved
        back = f"UPDATE {table} SET {name} = {name} + ? WHERE {which} AND {name} BETWEEN ? AND ?"  # noqa: S608
        if not numbered:
            db.execute(back, (by, session_id, least, most))
        for first, last in runs:
            db.execute(f"{back} AND rowid BETWEEN ? AND ?", (by, session_id, least, most, first, last))
    _made_again(db, session_id)


_AGAIN = (
    "UPDATE work_units SET annotated_seq = 0, annotated_prompt = 0, traced_seq = 0 WHERE session_id = ?",
    "DELETE FROM learned_sessions WHERE session_id = ?",
    "UPDATE context_projects SET taken = taken + 1 WHERE project_id = (SELECT project_id FROM sessions WHERE id = ?)",
    "UPDATE search_state SET done = 1 WHERE source = 'stale'",
)
"""What was made of the session is made again by the next settling."""


def _made_again(db: Connection, session_id: str) -> None:
    for statement in _AGAIN:
        db.execute(statement, (session_id,) * statement.count("?"))


INDEXED = {"observations": "observations_fts", "prompts": "prompts_fts"}
"""Tables and their text indexes, by name: how an index was declared differs from one version to the next."""
_PROBED = ("observations", "prompts", "hook_runs", "transcript_cursors")


def table_names(db: sqlite3.Connection) -> set[str]:
    """Whatever the database has."""
    return {str(row[0]) for row in db.execute("SELECT name FROM sqlite_master")}


def damage(db: sqlite3.Connection, *, quick: bool) -> list[str]:
    """What SQLite finds wrong with it, by `quick_check`, which cries wolf over some healthy tables, or thoroughly."""
    return [str(row[0]) for row in db.execute(f"PRAGMA {'quick' if quick else 'integrity'}_check(5)").fetchall()]


def strays(db: sqlite3.Connection) -> list[str]:
    """Tables of the first rows that refer to nothing."""
    return sorted({str(row[0]) for row in db.execute("PRAGMA foreign_key_check").fetchmany(5)})


def last_events(db: sqlite3.Connection) -> list[tuple[str, int]]:
    """(client, when) of the newest event of each client."""
    newest = "SELECT client, at, max(id) FROM hook_runs WHERE result != 'dropped' GROUP BY client"
    return [(str(row[0]), row[1]) for row in db.execute(newest).fetchall()]


def unindexed(db: sqlite3.Connection) -> dict[str, int]:
    """How many rows of each table its text index does not hold."""
    from sqlite_utils import Database  # on use: start-up stays short

    tables, missing = Database(db), {}
    for name, index in INDEXED.items():
        held = tables.table(f"{index}_docsize").count
        if tables.table(name).count != held:
            missing[name] = tables.table(name).count - held
    return missing


def build_index(db: sqlite3.Connection) -> list[str]:
    """Fill the text indexes that do not hold all rows; the tables whose they are."""
    missing = unindexed(db)
    for name in missing:
        db.execute(f"INSERT INTO {INDEXED[name]}({INDEXED[name]}) VALUES ('rebuild')")  # noqa: S608 -- our names
    return list(missing)


def hook_ran(db: sqlite3.Connection, client: str, event: str, session: str, since: int) -> bool:
    """Whether a hook ran for an event of a session, or of none."""
    seen = db.execute(
        "SELECT 1 FROM hook_runs WHERE client = ? AND event = ? AND at >= ? AND (session_id = ? OR session_id IS NULL)",
        (client, event, since, session),
    )
    return seen.fetchone() is not None


def forget_probe(db: sqlite3.Connection, session: str, folder: str, since: int, late: int) -> None:
    """Take every row of a probe away, the project that its temporary folder became, and that it was `late`."""
    db.execute("PRAGMA foreign_keys = ON")
    db.execute("BEGIN IMMEDIATE")
    forget_session(db, session)
    for table in _PROBED:
        db.execute(f"DELETE FROM {table} WHERE session_id = ?", (session,))  # noqa: S608
    db.execute("DELETE FROM sessions WHERE id = ?", (session,))
    # what nothing was made of has no session; and no shape is only a probe's
    db.execute("DELETE FROM session_shapes WHERE session_id = ? OR (session_id = '' AND first_at >= ?)",
               (session, since))  # fmt: skip
    db.execute("DELETE FROM payload_shapes WHERE id NOT IN (SELECT shape_id FROM session_shapes)")
    inside = "substr(folder, 1, length(?1)) = ?1"
    db.execute(f"DELETE FROM project_folders WHERE {inside}", (folder,))  # noqa: S608
    db.execute("UPDATE counters SET value = value - 1 WHERE name = ? AND value > ?", (LATE, late))
    db.execute("DELETE FROM counters WHERE name = ? AND value < 1", (LATE,))
    unused = "NOT EXISTS (SELECT 1 FROM sessions WHERE project_id = projects.id)"
    db.execute(f"DELETE FROM projects WHERE substr(root, 1, length(?1)) = ?1 AND {unused}", (folder,))  # noqa: S608
    db.execute("COMMIT")
