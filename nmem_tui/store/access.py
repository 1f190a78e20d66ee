"""Reads and writes the database off the event loop, in thread workers that post messages and touch no widget.

A read sees one moment: what is committed while it goes on is not half in it. One read a topic runs at a time; a newer
wish waits and replaces an older waiting one. A result that was overtaken by `forget` is dropped. This is the cockpit's
worker boundary: whatever goes wrong in a read becomes one line on screen.

This is the cockpit's other worker boundary: whatever goes wrong in a change becomes one line on screen.
"""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable, Coroutine
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from sqlite3 import Connection, Error, OperationalError
from typing import Any

from textual.dom import DOMNode
from textual.worker import Worker

from nmem import database, tables
from nmem.errors import NmemError, NoDatabase
from nmem_tui.messages import Changed, FileChanged, Loaded, ReadFailed

Work = Callable[[Connection], Any]
Then = Callable[[Any], None]


def beside(owner: DOMNode, work: Callable[[], Coroutine[Any, Any, None]], group: str) -> Worker[None]:
    """Do what awaits beside the screens, as long as its owner is there.

    `work` makes the coroutine once the worker runs: one that is cancelled before its first step leaves none unawaited.
    """
    return owner.run_worker(work, group=group, exit_on_error=False)


class Reads:
    """The reads of one screen."""

    def __init__(self, owner: DOMNode, path: Callable[[], str]) -> None:
        self._owner = owner
        self._path = path
        self._ticket = 0
        self._running: dict[str, tuple[int, Then]] = {}
        self._waiting: dict[str, tuple[Work, Then]] = {}

    def ask(self, topic: str, work: Work, then: Then) -> None:
        """Do `work` with a connection in a thread, then call `then` with the answer on the event loop."""
        if topic in self._running:
            self._waiting[topic] = (work, then)
            return
        self._ticket += 1
        ticket, path = self._ticket, self._path()
        self._running[topic] = (ticket, then)
        self._owner.run_worker(
            lambda: self._read(topic, ticket, path, work), group=topic, thread=True, exit_on_error=False
        )

    def _read(self, topic: str, ticket: int, path: str, work: Work) -> None:
        message: Loaded | ReadFailed
        try:
            db = database.reader(path, whole=True)
            try:
                message = Loaded(topic, ticket, _answer(db, work))
            finally:
                db.close()
        except NoDatabase:
            message = ReadFailed(topic, ticket, "")
        except NmemError as error:
            message = ReadFailed(topic, ticket, str(error))
        except Error as error:
            message = ReadFailed(topic, ticket, database.worded(error))
        except Exception as error:  # noqa: BLE001 -- the worker boundary: a failed read must not end the cockpit
            message = ReadFailed(topic, ticket, f"{topic}: {type(error).__name__}: {error}")
        self._owner.post_message(message)

    def forget(self, *topics: str) -> None:
        """Ignore what is under way for these topics."""
        for topic in topics:
            self._running.pop(topic, None)
            self._waiting.pop(topic, None)

    def done(self, message: Loaded | ReadFailed) -> Then | None:
        """Who wants this answer, if anybody still does; starts the read that waited for it."""
        ticket, then = self._running.get(message.topic, (0, None))
        if ticket != message.ticket:
            return None
        del self._running[message.topic]
        if waiting := self._waiting.pop(message.topic, None):
            self.ask(message.topic, *waiting)
        return then


def _answer(db: Connection, work: Work) -> Any:  # noqa: ANN401 -- each read has its own
    """What is read, of one moment; once more, leniently, where a text of a foreign program is no UTF-8."""
    try:
        return work(database.one_moment(db))
    except OperationalError as error:
        if not database.garbled(error):
            raise
        return work(database.leniently(db))


Change = Callable[[Connection, int], str]
"""Changes the database at a time (ms), and returns one line for the toast. Raises NmemError when refused."""

_BUSY_S = 3.0
_SOON_S = 0.5
"""A change that waits longer than this for another program says so."""
_LINE = ThreadPoolExecutor(1, "nmem-writes")
"""A thread of its own: changes are made in the order in which they were asked for; those that wait hold up no read."""
READ_ONLY = "read-only: changes are refused"


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
        from capture.storage import store  # on use: start-up stays short

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
