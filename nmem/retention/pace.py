"""Paces deletion, so that a hook gets the write lock in time.

A hook that finds the database locked tries again after 1, 2, 5, 10 ... milliseconds: short holds with a gap after each
let it in at its second or third try. Where others write, the gaps are longer.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from sqlite3 import Connection

from nmem import database

HOLD = 0.015
"""Seconds that the lock should be held."""
GAP = 0.25
"""Of the time that it was held."""
BUSY_GAP = 0.7
"""The same while others write."""
_BUSY_FOR = 2.0
_LEAST, _MOST, _FIRST = 8, 600, 40


class Pace:
    """Measures holds and sets the size of the next batch."""

    def __init__(self, db: Connection, sleep: Callable[[float], None] = time.sleep) -> None:
        self.db = db
        self.rows = _FIRST
        self.longest = 0.0
        self._sleep = sleep
        self._version = self._seen()
        self._busy_until = 0.0
        self._began = 0.0

    def _seen(self) -> int:
        return database.data_version(self.db)

    def begin(self) -> None:
        """The lock is asked for from now on."""
        version = self._seen()
        if version != self._version:
            self._version, self._busy_until = version, time.monotonic() + _BUSY_FOR

    def held(self) -> None:
        """The lock is ours."""
        self._began = time.perf_counter()

    def done(self, rows: int) -> None:
        """The lock is free again, after so many rows: rest, and mind how long it took."""
        took = time.perf_counter() - self._began
        self.longest = max(self.longest, took)
        if rows:
            fits = rows * HOLD / max(took, 1e-6)
            self.rows = int(min(_MOST, max(_LEAST, 0.7 * self.rows + 0.3 * fits)))
        busy = time.monotonic() < self._busy_until
        self._sleep(max(0.001, took * (BUSY_GAP if busy else GAP)))
