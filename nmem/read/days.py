"""Counts the work in a project by day: calls of recent days, and today's episodes and pins."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta, tzinfo
from sqlite3 import Connection

from nmem.read import figures, store

SHOWN = 14
"""Days that are counted, today among them."""


@dataclass(frozen=True, slots=True)
class Days:
    """What was done in one project by day, the oldest day first."""

    project_id: int
    starts: tuple[int, ...]
    """When each day began in milliseconds; the last one is today."""
    calls: tuple[int, ...]
    """What the agent did on each day, as many as `starts`."""
    episodes: int
    """Of today, as is the next."""
    pinned: int


def midnights(at: int, zone: tzinfo | None, count: int = SHOWN) -> tuple[int, ...]:
    """When each of the last days began in a zone (None: the machine's own), the oldest first; none for no such time."""
    try:
        today = datetime.fromtimestamp(at / 1000, zone)
        days = [today - timedelta(days=back) for back in range(count - 1, -1, -1)]
        return tuple(int(datetime(d.year, d.month, d.day, tzinfo=zone).timestamp() * 1000) for d in days)
    except (ValueError, OverflowError, OSError):
        return ()


def days(db: Connection, session_id: str, starts: Sequence[int], known: Days | None = None) -> Days | None:
    """The days of a session's project; the days before today are taken from `known` where that counted the same ones.

    None where there is no such session or no such time.
    """
    project, whole = store.project_of(db, session_id), tuple(starts)
    if project is None or not whole:
        return None
    if known is not None and (known.project_id, known.starts) == (project, whole):
        calls = (*known.calls[:-1], *figures.calls(db, project, whole[-1:]))
    else:
        calls = figures.calls(db, project, whole)
    today = calls[-1] - figures.noted(db, project, whole[-1])
    return Days(project, whole, (*calls[:-1], today), *figures.episodes(db, project, whole[-1]))
