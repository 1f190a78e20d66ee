"""Sessions that lie ahead of the clock (SQL): recorded while it was wrong. They are said, and put where they belong.

Nobody knows when they really were; known is what was stored before and after them. So the part that lies ahead is moved
back as a whole, to end where the next session begins, or now: what happened in it keeps its order and its distances.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from sqlite3 import Connection

from capture.storage.store import transaction
from nmem.audit.finding import WRONG, Finding

AHEAD = 3_600_000
"""Milliseconds by which two clocks may differ."""
_SHOWN = 5


@dataclass(frozen=True, slots=True)
class Ahead:
    """A session with rows ahead of the clock, and how far they go back when it is put right, in ms."""

    session_id: str
    last_at: int
    by: int


def now() -> int:
    """Milliseconds since 1970."""
    return time.time_ns() // 1_000_000


def ahead(db: Connection, at: int) -> list[Ahead]:
    """The sessions that lie after a time, the first stored first."""
    found = db.execute(
        "SELECT id, last_at, rowid FROM sessions WHERE last_at > ? ORDER BY rowid", (at + AHEAD,)
    ).fetchall()
    return [Ahead(session_id, last, _by(db, session_id, last, row, at)) for session_id, last, row in found]


def _by(db: Connection, session_id: str, last: int, row: int, at: int) -> int:
    """From the end of the session back to the beginning of the next one; its own earlier rows stay before it."""
    before, first = db.execute(
        "WITH own(at) AS (SELECT at FROM observations WHERE session_id = ?1"
        "  UNION ALL SELECT at FROM prompts WHERE session_id = ?1)"
        " SELECT (SELECT max(at) FROM own WHERE at <= ?2), (SELECT min(at) FROM own WHERE at > ?2)",
        (session_id, at),
    ).fetchone()
    following = db.execute(
        "SELECT min(started_at) FROM sessions WHERE rowid > ? AND started_at <= ?", (row, at)
    ).fetchone()[0]
    end = min(at, at if following is None else following)
    if before is not None and first is not None:
        end = min(at, max(end, before + 1 + last - first))
    return last - end


def findings(db: Connection, at: int) -> list[Finding]:
    """One finding where a session lies ahead of the clock."""
    found = ahead(db, at)
    if not found:
        return []
    furthest = time.strftime("%Y-%m-%d", time.localtime(max(one.last_at for one in found) / 1000))
    number = "1 session lies" if len(found) == 1 else f"{len(found):,} sessions lie"
    said = f"{number} in the future, up to {furthest}: recorded while the clock was ahead"
    shown = tuple(f"session/{one.session_id}" for one in found[:_SHOWN])
    return [Finding("clock", WRONG, said, "nmem doctor --fix", examples=shown)]


def fix(db: Connection, at: int) -> list[str]:
    """Put them where they belong, a session in a transaction. On a writing connection, outside of one."""
    done = 0
    for one in ahead(db, at):
        with transaction(db):
            _move(db, one, at)
        done += 1
    return [f"{done} session{'s' * (done != 1)} brought back from the future"] if done else []


def _move(db: Connection, one: Ahead, at: int) -> None:
    threads = "id IN (SELECT thread_id FROM session_threads WHERE session_id = ?)"
    where = {"sessions": "id = ?", "threads": threads}
    tables = db.execute("SELECT name FROM sqlite_master WHERE type = 'table' AND sql NOT LIKE '%VIRTUAL%'").fetchall()
    for (table,) in tables:
        names = [row[1] for row in db.execute(f"PRAGMA table_info({table})").fetchall()]
        condition = where.get(table) or ("session_id = ?" if "session_id" in names else "")
        for name in (each for each in names if condition and (each == "at" or each.endswith("_at"))):
            db.execute(
                f"UPDATE {table} SET {name} = {name} - ? WHERE {condition} AND {name} > ?",  # noqa: S608 - our names
                (one.by, one.session_id, at),
            )
    for statement in _AGAIN:
        db.execute(statement, (one.session_id,) * statement.count("?"))


_AGAIN = (
    "UPDATE work_units SET annotated_seq = 0, annotated_prompt = 0, traced_seq = 0 WHERE session_id = ?",
    "DELETE FROM learned_sessions WHERE session_id = ?",
    "UPDATE context_projects SET taken = taken + 1 WHERE project_id = (SELECT project_id FROM sessions WHERE id = ?)",
    "UPDATE search_state SET done = 1 WHERE source = 'stale'",
)
"""What was made of the session is made again by the next settling."""
