"""Starts a pass in the background, where this memory belongs to a team: one process, and not too often.

Whoever settles calls it, which is a process in the background itself: a hook pays for nothing of it.
"""

from __future__ import annotations

import os

from capture import log, paths
from capture.hook import SKIP
from capture.settle import OFF, spawn
from nmem.own_process import words
from nmem.settle_start import rested
from nmem.team import config


def lock_file(db_path: str) -> str:
    """The file that is locked while a process shares, and touched when one begins."""
    return os.path.join(paths.folder(db_path), "sync.lock")  # noqa: PTH118 - strings as in capture.paths


def start(db_path: str) -> bool:
    """Start a pass; False where there is no team, the last one was just now, or it cannot be started."""
    if os.environ.get(OFF) or not config.there() or not rested(db_path, lock_file):
        return False
    try:
        spawn(words("sync", "now", "--quiet", "--db", db_path), {**os.environ, SKIP: "1", "NMEM_DB": db_path})
    except (OSError, AttributeError) as error:
        log.note(db_path, f"sync: {log.reason(error)}")
        return False
    return True
