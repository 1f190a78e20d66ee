"""Whether a session that starts says which work it goes on with (SQL, on the hook's path).

Nobody has asked for anything yet. What was worked on last in a project is, seven times in eight, not what the next
session is about, and the prompt that follows in a moment selects better. So without a sign nothing but pins is told.
"""

from __future__ import annotations

from nmem.threads.continuity import CHOSEN, TRUNKS, proposed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sqlite3 import Connection

    from nmem.context.present import Present

SESSIONS = 60
"""The newest sessions of a project among which one on the same branch is looked for."""


def goes_on(db: Connection, present: Present, source: str) -> str:
    """What says that a session goes on with earlier work, in words; empty when nothing does.

    A session that is resumed goes on with what it was at: that becomes what is asked.
    """
    if source in ("resume", "fork"):
        row = db.execute(
            "SELECT intent FROM work_units WHERE session_id = ? ORDER BY started_at DESC, id DESC LIMIT 1",
            (present.session_id,),
        ).fetchone()
        present.prompt = row[0] if row else ""
        return "the session is resumed" if row else ""
    if proposed(db, present.session_id, present.at)[1] == CHOSEN:
        return "the thread was chosen"
    if present.branch and present.branch not in TRUNKS and _worked_on(db, present):
        return f"earlier work on branch {present.branch}"
    return ""


def _worked_on(db: Connection, present: Present) -> bool:
    """Whether one of the project's newest sessions was on the same branch."""
    row = db.execute(
        "SELECT 1 FROM (SELECT id, branch FROM sessions WHERE project_id = ? ORDER BY last_at DESC LIMIT ?)"
        " WHERE branch = ? AND id != ? LIMIT 1",
        (present.project_id, SESSIONS, present.branch, present.session_id),
    ).fetchone()
    return row is not None
