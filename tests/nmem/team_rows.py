"""Rows that other members of a team said, put into the local tables directly."""

from __future__ import annotations

import itertools
import json
from collections.abc import Sequence
from sqlite3 import Connection
from typing import Any

_NUMBERS = itertools.count(1)


def fact(
    db: Connection, title: str, author: str = "alice", *, kind: str = "decision", body: str = "", at: int = 0,
    files: Sequence[str] = (), subject: str = "", own: bool = False, device: str = "laptop", gone: int = 0,
    seq: int | None = -1, source: str = "", project: int = 1, **data: Any,
) -> str:  # fmt: skip
    """Put a version of a fact in; its id as it is shown."""
    number = next(_NUMBERS)
    db.execute(
        "INSERT INTO team_facts (id, team, kind, subject, project_id, author, device, at, seq, title, body, files,"
        " data, own, gone, source) VALUES (?, 'core', ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (f"f{number:06}", kind, subject or f"s{number}", project, author, device, at, number if seq == -1 else seq,
         title, body, json.dumps(list(files)), json.dumps(data), int(own), gone, source),
    )  # fmt: skip
    db.execute("INSERT OR IGNORE INTO team_members (team, author, role) VALUES ('core', ?, ?)", (author, f"{author}_x"))
    return f"team/f{number:06}"


def mute(db: Connection, author: str, muted: bool = True) -> None:
    """Hear a member no longer, or again."""
    db.execute("UPDATE team_members SET muted = ? WHERE author = ?", (int(muted), author))
