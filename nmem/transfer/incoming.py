"""Prepares the rows of an export for import (SQL): redacts them, gives new ids, matches equal rows here.

Rows of a session that is taken in now are noted as they are stored; others are found by session and key.
"""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from capture.event import Project
from capture.project import resolve
from capture.redaction import redact, redact_tree
from capture.seal import identity
from capture.text import clean
from nmem import tables
from nmem.transfer.outgoing import MARK

Row = dict[str, Any]


@dataclass(slots=True)
class Report:
    """What came of an import."""

    sessions: int = 0
    """That were not known here."""
    prompts: int = 0
    observations: int = 0
    known: int = 0
    """Rows that were here already."""
    redacted: int = 0
    episodes: int = 0
    threads: int = 0
    learnings: int = 0
    corrections: int = 0
    unreadable: int = 0
    """Lines that are no record."""
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Folders:
    """Folders of the other machine and what they are here: (old, new)."""

    pairs: tuple[tuple[str, str], ...] = ()

    def here(self, path: str) -> str:
        """A path as it is here."""
        for old, new in self.pairs:
            if path == old or path.startswith(old.rstrip("/") + "/"):
                return new.rstrip("/") + path[len(old.rstrip("/")) :]
        return path

    def project(self, found: dict[str, Any]) -> Project:
        """A project as it is here: by its remote, else by its folder, which may be a checkout of something here."""
        key, root = string(found.get("key")), string(found.get("root"))
        here = self.here(root)
        if key == root and here != root and os.path.isdir(here):  # noqa: PTH112 - a string already
            return resolve(here)
        return Project(here if key == root else key, string(found.get("name")), here, string(found.get("remote")))


def string(value: object) -> str:
    """A text; anything else is none."""
    return value if isinstance(value, str) else ""


class Washer:
    """Redacts what it is given, and counts."""

    def __init__(self) -> None:
        self.counts: dict[str, int] = {}

    @property
    def total(self) -> int:
        """How many secrets were taken out."""
        return sum(self.counts.values())

    def value(self, value: object) -> object:
        """A column's value; a text that is JSON stays JSON, byte for byte where nothing is taken out.

        Of a name that stands twice in an object, the first would be stored unseen: the text is made anew without it.
        """
        if not isinstance(value, str) or not value:
            return value
        if value[0] in "{[":
            hidden = 0

            def once(pairs: list[tuple[str, object]]) -> dict[str, object]:
                nonlocal hidden
                found = dict(pairs)
                hidden += len(pairs) - len(found)
                return found

            try:
                tree = json.loads(value, object_pairs_hook=once)
            except (ValueError, RecursionError):
                return self.text(value)
            washed = redact_tree(_cleaned(tree), self.counts)
            return value if washed == tree and not hidden else json.dumps(washed, ensure_ascii=False)
        return self.text(value)

    def text(self, text: str) -> str:
        """A text."""
        return redact(clean(text), self.counts)


def _cleaned(value: object) -> object:
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, dict):
        return {clean(str(name)): _cleaned(item) for name, item in value.items()}
    return [_cleaned(item) for item in value] if isinstance(value, list) else value


def find(db: sqlite3.Connection, table: str, columns: str, **match: object) -> Sequence[Any] | None:
    """Some columns of a row that has these values; None where there is none."""
    where = " AND ".join(f"{name} = ?" for name in match) or "1"
    found: Sequence[Any] | None = db.execute(
        f"SELECT {columns} FROM {table} WHERE {where} LIMIT 1", tuple(match.values())
    ).fetchone()
    return found


class Incoming:
    """One export, and the database that it comes into."""

    def __init__(self, there: sqlite3.Connection, here: sqlite3.Connection, report: Report, folders: Folders) -> None:
        self.there, self.here, self.report, self.folders = there, here, report, folders
        self.numbers = Numbers(there, here)
        self.washer = Washer()
        self.fresh = find(here, "sessions", "1") is None
        """Nothing was here: ids stay what they are."""
        self._columns: dict[str, list[str]] = {}

    def columns(self, table: str) -> list[str]:
        """Columns that both have."""
        if table not in self._columns:
            there, here = (
                [row[1] for row in db.execute(f"PRAGMA table_info({table})").fetchall()]
                for db in (self.there, self.here)
            )
            self._columns[table] = [name for name in here if name in there]
        return self._columns[table]

    def rows(self, table: str, where: str, *given: object) -> Iterator[Row]:
        """Rows of the export, read as they are asked for."""
        names = self.columns(table)
        if names:
            found = self.there.execute(f"SELECT {', '.join(names)} FROM {table} WHERE {where}", given)
            for row in found:
                yield dict(zip(names, row, strict=True))

    def insert(self, table: str, row: Row) -> int | None:
        """Store a row; its id, None where there was one like it. With an id that is taken it gets another."""
        old = row.get("id")
        if isinstance(old, int) and (not self.fresh or find(self.here, table, "1", id=old)):
            row = {**row, "id": None}
        done = self.put(table, row)
        if not done.rowcount:
            return None
        if isinstance(old, int):
            self.numbers.note(table, old, int(done.lastrowid or 0))
        return int(done.lastrowid or 0)

    def put(self, table: str, row: Row, *, ours: bool = True) -> sqlite3.Cursor:
        """Store a row as it is; `ours`: one that is here like it stays."""
        places, how = ", ".join("?" * len(row)), "OR IGNORE " * ours
        return self.here.execute(f"INSERT {how}INTO {table} ({', '.join(row)}) VALUES ({places})", tuple(row.values()))

    def change(self, table: str, number: object, row: Row) -> None:
        """Columns of a row get other values."""
        sets = ", ".join(f"{name} = ?" for name in row)
        self.here.execute(f"UPDATE {table} SET {sets} WHERE id = ?", (*row.values(), number))

    def set_primary(self, thread: int, unit: int) -> None:
        """The episode that stands for a thread, where none does."""
        self.here.execute(
            "UPDATE threads SET primary_unit_id = ? WHERE id = ? AND primary_unit_id IS NULL", (unit, thread)
        )

    def lowest_correction(self) -> int:
        """A number below those of all corrections."""
        lowest = "SELECT min(0, coalesce(min(id), 0)) - 1 FROM corrections"
        return int(self.here.execute(lowest).fetchone()[0])

    def newest_number(self, table: str) -> int:
        """The highest number that a row of a table has or had."""
        newest = f"SELECT max(newest, coalesce((SELECT max(id) FROM {table}), 0)) FROM gone_ids WHERE name = ?"
        return int(self.here.execute(newest, (table,)).fetchone()[0])

    def hold_numbers(self, table: str, upto: int) -> None:
        """No row gets a number up to this one any more."""
        self.here.execute("UPDATE gone_ids SET newest = max(newest, ?) WHERE name = ?", (upto, table))

    def session_ids(self) -> list[str]:
        """All sessions of the export, the oldest first."""
        return [str(row[0]) for row in self.there.execute("SELECT id FROM sessions ORDER BY started_at, id").fetchall()]

    def wash(self, row: Row) -> Row:
        """A row without secrets."""
        return {
            name: identity(value) if name in ("session_id", "dedup_key") else self.washer.value(value)
            for name, value in row.items()
        }


_THERE = {
    "prompts": "SELECT session_id, dedup_key FROM prompts WHERE id = ?",
    "observations": "SELECT session_id, dedup_key FROM observations WHERE id = ?",
    "work_units": "SELECT u.session_id, p.dedup_key FROM work_units u JOIN prompts p ON p.id = u.first_prompt_id"
    " WHERE u.id = ?",
    "threads": "SELECT session_id, '' FROM session_threads WHERE thread_id = ?",
    "learnings": "SELECT p.key, l.kind || char(0) || l.key FROM learnings l JOIN projects p ON p.id = l.project_id"
    " WHERE l.id = ?",
    "said_decisions": "SELECT d.session_id, p.dedup_key FROM said_decisions d JOIN prompts p ON p.id = d.prompt_id"
    " WHERE d.id = ?",
}
_HERE = {
    "prompts": "SELECT id FROM prompts WHERE session_id = ? AND dedup_key = ?",
    "observations": "SELECT id FROM observations WHERE session_id = ? AND dedup_key = ?",
    "work_units": "SELECT u.id FROM work_units u JOIN prompts p ON p.id = u.first_prompt_id"
    " WHERE u.session_id = ? AND p.dedup_key = ?",
    "threads": "SELECT thread_id FROM session_threads WHERE session_id = ? AND '' = ?",
    "learnings": "SELECT l.id FROM learnings l JOIN projects p ON p.id = l.project_id"
    " WHERE p.key = ? AND l.kind || char(0) || l.key = ?",
    "said_decisions": "SELECT d.id FROM said_decisions d JOIN prompts p ON p.id = d.prompt_id"
    " WHERE d.session_id = ? AND p.dedup_key = ?",
}
ITEMS = {
    "episode": "work_units", "learning": "learnings", "prompt": "prompts", "obs": "observations",
    "observation": "observations", "thread": "threads", "work_units": "work_units",
    "decision": "said_decisions",
}  # fmt: skip


class Numbers:
    """Ids there -> ids here."""

    def __init__(self, there: sqlite3.Connection, here: sqlite3.Connection) -> None:
        self._there, self._here = there, here
        self._session: dict[tuple[str, int], int] = {}
        self._lasting: dict[tuple[str, int], int] = {}
        self.same = True
        """Whether every id is the one it was."""

    def next_session(self) -> None:
        """Forget the rows of the session before: what memory they took is bounded by one session."""
        self._session.clear()

    def note(self, table: str, old: int, new: int) -> None:
        """A row that was stored just now."""
        self.same &= old == new
        lasting = table in ("projects", "threads", "learnings")
        (self._lasting if lasting else self._session)[table, old] = new

    def of(self, table: str, old: object) -> int | None:
        """The id here; None where there is no such row."""
        if not isinstance(old, int):
            return None
        known = self._session.get((table, old)) or self._lasting.get((table, old))
        return known if known is not None or table not in _THERE else self._found(table, old)

    def _found(self, table: str, old: int) -> int | None:
        for key in self._there.execute(_THERE[table], (old,)).fetchall():
            row = self._here.execute(_HERE[table], tuple(key)).fetchone()
            if row is not None:
                return int(row[0])
        return None

    def item(self, item: str) -> str | None:
        """episode/12 as it is called here; what has no number stays; None where there is no such row."""
        kind, _, number = item.partition("/")
        if kind not in ITEMS or not number.isdigit():
            return item
        new = self.of(ITEMS[kind], int(number))
        return None if new is None else f"{kind}/{new}"

    def trace(self, trace: Iterable[object]) -> list[object]:
        """Entries with an `id` of an observation; one that is gone keeps none."""
        return [
            {**each, "id": self.of("observations", each.get("id"))} if isinstance(each, dict) else each
            for each in trace
        ]


def newest_prompt(db: sqlite3.Connection) -> int:
    """The highest number of a prompt."""
    return int(db.execute("SELECT coalesce(max(id), 0) FROM prompts").fetchone()[0])


def prompts_after(db: sqlite3.Connection, session_id: str, number: int) -> int:
    """How many prompts of a session have a higher number."""
    new = "SELECT count(*) FROM prompts WHERE id > ? AND session_id = ?"
    return int(db.execute(new, (number, session_id)).fetchone()[0])


def add_to(db: sqlite3.Connection, session_id: str, key: str, prompt: str, **more: int | None) -> None:
    """A call's prompt by its key, `pinned`, `repeats` and `last_at`: what is more of both stays."""
    db.execute(
        "UPDATE observations SET pinned = max(pinned, :pinned), repeats = max(repeats, :repeats),"
        " last_at = coalesce(max(coalesce(last_at, 0), :last_at), last_at), prompt_id = coalesce("
        "(SELECT id FROM prompts WHERE session_id = :session AND dedup_key = :prompt), prompt_id)"
        " WHERE session_id = :session AND dedup_key = :key AND (:pinned OR :repeats OR prompt_id IS NOT"
        " (SELECT id FROM prompts WHERE session_id = :session AND dedup_key = :prompt))",
        {"session": session_id, "key": key, "prompt": prompt, **more},
    )


def merge_key(db: sqlite3.Connection, session_id: str, key: str, into: str) -> None:
    """A key that a call is known by as well."""
    db.execute("INSERT OR IGNORE INTO merged_keys SELECT session_id, ?, id FROM observations"
               " WHERE session_id = ? AND dedup_key = ?", (key, session_id, into))  # fmt: skip


def versions(there: sqlite3.Connection) -> tuple[int, int] | None:
    """The versions of the facts and of the meaning in an export or a memory; None: it is no memory."""
    names = {row[0] for row in there.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()}
    if not {"sessions", "prompts", "observations"} <= names:
        return None
    if MARK in names:
        said = {name: json.loads(value) for name, value in there.execute(f"SELECT name, value FROM {MARK}").fetchall()}
        return said.get("facts", 0), said.get("meaning", 0)
    return int(there.execute("PRAGMA user_version").fetchone()[0]), tables.version(there)
