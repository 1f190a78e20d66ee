"""The stream of a session (SQL): prompts and calls in time order, addressed by keys; and what is new in all of them.

The cockpit keeps only keys and times (`Slots`); rows come in blocks of those keys. Pages are keyset pages: a session
of a million rows costs as much to open as one of ten.
"""

from __future__ import annotations

import heapq
import json
from array import array
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from sqlite3 import Connection, Row
from typing import NamedTuple

from nmem import tables
from nmem.read.views import StreamRow, metadata

PAGE = 4000
_BLOCK = 400
"""Rows that are read at once."""
TEXT = 400
"""Characters of a row that a list can ever show."""
LABELS = ("phase", "scope", "locus", "novelty", "friction")


@dataclass(slots=True)
class Slots:
    """Where rows are: times and keys of equal length, oldest first."""

    at: array[int]
    key: array[int]

    @classmethod
    def of(cls, pairs: Iterable[tuple[int, int]]) -> Slots:
        """Slots from (at, key) pairs in any order."""
        ordered = sorted(pairs)
        return cls(array("q", (at for at, _ in ordered)), array("q", (key for _, key in ordered)))

    def __len__(self) -> int:
        return len(self.key)


class Marks(NamedTuple):
    """The newest ids seen: what comes later has higher ones, whatever its time.

    Neither a purge nor its undo makes them higher than they were.
    """

    observation: int = 0
    prompt: int = 0

    def beyond(self, other: Marks) -> bool:
        """Whether more was recorded than the other knew."""
        return self.observation > other.observation or self.prompt > other.prompt

    def joined(self, other: Marks) -> Marks:
        """The newest of both."""
        return Marks(max(self.observation, other.observation), max(self.prompt, other.prompt))


def marks(db: Connection) -> Marks:
    """The newest ids now."""
    row = db.execute("SELECT (SELECT max(id) FROM observations), (SELECT max(id) FROM prompts)").fetchone()
    return Marks(row[0] or 0, row[1] or 0)


SOURCES = ("user", "agent", "machine")
"""Of prompts, as the table allows them: within each its index is in order of time."""
_OLDEST = -(2**62)
_TABLES = (("observations", 1, ("",)), ("prompts", 0, tuple(f" AND source = '{each}'" for each in SOURCES)))
"""Table, the bit of its keys, and the ranges of its index in each of which rows lie in order of time."""


def page(db: Connection, session_id: str, before: tuple[int, int] | None, query: Query, limit: int = PAGE) -> Slots:
    """The newest `limit` slots before the slot (at, key), or of all."""
    found = []
    for table, bit, ranges in _TABLES:
        for part in ranges if table in query.tables else ():
            sql = f"""SELECT at, id * 2 + {bit} FROM {table} WHERE session_id = ?{part}
                AND (at, id) < (?, ?) {query.where(table)} ORDER BY at DESC, id DESC LIMIT ?"""  # noqa: S608
            found += db.execute(sql, (session_id, *_bound(before, bit), *query.values(table), limit)).fetchall()
    newest = sorted((tuple(row) for row in found), reverse=True)[:limit]
    return Slots.of(newest)


def _bound(before: tuple[int, int] | None, bit: int) -> tuple[int, int]:
    """Time and id before which rows of a table come before a slot; at the same time the key decides."""
    return (before[0], (before[1] - bit + 1) // 2) if before else (2**62, 2**62)


class Stretch(NamedTuple):
    """What a filter leaves of a stretch of a session's rows."""

    slots: Slots
    before: tuple[int, int] | None
    """Where the next, older stretch ends; None: there is none."""


def stretch(db: Connection, session_id: str, before: tuple[int, int] | None, query: Query, span: int) -> Stretch:
    """Look through about `span` rows before the slot (at, key), or the newest: in bounded time, whatever matches."""
    low = _OLDEST
    for table, bit, ranges in _TABLES:
        for part in ranges:
            sql = f"""SELECT at FROM {table}
                WHERE session_id = ?{part} AND (at, id) < (?, ?) ORDER BY at DESC, id DESC LIMIT 1 OFFSET ?"""  # noqa: S608
            row = db.execute(sql, (session_id, *_bound(before, bit), span)).fetchone()
            low = max(low, row[0]) if row else low
    pairs: list[tuple[int, int]] = []
    for table, bit, ranges in _TABLES:
        for part in ranges if table in query.tables else ():
            sql = f"""SELECT at, id * 2 + {bit}
                FROM {table} WHERE session_id = ?{part} AND (at, id) < (?, ?) AND at >= ? {query.where(table)}"""  # noqa: S608
            pairs += map(tuple, db.execute(sql, (session_id, *_bound(before, bit), low, *query.values(table))))
    return Stretch(Slots.of(pairs), (low, 0) if low > _OLDEST else None)


def number(db: Connection, session_id: str) -> int:
    """How many rows a session has."""
    sql = """SELECT (SELECT count(*) FROM observations WHERE session_id = ?1)
        + (SELECT count(*) FROM prompts WHERE session_id = ?1)"""
    return int(db.execute(sql, (session_id,)).fetchone()[0])


def since(db: Connection, session_id: str, seen: Marks, query: Query) -> Slots:
    """The slots of rows stored after `seen`, late ones with an earlier time included."""
    found = []
    for table, bit, mark in (("prompts", 0, seen.prompt), ("observations", 1, seen.observation)):
        if table not in query.tables:
            continue
        sql = f"SELECT at, id * 2 + {bit} FROM {table} WHERE id > ? AND session_id = ? {query.where(table)}"  # noqa: S608
        found += db.execute(sql, (mark, session_id, *query.values(table))).fetchall()
    return Slots.of(tuple(row) for row in found)


_OBSERVATION = """SELECT id * 2 + 1 AS key, at,
    obs_type AS word, {text}, file_path, outcome, exit_code, duration_ms, lines_added, lines_removed, repeats, agent_id,
    tool_name, metadata, phase, scope, locus, novelty, friction, label_model FROM observations WHERE id IN ({marks})"""
_PROMPT = "SELECT id * 2 AS key, at, source || '/' || kind AS word, {text}, agent_id FROM prompts WHERE id IN ({marks})"


def _said(row: Row) -> StreamRow:
    return StreamRow(row["key"], row["at"], row["word"], row["content"], agent=bool(row["agent_id"]))


def _done(row: Row) -> StreamRow:
    return StreamRow(
        row["key"], row["at"], row["word"], row["content"], row["file_path"] or "", row["outcome"], row["exit_code"],
        row["duration_ms"], row["lines_added"], row["lines_removed"], row["repeats"], bool(row["agent_id"]),
        row["tool_name"] or "", meta=metadata(row["metadata"]),
        labels=tuple(row[name] for name in LABELS) if row["label_model"] else (), labelled_by=row["label_model"] or "",
    )  # fmt: skip


def between(db: Connection, session_id: str, span: tuple[int, int]) -> list[tuple[int, int]]:
    """Times and keys of what was said and done in a session from one moment until another, by table."""
    out: list[tuple[int, int]] = []
    for table, bit in (("prompts", 0), ("observations", 1)):
        sql = f"SELECT at, id * 2 + {bit} FROM {table} WHERE session_id = ? AND at >= ? AND at < ?"  # noqa: S608
        out += map(tuple, db.execute(sql, (session_id, *span)).fetchall())
    return out


def last(db: Connection, session_id: str) -> tuple[int, int] | None:
    """Where a session stands now; None while nothing was said or done in it."""
    slots = page(db, session_id, None, Query(), 1)
    return (slots.at[0], slots.key[0]) if len(slots) else None


def around(db: Connection, session_id: str, at: tuple[int, int], before: int, after: int) -> list[StreamRow]:
    """What was said and done in a session before and after a slot (at, key), its row between them."""
    earlier = page(db, session_id, at, Query(), before).key if before else []
    later: list[tuple[int, int]] = []
    for table, bit in (("prompts", 0), ("observations", 1)):
        sql = f"""SELECT at, id * 2 + {bit}
            FROM {table} WHERE session_id = ? AND at >= ? AND (at, id * 2 + {bit}) > (?, ?) ORDER BY at, id LIMIT ?"""  # noqa: S608 -- our names
        later += map(tuple, db.execute(sql, (session_id, at[0], *at, after)).fetchall())
    return list(in_order(db, [*earlier, at[1], *(key for _, key in sorted(later)[:after])]))


def done(db: Connection, prompt_id: int) -> list[int]:
    """The keys of what was done after a prompt."""
    sql = "SELECT id * 2 + 1 FROM observations WHERE prompt_id = ? ORDER BY at, id LIMIT 2000"
    return [row[0] for row in db.execute(sql, (prompt_id,)).fetchall()]


def place(db: Connection, key: int) -> tuple[str, int] | None:
    """The session and the time of a row; None where there is none."""
    table = "observations" if key % 2 else "prompts"
    row = db.execute(f"SELECT session_id, at FROM {table} WHERE id = ?", (key // 2,)).fetchone()  # noqa: S608 -- our names
    return (row[0], row[1]) if row else None


def purged(db: Connection) -> tuple[int, int]:
    """Changes when a purge took rows away or an undo put them back; (0, 0) where there are no tables of it yet."""
    if not tables.version(db):
        return 0, 0
    found = db.execute("SELECT coalesce(max(id), 0), total(state = 'undone') FROM purges").fetchone()
    return int(found[0]), int(found[1])


def taken_out(db: Connection) -> tuple[int, ...]:
    """Changes when a purge, its undo or a redaction of what is stored changed rows; not by what is recorded."""
    if not tables.version(db):
        return ()
    found = db.execute(
        "SELECT (SELECT coalesce(max(id), 0) FROM history_redactions), (SELECT total(rows) FROM history_redactions),"
        " (SELECT total(taken) FROM context_projects)"  # one project's history is gone over without a note of its own
    ).fetchone()
    return *purged(db), *map(int, found)


def rows(db: Connection, keys: Sequence[int], *, whole: bool = False, text: int = TEXT) -> dict[int, StreamRow]:
    """The rows of at most a few hundred keys; their text is cut to `text` characters unless `whole`."""
    cut = "content" if whole else f"substr(content, 1, {text:d}) AS content"
    out: dict[int, StreamRow] = {}
    for sql, bit, build in ((_PROMPT, 0, _said), (_OBSERVATION, 1, _done)):
        ids = [key // 2 for key in keys if key % 2 == bit]
        if ids:
            found = db.execute(sql.format(text=cut, marks=",".join("?" for _ in ids)), ids)
            out.update((row["key"], build(row)) for row in found.fetchall())
    return out


def in_order(db: Connection, keys: Sequence[int], *, whole: bool = False, text: int = TEXT) -> Iterator[StreamRow]:
    """The rows of any number of keys, in their order."""
    for begin in range(0, len(keys), _BLOCK):
        some = keys[begin : begin + _BLOCK]
        found = rows(db, some, whole=whole, text=text)
        yield from (found[key] for key in some if key in found)


class Wanted(NamedTuple):
    """Which rows of all sessions: of a project (0: of all), of some types (none: of all), not before a time."""

    project_id: int = 0
    types: tuple[str, ...] = ()
    """Types of calls, and of prompts their source (user) or source and kind (agent/closing)."""
    since: int = 0


class Whose(NamedTuple):
    """The session of a row."""

    id: str
    client: str
    branch: str
    cwd: str
    project: str
    root: str
    key: str


class News(NamedTuple):
    """Rows in about the order of time, the ids before which none is, and the newest ids at that moment."""

    rows: tuple[tuple[Whose, StreamRow], ...]
    seen: Marks
    newest: Marks
    more: bool
    """Whether there are further ones."""

    def done(self, count: int) -> Marks:
        """The newest ids once the first `count` rows are done with."""
        if count >= len(self.rows) and not self.more:
            return self.newest
        out = self.seen
        for _, row in self.rows[:count]:
            out = out.joined(Marks(row.key // 2, 0) if row.key % 2 else Marks(0, row.key // 2))
        return out


_NEW = (
    ("observations", 1, "t.obs_type IN (SELECT value FROM json_each(?4))"),
    ("prompts", 0, "EXISTS (SELECT 1 FROM json_each(?4) WHERE value IN (t.source, t.source || '/' || t.kind))"),
)
"""Table, the bit of its keys, and what a type means there."""


def news(db: Connection, seen: Marks, wanted: Wanted, limit: int) -> News:
    """At most so many wanted rows that were stored after `seen`, as they are at one moment; no lock is left behind."""
    db.execute("BEGIN")
    try:
        newest, found = marks(db), []
        for table, bit, typed in _NEW:
            before = seen.observation if bit else seen.prompt
            values = (before, wanted.project_id, wanted.since, json.dumps(wanted.types), limit + 1)
            sql = f"""SELECT t.at, t.id * 2 + {bit}, t.session_id
                FROM {table} t JOIN sessions s ON s.id = t.session_id WHERE t.id > ?1 AND (?2 = 0 OR s.project_id = ?2)
                AND t.at >= ?3 {f"AND {typed}" if wanted.types else ""} ORDER BY t.id LIMIT ?5"""  # noqa: S608
            found.append([tuple(row) for row in db.execute(sql, values).fetchall()])
        merged = list(heapq.merge(*found, key=lambda row: row[0]))
        taken = merged[:limit]
        text = rows(db, [key for _, key, _ in taken], whole=True)
        whose = _whose(db, {session for *_, session in taken})
    finally:
        db.execute("ROLLBACK")
    told = tuple((whose[session], text[key]) for _, key, session in taken)
    return News(told, seen, newest.joined(seen), len(merged) > limit)


def _whose(db: Connection, sessions: Iterable[str]) -> dict[str, Whose]:
    sql = """SELECT s.id, s.client, coalesce(s.branch, ''), s.cwd, p.name, p.root, p.key
        FROM sessions s JOIN projects p ON p.id = s.project_id WHERE s.id IN (SELECT value FROM json_each(?))"""
    return {row[0]: Whose(*row) for row in db.execute(sql, (json.dumps(list(sessions)),)).fetchall()}


def highest(db: Connection) -> Marks:
    """The highest ids that were ever given, also to rows that are gone."""
    gone = {row[0]: row[1] for row in db.execute("SELECT name, newest FROM gone_ids").fetchall()}
    return marks(db).joined(Marks(gone.get("observations", 0), gone.get("prompts", 0)))


class Query:
    """A filter as typed: words that must occur, `!word` that must not, `type:test`, `is:failed`, `file:upload`."""

    def __init__(self, text: str = "") -> None:
        self.text = text.strip()
        self.terms = [_term(word) for word in self.text.split()]
        said = all(kind in ("text", "type") for kind, _, _ in self.terms)
        self.tables = ("prompts", "observations") if said else ("observations",)

    def __bool__(self) -> bool:
        return bool(self.terms)

    def where(self, table: str) -> str:
        """Conditions for a table, each with its bound values in `values`."""
        return "".join(f" AND {'NOT ' if no else ''}({_CONDITIONS[table][kind]})" for kind, _, no in self.terms)

    def values(self, table: str) -> list[str]:
        """The values that `where` asks for."""
        return [value for kind, value, _ in self.terms for _ in range(_CONDITIONS[table][kind].count("?"))]


_LIKE = "LIKE ? ESCAPE '\\'"
_CONDITIONS = {
    "prompts": {"text": f"content {_LIKE}", "type": f"source || '/' || kind {_LIKE}"},
    "observations": {
        "text": f"content {_LIKE} OR coalesce(file_path, '') {_LIKE}", "type": f"obs_type {_LIKE}",
        "is": f"outcome {_LIKE}", "file": f"coalesce(file_path, '') {_LIKE}",
    },
}  # fmt: skip


def _term(word: str) -> tuple[str, str, bool]:
    no, word = word.startswith("!") and len(word) > 1, word.removeprefix("!") or word
    kind, colon, value = word.partition(":")
    if not (colon and value and kind in ("type", "is", "file")):
        kind, value = "text", word
    escaped = value.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
    return kind, f"%{escaped}%", no
