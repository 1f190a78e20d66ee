"""The demo: an invented session, played through the real hooks into a temporary database; here its folder."""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile
from pathlib import Path

_PREFIX = "nmem-demo-"
_PID = "pid"
"""The file in a demo's folder that names the process it belongs to."""


def temporary() -> str:
    """A path for the demo's database in a new private folder, which goes when the process does."""
    sweep()
    folder = Path(tempfile.mkdtemp(prefix=_PREFIX))
    (folder / _PID).write_text(str(os.getpid()))
    path = str(folder / "nmem.db")
    atexit.register(remove, path)
    return path


def sweep() -> None:
    """Take away what demos left behind that were killed."""
    for folder in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*"):
        try:
            mine = folder.stat().st_uid == os.getuid() and not folder.is_symlink()
            pid = int((folder / _PID).read_text("ascii"))
        except (OSError, ValueError):
            continue  # another version's, another person's, or one that is just being made
        if mine and not _lives(pid):
            remove(str(folder / "nmem.db"))


def _lives(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        pass
    return True


def remove(db_path: str) -> None:
    """Take the demo's folder away with all that is in it."""
    folder = Path(db_path).parent
    if folder.name.startswith(_PREFIX):
        shutil.rmtree(folder, ignore_errors=True)
