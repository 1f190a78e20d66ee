"""Past injections of a project, newest first, with the use of each item (SQL)."""

from __future__ import annotations

import json
from dataclasses import dataclass
from sqlite3 import Connection
from typing import Any

LIMIT = 200


@dataclass(frozen=True, slots=True)
class Told:
    """One text that a session was given, or would have been."""

    id: int
    at: int
    session_id: str
    client: str
    event: str
    """startup resume clear compact fork (why the session started), or prompt."""
    prompt: str
    """The beginning of what was asked; empty at a start."""
    reason: str
    """Why something was told then."""
    tokens: int
    withheld: bool
    """Kept back, to see what difference telling makes."""
    items: int
    """Without the line that says that the memory can be asked: nobody judges whether that was of use."""
    used: int
    unused: int

    @property
    def undecided(self) -> int:
        """Items of which it is not known yet."""
        return self.items - self.used - self.unused


@dataclass(frozen=True, slots=True)
class ToldItem:
    """One thing in it."""

    id: str
    kind: str
    score: float
    reason: str
    text: str
    files: tuple[str, ...]
    tokens: int
    used: bool | None
    """None: not known yet."""
    how: str
    """By what it was of use, in words."""
    used_at: int | None


@dataclass(frozen=True, slots=True)
class Telling:
    """The exact text and its items."""

    told: Told
    text: str
    items: tuple[ToldItem, ...]


@dataclass(frozen=True, slots=True)
class Past:
    """A project's newest tellings, and how many there are in all."""

    found: tuple[Told, ...]
    tellings: int
    sessions: int
    items: int
    used: int
    unused: int


_FROM = (
    "FROM injections j JOIN sessions s ON s.id = j.session_id LEFT JOIN prompts p ON p.id = j.prompt_id"
    " WHERE j.text != ''"
)
_COLUMNS = (
    "SELECT j.id, j.at, j.session_id, j.client, j.event, coalesce(substr(p.content, 1, 400), ''), j.reason, j.tokens,"
    " j.withheld, (SELECT count(*) FROM injection_items i WHERE i.injection_id = j.id AND i.kind != 'ask'),"
    " (SELECT count(*) FROM injection_items i WHERE i.injection_id = j.id AND i.used = 1),"
    " (SELECT count(*) FROM injection_items i WHERE i.injection_id = j.id AND i.used = 0)"
)


def past(db: Connection, project_id: int, limit: int = LIMIT) -> Past:
    """What was told in a project. Raises sqlite3.Error."""
    rows = db.execute(
        f"{_COLUMNS} {_FROM} AND s.project_id = ? ORDER BY j.at DESC, j.id DESC LIMIT ?",
        (project_id, limit),
    ).fetchall()
    tellings, sessions = db.execute(
        "SELECT count(*), count(DISTINCT j.session_id) FROM sessions s CROSS JOIN injections j ON j.session_id = s.id"
        " WHERE s.project_id = ? AND j.text != ''",
        (project_id,),
    ).fetchone()
    items, used, unused = db.execute(
        "SELECT count(*), total(i.used = 1), total(i.used = 0) FROM sessions s CROSS JOIN injections j"
        " ON j.session_id = s.id CROSS JOIN injection_items i ON i.injection_id = j.id"
        " WHERE s.project_id = ? AND j.text != '' AND NOT j.withheld AND i.kind != 'ask'",
        (project_id,),
    ).fetchone()
    return Past(tuple(_told(tuple(row)) for row in rows), tellings, sessions, items, int(used), int(unused))


def telling(db: Connection, number: int) -> Telling | None:
    """One text with its items; None when it is not there. Raises sqlite3.Error."""
    row = db.execute(f"{_COLUMNS}, j.text {_FROM} AND j.id = ?", (number,)).fetchone()
    if row is None:
        return None
    found = db.execute(
        "SELECT item, kind, score, reason, text, files, tokens, used, used_how, used_at FROM injection_items"
        " WHERE injection_id = ? ORDER BY position",
        (number,),
    ).fetchall()
    values = tuple(row)
    return Telling(_told(values[:-1]), str(values[-1]), tuple(_item(tuple(each)) for each in found))


def _told(row: tuple[Any, ...]) -> Told:
    number, at, session_id, client, event, prompt, reason, size, withheld, items, used, unused = row
    return Told(
        number, at, session_id, client, event, prompt, reason, size, bool(withheld), items, used, unused
    )  # fmt: skip


def _item(row: tuple[Any, ...]) -> ToldItem:
    item, kind, score, reason, text, files, tokens, used, how, at = row
    return ToldItem(
        item, kind, score, reason, text, _files(files), tokens, None if used is None else bool(used), how or "", at
    )


def _files(stored: str) -> tuple[str, ...]:
    try:
        found = json.loads(stored or "[]")
    except ValueError:
        return ()
    return tuple(str(each) for each in found) if isinstance(found, list) else ()
