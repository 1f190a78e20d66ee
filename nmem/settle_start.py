"""Starts `nmem settle` in the background from a hook: one process however many hooks ask; standard library only.

A file beside the database says that settling is wanted: whoever settles empties it when it begins, and looks at it
again when it is done. So wishes of many hooks cost one process, and none is lost.
"""

from __future__ import annotations

import os
from time import time

from capture import paths
from capture.hook import SKIP

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

RESTING = 60.0
"""Seconds between two of them that turns start: what goes on is told anew so often at most."""
LOST = 30.0
"""Seconds after which a process that was to settle has not come up."""


def wanted(db_path: str) -> str:
    """The file whose content says that settling is wanted."""
    return os.path.join(paths.folder(db_path), "settle.wanted")


def lock_file(db_path: str) -> str:
    """The file that is locked while a process settles, and written to when one begins."""
    return os.path.join(paths.folder(db_path), "settle-nmem.lock")


def rested(db_path: str, lock: Callable[[str], str] = lock_file) -> bool:
    """Whether the last process that settled began long enough ago for a turn that ends to start another: one stat.

    `lock`: says which file other processes touch when they begin.
    """
    try:
        return not 0 <= time() - os.stat(lock(db_path)).st_mtime < RESTING
    except OSError:
        return True


def start(db_path: str) -> bool:
    """Start settling; False when it is about to begin anyway, or cannot be started. Costs a stat, a write, a spawn."""
    from capture.files import opened  # on use: a turn that ends mostly asks `rested` alone
    from capture.settle import OFF

    if os.environ.get(OFF) or os.environ.get(SKIP):
        return False
    path = wanted(db_path)
    try:
        stat = os.lstat(path)
        if stat.st_size and 0 <= time() - stat.st_mtime < LOST:
            return False
    except OSError:
        pass
    try:
        file = opened(path, os.O_WRONLY | os.O_CREAT)
        os.write(file, b"1")
        os.close(file)
        return _spawn(db_path)
    except (OSError, AttributeError):
        return False


def _spawn(db_path: str) -> bool:
    from capture.settle import spawn  # on use: start-up stays short
    from nmem.own_process import words

    env = {**os.environ, SKIP: "1", "NMEM_DB": db_path}
    spawn(words("settle", "--quiet", "--db", db_path), env)
    return True
