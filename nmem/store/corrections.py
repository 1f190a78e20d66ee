"""Logs every correction a person makes, of any kind, with the rows as they were before: undo reads it."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from sqlite3 import Connection
from typing import Any, NamedTuple

from nmem.store import store
from nmem.text import from_json, json_object

TOGETHER = "together"
"""In the payload of corrections that were asked for at once, the same word: they are taken back at once as well."""
UNDONE_HERE = ("pin", "unpin", "everywhere", "here", "mark", "label")
"""Corrections whose undo needs no rows of before: they can be taken back wherever they are."""
_together: ContextVar[str] = ContextVar(TOGETHER, default="")


class Entry(NamedTuple):
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
    store.correct(db, at, kind, target, json.dumps(payload), json.dumps(before))


def newest(db: Connection) -> Entry | None:
    """The newest correction that is not undone, of whatever kind."""
    return next(map(_entry, store.corrections(db, 1)), None)


def alike(db: Connection, entry: Entry) -> list[Entry]:
    """A correction, and those that were asked for together with it and are not undone, the newest first."""
    word = entry.payload.get(TOGETHER)
    if not isinstance(word, str) or not word:
        return [entry]
    return [*map(_entry, store.corrections(db, together=word))]


def standing(db: Connection, of: str) -> list[Entry]:
    """Corrections that are not undone of one sort of target (`learning`), the oldest first, with what was before."""
    return [*map(_entry, reversed(store.corrections(db, of=f"{of}/")))]


def entries(db: Connection, limit: int = 20, session_id: str = "") -> list[Entry]:
    """Corrections, the newest first, also undone ones."""
    return [*map(_entry, store.corrections(db, limit, standing=False, session=session_id))]


steps, undone = store.steps, store.undone
"""How often a person can undo, and to note that a correction was taken back."""


def _entry(row: tuple[Any, ...]) -> Entry:
    number, at, kind, target, payload, undone_at, before = row
    asked, was = from_json(payload), from_json(before)
    damaged = not (isinstance(asked, dict) and isinstance(was, dict))
    return Entry(number, at, kind, target, json_object(payload), undone_at, json_object(before), damaged)
