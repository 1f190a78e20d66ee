"""Changes the database off the event loop, one change at a time, and tells how it went.

This is the cockpit's other worker boundary: whatever goes wrong in a change becomes one line on screen.
"""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable, Coroutine
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial

from nmem import database
from nmem.errors import NmemError
from nmem_tui.doing.steering import Change
from nmem_tui.messages import Changed, FileChanged

_BUSY_S = 3.0
_SOON_S = 0.5
"""A change that waits longer than this for another program says so."""
_LINE = ThreadPoolExecutor(1, "nmem-writes")
"""A thread of its own: changes are made in the order in which they were asked for; those that wait hold up no read."""
READ_ONLY = "read-only: nothing is changed from here"


class Writes:
    """The changes of one cockpit."""

    def __init__(self, post: Callable[[Changed | FileChanged], object], *, read_only: bool = False) -> None:
        self._post = post
        self._read_only = read_only

    def begin(self, path: str, change: Change, now: int) -> Callable[[], Coroutine[None, None, None]]:
        """Do it after all that was asked for before, and post how it went; what is returned waits for that."""
        return partial(_over, _LINE.submit(self.carry_out, path, change, now))

    def carry_out(self, path: str, change: Change, now: int) -> None:
        """Do it in this thread and post how it went."""
        self._post(self._attempt(path, change, now))

    def _attempt(self, path: str, change: Change, now: int) -> Changed:
        from capture.storage import store
        from nmem import tables

        if self._read_only:
            return Changed(READ_ONLY, failed=True)
        if database.busy(path, _SOON_S):
            self._post(FileChanged("trouble", "waiting for the database: another program is writing …"))
        try:
            db = store.connect(path, timeout=_BUSY_S)
            try:
                tables.ensure(db)
                return Changed(change(db, now), failed=False)
            finally:
                db.close()
        except NmemError as error:
            return Changed(str(error), failed=True)
        except sqlite3.Error as error:
            return Changed(f"not changed: {database.worded(error)}; try again", failed=True)
        except Exception as error:  # noqa: BLE001 -- the worker boundary: a failed change must not end the cockpit
            return Changed(f"not changed: {type(error).__name__}: {error}", failed=True)


async def _over(done: Future[None]) -> None:
    """Wait for it; a cockpit that closes meanwhile does not take it back."""
    await asyncio.shield(asyncio.wrap_future(done))
