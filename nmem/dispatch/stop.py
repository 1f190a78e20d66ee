"""Stops a running attempt on request: its client, and every process the client started."""

from __future__ import annotations

import contextlib
import signal
import time

from nmem.dispatch import ending, processes, queue, read
from nmem.dispatch.folder import ABANDONED, Folder
from nmem.dispatch.task import CANCELLED, Outcome

_PATIENCE = 12.0
"""Seconds in which the process beside the client ends it; longer, and everything is killed from here."""


def cancel(db_path: str, task_id: int, why: str) -> None:
    """End it, wait until it has ended, and see that the database says so. Raises NmemError."""
    with queue.writing(db_path) as db:
        one = read.task(db, task_id)
    if one is None or not one.live:
        return
    folder = Folder(db_path, task_id, one.attempt)
    with contextlib.suppress(OSError):
        folder.cancel(why)
    process = one.process or _begun(folder)
    if processes.alive(process):
        processes.send([processes.pid(process)], signal.SIGTERM)
        until = time.monotonic() + _PATIENCE
        while processes.alive(process) and time.monotonic() < until:
            time.sleep(0.05)
    for left in (process, folder.client()):
        if processes.alive(left):
            processes.end(processes.pid(left), 1.0)
    outcome = folder.ended() or Outcome(CANCELLED, reason=why)
    with queue.writing(db_path) as db:
        ending.finish(db, db_path, task_id, one.attempt, outcome, queue.now())


def _begun(folder: Folder) -> str:
    """The process beside the client; where there is none yet, none will be."""
    try:
        mine = folder.begin(ABANDONED)
    except OSError:
        return ""
    return "" if mine else folder.begun()
