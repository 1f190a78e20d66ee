"""SQL of decisions to link threads, of what settling compares and condenses of threads, and of what screens show.

Reads are bounded. Nothing here commits; callers hold the transaction. What hooks need is in nmem.threads.store.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from sqlite3 import Connection
from typing import Any

from nmem.tables import NOW
from nmem.text import json_object
from nmem.threads.decisions import AT_PROMPT, Decision, Head, Tuning, numbers
from nmem.threads.formula import Earlier
from nmem.threads.store import SPOKEN, shared

COLUMNS = (
    "id", "at", "earlier_thread_id", "later_thread_id", "algorithmic_score", "components", "llm_related",
    "llm_confidence", "llm_reasoning", "decision", "certainty", "agreement", "outcome", "outcome_by", "outcome_at",
    "summary",
)  # fmt: skip
AWAITING = f"(instr(components, '\"{AT_PROMPT}\"') AND outcome_by IS NOT 'person')"
"""SQL: does a decision still await settling, which compares the threads with everything that is known?"""
LINKED = (
    "(CASE WHEN outcome_by = 'person' AND outcome = 'incorrect' THEN decision = 'dont_link' ELSE decision = 'link' END)"
)
"""SQL: do the two threads count as one line of work? A person's word reverses a decision; nothing else does."""
SESSIONS = 300
"""Sessions of a project that make up its background: the newest."""
PROMPTS, FILES = 40, 40
OPENING = 8
"""Prompts of a session that count towards the background."""
WINDOW = 14 * 24 * 60 * 60_000
"""How far back an earlier thread may have been active."""


def _decision(row: Sequence[Any]) -> Decision:
    values = dict(zip(COLUMNS, row, strict=True))
    for name in ("llm_related", "agreement"):
        values[name] = None if values[name] is None else bool(values[name])
    for name in ("llm_reasoning", "outcome", "outcome_by", "summary"):
        values[name] = values[name] or ""
    values["components"] = numbers(values["components"])
    return Decision(**values)


_SELECT = f"SELECT {', '.join(COLUMNS)} FROM episode_links"  # noqa: S608 - our names


def _decisions(db: Connection, which: str, *values: int) -> list[Decision]:
    return [_decision(row) for row in db.execute(f"{_SELECT} WHERE {which}", values).fetchall()]


def decision(db: Connection, decision_id: int) -> Decision | None:
    """One decision."""
    return next(iter(_decisions(db, "id = ?", decision_id)), None)


def between(db: Connection, earlier: int, later: int) -> Decision | None:
    """The decision about two threads."""
    return next(iter(_decisions(db, "earlier_thread_id = ? AND later_thread_id = ?", earlier, later)), None)


def decisions_of(db: Connection, thread_id: int) -> list[Decision]:
    """All decisions that a thread is part of, the newest first."""
    return _decisions(db, "earlier_thread_id = ?1 OR later_thread_id = ?1 ORDER BY at DESC, id DESC", thread_id)


def with_outcome(db: Connection) -> list[Decision]:
    """Decisions whose truth is known, in the order in which it became known."""
    return _decisions(db, "outcome IS NOT NULL ORDER BY outcome_at, id")


def without_outcome(db: Connection, active: int = 0) -> list[Decision]:
    """Decisions about threads that have ended, whose truth is not known; of those active since a time alone."""
    ended = "later_thread_id IN (SELECT id FROM threads WHERE state = 'closed' AND last_at >= ?)"
    return _decisions(db, f"outcome IS NULL AND {ended} ORDER BY id", active)


def open_since(db: Connection, since: int, active: int = 0) -> list[Decision]:
    """Decisions made since a time whose truth is not known; about threads that were active since one."""
    lately = "later_thread_id IN (SELECT id FROM threads WHERE last_at >= ?)"
    return _decisions(db, f"outcome IS NULL AND at >= ? AND {lately} ORDER BY later_thread_id, id", since, active)


def outcomes_known(db: Connection) -> int:
    """How many decisions have an outcome."""
    return int(db.execute("SELECT count(*) FROM episode_links WHERE outcome IS NOT NULL").fetchone()[0])


def unassessed(db: Connection, since: int) -> list[int]:
    """Later threads of recent decisions that no model was asked about and nobody has confirmed."""
    rows = db.execute(
        "SELECT DISTINCT later_thread_id FROM episode_links WHERE llm_related IS NULL AND outcome IS NULL AND at >= ?"
        " ORDER BY 1",
        (since,),
    )
    return [row[0] for row in rows]


def write_decision(db: Connection, values: dict[str, Any]) -> int:
    """Store a decision in place of an earlier one about the same threads; what a person said stays."""
    names = ", ".join(values)
    marks = ", ".join("?" for _ in values)
    updates = ", ".join(f"{name} = excluded.{name}" for name in values if not name.endswith("_thread_id"))
    row = db.execute(
        f"INSERT INTO episode_links ({names}) VALUES ({marks})"  # noqa: S608 - our names
        f" ON CONFLICT (earlier_thread_id, later_thread_id) DO UPDATE SET {updates}"
        " WHERE outcome_by IS NOT 'person' RETURNING id",
        [*values.values()],
    ).fetchall()
    return int(row[0][0]) if row else 0


def set_outcome(db: Connection, decision_id: int, outcome: str | None, by: str | None, at: int | None) -> None:
    """Say what came of a decision."""
    db.execute(
        "UPDATE episode_links SET outcome = ?, outcome_by = ?, outcome_at = ? WHERE id = ?",
        (outcome, by, at, decision_id),
    )


def forget_decision(db: Connection, decision_id: int) -> None:
    """Forget a decision (undoing a link that a person made)."""
    db.execute("DELETE FROM episode_links WHERE id = ?", (decision_id,))


def set_summary(db: Connection, decision_id: int, summary: str | None) -> None:
    """The combined summary of a cross-thread episode."""
    db.execute("UPDATE episode_links SET summary = ? WHERE id = ?", (summary, decision_id))


def tunings(db: Connection, limit: int = 50) -> list[Tuning]:
    """The history of the linking formula, the newest first."""
    rows = db.execute(
        "SELECT id, at, before, after, reason, metrics FROM tuning_history WHERE subject = 'linking'"
        " ORDER BY id DESC LIMIT ?",
        (limit,),
    )
    return [
        Tuning(row[0], row[1], json_object(row[2]), json_object(row[3]), row[4], json_object(row[5]))
        for row in rows.fetchall()
    ]


def keep_tuning(
    db: Connection, at: int, before: dict[str, Any], after: dict[str, Any], reason: str, metrics: dict[str, Any]
) -> None:
    """Add to the history."""
    db.execute(
        "INSERT INTO tuning_history (at, subject, before, after, reason, metrics) VALUES (?, 'linking', ?, ?, ?, ?)",
        (at, json.dumps(before), json.dumps(after), reason, json.dumps(metrics)),
    )


_HEAD = "SELECT t.id, t.project_id, t.title, t.created_at, coalesce(t.micro, ''), coalesce(t.meso, '') FROM threads t"


def head(db: Connection, thread_id: int) -> Head | None:
    """One thread, or None."""
    row = db.execute(f"{_HEAD} WHERE t.id = ?", (thread_id,)).fetchone()
    return Head(*row) if row else None


def message(db: Connection, thread_id: int) -> str:
    """The prompt that opened a thread; empty when nothing was said."""
    row = db.execute(
        "SELECT p.content FROM session_threads x JOIN prompts p ON p.session_id = x.session_id"  # noqa: S608
        f" WHERE x.thread_id = ? AND {SPOKEN} ORDER BY p.at, p.id LIMIT 1",
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
        f" WHERE x.thread_id = ? AND {SPOKEN} ORDER BY p.at, p.id LIMIT ?",
        (thread_id, most),
    )
    return [row[0] for row in rows]


def earlier(db: Connection, thread_id: int, until: int) -> Earlier:
    """What was said and touched in a thread before a time, the newest of it."""
    prompts = db.execute(
        "SELECT p.content FROM session_threads x JOIN prompts p ON p.session_id = x.session_id"  # noqa: S608
        f" WHERE x.thread_id = ? AND {SPOKEN} AND p.at < ? ORDER BY p.at DESC, p.id DESC LIMIT ?",
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
        f"{_HEAD} WHERE project_id = ? AND (created_at, id) < (?, ?) AND last_at >= ? AND turn_count > 0"
        " ORDER BY min(last_at, ?) DESC, created_at DESC, id DESC LIMIT ?",
        (later.project_id, later.created_at, later.id, later.created_at - WINDOW, later.created_at, limit),
    )
    return [Head(*row) for row in rows]


def linked_at_prompt(db: Connection, later: Head) -> list[Head]:
    """Earlier threads that a thread was linked with when its prompt arrived, and that settling has not looked at."""
    rows = db.execute(
        f"{_HEAD} JOIN episode_links l ON t.id = l.earlier_thread_id"
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


def newest_sessions(db: Connection, project_id: int) -> list[str]:
    """The sessions of a project that make up its background."""
    rows = db.execute(
        "SELECT id FROM sessions WHERE project_id = ? ORDER BY last_at DESC, id LIMIT ?", (project_id, SESSIONS)
    ).fetchall()
    return [row[0] for row in rows]


def first_prompts(db: Connection, session_id: str) -> tuple[str, ...]:
    """The first prompts of a session, in order."""
    rows = db.execute(
        f"SELECT substr(p.content, 1, 6000) FROM prompts p WHERE p.session_id = ? AND {SPOKEN}"  # noqa: S608
        " ORDER BY p.at, p.id LIMIT ?",
        (session_id, OPENING),
    )
    return tuple(row[0] for row in rows)


def touched(db: Connection, session_id: str) -> tuple[str, ...]:
    """Files of a session, those that most was done with first."""
    rows = db.execute(
        "SELECT file_path FROM observations WHERE session_id = ? AND file_path IS NOT NULL GROUP BY file_path"
        " ORDER BY count(*) DESC, file_path LIMIT ?",
        (session_id, FILES),
    )
    return tuple(row[0] for row in rows)


THREAD = (
    "id", "project", "title", "created_at", "last_at", "clients", "timeout_minutes", "explicit", "turn_count",
    "session_count", "primary_unit_id", "state", "micro", "meso", "macro", "compacted_at", "pinned",
)  # fmt: skip
_THREADS = (
    "SELECT t.id, p.name, t.title, t.created_at, t.last_at, t.clients, t.timeout_minutes, t.explicit, t.turn_count,"
    " (SELECT count(*) FROM session_threads x WHERE x.thread_id = t.id), t.primary_unit_id, t.state,"
    " coalesce(t.micro, ''), coalesce(t.meso, ''), coalesce(t.macro, ''), t.compacted_at, t.pinned"
    " FROM threads t JOIN projects p ON p.id = t.project_id"
)
_SINGLE = "(SELECT count(*) FROM (SELECT 1 FROM session_threads x WHERE x.thread_id = t.id LIMIT 2)) < 2"


def threads(db: Connection, project: str, since: int, limit: int, *, singles: bool) -> list[Any]:
    """Rows of threads with turns, the most recently active first; `singles`: also those of one session."""
    where = " AND (p.name = ? OR p.key = ? OR p.root = ?)" if project else ""
    where += "" if singles else f" AND NOT {_SINGLE}"
    return db.execute(
        f"{_THREADS} WHERE t.turn_count > 0 AND t.last_at >= ?{where}"
        f" ORDER BY t.last_at > {NOW}, t.last_at DESC, t.id DESC LIMIT ?",
        (since, *([project] * 3 if project else []), limit),
    ).fetchall()


def thread(db: Connection, thread_id: int) -> Sequence[Any] | None:
    """The row of one thread, or None."""
    row: Sequence[Any] | None = db.execute(f"{_THREADS} WHERE t.id = ?", (thread_id,)).fetchone()
    return row


def links_of(db: Connection, thread_id: int) -> list[int]:
    """The decisions that link a thread with others."""
    rows = db.execute(
        f"SELECT id FROM episode_links WHERE (earlier_thread_id = ?1 OR later_thread_id = ?1) AND {LINKED} ORDER BY id",  # noqa: S608
        (thread_id,),
    ).fetchall()
    return [row[0] for row in rows]


def single(db: Connection, project: str = "", since: int = 0) -> int:
    """How many threads with turns are of one session."""
    where = " AND (p.name = ? OR p.key = ? OR p.root = ?)" if project else ""
    row = db.execute(
        "SELECT count(*) FROM threads t JOIN projects p ON p.id = t.project_id"  # noqa: S608 - our words
        f" WHERE t.turn_count > 0 AND t.last_at >= ?{where} AND {_SINGLE}",
        (since, *([project] * 3 if project else [])),
    ).fetchone()
    return int(row[0])


def titles(db: Connection, threads: Iterable[int]) -> dict[int, str]:
    """The titles of threads, the oldest first."""
    rows = db.execute(
        "SELECT id, title FROM threads WHERE id IN (SELECT value FROM json_each(?)) ORDER BY created_at, id",
        (json.dumps(sorted(threads)),),
    )
    return dict(map(tuple, rows.fetchall()))


def sessions(db: Connection, thread_id: int) -> list[Any]:
    """Rows of the sessions of a thread, oldest first."""
    return db.execute(
        "SELECT s.id, s.client, coalesce(s.branch, ''), s.started_at, s.last_at, x.how,"
        " (SELECT count(*) FROM prompts p WHERE p.session_id = s.id AND p.source = 'user' AND p.agent_id IS NULL"
        "   AND p.kind IN ('prompt', 'late'))"
        " FROM session_threads x JOIN sessions s ON s.id = x.session_id"
        " WHERE x.thread_id = ? ORDER BY s.started_at, s.id",
        (thread_id,),
    ).fetchall()


def turns(db: Connection, thread_id: int, after: tuple[int, int], limit: int) -> list[Any]:
    """Rows of the turns of a thread in order, behind (at, prompt)."""
    return db.execute(
        "SELECT p.id, p.session_id, u.unit_id, p.at, p.content,"
        " (SELECT count(*) FROM observations o WHERE o.prompt_id = p.id),"
        " (SELECT count(*) FROM observations o WHERE o.prompt_id = p.id AND o.outcome = 'failed')"
        " FROM session_threads x JOIN prompts p ON p.session_id = x.session_id"
        " LEFT JOIN unit_prompts u ON u.prompt_id = p.id WHERE x.thread_id = ? AND p.source = 'user'"
        " AND p.agent_id IS NULL AND p.kind IN ('prompt', 'late') AND (p.at, p.id) > (?, ?)"
        " ORDER BY p.at, p.id LIMIT ?",
        (thread_id, *after, limit),
    ).fetchall()
