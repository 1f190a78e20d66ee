"""Removes a deleted database's leftover log and index, which would be taken for the next one's.

Whoever still has the deleted file open shares the index with all who come later, and what those commit would be lost.
Nothing in a log can be read without its database.
"""

from __future__ import annotations

import os

from capture.files import opened, remove


def replaced(path: str) -> None:
    """Begin a database where one was deleted: without what that has left, and one process at a time.

    Raises OSError.
    """
    from fcntl import LOCK_EX, flock

    lock = os.open(os.path.dirname(os.path.abspath(path)), os.O_RDONLY)
    try:
        flock(lock, LOCK_EX)
        if not os.path.exists(path):  # else another process has begun it meanwhile, and the log is that one's
            for name in [name for name in (path + "-wal", path + "-shm") if os.path.exists(name)]:
                remove(name)
            os.close(opened(path, os.O_CREAT | os.O_RDWR))
    finally:
        os.close(lock)
