"""Changes the database off the event loop, one change at a time, and tells how it went.

This is the cockpit's other worker boundary: whatever goes wrong in a change becomes one line on screen.
"""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable

from nmem.errors import NmemError
from nmem_tui.messages import Changed
from nmem_tui.steering import Change

_BUSY_S = 3.0
READ_ONLY = "read-only: nothing is changed from here"


class Writes:
    """The changes of one cockpit."""

    def __init__(self, post: Callable[[Changed], object], *, read_only: bool = False) -> None:
        self._post = post
        self._read_only = read_only
        self._one = threading.Lock()

    def carry_out(self, path: str, change: Change, now: int) -> None:
        """Do it in this thread and post how it went; call it from a worker."""
        with self._one:
            self._post(self._attempt(path, change, now))

    def _attempt(self, path: str, change: Change, now: int) -> Changed:
        from capture.storage import store
        from nmem import tables

        if self._read_only:
            return Changed(READ_ONLY, failed=True)
        try:
            db = store.connect(path, timeout=_BUSY_S)
            try:
                tables.ensure(db)
                return Changed(change(db, now), failed=False)
            finally:
                db.close()
        except NmemError as error:
            return Changed(str(error), failed=True)
        except sqlite3.OperationalError as error:
            return Changed(f"not changed: {error}; try again", failed=True)
        except Exception as error:  # noqa: BLE001 -- the worker boundary: a failed change must not end the cockpit
            return Changed(f"not changed: {type(error).__name__}: {error}", failed=True)
