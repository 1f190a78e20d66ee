"""What answers used, by whom and when (SQL): the tables of usage, what is summed of them, nmem's own share."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from sqlite3 import Connection
from typing import Any

from capture.storage.store import transaction
from nmem.cost.prices import KINDS

_STORE = """
INSERT INTO model_usage (key, session_id, at, model, inner, input, output, cache_read, cache_write, cache_write_1h)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (key) DO UPDATE SET model = excluded.model,
input = excluded.input, output = excluded.output, cache_read = excluded.cache_read,
cache_write = excluded.cache_write, cache_write_1h = excluded.cache_write_1h
WHERE excluded.input + excluded.output + excluded.cache_read + excluded.cache_write + excluded.cache_write_1h
  > input + output + cache_read + cache_write + cache_write_1h
"""
"""A streamed answer grows: the most is the last, in whatever order files are read. Its time is when it began."""


def sessions(db: Connection) -> set[str]:
    """The sessions that are there."""
    return {str(row[0]) for row in db.execute("SELECT id FROM sessions").fetchall()}


def places(db: Connection) -> dict[str, tuple[int, str, str | None]]:
    """How far files were read: (offset, the beginning, what was known there), by path."""
    found = db.execute("SELECT path, offset, head, state FROM usage_places").fetchall()
    return {row[0]: (row[1], row[2], row[3]) for row in found}


def files(db: Connection, clients: Sequence[str]) -> list[tuple[str, str, int, str]]:
    """(client, session, when it began, path) of the transcripts that hooks and imports named, the oldest first."""
    marks = ", ".join("?" for _ in clients)
    sql = f"""SELECT s.client, s.id, s.started_at, s.transcript_path FROM sessions s
        WHERE s.transcript_path <> '' AND s.client IN ({marks}) UNION ALL SELECT s.client, s.id, s.started_at, c.path
        FROM transcript_cursors c JOIN sessions s ON s.id = c.session_id WHERE s.client IN ({marks}) ORDER BY 3, 2, 4"""  # noqa: S608 - marks only
    return db.execute(sql, (*clients, *clients)).fetchall()


def keep(db: Connection, answers: Iterable[tuple[Any, ...]], read: Iterable[tuple[Any, ...]]) -> None:
    """Answers of sessions that are still there, and how far their files were read. Outside a transaction."""
    with transaction(db):
        there = sessions(db)
        db.executemany(_STORE, (one for one in answers if one[1] in there))
        db.executemany(
            "INSERT INTO usage_places VALUES (?, ?, ?, ?, ?) ON CONFLICT (path) DO UPDATE SET"
            " session_id = excluded.session_id, offset = excluded.offset, head = excluded.head, state = excluded.state",
            read,
        )


# Sums


_UNIT = """coalesce((SELECT w.id
    FROM work_units w WHERE w.session_id = u.session_id AND w.started_at <= u.at ORDER BY w.started_at DESC LIMIT 1),
    (SELECT w.id FROM work_units w WHERE w.session_id = u.session_id ORDER BY w.started_at LIMIT 1), '')"""
_GROUPS = {
    "day": "strftime('%Y-%m-%d', u.at / 1000, 'unixepoch', 'localtime')",
    "model": "u.model",
    "project": "s.project_id",
    "thread": f"coalesce((SELECT t.thread_id FROM work_units t WHERE t.id = {_UNIT}), '')",  # noqa: S608 - no values
    "episode": _UNIT,
    "session": "u.session_id",
}
BY = tuple(_GROUPS)
"""What costs are summed by."""
_NAMES = {
    "project": "SELECT name FROM projects WHERE id = ?",
    "thread": "SELECT title FROM threads WHERE id = ?",
    "episode": "SELECT coalesce(title, agent_title, heading, substr(intent, 1, 400)) FROM work_units WHERE id = ?",
    "session": "SELECT strftime('%Y-%m-%d %H:%M', s.started_at / 1000, 'unixepoch', 'localtime') || ' ' || p.name"
               " FROM sessions s JOIN projects p ON p.id = s.project_id WHERE s.id = ?",
}  # fmt: skip
_ALL = "''"
_QUESTION = "u.input + u.cache_read + u.cache_write + u.cache_write_1h"
_SUMS = ", ".join(f"sum(u.{kind})" for kind in KINDS)


@dataclass(frozen=True, slots=True)
class Chosen:
    """Which answers, as SQL over model_usage `u` and sessions `s`."""

    since: int = 0
    project: int | None = None

    @property
    def sql(self) -> str:
        own = " AND s.project_id = ?" if self.project is not None else ""
        return f"FROM model_usage u JOIN sessions s ON s.id = u.session_id WHERE u.at >= ?{own}"

    @property
    def values(self) -> tuple[int, ...]:
        return (self.since, self.project) if self.project is not None else (self.since,)


def session_count(db: Connection, chosen: Chosen) -> int:
    """How many sessions they are of."""
    return int(db.execute(f"SELECT count(DISTINCT u.session_id) {chosen.sql}", chosen.values).fetchone()[0])


def imported(db: Connection) -> int:
    """How many imported sessions' transcripts were read for their usage."""
    sql = """SELECT count(DISTINCT p.session_id) FROM usage_places p JOIN sessions s ON s.id = p.session_id
        WHERE s.origin = 'import'"""
    return int(db.execute(sql).fetchone()[0])


def sums(db: Connection, chosen: Chosen, by: str, steps: Sequence[int]) -> list[tuple[Any, ...]]:
    """(group, model, how many of the lengths `steps` the question passed, by a subagent, answers, tokens in KINDS).

    Raises KeyError for an unknown `by`; empty: all are one group.
    """
    step = " + ".join(["0", *(f"({_QUESTION} > ?)" for _ in steps)])
    sql = f"""SELECT {_GROUPS[by] if by else _ALL}, u.model, {step}, u.inner, count(*), {_SUMS} {chosen.sql}
        GROUP BY 1, 2, 3, 4"""
    return db.execute(sql, (*steps, *chosen.values)).fetchall()


def name(db: Connection, by: str, key: str) -> str | None:
    """The name that a person knows a group by; None where its key is that."""
    row = db.execute(_NAMES[by], (key,)).fetchone() if by in _NAMES else None
    return str(row[0] or "") if row else "" if by in _NAMES else None


def roots(db: Connection) -> dict[str, str]:
    """The folder of each project, by its id."""
    return {str(row[0]): str(row[1] or "") for row in db.execute("SELECT id, root FROM projects").fetchall()}


# nmem's own share


def told(db: Connection, chosen: Chosen) -> list[tuple[int, str | None, int]]:
    """What sessions were told: its tokens, the model of the next answer, and how many answers came after it."""
    answers = "FROM model_usage u WHERE u.session_id = i.session_id AND u.inner = 0 AND u.at > i.at"
    own = " AND s.project_id = ?" if chosen.project is not None else ""
    sql = f"""SELECT i.tokens, (SELECT u.model {answers} ORDER BY u.at LIMIT 1), (SELECT count(*) {answers}) FROM
        injections i JOIN sessions s ON s.id = i.session_id WHERE i.at >= ? AND i.withheld = 0 AND i.tokens > 0{own}"""  # noqa: S608 - our text
    return db.execute(sql, chosen.values).fetchall()


def asked(db: Connection, since: int) -> list[tuple[str, int, int]]:
    """Questions to models since a time: (backend, how many, tokens)."""
    sql = "SELECT backend, count(*), sum(tokens) FROM llm_ledger WHERE at >= ? GROUP BY backend"
    return db.execute(sql, (since,)).fetchall()
