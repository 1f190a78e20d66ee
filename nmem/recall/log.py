"""Logs questions, offers and uses (SQL): one redacted row per question; none without a database.

A question is answered whether or not it can be noted: who asks is not made to wait for the database.
"""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from sqlite3 import Connection

from nmem.recall.answer import SILENT, Answer
from nmem.recall.index import Index
from nmem.recall.store import Recall

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
    from capture.storage import store
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
        from capture import log

        log.note(db_path, f"recall: a question was not noted: {log.reason(error)}")


def _insert(db: Connection, place: Place, answers: list[Answer], who: str, session: str) -> None:
    from capture.redaction import redact

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


@dataclass(frozen=True, slots=True)
class Use:
    """An entry: how often it answered, was offered, and was used after an offer; when last (0: never)."""

    entry: str
    file: str
    answered: int
    offered: int
    used: int
    last: int


@dataclass(frozen=True, slots=True)
class Report:
    """The calls of a place since a time."""

    asked: int
    by_origin: dict[str, int]
    by_outcome: dict[str, int]
    offered: int
    used: int
    entries: tuple[Use, ...]
    """Used most first."""
    dead: tuple[str, ...]
    """Entries of the index that neither answered nor were offered."""
    unanswered: tuple[tuple[str, int], ...]
    """Queries that nothing answered, and how often each: decisions that are missing, or badly named."""


_USED = """(used_at IS NOT NULL OR EXISTS (SELECT 1 FROM injections j JOIN injection_items i ON i.injection_id = j.id
  WHERE j.session_id = c.session_id AND i.item = 'recall/' || substr(c.entry, 2) AND i.used_how LIKE 'ran nmem %')
  OR EXISTS (SELECT 1 FROM observations o
  WHERE o.session_id = c.session_id AND o.at >= c.at AND c.file <> '' AND (o.file_path = c.place || '/' || c.file
    OR substr(c.place || '/' || c.file, -length(o.file_path) - 1) = '/' || o.file_path)))"""


def report(db: Connection, recall: Recall, since: int = 0, limit: int = 20) -> Report:
    """What became of a project's decisions."""
    where, given = "c.place = ? AND c.at >= ?", (recall.place.folder, since)
    asked = f"{where} AND c.outcome <> '{OFFERED}'"
    rows = db.execute(
        f"SELECT entry, max(file), sum(outcome <> ?), sum(outcome = ?), sum(outcome = ? AND {_USED}), max(at)"  # noqa: S608 - our names
        f" FROM recall_calls c WHERE {where} AND entry <> '' GROUP BY entry",
        (OFFERED, OFFERED, OFFERED, *given),
    ).fetchall()
    uses = sorted((Use(*row) for row in rows), key=lambda use: (-use.answered - use.used, -use.offered, use.entry))
    known = {use.entry for use in uses}
    unanswered = db.execute(
        f"SELECT query, count(*) FROM recall_calls c WHERE {asked} AND outcome IN ('unsure', 'nothing')"  # noqa: S608
        " GROUP BY query ORDER BY 2 DESC, max(at) DESC LIMIT ?", (*given, limit),
    ).fetchall()  # fmt: skip
    by_origin = _counted(db, "origin", asked, given)
    return Report(
        sum(by_origin.values()), by_origin, _counted(db, "outcome", asked, given),
        sum(use.offered for use in uses), sum(use.used for use in uses), tuple(uses),
        tuple(link for link in _links(recall.index) if link not in known),
        tuple((row[0], row[1]) for row in unanswered),
    )  # fmt: skip


def _counted(db: Connection, name: str, where: str, given: tuple[object, ...]) -> dict[str, int]:
    found = db.execute(f"SELECT {name}, count(*) FROM recall_calls c WHERE {where} GROUP BY 1 ORDER BY 2 DESC", given)  # noqa: S608
    return {row[0]: row[1] for row in found}


def _links(index: Index) -> list[str]:
    return [f"/{entry[0]} {entry[1]}" for entry in index.docs]
