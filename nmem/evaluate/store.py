"""What evaluations ask the recorded history: sessions, their first prompts and calls, episodes, compactions.

On a veiled database (nmem.context.review_store) tables of `main` are those of all time, the others those of the moment.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from sqlite3 import Connection
from typing import Any

from nmem.context import keep, review_store
from nmem.context.fold import Past


@dataclass(frozen=True, slots=True)
class Moment:
    """A session as it asks its first question."""

    project_id: int
    project: str
    session_id: str
    at: int
    prompt: str
    gold: frozenset[str]
    """What it edits from then on."""


def as_it_was(db: Connection, moment: Moment) -> list[Past]:
    """Bring a veiled database to a moment and make its candidates; the project's sessions as they were."""
    review_store.move(db, moment.at)
    return keep.refold_past(db, moment.project_id, moment.project, moment.at, moment.session_id)


def sessions(db: Connection, project: str) -> list[tuple[str, int, str]]:
    """Id, project's number and name of every session of a project, "" for all."""
    return db.execute(
        "SELECT s.id, s.project_id, p.name FROM main.sessions s JOIN main.projects p ON p.id = s.project_id"
        " WHERE ?1 IN ('', p.name, p.key, p.root) ORDER BY s.id",
        (project,),
    ).fetchall()


def projects(db: Connection) -> dict[str, tuple[int, str]]:
    """Name -> number and key."""
    return {row[1]: (row[0], row[2]) for row in db.execute("SELECT id, name, key FROM projects ORDER BY id")}


def transcripts(db: Connection) -> dict[str, str]:
    """Session -> its transcript's path, or its own id."""
    return {row[0]: str(row[1] or row[0]) for row in db.execute("SELECT id, transcript_path FROM sessions")}


def first_prompt(db: Connection, session_id: str) -> tuple[int, str] | None:
    """When a session asked first, and what."""
    row: tuple[int, str] | None = db.execute(
        "SELECT at, content FROM main.prompts WHERE session_id = ? AND source = 'user' AND agent_id IS NULL"
        " ORDER BY at, id LIMIT 1",
        (session_id,),
    ).fetchone()
    return row


def begun_before(db: Connection, project_id: int, at: int) -> int:
    """How many sessions of a project had a prompt before a moment."""
    sql = (
        "SELECT count(*) FROM main.sessions s WHERE s.project_id = ?"
        " AND (SELECT min(at) FROM main.prompts p WHERE p.session_id = s.id) < ?"
    )
    return int(db.execute(sql, (project_id, at)).fetchone()[0])


def calls_on_files(db: Connection, session_id: str) -> list[tuple[int, str, str]]:
    """Time, type and path of a session's calls on files, in their order."""
    return db.execute(
        "SELECT at, obs_type, file_path FROM main.observations WHERE session_id = ? AND file_path IS NOT NULL"
        " ORDER BY at, id",
        (session_id,),
    ).fetchall()


def texts(db: Connection, project_id: int) -> Iterator[tuple[str, str]]:
    """Session and text of all that was said and done in a project."""
    for table in ("prompts", "observations"):
        yield from db.execute(
            f"SELECT t.session_id, t.content FROM {table} t JOIN sessions s ON s.id = t.session_id"  # noqa: S608
            " WHERE s.project_id = ?",
            (project_id,),
        )


# as it was at a moment


def newest_units(db: Connection, project_id: int, without: str, most: int) -> list[int]:
    """The newest episodes of a project but for those of one session."""
    rows = db.execute(
        "SELECT u.id FROM work_units u JOIN sessions s ON s.id = u.session_id WHERE s.project_id = ? AND s.id != ?"
        " ORDER BY u.last_at DESC, u.id DESC LIMIT ?",
        (project_id, without, most),
    )
    return [row[0] for row in rows.fetchall()]


def edits(db: Connection, project_id: int) -> list[tuple[str, int]]:
    """Path -> how often it was edited in a project."""
    return db.execute(
        "SELECT o.file_path, count(*) FROM observations o JOIN sessions s ON s.id = o.session_id"
        " WHERE s.project_id = ? AND o.obs_type IN ('file_edit', 'file_write') GROUP BY 1",
        (project_id,),
    ).fetchall()


def passed_since(db: Connection, project_id: int, since: int, until: int) -> list[tuple[str, str, str]]:
    """Type, path and text of checks, edits and commits of a project between two times that went well."""
    return db.execute(
        "SELECT o.obs_type, coalesce(o.file_path, ''), o.content FROM observations o"
        " JOIN sessions s ON s.id = o.session_id WHERE s.project_id = ? AND o.at > ? AND o.at < ? AND o.outcome = 'ok'"
        " AND o.obs_type IN ('test', 'build', 'lint', 'file_edit', 'file_write', 'git_commit')",
        (project_id, since, until),
    ).fetchall()


def knows_file(db: Connection, project_id: int, name: str) -> bool:
    """Whether a project has a file of this name."""
    named = "SELECT 1 FROM context_names WHERE project_id = ? AND word = ?"
    return db.execute(named, (project_id, "=" + name)).fetchone() is not None


# episodes and threads


def thread_of(db: Connection, session_id: str) -> int | None:
    """The thread that a session belongs to."""
    row = db.execute("SELECT thread_id FROM main.session_threads WHERE session_id = ?", (session_id,)).fetchone()
    return row[0] if row else None


def follows(db: Connection, moment: Moment, thread_id: int | None) -> bool:
    """Whether an earlier session is of a thread: then a silence has missed it."""
    row = db.execute(
        "SELECT 1 FROM main.session_threads x JOIN main.sessions s ON s.id = x.session_id WHERE x.thread_id = ?"
        " AND s.id != ? AND s.started_at < ? LIMIT 1",
        (thread_id, moment.session_id, moment.at),
    ).fetchone()
    return row is not None


def unit(db: Connection, number: int) -> tuple[str, int | None, int] | None:
    """The session and the thread of an episode, and when it ended."""
    row: tuple[str, int | None, int] | None = db.execute(
        "SELECT session_id, thread_id, last_at FROM main.work_units WHERE id = ?", (number,)
    ).fetchone()
    return row


def files_of_unit(db: Connection, number: int) -> list[str]:
    """The files that an episode edited or read."""
    rows = db.execute(
        "SELECT DISTINCT o.file_path FROM main.observations o JOIN main.unit_prompts u ON u.prompt_id = o.prompt_id"
        " WHERE u.unit_id = ? AND o.file_path IS NOT NULL AND o.obs_type IN ('file_edit', 'file_write', 'file_read')",
        (number,),
    )
    return [row[0] for row in rows.fetchall()]


# compactions


def compacted(db: Connection, project: str) -> list[str]:
    """Sessions that were compacted."""
    found = db.execute(
        "SELECT DISTINCT o.session_id FROM observations o JOIN sessions s ON s.id = o.session_id"
        " JOIN projects p ON p.id = s.project_id WHERE o.obs_type = 'session_compact' AND o.agent_id IS NULL"
        " AND ?1 IN ('', p.key, p.name, p.root) ORDER BY s.last_at, o.session_id",
        (project,),
    )
    return [str(row[0]) for row in found.fetchall()]


def said_and_done(db: Connection, session_id: str, since: int, until: int) -> list[tuple[Any, ...]]:
    """Time, type ("prompt" or a call's), path and text of a session between two times, in their order."""
    span = (session_id, since, until)
    prompts = db.execute(
        "SELECT at, 'prompt', '', content FROM prompts WHERE session_id = ? AND at > ? AND at < ? AND source = 'user'"
        " AND agent_id IS NULL", span,
    ).fetchall()  # fmt: skip
    calls = db.execute(
        "SELECT at, obs_type, coalesce(file_path, ''), content FROM observations WHERE session_id = ? AND at > ?"
        " AND at < ? AND agent_id IS NULL", span,
    ).fetchall()  # fmt: skip
    return sorted([*prompts, *calls])
