"""What sessions say (SQL): which changed, what was done in each, what was found in it, and how far it is summed up.

Tables: `learning_findings`, `learned_sessions`, `learned_projects`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from sqlite3 import Connection
from typing import NamedTuple

from capture.jsonio import dumps
from capture.storage import store as base
from nmem.episodes.store import IDLE
from nmem.learn import config
from nmem.learn.find import VERSION, Finding
from nmem.learn.rows import LONGEST, Row, Said
from nmem.store import trace
from nmem.store.schema.kept import FAILING

_READ = "read"
"""A session that is read but not yet in the learnings of its project: whoever is stopped there, reads it again."""
_MARK = "coalesce((SELECT count(*) || '.' || max(updated_at) FROM transcript_cursors WHERE session_id = ?), '')"
_AT_ONCE = 1000
"""Findings written in one transaction: a hook waits for a quarter of a second."""
_STALE = """
WITH marks AS (
  SELECT session_id, count(*) || '.' || max(updated_at) AS mark FROM transcript_cursors GROUP BY session_id
)
SELECT s.id, s.project_id FROM sessions s LEFT JOIN learned_sessions l ON l.session_id = s.id
LEFT JOIN marks m ON m.session_id = s.id
WHERE (l.session_id IS NULL OR l.told_of != ? OR (l.seq != s.seq OR l.mark != coalesce(m.mark, ''))
 AND NOT (s.state != 'ended' AND s.last_at > ?
  AND (l.at > ? OR l.seq >= ? AND s.seq BETWEEN l.seq AND l.seq * 11 / 10)))
AND (? IS NULL OR s.project_id = ?) ORDER BY s.last_at DESC, s.id
"""
"""A transcript that was read further may have put right how calls ended, without a new observation.

Reading is about all of a session and its project, and would cost each turn as much as all turns before it: a session
that goes on is read again after a while, a long one once a tenth more was done in it, and each when it is over.
"""
_LONG = 150
"""Observations of a session from which on it is long."""
_NEVER = 1 << 62
_STATE = f"SELECT project_id, seq, {_MARK} FROM sessions WHERE id = ?"  # noqa: S608 - our text
_EPISODES = """
SELECT s.project_id, count(*) || '.' || sum(u.started_at % 1000003
 + (u.state != 'open') * (7 * u.turn_count + 11 * u.obs_count)
 + 13 * length(u.intent) + 17 * coalesce(u.resumes, 0) + 19 * (u.state = 'open')
 + 23 * coalesce(u.thread_id, t.thread_id, 0) + u.first_prompt_id % 1000003) AS episodes
FROM work_units u JOIN sessions s ON s.id = u.session_id LEFT JOIN session_threads t ON t.session_id = u.session_id
"""
"""How far an episode that goes on has come is not part: it is known anew with what is read of its session."""


@dataclass(frozen=True)
class Reading:
    """A session as it was at one moment."""

    session_id: str
    project_id: int
    seq: int
    mark: str
    rows: list[Row]
    said: list[Said]
    """What the person asked for, in its order."""
    kept: bool
    """Its observations were forgotten since it was read and nothing was added: what was found in it stays."""


class Found(NamedTuple):
    """What a session says, ready to be written; small enough to be handed from one process to another."""

    session_id: str
    project_id: int
    seq: int
    mark: str
    kept: bool
    told: list[tuple[str, str, str]]
    """Kind, key and the rest as JSON; in their order."""


def found_in(read: Reading, found: Iterable[Finding]) -> Found:
    """What was found in a session as it was read."""
    told = sorted((one.kind, one.key, _data(one)) for one in found)
    return Found(read.session_id, read.project_id, read.seq, read.mark, read.kept, told)


@contextmanager
def snapshot(db: Connection) -> Iterator[None]:
    """Several readings of one moment; nobody waits for it."""
    db.execute("BEGIN")
    try:
        yield
    finally:
        db.execute("ROLLBACK")


def stale(db: Connection, project_id: int | None = None, patient: int | None = None) -> list[tuple[str, int]]:
    """The sessions that say more than was read of them, and their projects; the newest first.

    `patient`: the time (ms) at which those that go on, and were read shortly before, can wait; None: none waits.
    """
    since = _NEVER if patient is None else patient - IDLE
    return db.execute(_STALE, (VERSION, since, since, _LONG, project_id, project_id)).fetchall()


def changed(db: Connection, project_id: int | None = None, patient: int | None = None) -> list[int]:
    """The projects whose episodes are not those that were summed up.

    `patient`: the time (ms) at which those with a session that was read shortly before can wait; None: none waits.
    """
    since = _NEVER if patient is None else patient - IDLE
    found = db.execute(
        f"WITH now AS ({_EPISODES} WHERE ? IS NULL OR s.project_id = ? GROUP BY s.project_id)"  # noqa: S608 - our text
        " SELECT now.project_id FROM now LEFT JOIN learned_projects l ON l.project_id = now.project_id"
        " WHERE now.episodes || ? != coalesce(l.episodes, '') AND NOT EXISTS (SELECT 1 FROM sessions s"
        "  JOIN learned_sessions r ON r.session_id = s.id WHERE s.project_id = now.project_id AND s.state != 'ended'"
        "  AND s.last_at > ? AND r.at > ?) ORDER BY now.project_id",
        (project_id, project_id, _enough(), since, since),
    )
    return [number for (number,) in found.fetchall()]


def reading(db: Connection, session_id: str) -> Reading | None:
    """What was done in a session, in its order; None when there is none. Outside a transaction."""
    with snapshot(db):
        state = db.execute(_STATE, (session_id, session_id)).fetchone()
        if state is None:
            return None
        rows = _rows(db, session_id)
        asked = _said(db, session_id)
        before = db.execute("SELECT seq FROM learned_sessions WHERE session_id = ?", (session_id,)).fetchone()
    kept = before is not None and before[0] == state[1] > len(rows)
    return Reading(session_id, state[0], state[1], state[2], rows, asked, kept)


def _rows(db: Connection, session_id: str) -> list[Row]:
    root = db.execute("SELECT coalesce(f.root, p.root) FROM sessions s JOIN projects p ON p.id = s.project_id"
                      " LEFT JOIN project_folders f ON f.folder = s.cwd WHERE s.id = ?",
                      (session_id,)).fetchone()  # fmt: skip
    found = db.execute(
        "SELECT id, at, seq, prompt_id, obs_type, coalesce(tool_name, ''), coalesce(file_path, ''), content, outcome,"
        " iif(outcome = 'failed' AND json_valid(metadata), coalesce(json_extract(metadata, '$.response'), ''), '')"
        " FROM observations WHERE session_id = ? ORDER BY seq, id",
        (session_id,),
    )
    return [Row(*(*row, root[0] if root else "")) for row in found]


def _said(db: Connection, session_id: str) -> list[Said]:
    """Prompts that a rule may be said in: the person's own, and no documents."""
    found = db.execute("SELECT id, at, content FROM prompts WHERE session_id = ? AND source = 'user'"
                       " AND agent_id IS NULL AND length(content) <= ? ORDER BY at, id",
                       (session_id, LONGEST))  # fmt: skip
    return [Said(*row) for row in found]


def write(db: Connection, read: Found, now: int) -> bool:
    """Write what a session says, instead of what was read of it before, in transactions that no hook gives up at.

    False when the session is no longer what it was when it was read: then it is still to be read.
    """
    told = [(read.project_id, kind, key, read.session_id, now, data) for kind, key, data in read.told]
    parts = [told[at : at + _AT_ONCE] for at in range(0, len(told), _AT_ONCE)] or [[]]
    for number, part in enumerate(parts):
        with base.transaction(db):
            state = db.execute(_STATE, (read.session_id, read.session_id)).fetchone()
            if state is None or tuple(state) != (read.project_id, read.seq, read.mark):
                return False
            if not read.kept:
                _put(db, read.session_id, part, first=number == 0)
            if number == len(parts) - 1:
                _done(db, read, now)
    return True


def _put(db: Connection, session_id: str, told: list[tuple[int, str, str, str, int, str]], *, first: bool) -> None:
    """A part of what a session says; until the last one it counts as not read."""
    if first and not trace.swept(db, session_id):  # what was found in rows that are forgotten stays
        db.execute("DELETE FROM learning_findings WHERE session_id = ?", (session_id,))
    if first:
        db.execute("DELETE FROM learned_sessions WHERE session_id = ?", (session_id,))
    db.executemany(
        "INSERT INTO learning_findings (project_id, kind, key, session_id, at, data) VALUES (?, ?, ?, ?, ?, ?)"
        # REPLACE looks for what refers to each row first, and takes half as long again
        " ON CONFLICT DO UPDATE SET at = excluded.at, data = excluded.data",
        told,
    )


def _done(db: Connection, read: Found, now: int) -> None:
    db.execute("INSERT OR REPLACE INTO learned_sessions (session_id, seq, told_of, at, mark) VALUES (?, ?, ?, ?, ?)",
               (read.session_id, read.seq, _READ, now, read.mark))  # fmt: skip
    more(db, read.project_id)


def more(db: Connection, project_id: int) -> None:
    """Something was read of a project, or forgotten: whoever sums it up just now does it again. In a transaction."""
    db.execute("INSERT INTO learned_projects (project_id, reading) VALUES (?, 1) ON CONFLICT (project_id) DO UPDATE"
               " SET reading = reading + 1", (project_id,))  # fmt: skip


def token(db: Connection, project_id: int) -> tuple[int, str]:
    """What the summing up of a project rests on: how often something was read of it, and its episodes."""
    known = db.execute("SELECT reading FROM learned_projects WHERE project_id = ?", (project_id,)).fetchone()
    told = db.execute(f"{_EPISODES} WHERE s.project_id = ? GROUP BY s.project_id", (project_id,)).fetchone()
    return (known[0] if known else 0), f"{told[1]}{_enough()}" if told else ""


def _enough() -> str:
    """The number of sessions that make a pattern, where it is not the usual one: when it changes, all is summed up."""
    own = config.load().sessions
    return "" if own == config.SESSIONS else f"/{own}"


def summed(db: Connection, project_id: int, of: tuple[int, str]) -> None:
    """What was read of a project's sessions is in its learnings now. Inside the transaction that wrote them."""
    db.execute("UPDATE learned_sessions SET told_of = ? WHERE told_of = ? AND session_id IN (SELECT id FROM sessions"
               " WHERE project_id = ?)", (VERSION, _READ, project_id))  # fmt: skip
    db.execute("INSERT INTO learned_projects (project_id, reading, episodes) VALUES (?, ?, ?)"
               " ON CONFLICT (project_id) DO UPDATE SET episodes = excluded.episodes", (project_id, *of))  # fmt: skip


def _data(one: Finding) -> str:
    kept = {key: value for key, value in vars(one).items() if value and key not in ("kind", "key")}
    return dumps(kept)


_TOLD = f"""
SELECT session_id, kind, key, data FROM learning_findings WHERE project_id = ?1 AND kind < 'command'
UNION ALL
SELECT session_id, kind, key, data FROM learning_findings WHERE project_id = ?1 AND kind > 'command'
UNION ALL
SELECT session_id, kind, key, data FROM learning_findings WHERE project_id = ?1 AND kind = 'command' AND key IN (
  SELECT key FROM learning_findings INDEXED BY learning_findings_failing
  WHERE project_id = ?1 AND kind = 'command' AND {FAILING})
"""  # noqa: S608 - our words


def sessions(db: Connection, project_id: int) -> list[tuple[str, int]]:
    """The sessions of a project and when they began, in that order."""
    return db.execute(
        "SELECT id, started_at FROM sessions WHERE project_id = ? ORDER BY started_at, id", (project_id,)
    ).fetchall()


def told(db: Connection, project_id: int) -> Iterator[tuple[str, str, str, str]]:
    """Session, kind, key and the rest of a project's findings; of commands, only those that failed somewhere in it."""
    return db.execute(_TOLD, (project_id,))


def asked(db: Connection, project_id: int) -> list[tuple[int, str, int | None, int, int, str, int, str, str, str]]:
    """The episodes of a project as repetition is looked for in them, in their order."""
    return db.execute(
        "SELECT u.id, u.session_id, coalesce(u.thread_id, t.thread_id), u.first_prompt_id, u.started_at, u.intent,"
        " u.resumes IS NOT NULL, u.hot_files, u.phase_signature, u.outcomes FROM work_units u"
        " JOIN sessions s ON s.id = u.session_id LEFT JOIN session_threads t ON t.session_id = u.session_id"
        " WHERE s.project_id = ? ORDER BY u.started_at, u.id",
        (project_id,),
    ).fetchall()


def errors(
    db: Connection, project_id: int | None, most: int, key: str | None = None
) -> list[tuple[str, str, str, str]]:
    """Session, key, the rest and project of errors that single sessions met, the newest first; of all projects, or one.

    `key`: of one error.
    """
    return db.execute(
        "SELECT f.session_id, f.key, f.data, p.name FROM learning_findings f JOIN sessions s ON s.id = f.session_id"  # noqa: S608
        " JOIN projects p ON p.id = f.project_id WHERE f.kind = 'error' AND (?1 IS NULL OR f.project_id = ?1)"
        f"{'' if key is None else ' AND f.key = ?3'} ORDER BY s.last_at DESC LIMIT ?2",
        (project_id, most, *([] if key is None else [key])),
    ).fetchall()


def since(db: Connection, project_id: int, kind: str, at: int) -> list[tuple[str, str]]:
    """Session and the rest of a project's findings of a kind, in sessions that began after a time."""
    return db.execute("SELECT f.session_id, f.data FROM learning_findings f JOIN sessions s ON s.id = f.session_id"
                      " WHERE f.project_id = ? AND f.kind = ? AND s.started_at > ?",
                      (project_id, kind, at)).fetchall()  # fmt: skip
