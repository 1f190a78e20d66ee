"""Reads the material to compare and condense threads. All reads are bounded; nothing is written."""

from __future__ import annotations

from dataclasses import dataclass
from sqlite3 import Connection
from typing import Any

from nmem.retrieval import naming
from nmem.retrieval.background import Background
from nmem.threads.decisions import AWAITING
from nmem.threads.formula import Earlier, said
from nmem.threads.subject import shared

SESSIONS = 300
"""Sessions of a project that make up its background: the newest."""
PROMPTS, FILES = 40, 40
OPENING = 8
"""Prompts of a session that count towards the background."""
WINDOW = 14 * 24 * 60 * 60_000
"""How far back an earlier thread may have been active."""
_SPOKEN = "p.source = 'user' AND p.agent_id IS NULL AND p.kind IN ('prompt', 'late')"


@dataclass(frozen=True, slots=True)
class Head:
    """A thread as far as linking knows it."""

    id: int
    project_id: int
    title: str
    created_at: int
    micro: str
    meso: str


def head(db: Connection, thread_id: int) -> Head | None:
    """One thread, or None."""
    row = db.execute(
        "SELECT id, project_id, title, created_at, coalesce(micro, ''), coalesce(meso, '') FROM threads WHERE id = ?",
        (thread_id,),
    ).fetchone()
    return Head(*row) if row else None


def message(db: Connection, thread_id: int) -> str:
    """The prompt that opened a thread; empty when nothing was said."""
    row = db.execute(
        "SELECT p.content FROM session_threads x JOIN prompts p ON p.session_id = x.session_id"  # noqa: S608
        f" WHERE x.thread_id = ? AND {_SPOKEN} ORDER BY p.at, p.id LIMIT 1",
        (thread_id,),
    ).fetchone()
    return str(row[0]) if row else ""


def branch(db: Connection, thread: Head) -> str:
    """The feature branch that a thread began on; empty where the branch says nothing of a line of work."""
    row = db.execute(
        "SELECT coalesce(s.branch, '') FROM session_threads x JOIN sessions s ON s.id = x.session_id"
        " WHERE x.thread_id = ? ORDER BY s.started_at, s.id LIMIT 1",
        (thread.id,),
    ).fetchone()
    name = str(row[0]) if row else ""
    return "" if shared(db, thread.project_id, name, thread.created_at) else name


def was_on(db: Connection, thread_id: int, name: str, until: int) -> bool:
    """Whether a session of a thread that began before a time was on a branch."""
    found = db.execute(
        "SELECT 1 FROM session_threads x JOIN sessions s ON s.id = x.session_id"
        " WHERE x.thread_id = ? AND s.branch = ? AND s.started_at < ? LIMIT 1",
        (thread_id, name, until),
    ).fetchone()
    return found is not None


def opening(db: Connection, thread_id: int, most: int) -> list[str]:
    """The first prompts of a thread, in order."""
    rows = db.execute(
        "SELECT substr(p.content, 1, 2000) FROM session_threads x JOIN prompts p ON p.session_id = x.session_id"  # noqa: S608
        f" WHERE x.thread_id = ? AND {_SPOKEN} ORDER BY p.at, p.id LIMIT ?",
        (thread_id, most),
    )
    return [row[0] for row in rows]


def earlier(db: Connection, thread_id: int, until: int) -> Earlier:
    """What was said and touched in a thread before a time, the newest of it."""
    prompts = db.execute(
        "SELECT p.content FROM session_threads x JOIN prompts p ON p.session_id = x.session_id"  # noqa: S608
        f" WHERE x.thread_id = ? AND {_SPOKEN} AND p.at < ? ORDER BY p.at DESC, p.id DESC LIMIT ?",
        (thread_id, until, PROMPTS),
    ).fetchall()
    return Earlier(tuple(row[0] for row in reversed(prompts)), tuple(files(db, thread_id, 0, until)))


def files(db: Connection, thread_id: int, since: int, until: int, *, edited: bool = False) -> list[str]:
    """Files touched (or changed) in a thread between two times, those changed most first."""
    only = " AND o.obs_type IN ('file_write', 'file_edit')" if edited else ""
    rows = db.execute(
        "SELECT o.file_path FROM session_threads x JOIN observations o ON o.session_id = x.session_id"  # noqa: S608
        f" WHERE x.thread_id = ? AND o.file_path IS NOT NULL AND o.at >= ? AND o.at < ?{only} GROUP BY o.file_path"
        " ORDER BY sum(o.obs_type IN ('file_write', 'file_edit')) DESC, count(*) DESC, o.file_path LIMIT ?",
        (thread_id, since, until, FILES),
    )
    return [row[0] for row in rows]


def common_files(db: Connection, project_id: int, share: float) -> set[str]:
    """Files changed in more than `share` of a project's threads (and in at least four): they tie nothing together."""
    rows = db.execute(
        "SELECT o.file_path FROM threads t JOIN session_threads x ON x.thread_id = t.id"
        " JOIN observations o ON o.session_id = x.session_id WHERE t.project_id = ?1 AND o.file_path IS NOT NULL"
        " AND o.obs_type IN ('file_write', 'file_edit') GROUP BY o.file_path"
        " HAVING count(DISTINCT t.id) > max(3, ?2 * (SELECT count(*) FROM threads WHERE project_id = ?1))",
        (project_id, share),
    )
    return {row[0] for row in rows}


def active_before(db: Connection, thread_id: int, until: int) -> int | None:
    """When something last happened in a thread before a time."""
    row = db.execute(
        "SELECT max(at) FROM (SELECT max(p.at) AS at FROM session_threads x"
        " JOIN prompts p ON p.session_id = x.session_id"
        " WHERE x.thread_id = ?1 AND p.source = 'user' AND p.at < ?2 UNION ALL"
        " SELECT max(o.at) FROM session_threads x JOIN observations o ON o.session_id = x.session_id"
        " WHERE x.thread_id = ?1 AND o.at < ?2)",
        (thread_id, until),
    ).fetchone()
    return None if row[0] is None else int(row[0])


def candidates(db: Connection, later: Head, limit: int) -> list[Head]:
    """Earlier threads of the project that a new one may continue, those active last first."""
    rows = db.execute(
        "SELECT id, project_id, title, created_at, coalesce(micro, ''), coalesce(meso, '') FROM threads"
        " WHERE project_id = ? AND (created_at, id) < (?, ?) AND last_at >= ? AND turn_count > 0"
        " ORDER BY min(last_at, ?) DESC, created_at DESC, id DESC LIMIT ?",
        (later.project_id, later.created_at, later.id, later.created_at - WINDOW, later.created_at, limit),
    )
    return [Head(*row) for row in rows]


def linked_at_prompt(db: Connection, later: Head) -> list[Head]:
    """Earlier threads that a thread was linked with when its prompt arrived, and that settling has not looked at."""
    rows = db.execute(
        "SELECT t.id, t.project_id, t.title, t.created_at, coalesce(t.micro, ''), coalesce(t.meso, '')"  # noqa: S608
        " FROM episode_links l JOIN threads t ON t.id = l.earlier_thread_id"
        f" WHERE l.later_thread_id = ? AND {AWAITING} ORDER BY t.id",
        (later.id,),
    )
    return [Head(*row) for row in rows]


def unlinked(db: Connection) -> list[int]:
    """Threads that settling never compared with earlier ones, the oldest first: also those that a prompt linked."""
    rows = db.execute(
        "SELECT t.id FROM threads t WHERE t.turn_count > 0"  # noqa: S608 - our words
        " AND (NOT EXISTS (SELECT 1 FROM episode_links l WHERE l.later_thread_id = t.id) OR EXISTS (SELECT 1 FROM"
        f" episode_links l WHERE l.later_thread_id = t.id AND {AWAITING}))"
        " ORDER BY t.created_at, t.id"
    )
    return [row[0] for row in rows]


def background(db: Connection, project_id: int) -> Background:
    """What is rare in a project and what resembles what, from its newest sessions."""
    sessions = [
        row[0]
        for row in db.execute(
            "SELECT id FROM sessions WHERE project_id = ? ORDER BY last_at DESC, id LIMIT ?", (project_id, SESSIONS)
        ).fetchall()
    ]
    documents, texts = [], []
    for session_id in sessions:
        prompts = _opening(db, session_id)
        if prompts:
            documents.append(said(Earlier(prompts, _touched(db, session_id))))
            texts.append(naming.tokens(" ".join(prompts)))
    return Background(documents, texts)


def _opening(db: Connection, session_id: str) -> tuple[str, ...]:
    rows = db.execute(
        f"SELECT substr(p.content, 1, 6000) FROM prompts p WHERE p.session_id = ? AND {_SPOKEN}"  # noqa: S608
        " ORDER BY p.at, p.id LIMIT ?",
        (session_id, OPENING),
    )
    return tuple(row[0] for row in rows)


def _touched(db: Connection, session_id: str) -> tuple[str, ...]:
    rows = db.execute(
        "SELECT file_path FROM observations WHERE session_id = ? AND file_path IS NOT NULL GROUP BY file_path"
        " ORDER BY count(*) DESC, file_path LIMIT ?",
        (session_id, FILES),
    )
    return tuple(row[0] for row in rows)


def condensable(db: Connection) -> list[Any]:
    """Threads with turns: id, project, state, condensed, created, last, turns since condensed, told anew."""
    return db.execute(
        "SELECT t.id, t.project_id, t.state, t.compacted_at, t.created_at, t.last_at,"
        " (SELECT count(*) FROM session_threads x JOIN prompts p ON p.session_id = x.session_id"
        "   WHERE x.thread_id = t.id AND p.source = 'user' AND p.agent_id IS NULL"
        "   AND p.at > coalesce(t.compacted_at, 0)),"
        " told.newest FROM threads t LEFT JOIN (SELECT thread_id, max(narrated_at) AS newest FROM work_units"
        "   INDEXED BY work_units_standing WHERE state = 'closed' GROUP BY thread_id) told ON told.thread_id = t.id"
        " WHERE t.turn_count > 0 ORDER BY t.last_at"
    ).fetchall()


def told(db: Connection, thread_id: int) -> list[Any]:
    """What the episodes of a thread say of themselves, in order."""
    return db.execute(
        "SELECT coalesce(title, agent_title, heading, intent), coalesce(summary, ''), completed, learned, next_steps,"
        " outcomes, commits, hot_files, phase_signature, turn_count FROM work_units"
        " WHERE thread_id = ? ORDER BY started_at, id",
        (thread_id,),
    ).fetchall()


def extent(db: Connection, thread_id: int) -> tuple[int, int] | None:
    """When something last happened in a thread, and its turns."""
    row: tuple[int, int] | None = db.execute(
        "SELECT last_at, turn_count FROM threads WHERE id = ?", (thread_id,)
    ).fetchone()
    return row


def commits(db: Connection, thread_id: int) -> list[Any]:
    """The commits of a thread: command and metadata."""
    return db.execute(
        "SELECT substr(o.content, 1, 400), o.metadata FROM session_threads x JOIN observations o"
        " ON o.session_id = x.session_id WHERE x.thread_id = ? AND o.obs_type = 'git_commit' AND o.outcome = 'ok'"
        " ORDER BY o.at LIMIT 20",
        (thread_id,),
    ).fetchall()
