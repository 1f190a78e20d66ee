"""Finds sessions dated in the future by a wrong clock (SQL), and moves them back to a likely time.

Nobody knows when they really were; known is what was stored before and after them. So the part that lies ahead is moved
back as a whole, to end where the next session begins, or now: what happened in it keeps its order and its distances.
A move is a correction like others: undo puts the same rows back.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from sqlite3 import Connection

from capture.storage.store import transaction
from nmem.audit import WRONG, Finding
from nmem.store.corrections import Entry, together, write

KIND = "clock"
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
    """Put them where they belong, a session in a transaction; one undo takes all back. On a writing connection."""
    done = 0
    with together():
        for one in ahead(db, at):
            with transaction(db):
                _move(db, one, at)
            done += 1
    return [f"{done} session{'s' * (done != 1)} brought back from the future"] if done else []


def _move(db: Connection, one: Ahead, at: int) -> None:
    moved: dict[str, object] = {}
    for table, name, which, numbered in _times(db):
        condition = f"FROM {table} WHERE {which} AND {name} > ?"
        values = one.session_id, at
        least, most = db.execute(f"SELECT min({name}), max({name}) {condition}", values).fetchone()
        if least is None:
            continue
        numbers = f"SELECT rowid {condition} ORDER BY rowid"
        runs = _runs([row[0] for row in db.execute(numbers, values)]) if numbered else []
        moved[f"{table}.{name}"] = [least - one.by, most - one.by, runs]
        db.execute(
            f"UPDATE {table} SET {name} = {name} - ? WHERE {which} AND {name} > ?",  # noqa: S608 - our names
            (one.by, *values),
        )
    _made_again(db, one.session_id)
    write(db, KIND, f"session/{one.session_id}", {"session": one.session_id, "by": one.by}, moved, at)


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


def _runs(numbers: list[int]) -> list[list[int]]:
    """Rising numbers as first and last of what follows without a gap."""
    out: list[list[int]] = []
    for number in numbers:
        if out and number == out[-1][1] + 1:
            out[-1][1] = number
        else:
            out.append([number, number])
    return out


def _made_again(db: Connection, session_id: str) -> None:
    for statement in _AGAIN:
        db.execute(statement, (session_id,) * statement.count("?"))


def ours(entry: Entry) -> bool:
    """Whether a correction is a session brought back from the future."""
    return entry.kind == KIND


def describe(entry: Entry) -> str:
    """What was done."""
    return f"{entry.target.replace('/', ' ', 1)} brought back from the future"


def take_back(db: Connection, entry: Entry, _now: int) -> str:
    """Put back the rows that were moved, as far as they are still as the move left them. Inside a transaction."""
    session_id, by = str(entry.payload["session"]), int(entry.payload["by"])
    for table, name, which, numbered in _times(db):
        if (moved := entry.before.get(f"{table}.{name}")) is None:
            continue
        least, most, runs = moved
        back = f"UPDATE {table} SET {name} = {name} + ? WHERE {which} AND {name} BETWEEN ? AND ?"  # noqa: S608
        if not numbered:
            db.execute(back, (by, session_id, least, most))
        for first, last in runs:
            db.execute(f"{back} AND rowid BETWEEN ? AND ?", (by, session_id, least, most, first, last))
    _made_again(db, session_id)
    return ""


_AGAIN = (
    "UPDATE work_units SET annotated_seq = 0, annotated_prompt = 0, traced_seq = 0 WHERE session_id = ?",
    "DELETE FROM learned_sessions WHERE session_id = ?",
    "UPDATE context_projects SET taken = taken + 1 WHERE project_id = (SELECT project_id FROM sessions WHERE id = ?)",
    "UPDATE search_state SET done = 1 WHERE source = 'stale'",
)
"""What was made of the session is made again by the next settling."""
