"""Purges calls of which only a trace is left (SQL): takes single entries out of a session's traces, in JSON.

A trace is what episodes are counted from. So the entry goes that says it, is of the file or of the episode; what
cannot be read as a trace any more goes as a whole where it says the chosen words.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from sqlite3 import Connection
from typing import Any

from capture.jsonio import dumps
from nmem.purge.selection import Matcher

Entry = tuple[str, int]
"""Of a trace: session and id of the observation that it stands for."""
ID, AT, TYPE, PATH, PROMPT = 0, 1, 3, 4, 9
_SIZE = 10
"""Fields that each entry has at least."""


def entries(db: Connection, where: str = "1", values: Iterable[object] = ()) -> Iterator[tuple[str, list[Any]]]:
    """Session and row of each entry of the traces t that a condition tells, in their order."""
    sql = f"SELECT t.session_id, t.trace FROM swept_traces t WHERE {where} ORDER BY t.session_id, t.part"  # noqa: S608
    for session_id, stored in db.execute(sql, tuple(values)).fetchall():
        for row in _rows(stored):
            yield str(session_id), row


def named(db: Connection, number: int) -> set[Entry]:
    """The entry of an observation of which only the trace is left."""
    sql = "instr(t.trace, ?)"
    return {(session_id, number) for session_id, row in entries(db, sql, (f"[{number},",)) if row[ID] == number}


def of_prompts(db: Connection, session_id: str, prompts: set[int]) -> set[Entry]:
    """The entries of what answered some prompts."""
    return {
        (session_id, row[ID]) for _, row in entries(db, "t.session_id = ?", (session_id,)) if row[PROMPT] in prompts
    }


def says(row: Iterable[object], matcher: Matcher) -> bool:
    """Whether an entry says the chosen words."""
    return any(matcher(value) for value in row if isinstance(value, str))


def thin(db: Connection, session_id: str, gone: set[int], prompts: dict[int, int | None]) -> None:
    """Take entries out of the traces of a session; those that answered a prompt that goes are given to another one."""
    taken: set[str] = set()
    count = 0
    sql = "SELECT part, trace FROM swept_traces WHERE session_id = ?"
    for part, stored in db.execute(sql, (session_id,)).fetchall():
        told = _read(stored)
        if told is None:
            continue
        rows = _rows(stored)
        kept = [row for row in rows if row[ID] not in gone]
        changed = len(kept) != len(rows)
        taken |= {row[PATH] for row in rows if row[ID] in gone and row[PATH]}
        count += len(rows) - len(kept)
        for row in kept:
            if row[PROMPT] in prompts:
                row[PROMPT], changed = prompts[row[PROMPT]], True
        if changed:
            _put(db, session_id, part, {**told, "rows": kept})
    if count:
        db.execute("UPDATE swept_sessions SET observations = max(0, observations - ?) WHERE session_id = ?",
                   (count, session_id))  # fmt: skip
        _files(db, session_id, taken)


def sweep(db: Connection, matcher: Matcher) -> None:
    """Chosen words are in no trace: what says them goes, entry by entry. `purge_says` is known to the connection."""
    sql = f"SELECT session_id, part, trace FROM swept_traces WHERE {matcher.sql('trace')}"  # noqa: S608 - our words
    for session_id, part, stored in db.execute(sql).fetchall():
        thin(db, session_id, {row[ID] for row in _rows(stored) if says(row, matcher)}, {})
        left = db.execute("SELECT trace FROM swept_traces WHERE session_id = ? AND part = ?", (session_id, part))
        if matcher(left.fetchone()[0]):
            _put(db, session_id, part, {"rows": [], "said": []})


def _put(db: Connection, session_id: str, part: int, told: dict[str, Any]) -> None:
    db.execute("UPDATE swept_traces SET trace = ? WHERE session_id = ? AND part = ?", (dumps(told), session_id, part))


def _files(db: Connection, session_id: str, paths: set[str]) -> None:
    """Which files the traces of a session still tell of."""
    left: dict[str, list[int]] = {}
    for _, row in entries(db, "t.session_id = ?", (session_id,)):
        if row[PATH] in paths:
            left.setdefault(row[PATH], []).append(row[AT])
    for path in sorted(paths):
        key = (session_id, path)
        if times := left.get(path):
            sets = "calls = ?, first_at = ?, last_at = ?"
            db.execute(f"UPDATE swept_files SET {sets} WHERE session_id = ? AND file_path = ?",  # noqa: S608
                       (len(times), min(times), max(times), *key))  # fmt: skip
        else:
            db.execute("DELETE FROM swept_files WHERE session_id = ? AND file_path = ?", key)


def _read(stored: str) -> dict[str, Any] | None:
    try:
        told = json.loads(stored)
    except ValueError:
        return None
    return told if isinstance(told, dict) else None


def _rows(stored: str) -> list[list[Any]]:
    rows = (_read(stored) or {}).get("rows", [])
    return [row for row in rows if isinstance(row, list) and len(row) >= _SIZE] if isinstance(rows, list) else []
