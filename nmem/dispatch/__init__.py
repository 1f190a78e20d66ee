"""Tasks for coding clients: queued, claimed by one runner, run with or without tmux, and tracked.

    task.py      what a task is: plain frozen values
    queue.py     entering, claiming, every change of state      read.py      what lists and screens read
    store.py     the statements of both
    act.py       what a person does to tasks                    accept.py    what is checked before one is queued
    runner.py    claims, starts, takes up what others left      folder.py    what an attempt writes down
    pane.py      the process beside the client: limit, exit code, output, waiting for a person
    tmux.py      panes through libtmux                          processes.py the same without a terminal
    worktrees.py a checkout of its own for a task               clients.py   how each client is called
    schedule.py  a timer or a cron line

The truth about a running task is a folder that its pane writes (folder.py) and the pane itself brings into the
database; a runner that was killed loses nothing, and the next one reads what is there.

`link` links a task to the session it became. It runs in a hook: standard library only, and imported only where
the task's number is set.
"""

from __future__ import annotations

import os

from nmem.dispatch.store import attempt, becomes

TYPE_CHECKING = False

if TYPE_CHECKING:
    from sqlite3 import Connection

    from capture.event import Event


NAME = "NMEM_TASK"


def link(db: Connection, event: Event) -> None:
    """The first session of an attempt is the task's, and what that becomes when it is cleared. Raises sqlite3.Error.

    A client that the task's agent starts inherits the number as well, and comes too late.
    """
    number = os.environ.get(NAME, "")
    if not (number.isascii() and number.isdigit() and len(number) < 18):
        return
    cleared = event.kind == "session_start" and event.source == "clear"
    live = attempt(db, int(number))
    if live is None or live[3] == event.session_id or (live[3] and not cleared):
        return
    from capture.storage.store import transaction  # on use: a hook of a task's first session only

    with transaction(db):
        becomes(db, int(number), event.session_id)
