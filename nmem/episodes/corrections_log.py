"""Logs corrections of episodes with the previous rows; no other module writes them.

`Correction` is one change: the write lock, the images, the recount of what was touched, and the entry.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from itertools import pairwise
from sqlite3 import Connection
from typing import Any, Self

from capture.storage.store import transaction
from nmem.episodes import annotate, images, units
from nmem.episodes.images import Change, Image
from nmem.text import from_json, json_object

KINDS = ("split", "merge", "rename", "resume", "unresume", "move", "keep", "pin", "unpin")
"""Corrections of episodes; link, unlink and thread are of threads, and targets tell those of learnings."""


TOGETHER = "together"
"""In the payload of corrections that were asked for at once, the same word: they are taken back at once as well."""
_together: ContextVar[str] = ContextVar(TOGETHER, default="")


@dataclass(frozen=True, slots=True)
class Entry:
    """One correction. `before` is what undo puts back; empty where only a list was asked for."""

    id: int
    at: int
    kind: str
    target: str
    """episode/12, prompt/5, thread/3, link/7, learning/4 or session/ID."""
    payload: dict[str, Any]
    undone_at: int | None
    before: dict[str, Any]
    damaged: bool = False
    """Whether what was asked or what was before cannot be read: it cannot be taken back."""


class Correction:
    """One change by a person, in one transaction: all of it or nothing."""

    def __init__(self, db: Connection, kind: str, now: int) -> None:
        self.db, self.kind, self.now = db, kind, now
        self._transaction = transaction(db)
        self._session = ""
        self._before: Image = {}
        self._entry: tuple[str, dict[str, object]] | None = None

    def __enter__(self) -> Self:
        self._transaction.__enter__()
        return self

    def begin(self, session_id: str) -> None:
        """Take the session's rows as they are: before the first change, after all checks."""
        self._session = session_id
        self._before = images.take(self.db, session_id)

    def note(self, target: str, **payload: object) -> None:
        """What was asked; undo and the list tell it."""
        self._entry = (target, payload)

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        if kind is None:
            try:
                self._finish()
            except BaseException as failure:
                self._transaction.__exit__(type(failure), failure, failure.__traceback__)
                raise
        self._transaction.__exit__(kind, error, trace)

    def _finish(self) -> None:
        assert self._entry is not None
        after = images.take(self.db, self._session)
        touched = _touched(self._before, after)
        if touched:
            recount(self.db, self._session, touched)
            after = images.take(self.db, self._session)
        target, payload = self._entry
        change = images.difference(self._before, after)
        write(self.db, self.kind, target, {**payload, "session": self._session}, change, self.now)


def recount(db: Connection, session_id: str, touched: set[int]) -> None:
    """Count again what was done in some episodes, and in their session. Inside a transaction."""
    units.straighten(db, session_id)
    units.one_open(db, session_id)
    for unit_id in sorted(touched):
        unit = units.get(db, unit_id)
        if unit is not None:
            annotate.recount(db, unit, trace=unit.state == units.CLOSED)
    annotate.sign_session(db, session_id)


def _touched(before: Image, after: Image) -> set[int]:
    """Episodes whose prompts are others now, and the ones before them: these end where the next begins."""
    old, new = ({key: row["unit_id"] for key, row in image["unit_prompts"].items()} for image in (before, after))
    changed = {place[key] for key in old.keys() | new.keys() if old.get(key) != new.get(key) for place in (old, new)
               if key in place}  # fmt: skip
    out = set(changed)
    for image in (before, after):
        rows = sorted(image["work_units"].values(), key=lambda row: (row["started_at"], row["id"]))
        order = [row["id"] for row in rows]
        out |= {earlier for earlier, later in pairwise(order) if later in changed}
    return out & {int(key) for key in after["work_units"]}


@contextmanager
def together() -> Iterator[None]:
    """What is corrected in here, in as many transactions as it takes, is one to whoever takes it back."""
    token = _together.set(_together.get() or os.urandom(8).hex())
    try:
        yield
    finally:
        _together.reset(token)


def write(
    db: Connection, kind: str, target: str, payload: Mapping[str, object], before: Mapping[str, object], at: int
) -> None:
    """Keep what a person changed, and what was there before. Inside a transaction."""
    if word := _together.get():
        payload = {**payload, TOGETHER: word}
    db.execute(
        "INSERT INTO corrections (at, kind, target, payload, before) VALUES (?, ?, ?, ?, ?)",
        (at, kind, target, json.dumps(payload), json.dumps(before)),
    )


_COLUMNS = "id, at, kind, target, payload, undone_at"


def newest(db: Connection) -> Entry | None:
    """The newest correction that is not undone, of whatever kind."""
    row = db.execute(
        f"SELECT {_COLUMNS}, before FROM corrections WHERE undone_at IS NULL ORDER BY id DESC LIMIT 1"  # noqa: S608
    ).fetchone()
    return _entry(tuple(row)) if row else None


def alike(db: Connection, entry: Entry) -> list[Entry]:
    """A correction, and those that were asked for together with it and are not undone, the newest first."""
    word = entry.payload.get(TOGETHER)
    if not isinstance(word, str) or not word:
        return [entry]
    found = db.execute(
        f"SELECT {_COLUMNS}, before FROM corrections"  # noqa: S608 - our names
        " WHERE undone_at IS NULL AND json_valid(payload) AND json_extract(payload, '$.together') = ? ORDER BY id DESC",
        (word,),
    )
    return [_entry(tuple(row)) for row in found.fetchall()]


def standing(db: Connection, of: str) -> list[Entry]:
    """Corrections that are not undone of one sort of target (`learning`), the oldest first, with what was before."""
    found = db.execute(
        f"SELECT {_COLUMNS}, before FROM corrections"  # noqa: S608 - our names
        " WHERE undone_at IS NULL AND substr(target, 1, length(?)) = ? ORDER BY id",
        (f"{of}/", f"{of}/"),
    )
    return [_entry(tuple(row)) for row in found.fetchall()]


def entries(db: Connection, limit: int = 20, session_id: str = "") -> list[Entry]:
    """Corrections, the newest first, also undone ones."""
    where = "WHERE json_valid(payload) AND json_extract(payload, '$.session') = ?" if session_id else ""
    found = db.execute(
        f"SELECT {_COLUMNS}, '{{}}' FROM corrections {where} ORDER BY id DESC LIMIT ?",  # noqa: S608 - our names
        (*([session_id] if session_id else []), limit),
    )
    return [_entry(tuple(row)) for row in found.fetchall()]


def undone(db: Connection, entry_id: int, now: int) -> None:
    """Note that a correction was taken back."""
    db.execute("UPDATE corrections SET undone_at = ? WHERE id = ?", (now, entry_id))


def _entry(row: tuple[Any, ...]) -> Entry:
    number, at, kind, target, payload, undone_at, before = row
    asked, was = from_json(payload), from_json(before)
    damaged = not (isinstance(asked, dict) and isinstance(was, dict))
    return Entry(number, at, kind, target, json_object(payload), undone_at, json_object(before), damaged)


def change(entry: Entry) -> Change:
    """The rows of a correction of episodes."""
    return entry.before
