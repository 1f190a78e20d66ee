"""The process beside one attempt's client: starts it, limits its time, sees when it waits, records its end.

It starts the client from a list of words, holds it to its time, ends it when a person wants that, sees when it waits
for one, and writes down how it ended: first into its folder, then into the database. It needs no runner for any of it.
"""

from __future__ import annotations

import os
import signal
import sqlite3
import sys
import time
from collections.abc import Callable
from sqlite3 import Connection

from capture import log
from capture.storage import store
from capture.storage.schema import NewerDatabase
from nmem.dispatch import ending, processes, queue
from nmem.dispatch.child import Child, NotStarted, Screen
from nmem.dispatch.ending import Attention
from nmem.dispatch.folder import Folder, Spec
from nmem.dispatch.task import CANCELLED, FAILED, SUCCEEDED, TIMED_OUT, Outcome

_TICK = 0.2
_LOOK = 2.0
_TAIL = 5.0
_GRACE = 5.0
_WAIT = 10.0
_NO_CLIENT = 127


def main() -> None:
    """Run one attempt to its end."""
    folder = Folder.at(sys.argv[1])
    try:
        spec = folder.spec()
    except (OSError, ValueError, KeyError, TypeError):
        return  # it was taken back before this process began
    if folder.begin(processes.me()):
        Beside(folder, spec).run()


class Beside:
    """One attempt."""

    def __init__(self, folder: Folder, spec: Spec) -> None:
        self.folder = folder
        self.spec = spec
        self.screen = Screen(spec.headless)
        self.attention = Attention(folder, spec)
        self.signal = 0
        self.waits = ""
        self.worked = 0.0
        self._looked = self._told = 0.0
        self._tail = ""

    def run(self) -> None:
        """Start the client, stay beside it, write down its end."""
        for each in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
            signal.signal(each, self._noted)
        processes.adopt()
        name = processes.me()
        if self._store(lambda db: queue.started(db, *self._key, name, _now())) is False:
            self.folder.remove()
            return  # it was cancelled before it began
        os.chdir("/")  # the worktree may have to go
        try:
            child = Child(self.folder, self.spec)
        except NotStarted as error:
            self._end(Outcome(FAILED, _NO_CLIENT, str(error), "", _now()))
            return
        try:
            outcome = self._beside(child)
        except Exception as error:  # noqa: BLE001 - the boundary of this process: no client is left without an end
            said = log.reason(error)
            log.note(self.spec.database, f"task {self.spec.task_id}: {said}")
            child.end(_GRACE)
            outcome = Outcome(FAILED, None, f"nmem could not stay beside it: {said}", "", _now())
        self._end(outcome)

    def _noted(self, number: int, _frame: object) -> None:
        self.signal = self.signal or number

    def _beside(self, child: Child) -> Outcome:
        before = time.monotonic()
        while child.code() is None:
            child.read(self.screen.ring, _TICK)
            now = time.monotonic()
            if not self.waits:
                self.worked += now - before  # a person may take as long as they like
            before = now
            if self.signal and (stopped := self._stopped(child)):
                return stopped
            if self.spec.time_limit and self.worked >= self.spec.time_limit:
                child.end(_GRACE)
                said = f"it did not end within {_span(self.spec.time_limit)}"
                return self._outcome(TIMED_OUT, None, said)
            if now - self._looked >= _LOOK:
                self._looked = now
                self._look(now)
        child.read(self.screen.ring, 0)
        code = child.code() or 0
        killed = f"its client was ended by {signal.Signals(-code).name}" if code < 0 else ""
        return self._outcome(FAILED if code else SUCCEEDED, 128 - code if code < 0 else code, killed)

    def _stopped(self, child: Child) -> Outcome | None:
        """What a signal to this process makes of the attempt."""
        why = self.folder.cancelled()
        if self.signal == signal.SIGINT and not why:
            self.signal = 0
            return None  # typed in the pane: the client's own matter
        child.end(_GRACE)
        child.read(self.screen.ring, 0)
        if why:
            return self._outcome(CANCELLED, None, why)
        gone = "its pane was closed" if self.signal == signal.SIGHUP else "it was ended from outside"
        return self._outcome(FAILED, None, gone)

    def _outcome(self, state: str, code: int | None, reason: str) -> Outcome:
        return Outcome(state, code, reason, self.screen.last(), _now())

    def _look(self, now: float) -> None:
        """See whether it waits for a person, and keep what it shows."""
        shown = self.screen.look()
        wanted = self.attention.wanted(shown, _now())
        if wanted != self.waits:
            self._say(wanted)
        if now - self._told >= _TAIL and shown and shown != self._tail:
            self._told, self._tail = now, shown
            self._store(lambda db: queue.tail(db, *self._key, shown))

    def _say(self, wanted: str) -> None:
        before = self.waits
        told = self._store(
            lambda db: (
                queue.waiting(db, *self._key, wanted, _now()) if wanted else queue.answered(db, *self._key, _now())
            )
        )
        self.waits = wanted if told is not _FAILED else before

    def _end(self, outcome: Outcome) -> None:
        try:
            self.folder.end(outcome)
        except OSError as error:
            log.note(self.spec.database, f"task {self.spec.task_id}: its end cannot be written: {error}")
        path = self.spec.database
        self._store(lambda db: ending.finish(db, path, *self._key, outcome, _now()))

    @property
    def _key(self) -> tuple[int, int]:
        return self.spec.task_id, self.spec.attempt

    def _store(self, write: Callable[[Connection], object]) -> object:
        """Write to the database; where it cannot be had, the folder keeps what matters."""
        try:
            db = store.connect(self.spec.database, timeout=_WAIT)
        except (sqlite3.Error, OSError, NewerDatabase) as error:
            log.note(self.spec.database, f"task {self.spec.task_id}: {error}")
            return _FAILED
        try:
            return write(db)
        except sqlite3.Error as error:
            log.note(self.spec.database, f"task {self.spec.task_id}: {error}")
            return _FAILED
        finally:
            db.close()


_FAILED = object()


def _now() -> int:
    return time.time_ns() // 1_000_000


def _span(seconds: int) -> str:
    for size, word in ((3600, "h"), (60, "min")):
        if seconds >= size and seconds % size == 0:
            return f"{seconds // size} {word}"
    return f"{seconds} s"


if __name__ == "__main__":
    main()
