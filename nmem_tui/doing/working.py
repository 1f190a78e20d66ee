"""Long work that a person asked for: one at a time, in a thread, told as it goes, stopped when the cockpit closes.

This is the cockpit's worker boundary for such work: whatever goes wrong in it becomes one line on screen.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable
from contextlib import suppress
from threading import Event
from typing import Any

from textual import on
from textual.message import Message

from nmem import database
from nmem.errors import NmemError
from nmem_tui.messages import Changed, Finished, Progress
from nmem_tui.model import keyed
from nmem_tui.outlets.handing import Handing

_EVERY_S = 0.1
"""How far it is is told at most this often."""


class Stopped(NmemError):
    """The person, or the end of the cockpit, stopped it."""


class Job:
    """One piece of long work: how far it is, and whether it shall go on."""

    def __init__(self, name: str, post: Callable[[Message], object], *, stops: bool = True) -> None:
        self.name = name
        self.stops = stops
        """Whether a person can stop it."""
        self.done = self.whole = 0
        """Steps; `whole` 0: nobody knows how many there are."""
        self.said = ""
        """What it is at."""
        self._post = post
        self._stop = Event()
        self._told = 0.0
        self._db: sqlite3.Connection | None = None

    def holds(self, db: sqlite3.Connection) -> None:
        """What is asked of this connection is broken off by a stop."""
        self._db = db

    def stop(self) -> None:
        """It shall end soon."""
        self._stop.set()
        if self._db is not None:
            with suppress(sqlite3.ProgrammingError):  # closed: the work has just come to its end
                self._db.interrupt()

    def stopped(self) -> bool:
        """Whether it shall end."""
        return self._stop.is_set()

    def check(self) -> None:
        """Raises Stopped when it shall end."""
        if self.stopped():
            raise Stopped(f"{self.name}: stopped")

    def tell(self, done: int, whole: int = 0, said: str = "") -> None:
        """So far it is."""
        self.done, self.whole, self.said = done, whole, said
        if time.monotonic() - self._told > _EVERY_S:
            self._told = time.monotonic()
            self._post(Progress())


Do = Callable[[Job, str, int], tuple[str, Any]]
"""Does it to the database at a path, at a time (ms): one line for the person, and what came of it."""


class Working(Handing):
    """An app with long work in its background."""

    job: Job | None = None
    """What is worked on now."""
    failed = ""
    """Why the last work could not be done; until the next one, or until somebody has seen it."""
    _then: Callable[[Any], None] | None = None

    def busy(self) -> str | None:
        """Why nothing else can begin; None when it can."""
        if self.job is None:
            return None
        return f"{self.job.name} is going on" + (f": {keyed.of('stop')} stops it" if self.job.stops else "")

    def work(self, name: str, do: Do, then: Callable[[Any], None] | None = None, *, stops: bool = True) -> None:
        """Begin; `then` is called with what came of it, on the event loop."""
        job = self.job = Job(name, self.post_message, stops=stops)
        self._then, self.failed = then, ""
        path, now = self.db_path, self.clock()
        self.run_worker(lambda: self._do(job, do, path, now), group="job", thread=True, exit_on_error=False)
        self._show_job()

    def _do(self, job: Job, do: Do, path: str, now: int) -> None:
        try:
            said, value = do(job, path, now)
            message = Finished(said, failed=False, value=value)
        except Stopped as error:
            message = Finished(str(error), failed=True)
        except NmemError as error:
            message = Finished(str(error), failed=True)
        except (sqlite3.Error, OSError) as error:
            said = "stopped" if job.stopped() else f"{database.worded(error)}; try again"
            message = Finished(f"{job.name}: {said}", failed=True)
        except Exception as error:  # noqa: BLE001 -- the worker boundary: failed work must not end the cockpit
            message = Finished(f"{job.name}: {type(error).__name__}: {error}", failed=True)
        self.post_message(message)

    @on(Progress)
    def tell_progress(self) -> None:
        """The screen shows how far it is."""
        self._show_job()

    @on(Finished)
    def tell_end(self, message: Finished) -> None:
        """It is done, or could not be; whoever is leaving has no screen to say so on."""
        if self._exit:
            return
        stopped = self.job is not None and self.job.stopped()
        then, self._then, self.job = self._then, None, None
        self.failed = message.text if message.failed and not stopped else ""
        self._show_job()
        if then is not None and not message.failed:
            then(message.value)
        self.post_message(Changed(message.text, failed=message.failed))

    def _show_job(self) -> None:
        if show := getattr(self.standing, "show_job", None):
            show()
