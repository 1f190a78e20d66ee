"""What an import asks its database, and the databases of other programs: Goose's and OpenCode's sessions."""

from __future__ import annotations

from collections.abc import Iterable
from sqlite3 import Connection
from typing import Any


def counts(db: Connection) -> tuple[int, ...]:
    """How many sessions, prompts, other sayings, calls and redactions there are."""
    row = db.execute(
        "SELECT (SELECT count(*) FROM sessions), (SELECT count(*) FROM prompts WHERE source = 'user'),"
        " (SELECT count(*) FROM prompts WHERE source <> 'user'),"
        " (SELECT count(*) FROM observations), (SELECT coalesce(sum(count), 0) FROM redactions)"
    ).fetchone()
    return tuple(row)


def fold(db: Connection) -> None:
    """Fold the write-ahead log back, as far as nobody reads it."""
    db.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()


def goose_sessions(db: Connection) -> list[tuple[Any, ...]]:
    """Number, folder, count of messages and time of the newest."""
    return db.execute(
        "SELECT s.id, s.working_dir, count(m.id), max(m.created_timestamp) FROM sessions s"
        " JOIN messages m ON m.session_id = s.id GROUP BY s.id"
    ).fetchall()


def goose_messages(db: Connection, session: str) -> Iterable[tuple[Any, ...]]:
    """Role, time and content of a session's messages."""
    sql = "SELECT role, created_timestamp, content_json FROM messages WHERE session_id = ? ORDER BY id"
    return db.execute(sql, (session,))


def opencode_sessions(db: Connection) -> list[tuple[Any, ...]]:
    """Name, parent, folder and last change."""
    return db.execute(
        "SELECT id, parent_id, directory, time_updated FROM session ORDER BY time_created, id"
    ).fetchall()  # fmt: skip


def opencode_parts(db: Connection, session: str) -> Iterable[tuple[Any, ...]]:
    """Message and data of the parts of a session's messages."""
    return db.execute("SELECT message_id, data FROM part WHERE session_id = ? ORDER BY id", (session,))


def opencode_messages(db: Connection, session: str) -> Iterable[tuple[Any, ...]]:
    """Id and data of a session's messages."""
    return db.execute("SELECT id, data FROM message WHERE session_id = ? ORDER BY time_created, id", (session,))
