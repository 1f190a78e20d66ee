"""How long one search may take, and how SQLite is made to keep to it."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from sqlite3 import Connection

_STEPS = 1_000
"""Instructions of SQLite between two looks at the clock: well under a millisecond."""


class Clock:
    """Time left of a search; somebody who lost interest may end it early."""

    def __init__(self, seconds: float, stopped: Callable[[], bool] | None = None) -> None:
        self._begun = time.perf_counter()
        self._seconds = seconds
        self._until = self._begun + seconds
        self._stopped = stopped

    def share(self, part: float) -> None:
        """What follows may go on until this part of the whole time is over."""
        self._until = self._begun + self._seconds * part

    def over(self) -> bool:
        """Whether to stop here."""
        return time.perf_counter() > self._until or (self._stopped is not None and self._stopped())

    def spent(self) -> float:
        """Seconds since it began."""
        return time.perf_counter() - self._begun

    @contextmanager
    def watching(self, db: Connection) -> Iterator[None]:
        """Statements on this connection are interrupted when time is over."""
        db.set_progress_handler(lambda: int(self.over()), _STEPS)
        try:
            yield
        finally:
            db.set_progress_handler(None, 0)


def interrupted(error: sqlite3.Error) -> bool:
    """Whether an error says that time was over."""
    return "interrupted" in str(error)
