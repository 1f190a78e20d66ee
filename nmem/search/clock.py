"""The time limit of one search, enforced on SQLite."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from sqlite3 import Connection

_STEPS = 1_000
"""Instructions of SQLite between two looks at the clock: well under a millisecond."""

OUTER_STEPS = 20_000
"""The same for a clock that has seconds."""


class Clock:
    """Time left of a search; somebody who lost interest may end it early.

    SQLite watches one clock a connection: whoever has set one already passes it as `outer`, and has it back afterwards.
    """

    def __init__(
        self, seconds: float, stopped: Callable[[], bool] | None = None, outer: Callable[[], bool] | None = None
    ) -> None:
        self._begun = time.perf_counter()
        self._seconds = seconds
        self._until = self._begun + seconds
        self._stopped = stopped
        self._outer = outer

    def share(self, part: float) -> None:
        """What follows may go on until this part of the whole time is over."""
        self._until = self._begun + self._seconds * part

    def over(self) -> bool:
        """Whether to stop here."""
        if time.perf_counter() > self._until or (self._stopped is not None and self._stopped()):
            return True
        return self._outer is not None and self._outer()

    def spent(self) -> float:
        """Seconds since it began."""
        return time.perf_counter() - self._begun

    @contextmanager
    def watching(self, db: Connection, cut: Callable[[], None] | None = None) -> Iterator[None]:
        """Statements on this connection are interrupted when time is over; `cut` is called instead of an error."""
        db.set_progress_handler(lambda: int(self.over()), _STEPS)
        try:
            yield
        except sqlite3.OperationalError as error:
            if cut is None or "interrupted" not in str(error):
                raise
            cut()
        finally:
            outer = self._outer
            db.set_progress_handler(outer and (lambda: int(outer())), OUTER_STEPS)

    def check(self) -> None:
        """Interrupt what is watched, when time is over."""
        if self.over():
            raise sqlite3.OperationalError("interrupted")
