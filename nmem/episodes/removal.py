"""Removes everything derived from a session, so that its own rows can go."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sqlite3 import Connection


def forget_session(db: Connection, session_id: str) -> None:
    """Delete a session's episodes and what belongs to them; nothing where there are no tables of meaning.

    Inside a transaction, and before the session's prompts are deleted: these are referred to.
    """
    from nmem.tables import version

    if not version(db):
        return
    threads = [
        row[0] for row in db.execute("SELECT thread_id FROM session_threads WHERE session_id = ?", (session_id,))
    ]
    ours = "(SELECT id FROM work_units WHERE session_id = ?)"
    db.execute(f"DELETE FROM narratives_fts WHERE rowid IN {ours}", (session_id,))  # noqa: S608 - our words
    db.execute(f"UPDATE threads SET primary_unit_id = NULL WHERE primary_unit_id IN {ours}", (session_id,))  # noqa: S608
    db.execute(f"UPDATE work_units SET resumes = NULL WHERE resumes IN {ours}", (session_id,))  # noqa: S608
    db.execute(f"DELETE FROM unit_prompts WHERE unit_id IN {ours}", (session_id,))  # noqa: S608
    db.execute(
        "DELETE FROM corrections WHERE iif(json_valid(payload), json_extract(payload, '$.session'), NULL) = ?"
        " OR target = 'session/' || ?",
        (session_id, session_id),
    )
    for table in ("work_units", "session_threads", "session_summaries", "session_signatures"):
        db.execute(f"DELETE FROM {table} WHERE session_id = ?", (session_id,))  # noqa: S608
    for thread_id in threads:
        if db.execute("SELECT 1 FROM session_threads WHERE thread_id = ? LIMIT 1", (thread_id,)).fetchone() is None:
            db.execute("DELETE FROM episode_links WHERE ? IN (earlier_thread_id, later_thread_id)", (thread_id,))
            db.execute("UPDATE work_units SET thread_id = NULL WHERE thread_id = ?", (thread_id,))
            db.execute("DELETE FROM threads WHERE id = ?", (thread_id,))
