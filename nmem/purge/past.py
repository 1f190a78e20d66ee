"""Lists past purges with their counts, undoes one, and closes undo windows early."""

from __future__ import annotations

from dataclasses import dataclass
from sqlite3 import Connection

from capture.storage import sqlite
from nmem.errors import NmemError
from nmem.purge import run, said, store, trash
from nmem.store.corrections import Entry
from nmem.text import json_object, texts


@dataclass(frozen=True, slots=True)
class Past:
    """One purge; none of its words."""

    number: int
    at: int
    how: tuple[str, ...]
    went: str
    """In words: `14 calls`."""
    rows: int
    state: str
    """kept undone gone."""
    keep_until: int
    cleaned: bool

    def said(self, now: int) -> str:
        """What became of it."""
        if self.state == store.KEPT and self.keep_until > now:
            return "can be undone" if self.cleaned else "can be undone; files are still to be cleaned"
        return "undone" if self.state == store.UNDONE else "gone"


def past(db: Connection, limit: int = 50) -> list[Past]:
    """Purges, the newest first."""
    return [
        _past(number, at, list(texts(how)), json_object(counts), state, until, bool(cleaned))
        for number, at, how, counts, state, until, cleaned in store.newest(db, limit)
    ]


def _past(number: int, at: int, how: list[str], counts: dict[str, int], state: str, until: int, cleaned: bool) -> Past:
    went = said.goes(said.of_tables(counts, how))
    return Past(number, at, tuple(how), went, sum(counts.values()), state, until, cleaned)


def empty(db: Connection, db_path: str, now: int) -> int:
    """Close every window; how many."""
    kept = store.kept(db)
    for number in kept:
        run.destroy(db, db_path, number, now)
    return len(kept)


def describe(entry: Entry) -> str:
    """What went, in numbers: its words are sealed."""
    how, went = entry.payload.get("how", []), entry.payload.get("went")
    if not isinstance(went, dict):  # of a release that did not keep it
        return f"{entry.target}, {said.by([*map(str, how)])}"
    return f"{entry.target}: {said.goes(went)}{', for good' if for_good(entry) else ''}"


def for_good(entry: Entry) -> bool:
    """Whether a correction is a purge that had no window to be taken back in."""
    return entry.kind == run.KIND and entry.payload.get("until") == entry.at


def take_back(db: Connection, entry: Entry, now: int) -> str:
    """Put back what the purge took, inside a transaction. Raises NmemError when its window is over."""
    store.prepare_undo(db)
    return run.undo(db, sqlite.file(db), int(entry.target.partition("/")[2]), now)


def kept(db: Connection, entry: Entry, now: int) -> bool:
    """Whether its trash is kept still and can be opened, so that it can be taken back another time."""
    number = int(entry.target.partition("/")[2])
    if store.kept_since(db, number, now) is None:
        return False
    try:
        return next(iter(trash.take(sqlite.file(db), number)), None) is not None
    except NmemError:
        return False
