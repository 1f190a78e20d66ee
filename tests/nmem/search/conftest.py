"""A database with the search's tables, and a way to fill it."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from pathlib import Path
from sqlite3 import Connection

import pytest

from capture.storage import store
from nmem import tables
from nmem.search import refresh

NOW = 1_760_000_000_000
MINUTE = 60_000


class Stored:
    """Rows as capture would store them, a minute apart, the last one at NOW."""

    def __init__(self, db: Connection) -> None:
        self.db = db
        self.at = NOW - 1_000 * MINUTE
        self.numbers = itertools.count(1)
        for number, name in enumerate(("shop", "blog"), 1):
            db.execute("INSERT INTO projects VALUES (?, ?, ?, ?, NULL, 0)", (number, name, name, f"/src/{name}"))
            db.execute(
                "INSERT INTO sessions (id, client, project_id, cwd, started_at, last_at) VALUES (?,?,?,'/',0,0)",
                (name, ("claude", "codex")[number - 1], number),
            )

    def say(self, text: str, source: str = "user", session: str = "shop", at: int | None = None) -> str:
        self.at += MINUTE
        kind = {"user": "prompt", "agent": "closing"}[source]
        made = self.db.execute(
            "INSERT INTO prompts (session_id, at, source, kind, content, dedup_key) VALUES (?, ?, ?, ?, ?, ?)",
            (session, at or self.at, source, kind, text, f"p{next(self.numbers)}"),
        )
        return f"prompt/{made.lastrowid}"

    def do(
        self,
        text: str,
        kind: str = "command",
        session: str = "shop",
        at: int | None = None,
        path: str | None = None,
        outcome: str = "ok",
        metadata: str | None = None,
        pinned: int = 0,
    ) -> str:
        self.at += MINUTE
        made = self.db.execute(
            "INSERT INTO observations (session_id, at, seq, obs_type, file_path, content, outcome, metadata, pinned,"
            " dedup_key) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (session, at or self.at, (n := next(self.numbers)), kind, path, text, outcome, metadata, pinned, f"o{n}"),
        )
        return f"obs/{made.lastrowid}"

    def queue(self, prompt: str, project: str = "shop", **values: object) -> str:
        self.at += MINUTE
        given = {"created_at": self.at, "changed_at": self.at, "prompt": prompt, "project": project,
                 "cwd": f"/src/{project}/sub", **values}  # fmt: skip
        marks = ", ".join("?" * len(given))
        made = self.db.execute(f"INSERT INTO tasks ({', '.join(given)}) VALUES ({marks})", list(given.values()))
        return f"task/{made.lastrowid}"

    def settle(self) -> None:
        refresh.refresh(self.db)


@pytest.fixture
def new_store(tmp_path: Path) -> Iterator[Callable[[], Stored]]:
    opened: list[Connection] = []

    def make() -> Stored:
        db = store.connect(str(tmp_path / f"data{len(opened)}" / "nmem.db"))
        tables.ensure(db)
        opened.append(db)
        return Stored(db)

    yield make
    for db in opened:
        db.close()


@pytest.fixture
def stored(new_store: Callable[[], Stored]) -> Stored:
    return new_store()
