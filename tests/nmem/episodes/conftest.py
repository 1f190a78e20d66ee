"""A database with the tables of meaning, and a session that tests fill row by row."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from sqlite3 import Connection

import pytest

from capture.storage import store
from nmem import tables

MINUTE = 60_000
START = 1_760_000_000_000


class Script:
    """Writes a session as capture would, one row after the other, a minute apart unless told otherwise."""

    def __init__(self, db: Connection, session_id: str = "s") -> None:
        self.db = db
        self.id = session_id
        self.at = START
        self.seq = 0
        self.prompt_id: int | None = None
        self.numbers = itertools.count()
        db.execute("INSERT OR IGNORE INTO projects VALUES (1, 'k', 'n', '/r', NULL, 0)")
        db.execute(
            "INSERT INTO sessions (id, client, project_id, cwd, started_at, last_at, state)"
            " VALUES (?, 'claude', 1, '/r', ?, ?, 'working')",
            (session_id, self.at, self.at),
        )

    def _said(self, source: str, kind: str, text: str, minutes: float) -> int:
        self.at += int(minutes * MINUTE)
        made = self.db.execute(
            "INSERT INTO prompts (session_id, at, source, kind, content, dedup_key) VALUES (?, ?, ?, ?, ?, ?)",
            (self.id, self.at, source, kind, text, f"p{next(self.numbers)}"),
        ).lastrowid
        assert made
        self.db.execute("UPDATE sessions SET last_at = ? WHERE id = ?", (self.at, self.id))
        return made

    def prompt(self, text: str, minutes: float = 1, kind: str = "prompt", source: str = "user") -> int:
        """Somebody says something."""
        number = self._said(source, kind, text, minutes)
        if source == "user":
            self.prompt_id = number
        return number

    def said(self, text: str, kind: str = "closing") -> int:
        """The agent's last words of a turn."""
        return self._said("agent", kind, text, 0.2)

    def did(
        self, obs_type: str, path: str | None = None, outcome: str = "ok", content: str = "", *, tool: str = "Edit",
        metadata: str | None = None, minutes: float = 0.2,
    ) -> int:  # fmt: skip
        """One thing is done."""
        self.at += int(minutes * MINUTE)
        self.seq += 1
        made = self.db.execute(
            "INSERT INTO observations (session_id, prompt_id, at, seq, obs_type, tool_name, file_path, content,"
            " outcome, metadata, dedup_key) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (self.id, self.prompt_id, self.at, self.seq, obs_type, tool, path, content or path or "", outcome, metadata,
             f"o{self.seq}"),
        ).lastrowid  # fmt: skip
        self.db.execute("UPDATE sessions SET seq = ?, last_at = ? WHERE id = ?", (self.seq, self.at, self.id))
        assert made
        return made


@pytest.fixture
def db(db_path: str) -> Iterator[Connection]:
    """A database with all tables."""
    made = store.connect(db_path)
    tables.ensure(made)
    yield made
    made.close()


@pytest.fixture
def script(db: Connection) -> Script:
    """A session to fill."""
    return Script(db)


def rows(db: Connection) -> list[list[tuple[object, ...]]]:
    """Everything that detection writes."""
    names = ("work_units", "unit_prompts", "session_signatures")
    return [db.execute(f"SELECT * FROM {name} ORDER BY 1").fetchall() for name in names]
