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
from nmem.errors import Begun, NmemError, NoDatabase, OlderDatabase
from nmem_tui.messages import FileChanged, StoreChanged, StoreGone

FOCUSED_S = 0.06
BLURRED_S = 0.5
_ABSENT_S = 0.5
_INODE_EVERY_S = 1.0
_NONE = (0, 0)
ANOTHER = "the database file was replaced: showing the new one"
WRITTEN_OVER = "the database was overwritten: showing its new contents"


class Feed:
    """Watches one database file: its commits, its appearing, its being replaced."""

    def __init__(
        self,
        path: str,
        post: Callable[[StoreChanged | StoreGone | FileChanged], object],
        time_of_day: Callable[[], str] = lambda: time.strftime("%H:%M"),
        *,
        read_only: bool = False,
    ) -> None:
        self.path = path
        self._read_only = read_only
        self._time = time_of_day
        self.every = FOCUSED_S
        self.generation = 0
        self.looked = False
        """Whether the file was looked at since the start."""
        self._post = post
        self._db: sqlite3.Connection | None = None
        self._version = -1
        self._file, self._index, self._written = _NONE, _NONE, _NONE
        """Which file is read, and which index of its log; when it was written last, and its size."""
        self._shows = self._other = False
        """Whether the screens may show what was read here; whether that was another file, or another state of it."""
        self.older = False
        """Whether an older nmem made the file: it can be brought up to date."""
        self.begun = False
        """Whether hooks have only begun the file: it is made whole beside the event loop, as commands do."""
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
                if self.begun and not self._read_only:
                    await asyncio.to_thread(_complete, self.path)
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
        found, written = _stat(self.path)
        other = found != _NONE and (self._other or found != self._file)
        said = WRITTEN_OVER if found == self._file else ANOTHER
        self.older = self.begun = False
        try:
            self._db = database.reader(self.path, whole=True)
        except NmemError as error:
            self.older, self.begun = isinstance(error, OlderDatabase), isinstance(error, Begun)
            if other or (found != _NONE and not database.held(error)):
                self._renew(said if self.begun else "")
            self._lose(self.deleted if isinstance(error, NoDatabase) else str(error))
            return
        if other:
            self._renew(said)
        self._shows, self._other = True, False
        self._file, self._index, self._written = found, _stat(f"{self.path}-shm")[0], written
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

    def check(self) -> None:
        """Look at once whether the file is still the one that is read."""
        self._since_inode = 0.0
        found, written = _stat(self.path)
        if self._db is None:
            return
        if found == self._file and self._same_index() and self._fits():
            if written != self._written:  # by a checkpoint, or by a copy: the log knows of no commit
                self._written, self._version = written, -1
            return
        self.close()
        self._other = True
        if found == _NONE:
            self.deleted = (f"the database was deleted at {self._time()}: this view is old; "
                            "`nmem restore` brings a backup back")  # fmt: skip
            self._lose(self.deleted)

    def _same_index(self) -> bool:
        """Whether its log's index is the one it was: while it is read here, only who replaces it takes that away."""
        return self._index in (_NONE, _stat(f"{self.path}-shm")[0])

    def _fits(self) -> bool:
        """Whether the file can still be read as what it is; one that is only busy can."""
        try:
            database.reader(self.path, whole=True).close()
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


def _stat(path: str) -> tuple[tuple[int, int], tuple[int, int]]:
    """Which file a path leads to; when it was written last, and its size: zeros where there is none."""
    try:
        found = Path(path).stat()
    except OSError:
        return _NONE, _NONE
    return (found.st_dev, found.st_ino), (found.st_mtime_ns, found.st_size)


def _complete(path: str) -> None:
    from nmem import upgrade  # on use: start-up stays short

    upgrade.ready(path)
