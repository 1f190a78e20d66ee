"""Links a task to its session (SQL): recorded by the session's first hooks, which inherit the task's number.

Runs in a hook: standard library only, and imported only where the number is set.
"""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sqlite3 import Connection

    from capture.event import Event

NAME = "NMEM_TASK"
_LIVE = "('running', 'needs-input')"


def link(db: Connection, event: Event) -> None:
    """The first session of an attempt is the task's, and what that becomes when it is cleared. Raises sqlite3.Error.

    A client that the task's agent starts inherits the number as well, and comes too late.
    """
    number = os.environ.get(NAME, "")
    if not (number.isascii() and number.isdigit() and len(number) < 18):
        return
    cleared = event.kind == "session_start" and event.source == "clear"
    row = db.execute(f"SELECT session_id FROM tasks WHERE id = ? AND state IN {_LIVE}", (int(number),)).fetchone()  # noqa: S608 - our words
    if row is None or row[0] == event.session_id or (row[0] and not cleared):
        return
    from capture.storage.store import transaction

    with transaction(db):
        db.execute(
            f"UPDATE tasks SET session_id = ? WHERE id = ? AND state IN {_LIVE}"  # noqa: S608 - our words
            " AND EXISTS (SELECT 1 FROM sessions WHERE id = ?)",
            (event.session_id, int(number), event.session_id),
        )
