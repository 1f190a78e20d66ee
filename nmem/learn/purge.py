"""Removes from learnings everything derived from purged rows, in any wording (SQL).

Retention forgets observations and leaves what was learned of them. A purge is another thing: excerpts, titles, remedies
and the words of corrections come from what was done, and a secret may be in each. What other sessions bear out is made
again by the next refresh.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from sqlite3 import Connection

from nmem.learn import accept, lifecycle, sessions
from nmem.learn.learning import PERSON

GONE = "(what it was learned of is purged)"
_THEIRS = "SELECT value FROM json_each(?)"


def forget(db: Connection, session_ids: Iterable[str]) -> int:
    """Everything that was read of sessions goes; how many learnings it was in. Inside the transaction that purges.

    For an observation or a prompt, that of its session: the rest of the session is read again. A learning that nobody
    has said anything of goes and may come again; a person's word on one stays, and so does a rule in a file of theirs.
    """
    of = json.dumps(list(session_ids))
    touched = [row[0] for row in db.execute(
        f"SELECT DISTINCT learning_id FROM learning_evidence WHERE session_id IN ({_THEIRS}) ORDER BY 1", (of,)  # noqa: S608
    ).fetchall()]  # fmt: skip
    projects = db.execute(f"SELECT DISTINCT project_id FROM sessions WHERE id IN ({_THEIRS})", (of,)).fetchall()  # noqa: S608
    for table in ("learning_findings", "learned_sessions", "learning_evidence"):
        db.execute(f"DELETE FROM {table} WHERE session_id IN ({_THEIRS})", (of,))  # noqa: S608
    for (project_id,) in projects:
        sessions.more(db, project_id)
    for learning_id in touched:
        _scrub(db, learning_id)
    return len(touched)


def _scrub(db: Connection, learning_id: int) -> None:
    """A learning without the words it was known by."""
    said = db.execute("SELECT state_by = ?, rule IS NOT NULL FROM learnings WHERE id = ?", (PERSON, learning_id))
    by_person, rule = said.fetchone()
    stands = bool(accept.stands_in(db, learning_id))
    if not by_person and not rule:
        db.execute("DELETE FROM learnings WHERE id = ?", (learning_id,))
    else:
        left = db.execute("SELECT 1 FROM learning_evidence WHERE learning_id = ?", (learning_id,)).fetchone()
        db.execute("DELETE FROM unit_warnings WHERE learning_id = ?", (learning_id,))
        db.execute(
            "UPDATE learnings SET title = ?, files = '[]', remedy = NULL, key = iif(?, key, 'purged ' || id),"
            " rule = iif(?, rule, NULL) WHERE id = ?",
            (GONE, left is not None, stands, learning_id),
        )
    target = f"{lifecycle.TARGET}/{learning_id}"
    if stands:
        db.execute("UPDATE corrections SET payload = json_set(payload, '$.title', ?) WHERE target = ?", (GONE, target))
    else:
        db.execute("DELETE FROM corrections WHERE target = ?", (target,))
