"""Starts `nmem settle` in the background: from a hook, so standard library only and nothing that costs.

A file beside the database says that settling is wanted: whoever settles empties it when it begins, and looks at it
again when it is done. So wishes of many hooks cost one process, and none is lost.
"""

from __future__ import annotations

import os
import sys
from time import time

from capture import paths

OFF = "NMEM_SKIP_SETTLE"
"""Set in the environment: nothing is started in the background."""
_LOST = 30.0
"""Seconds after which a process that was to settle has not come up."""


def wanted(db_path: str) -> str:
    """The file whose content says that settling is wanted."""
    return os.path.join(paths.folder(db_path), "settle.wanted")


def start(db_path: str) -> bool:
    """Start settling; False when it is about to begin anyway, or cannot be started. Costs a stat, a write, a spawn."""
    if os.environ.get(OFF) or os.environ.get("NMEM_SKIP_HOOKS"):
        return False
    path = wanted(db_path)
    try:
        stat = os.stat(path)
        if stat.st_size and 0 <= time() - stat.st_mtime < _LOST:
            return False
    except OSError:
        pass
    try:
        file = os.open(path, os.O_WRONLY | os.O_CREAT, 0o600)
        os.write(file, b"1")
        os.close(file)
        return _spawn(db_path)
    except (OSError, AttributeError):
        return False


def _spawn(db_path: str) -> bool:
    """A whole Python without the current folder on its path, without a pipe of ours, in a session of its own."""
    words = [sys.executable, "-P", "-m", "nmem", "settle", "--quiet", "--db", db_path]
    env = {**os.environ, "NMEM_SKIP_HOOKS": "1"}
    null = [(os.POSIX_SPAWN_OPEN, fd, os.devnull, os.O_RDWR, 0) for fd in (0, 1, 2)]
    try:
        os.posix_spawn(words[0], words, env, file_actions=null, setsid=True)
    except NotImplementedError:
        os.posix_spawn(words[0], words, env, file_actions=null, setpgroup=0)
    return True
