"""Prepares the decisions of recent projects for hooks, which read no decision files (SQL, reading)."""

from __future__ import annotations

from collections.abc import Callable
from sqlite3 import Connection

from nmem.errors import NmemError
from nmem.recall import kept, store

_RECENT = 30 * 86_400_000
_MOST = 20
"""Folders looked at: those that sessions worked in last."""


def make(db: Connection, now: int, stopped: Callable[[], bool] = lambda: False) -> int:
    """Index the decisions of the folders that sessions worked in lately; how many folders have any."""
    count = 0
    for (cwd,) in db.execute(
        "SELECT cwd FROM sessions WHERE last_at > ? AND cwd <> '' GROUP BY cwd ORDER BY max(last_at) DESC LIMIT ?",
        (now - _RECENT, _MOST),
    ).fetchall():
        if stopped():
            break
        place = kept.place(cwd)
        if place is not None and kept.read(place) is None:
            try:
                store.of(place)
            except NmemError:
                continue  # `nmem when` and `nmem recall check` say what is wrong with them
        count += place is not None
    return count
