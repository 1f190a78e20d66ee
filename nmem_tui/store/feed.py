"""Notices commits of other processes: polls `PRAGMA data_version` on one connection that is never in a transaction.

The call takes microseconds, so it stays on the event loop. A poll every 60 ms keeps a commit's way to the screen under
100 ms; with the terminal's focus elsewhere, two a second do.
"""

from __future__ import annotations

import asyncio
import sqlite3
import time
from collections.abc import Callable
from pathlib import Path

from nmem import database
from nmem.errors import NmemError, NoDatabase, OlderDatabase
from nmem_tui.messages import FileChanged, StoreChanged, StoreGone

FOCUSED_S = 0.06
BLURRED_S = 0.5
_ABSENT_S = 0.5
_INODE_EVERY_S = 1.0
ANOTHER = "the database is another file now: what that holds is shown"


class Feed:
    """Watches one database file: its commits, its appearing, its being replaced."""

    def __init__(
        self,
        path: str,
        post: Callable[[StoreChanged | StoreGone | FileChanged], object],
        time_of_day: Callable[[], str] = lambda: time.strftime("%H:%M"),
    ) -> None:
        self.path = path
        self._time = time_of_day
        self.every = FOCUSED_S
        self.generation = 0
        self.looked = False
        """Whether the file was looked at since the start."""
        self._post = post
        self._db: sqlite3.Connection | None = None
        self._version = -1
        self._file = (0, 0)
        self._shows = self._other = False
        """Whether the screens may show what was read here; whether that was another file, or another state of it."""
        self.older = False
        """Whether an older nmem made the file: it can be brought up to date."""
        self.deleted = ""
        """What to say of a database that was there and is no more; empty: it is there, or never was."""
        self._gone: str | None = None
        self._since_inode = 0.0

    async def run(self) -> None:
        """Poll until cancelled."""
        try:
            while True:
                self.poll()
                self.looked = True
                await asyncio.sleep(self.every if self._db else max(self.every, _ABSENT_S))
        finally:
            self.close()

    def poll(self) -> None:
        """One look; posts what changed."""
        try:
            if self._db is None:
                self._open()
            if self._db is None:
                return
            version = database.data_version(self._db)
            self._check_inode()
        except sqlite3.Error as error:
            self._lose(database.worded(error))
            return
        except Exception as error:  # noqa: BLE001 -- the worker boundary: it is said in place, and tried again
            self._lose(f"the database cannot be watched: {type(error).__name__}: {error}")
            return
        if version != self._version and self._db is not None:
            self._version = version
            self.generation += 1
            self._post(StoreChanged(self.generation))

    def _open(self) -> None:
        found = self._on_disk()
        other = found != (0, 0) and (self._other or found != self._file)
        self.older = False
        try:
            self._db = database.reader(self.path)
        except NmemError as error:
            if other or (found != (0, 0) and not database.held(error)):
                self._renew("")
            self.older = isinstance(error, OlderDatabase)
            self._lose(self.deleted if isinstance(error, NoDatabase) else str(error))
            return
        if other:
            self._renew(ANOTHER)
        self._shows, self._other, self._file = True, False, found
        self._version, self._gone, self.deleted = -1, None, ""

    def _renew(self, said: str) -> None:
        """Whatever was read before is of another file: told once."""
        if self._shows:
            self._shows, self.deleted = False, ""
            self._post(FileChanged("replaced", said))

    def turn(self, path: str) -> None:
        """Watch another file from now on; what is shown begins anew by itself."""
        self.close()
        self.path, self.deleted, self._gone = path, "", None
        self._shows = self._other = False

    def _check_inode(self) -> None:
        """A restored or deleted database is another file, and one can be written over: open what is there."""
        self._since_inode += self.every
        if self._since_inode < _INODE_EVERY_S:
            return
        self.check()

    def _on_disk(self) -> tuple[int, int]:
        """Which file the path leads to; zeros where there is none."""
        try:
            found = Path(self.path).stat()
        except OSError:
            return 0, 0
        return found.st_dev, found.st_ino

    def check(self) -> None:
        """Look at once whether the file is still the one that is read."""
        self._since_inode = 0.0
        found = self._on_disk()
        if self._db is None or (found == self._file and self._fits()):
            return
        self.close()
        self._other = True
        if found == (0, 0):
            self.deleted = (f"the database was deleted at {self._time()}: what is shown is old; "
                            "`nmem restore` brings a backup back")  # fmt: skip
            self._lose(self.deleted)

    def _fits(self) -> bool:
        """Whether the file can still be read as what it is; one that is only busy can."""
        try:
            database.reader(self.path).close()
        except NmemError as error:
            return database.held(error)
        return True

    def _lose(self, reason: str) -> None:
        self.close()
        if reason != self._gone:
            self._gone = reason
            self._post(StoreGone(reason))

    def close(self) -> None:
        """Let go of the file."""
        if self._db is not None:
            self._db.close()
            self._db = None
