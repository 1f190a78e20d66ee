"""What is kept of whole sessions (SQL): copies of transcripts, a person's marks, and what resumes one."""

from __future__ import annotations

import json
from collections.abc import Iterable
from sqlite3 import Connection
from typing import Any

from capture.storage.store import transaction
from capture.transcript.cursor import LIVE, Cursor, save

KEPT, LARGE, UNREAD, DROPPED, PURGED = "kept", "large", "unread", "dropped", "purged"
_LIFE = """
SELECT s.id, p.name, s.last_at,
  coalesce((SELECT min(at) FROM prompts p WHERE p.session_id = s.id AND p.source = 'user'), s.last_at),
  EXISTS (SELECT 1 FROM prompts p WHERE p.session_id = s.id AND p.source = 'user' AND p.content = '')
FROM sessions s JOIN projects p ON p.id = s.project_id
"""
Life = tuple[str, str, int, int, int]
"""A session, its project's name, its last activity, its first prompt, and whether words of it were swept."""


# Copies


def copied(db: Connection, *, by_other_rules: str | None = None, project: int | None = None) -> list[str]:
    """Sessions of which a copy is kept, the oldest copy first: all, those by other rules, or those of a project."""
    sql = """SELECT session_id FROM transcript_copies WHERE packed IS NOT NULL AND (?1 IS NULL OR rules != ?1)
        AND (?2 IS NULL OR session_id IN (SELECT id FROM sessions WHERE project_id = ?2)) ORDER BY at"""
    return [str(row[0]) for row in db.execute(sql, (by_other_rules, project)).fetchall()]


def copy(db: Connection, session_id: str) -> tuple[str, bytes | None, str, int] | None:
    """Where a client had a transcript, what is kept of it, packed, what came of the last look at it, and its size."""
    sql = "SELECT path, packed, state, size FROM transcript_copies WHERE session_id = ?"
    row = db.execute(sql, (session_id,)).fetchone()
    return tuple(row) if row else None


def held(db: Connection, after: int = 0, but: str = "") -> int:
    """Bytes of the copies of sessions that were active after a time."""
    sql = """SELECT total(length(c.packed)) FROM transcript_copies c
        JOIN sessions s ON s.id = c.session_id WHERE c.packed IS NOT NULL AND s.last_at >= ? AND s.id != ?"""
    return int(db.execute(sql, (after, but)).fetchone()[0])


def sizes(db: Connection) -> list[tuple[str, int]]:
    """Bytes of each copy, of the newest sessions first."""
    sql = """SELECT c.session_id, length(c.packed) FROM transcript_copies c
        JOIN sessions s ON s.id = c.session_id WHERE c.packed IS NOT NULL ORDER BY s.last_at DESC"""
    return db.execute(sql).fetchall()


def lives(db: Connection, session_id: str = "") -> list[Life]:
    """What tells how long copies may be kept: of a session, else of all that are copied."""
    which = "s.id = ?1" if session_id else "s.id IN (SELECT session_id FROM transcript_copies WHERE packed IS NOT NULL)"
    return [tuple(row) for row in db.execute(f"{_LIFE} WHERE {which}", (session_id,) * bool(session_id)).fetchall()]


def sources(db: Connection, idle: int) -> list[tuple[Any, ...]]:
    """Clients' files of which a copy may be made, of the newest sessions first: (session, client, path, last activity,
    state, size and time of the file, when it was looked at, whether the session is over or idle since `idle`)."""
    sql = """SELECT s.id, s.client, s.transcript_path, s.last_at, coalesce(c.state, ''),
        coalesce(c.size, -1), coalesce(c.changed, 0), coalesce(c.at, 0), s.state = 'ended' OR s.last_at < ?
        FROM sessions s LEFT JOIN transcript_copies c ON c.session_id = s.id WHERE s.transcript_path != ''
        AND coalesce(c.state, '') != ? AND s.id NOT IN (SELECT session_id FROM purged_keys) ORDER BY s.last_at DESC"""
    return [tuple(row) for row in db.execute(sql, (idle, PURGED)).fetchall()]


def keep(
    db: Connection, session_id: str, client: str, path: str, mark: tuple[int, int], now: int, state: str, rules: str,
    packed: bytes | None,
) -> None:  # fmt: skip
    """Keep a copy; without one, that it could not be made: an older one stays. Outside a transaction."""
    with transaction(db):  # a purge may have come meanwhile
        sql = """INSERT INTO transcript_copies AS c (session_id, at, path, size, changed, rules, state, packed) SELECT
            ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8 WHERE EXISTS (SELECT 1 FROM sessions WHERE id = ?1 AND client = ?9) AND
            ?1 NOT IN (SELECT session_id FROM purged_keys) ON CONFLICT (session_id) DO UPDATE SET path = excluded.path,
            size = excluded.size, changed = excluded.changed, state = excluded.state, packed = coalesce(excluded.packed,
            c.packed), at = iif(excluded.packed IS NULL AND c.packed IS NOT NULL, c.at, excluded.at), rules
            = iif(excluded.packed IS NULL AND c.packed IS NOT NULL, c.rules, excluded.rules) WHERE c.state != ?10"""
        db.execute(sql, (session_id, now, path, *mark, rules, state, packed, client, PURGED))


def repack(db: Connection, session_id: str, packed: bytes | None, rules: str) -> None:
    """Keep a copy as it is by other rules; none where it could not be read. Outside a transaction."""
    with transaction(db):
        sql = """UPDATE transcript_copies SET packed = ?1, rules = ?2, state = iif(?1 IS NULL, ?3, state)
            WHERE session_id = ?4 AND packed IS NOT NULL"""
        db.execute(sql, (packed, rules, UNREAD, session_id))


def drop(db: Connection, session_ids: list[str]) -> None:
    """Given up, not purged: a file that changes is copied again. Outside a transaction."""
    if session_ids:
        with transaction(db):
            db.executemany("UPDATE transcript_copies SET packed = NULL, state = ? WHERE session_id = ?",
                           [(DROPPED, each) for each in session_ids])  # fmt: skip


def drop_all(db: Connection) -> None:
    """No copy is kept any more; what was purged stays so. Outside a transaction."""
    with transaction(db):
        db.execute("DELETE FROM transcript_copies WHERE state != ?", (PURGED,))


def purge(db: Connection, session_ids: Iterable[str]) -> None:
    """No copy stays of these, and none is made again, nor a first one. Inside a transaction."""
    db.executemany(
        "INSERT INTO transcript_copies (session_id, at, path, size, changed, rules, state)"
        " SELECT id, last_at, '', 0, 0, '', ?1 FROM sessions WHERE id = ?2"
        " ON CONFLICT (session_id) DO UPDATE SET packed = NULL, state = ?1, path = ''",
        [(PURGED, session_id) for session_id in sorted(session_ids)],
    )


def read_already(db: Connection, session_id: str, keys: dict[str, str], size: int, head: str) -> None:
    """Reading goes on behind what was given back, by whom the client's file was read to its end: an import or a hook.

    Whoever had read a part of it has no place in what was given back, and begins anew: what is known is passed over.
    `keys`: paths before and now; `size` and `head` (its fingerprint) of what was given back.
    """
    with transaction(db):
        whole = copy(db, session_id)
        for old, new in [*keys.items(), *((LIVE + old, LIVE + new) for old, new in keys.items())]:
            sql = "SELECT offset, state, updated_at FROM transcript_cursors WHERE path = ? AND session_id = ?"
            row = db.execute(sql, (old, session_id)).fetchone()
            db.execute("DELETE FROM transcript_cursors WHERE path IN (?, ?) AND session_id = ?", (old, new, session_id))
            if row and whole and row[0] >= whole[3]:
                save(db, Cursor(new, session_id, size, head, row[1] or ""), row[2])


# Marks


def marks(db: Connection, session_id: str) -> tuple[str | None, str | None, int | None] | None:
    """The name, the tags and the archive flag of a session, none of them where nothing was said; None: it is gone."""
    sql = """SELECT m.name, m.tags, m.archived
        FROM sessions s LEFT JOIN session_marks m ON m.session_id = s.id WHERE s.id = ?"""
    row = db.execute(sql, (session_id,)).fetchone()
    return tuple(row) if row else None


def mark(db: Connection, session_id: str, name: str, tags: tuple[str, ...], archived: bool, now: int) -> None:
    """Say this of a session, or that nothing is said of it any more. Inside a transaction."""
    if not (name or tags or archived):
        db.execute("DELETE FROM session_marks WHERE session_id = ?", (session_id,))
        return
    sql = """INSERT INTO session_marks (session_id, name, tags, archived, at) VALUES (?, ?, ?, ?, ?)
        ON CONFLICT (session_id) DO UPDATE
        SET name = excluded.name, tags = excluded.tags, archived = excluded.archived, at = excluded.at"""
    db.execute(sql, (session_id, name, json.dumps(tags, ensure_ascii=False), int(archived), now))


# What resumes one


def begun(db: Connection, session_id: str) -> tuple[str, str, str, str | None, int, int] | None:
    """The client of a session, its folder, its project's root, its transcript, whether that is copied, its start."""
    sql = """SELECT s.client, s.cwd, p.root, s.transcript_path,
        EXISTS (SELECT 1 FROM transcript_copies c WHERE c.session_id = s.id AND c.packed IS NOT NULL), s.started_at
        FROM sessions s JOIN projects p ON p.id = s.project_id WHERE s.id = ?"""
    row = db.execute(sql, (session_id,)).fetchone()
    return tuple(row) if row else None


def folders(db: Connection, session_id: str) -> list[str]:
    """The folders that are known to be of a session's project."""
    sql = "SELECT folder FROM project_folders WHERE project_id = (SELECT project_id FROM sessions WHERE id = ?)"
    return [str(row[0]) for row in db.execute(sql, (session_id,)).fetchall()]
