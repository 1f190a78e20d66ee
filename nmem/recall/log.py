"""Logs questions about decisions, offers and uses (SQL): one redacted row per question; none without a database.

A question is answered whether or not it can be noted: who asks is not made to wait for the database.
"""

from __future__ import annotations

import os
import time

from nmem.recall.answer import SILENT, Answer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sqlite3 import Connection

    from nmem.recall.folder import Place

PERSON, AGENT, HOOK = "person", "agent", "hook"
OFFERED = "offered"
_SESSION = "CLAUDE_CODE_SESSION_ID"
_AGENTS = (_SESSION, "CLAUDECODE", "CODEX_SANDBOX", "CODEX_THREAD_ID", "CURSOR_AGENT", "COPILOT_CLI", "GEMINI_CLI",
           "OPENCODE", "NMEM_TASK")  # fmt: skip
"""What clients set in the environment of what their agents run."""
_LONGEST = 300
_MOST = 50_000
"""Rows that are kept, the newest."""
_WAIT = 0.25


def origin() -> str:
    """Who asks at a command line: a person, also through a pipe, unless a client's environment says: an agent."""
    return AGENT if any(os.environ.get(name) for name in _AGENTS) else PERSON


def note(db_path: str, place: Place, answers: list[Answer], who: str, session: str = "") -> None:
    """Note questions and what they came to, in the session that is named, else the one that the client's environment
    names; what cannot be noted is said in the log."""
    answers = [each for each in answers if each.kind != SILENT]
    if not answers or not os.path.exists(db_path):
        return
    from capture.storage import store  # on use: start-up stays short
    from nmem import tables

    try:
        db = store.connect(db_path, timeout=_WAIT)
        try:
            tables.ensure(db)
            with store.transaction(db):
                _insert(db, place, answers, who, session or os.environ.get(_SESSION, ""))
        finally:
            db.close()
    except Exception as error:  # noqa: BLE001 - a boundary: what was answered is answered, noted or not
        from capture import log  # on use: start-up stays short

        log.note(db_path, f"recall: a question was not noted: {log.reason(error)}")


def _insert(db: Connection, place: Place, answers: list[Answer], who: str, session: str) -> None:
    from capture.redaction import redact  # on use: start-up stays short

    now = time.time_ns() // 1_000_000
    known = db.execute("SELECT id, project_id FROM sessions WHERE id = ?", (session,)).fetchone() if session else None
    project = known[1] if known else _project(db, place)
    for each in answers:
        db.execute(
            "INSERT INTO recall_calls"
            " (at, project_id, session_id, place, origin, query, entry, file, outcome, confidence)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (now, project, known and known[0], place.folder, who, redact(each.query)[:_LONGEST], each.entry, each.file,
             each.kind, each.confidence),
        )  # fmt: skip
        if known and each.entry:
            used(db, known[0], each.entry, now)
    db.execute("DELETE FROM recall_calls WHERE id <= (SELECT max(id) FROM recall_calls) - ?", (_MOST,))


def _project(db: Connection, place: Place) -> int | None:
    row = db.execute("SELECT id FROM projects WHERE root IN (?, ?) LIMIT 1", (place.root, os.path.realpath(place.root)))
    found = row.fetchone()
    return int(found[0]) if found else None


def offered(db: Connection, session_id: str, folder: str, entries: list[tuple[str, str, float]], now: int) -> None:
    """Note entries (link, file, confidence) that a session was offered unasked. Inside a transaction."""
    row = db.execute("SELECT project_id FROM sessions WHERE id = ?", (session_id,)).fetchone()
    for link, file, confidence in entries:
        db.execute(
            "INSERT INTO recall_calls (at, project_id, session_id, place, origin, entry, file, outcome, confidence)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (now, row and row[0], session_id if row else None, folder, HOOK, link, file, OFFERED, confidence),
        )


def before(db: Connection, session_id: str) -> set[str]:
    """The entries that a session was offered or has asked for already: not to be offered again."""
    found = db.execute("SELECT entry FROM recall_calls WHERE session_id = ? AND entry <> ''", (session_id,))
    return {row[0] for row in found}


def used(db: Connection, session_id: str, link: str, now: int) -> None:
    """Note that a session asked for what it was offered. Inside a transaction."""
    db.execute(
        "UPDATE recall_calls SET used_at = ? WHERE session_id = ? AND outcome = ? AND entry = ? AND used_at IS NULL",
        (now, session_id, OFFERED, link),
    )
