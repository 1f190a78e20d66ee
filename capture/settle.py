"""Background process: stores spooled rows and missed transcript records, merges text indexes, cuts the WAL.

Runs in a process of its own session that nobody waits for, one at a time.
"""

from __future__ import annotations

import os
import sys
from time import time

from capture import paths
from capture.files import opened

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

OFF = "NMEM_SKIP_SETTLE"
"""Set in the environment: nothing is started in the background."""
_AGAIN = 1.0
"""Seconds before another settling is started."""


def _lock(db_path: str) -> str:
    return os.path.join(paths.folder(db_path), "settle.lock")


def start(db_path: str, pause: float = _AGAIN) -> bool:
    """Start settling in the background; False when it was done within `pause` seconds or cannot be started."""
    if os.environ.get(OFF):
        return False
    try:
        if 0 <= time() - os.stat(_lock(db_path)).st_mtime < pause:
            return False
    except OSError:
        pass
    words = [sys.executable, "-I", "-S", paths.entry(), "settle", "--db", db_path]
    try:
        spawn(words, os.environ)
    except (OSError, AttributeError):
        return False
    return True


def spawn(words: list[str], env: Mapping[str, str]) -> None:
    """Start a child with no pipe of ours, in a session of its own: closing a terminal or a client does not end it."""
    null = [(os.POSIX_SPAWN_OPEN, fd, os.devnull, os.O_RDWR, 0) for fd in (0, 1, 2)]
    try:
        os.posix_spawn(words[0], words, env, file_actions=null, setsid=True)
    except NotImplementedError:
        os.posix_spawn(words[0], words, env, file_actions=null, setpgroup=0)


def settle(db_path: str, seconds: float = 5.0) -> int:
    """Settle a database here and now; the number of spooled batches stored, -1 when another process is at it.

    Waits up to `seconds` for a lock on the database. Raises sqlite3.Error or OSError.
    """
    lock = opened(_lock(db_path), os.O_WRONLY | os.O_CREAT)
    try:
        if not _mine(lock):
            return -1
        os.utime(lock if os.utime in os.supports_fd else _lock(db_path))
        return _settle(db_path, seconds)
    finally:
        os.close(lock)


def _mine(lock: int) -> bool:
    """Take the lock; the system takes it back when its holder dies, so it is never stale."""
    try:
        from fcntl import LOCK_EX, LOCK_NB, flock  # on use: start-up stays short
    except ImportError:
        return True  # sqlite's own locks remain
    try:
        flock(lock, LOCK_EX | LOCK_NB)
    except OSError:
        return False
    return True


def _settle(db_path: str, seconds: float) -> int:
    from capture.storage import schema, spool, store  # on use: start-up stays short
    from capture.transcript.missed import catch_up_rest

    db = store.connect(db_path, timeout=seconds)
    try:
        done = spool.drain(db, db_path)
        catch_up_rest(db)
        schema.merge(db)
        done += spool.drain(db, db_path)  # what found the database locked by this
        spool.reserve(db_path)
    finally:
        db.close()
    return done
