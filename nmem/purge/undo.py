"""The purge as a correction: its description, and its undo (SQL: whether that is still possible)."""

from __future__ import annotations

from sqlite3 import Connection

from capture.storage import sqlite
from nmem.errors import NmemError
from nmem.purge import run, said, trash
from nmem.store.corrections import Entry


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
    db.execute("PRAGMA recursive_triggers=ON")
    return run.undo(db, sqlite.file(db), int(entry.target.partition("/")[2]), now)


def kept(db: Connection, entry: Entry, now: int) -> bool:
    """Whether its trash is kept still and can be opened, so that it can be taken back another time."""
    number = int(entry.target.partition("/")[2])
    found = "SELECT 1 FROM purges WHERE id = ? AND state = 'kept' AND keep_until > ?"
    if db.execute(found, (number, now)).fetchone() is None:
        return False
    try:
        return next(iter(trash.take(sqlite.file(db), number)), None) is not None
    except NmemError:
        return False
