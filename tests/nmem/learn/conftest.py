"""A project on disk with learnings, as a history would have left them."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from sqlite3 import Connection
from typing import Any

import pytest

from capture.storage import store
from nmem import tables, undo
from nmem.commands import terminal
from nmem.learn import accept, lifecycle
from nmem.learn.accept import Plan
from nmem.learn.find import VERSION

NOON = 1_760_011_200_000
DAY = 86_400_000
SPELLED = {"kind": "spelling", "text": "`pnpm test` works", "files": [], "commands": ["pnpm test"],
           "observation_ids": [], "confidence": 0.8, "times": 3}  # fmt: skip


class Shop:
    """The project `shop` and what was learned in it; the clock stands at NOON."""

    def __init__(self, db: Connection, folder: Path) -> None:
        self.db, self.folder, self.now = db, folder, NOON
        db.row_factory = sqlite3.Row
        folder.mkdir(parents=True, exist_ok=True)
        db.execute("INSERT INTO projects VALUES (1, ?, 'shop', ?, NULL, 0)", (str(folder), str(folder)))
        db.execute("INSERT INTO project_folders VALUES (?, 1, ?)", (str(folder), str(folder)))
        self.session("one", 3)
        self.session("two", 1)

    def session(self, id_: str, days: int, client: str = "claude", project: int = 1) -> None:
        at = NOON - days * DAY
        self.db.execute(
            "INSERT INTO sessions (id, client, project_id, cwd, started_at, last_at) VALUES (?, ?, ?, ?, ?, ?)",
            (id_, client, project, str(self.folder), at, at),
        )
        self.db.execute(
            "INSERT INTO learned_sessions (session_id, seq, told_of, at) VALUES (?, 0, ?, ?)", (id_, VERSION, at)
        )

    def learning(self, title: str = "npm test", kind: str = "failed_command", **columns: Any) -> int:
        """A learning met in both sessions; its id."""
        row = {"project_id": 1, "kind": kind, "key": title, "title": title, "first_at": NOON - 3 * DAY,
               "last_at": NOON - DAY, "sessions": 2, "occurrences": 2, "remedy": json.dumps(SPELLED),
               **columns}  # fmt: skip
        made = self.db.execute(
            f"INSERT INTO learnings ({', '.join(row)}) VALUES ({', '.join('?' * len(row))})", [*row.values()]
        ).lastrowid
        for session, days in (("one", 3), ("two", 1)):
            self.db.execute(
                "INSERT INTO learning_evidence (learning_id, role, session_id, at, excerpt) VALUES (?, ?, ?, ?, ?)",
                (made, "occurrence", session, NOON - days * DAY, "npm error Missing script"),
            )
        return int(made or 0)

    def file(self, data: bytes | None = None, name: str = "CLAUDE.md") -> Path:
        path = self.folder / name
        if data is not None:
            path.write_bytes(data)
        return path

    def plan(self, learning: int, **asked: str) -> Plan:
        return accept.plan(self.db, learning, self.now, **asked)

    def accept(self, learning: int, **asked: str) -> Plan:
        planned = self.plan(learning, **asked)
        accept.accept(self.db, planned, self.now)
        return planned

    def reopen(self, learning: int) -> None:
        accept.withdraw(self.db, learning, accept.withdrawal(self.db, learning, self.now), self.now)

    def undo(self) -> str:
        return undo.undo(self.db, self.now)

    def state(self, learning: int) -> str:
        return lifecycle.standing(self.db, learning, self.now).state

    def stored(self) -> list[dict[str, Any]]:
        """Every learning as it is stored."""
        return [dict(row) for row in self.db.execute("SELECT * FROM learnings ORDER BY id")]


@pytest.fixture
def shop(db_path: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Shop]:
    """The shop in a folder of its own, which is the current one."""
    db = store.connect(db_path)
    tables.ensure(db)
    monkeypatch.setattr(terminal, "now", lambda: NOON)
    monkeypatch.setenv("TZ", "UTC")
    found = Shop(db, tmp_path / "shop")
    monkeypatch.chdir(found.folder)
    yield found
    db.close()


@pytest.fixture(scope="session")
def shops() -> Callable[[Path], closing[Any]]:
    """Makes a shop in a folder, for tests that need many."""

    def make(folder: Path) -> closing[Any]:
        db = store.connect(str(folder / "nmem.db"))
        tables.ensure(db)
        made = Shop(db, folder / "shop")
        made.close = db.close  # type: ignore[attr-defined]
        return closing(made)

    return make
