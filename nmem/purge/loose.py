"""Dangling references of an undo (SQL): set to null where allowed, else the row is left out.

Between a purge and its undo another one, or a sweep, may have taken what rows of the first refer to.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from sqlite3 import Connection

from nmem.episodes import annotate, units
from nmem.purge.journal import Table

Rows = Mapping[str, Sequence[tuple[object, ...]]]
"""What was put back, by table."""
_ROUNDS = 8
"""What goes in one may be what rows of the next refer to; no chain of tables is longer."""


def loosen(
    db: Connection, known: Mapping[str, Table], rows: Rows, columns: Mapping[str, tuple[str, ...]]
) -> Counter[str]:
    """Nothing that was put back refers to nothing; how many rows had to be left out, by table. Inside a transaction."""
    out: Counter[str] = Counter()
    sessions = _prompts(db)
    for _ in range(_ROUNDS):
        again = False
        for name in (name for name in known if name in rows):
            if name != "work_units":
                again |= _table(db, known[name], rows[name], columns[name], out)
        again |= _units(db, out, sessions)
        if not again:
            break
    for session_id in sorted(sessions):
        for unit in units.of_session(db, session_id):
            annotate.recount(db, unit, trace=unit.state == units.CLOSED)
        db.execute("DELETE FROM session_signatures WHERE session_id = ?", (session_id,))
        annotate.sign_session(db, session_id)
    return out


def _prompts(db: Connection) -> set[str]:
    """Actions whose prompt is gone belong to the one before, or to none; the sessions that this changes."""
    of = (
        "session_id IN (SELECT id FROM purge_t) AND prompt_id IS NOT NULL AND prompt_id NOT IN (SELECT id FROM prompts)"
    )
    found = {str(row[0]) for row in db.execute(f"SELECT DISTINCT session_id FROM observations WHERE {of}")}  # noqa: S608
    db.execute(
        "UPDATE observations SET prompt_id = (SELECT p.id FROM observations x JOIN prompts p"  # noqa: S608 - our words
        " ON p.session_id = x.session_id AND p.source = 'user' AND p.agent_id IS NULL WHERE x.id = observations.id"
        f" ORDER BY p.at > x.at, abs(p.at - x.at), p.id LIMIT 1) WHERE {of}"
    )
    return found


def _table(
    db: Connection, table: Table, rows: Sequence[tuple[object, ...]], columns: tuple[str, ...], out: Counter[str]
) -> bool:
    """Rows of one table; whether any was left out."""
    match = " AND ".join(f"{key} IS ?" for key in table.key)
    bound = {row[1] for row in db.execute(f"PRAGMA main.table_info({table.name})") if row[3] or row[5]}
    before = out.total()
    for _, _, parent, column, target, *_ in db.execute(f"PRAGMA main.foreign_key_list({table.name})").fetchall():
        if column not in columns:
            continue
        for key in _dangling(db, table, rows, columns, (parent, column, target or "id")):
            if column in bound:
                out[table.name] += db.execute(f"DELETE FROM main.{table.name} WHERE {match}", key).rowcount  # noqa: S608
            else:
                db.execute(f"UPDATE main.{table.name} SET {column} = NULL WHERE {match}", key)  # noqa: S608
    return out.total() > before


def _dangling(
    db: Connection, table: Table, rows: Sequence[tuple[object, ...]], columns: tuple[str, ...], to: tuple[str, str, str]
) -> list[tuple[object, ...]]:
    """Keys of rows that refer by a column to what is not there."""
    parent, column, target = to
    at, keys = columns.index(column), [columns.index(key) for key in table.key]
    match = " AND ".join(f"{key} IS ?" for key in table.key)
    there: dict[object, bool] = {None: True}
    out = []
    for row in rows:
        if row[at] not in there:
            found = db.execute(f"SELECT 1 FROM main.{parent} WHERE {target} = ?", (row[at],))  # noqa: S608
            there[row[at]] = found.fetchone() is not None
        key = tuple(row[place] for place in keys)
        if not there[row[at]]:
            still = f"SELECT 1 FROM main.{table.name} WHERE {match} AND {column} IS ?"  # noqa: S608
            if db.execute(still, (*key, row[at])).fetchone():
                out.append(key)
    return out


def _units(db: Connection, out: Counter[str], sessions: set[str]) -> bool:
    """Episodes fit the prompts that are there; those without any are left out."""
    found = db.execute(
        "SELECT id, session_id FROM work_units WHERE session_id IN (SELECT id FROM purge_t) AND ("
        "first_prompt_id NOT IN (SELECT id FROM prompts) OR last_prompt_id NOT IN (SELECT id FROM prompts)"
        " OR session_id NOT IN (SELECT id FROM sessions))"
    ).fetchall()
    db.execute("UPDATE work_units SET thread_id = NULL WHERE thread_id NOT IN (SELECT id FROM threads)"
               " AND session_id IN (SELECT id FROM purge_t)")  # fmt: skip
    for number, session_id in map(tuple, found):
        units.tidy(db, session_id, {number}, {})
        units.straighten(db, session_id)
        sessions.add(str(session_id))
        out["work_units"] += units.get(db, number) is None
    return bool(found)
