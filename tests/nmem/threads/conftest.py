"""A small world of sessions: one project, several clients, minutes as the unit of time."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterator
from sqlite3 import Connection
from typing import Any

import pytest

from capture.storage import store
from capture.storage.schema import migrate
from nmem import tables
from nmem.threads import continuity

START = 1_760_000_000_000
MINUTE = 60_000
SAID = ("Coupons in the cart are rounded up", "The cart rounds empty coupons wrongly", "continue",
        "Translate the footer into Danish", "Run the tests")  # fmt: skip


class World:
    """Writes sessions as capture would, and asks continuity what it makes of them. Times are minutes since START."""

    def __init__(self, db: Connection) -> None:
        self.db = db

    def at(self, minutes: float) -> int:
        return START + int(minutes * MINUTE)

    def project(self, name: str = "aurora") -> int:
        self.db.execute(
            "INSERT OR IGNORE INTO projects (key, name, root, created_at) VALUES (?, ?, ?, ?)",
            (name, name, f"/src/{name}", START),
        )
        return int(self.db.execute("SELECT id FROM projects WHERE key = ?", (name,)).fetchone()[0])

    def session(self, id_: str, minutes: float, *said: str, client: str = "claude", project: str = "aurora",
                step: float = 1.0, **columns: Any) -> str:  # fmt: skip
        """A session that begins at a minute; each thing said comes `step` minutes after the one before."""
        row = {"id": id_, "client": client, "project_id": self.project(project), "cwd": f"/src/{project}",
               "started_at": self.at(minutes), "last_at": self.at(minutes), **columns}  # fmt: skip
        self.db.execute(
            f"INSERT INTO sessions ({', '.join(row)}) VALUES ({', '.join('?' * len(row))})", [*row.values()]
        )
        for number, text in enumerate(said):
            self.say(id_, minutes + number * step, text)
        return id_

    def say(self, session: str, minutes: float, text: str, kind: str = "prompt", source: str = "user") -> int:
        at = self.at(minutes)
        made = self.db.execute(
            "INSERT INTO prompts (session_id, at, source, kind, content, dedup_key) VALUES (?, ?, ?, ?, ?, ?)",
            (session, at, source, kind, text, f"{kind}{at}{text[:20]}"),
        ).lastrowid
        self.db.execute("UPDATE sessions SET last_at = max(last_at, ?) WHERE id = ?", (at, session))
        return int(made or 0)

    def do(self, session: str, minutes: float, obs_type: str, content: str, path: str | None = None,
           outcome: str = "ok", prompt: int | None = None, **meta: Any) -> None:  # fmt: skip
        at = self.at(minutes)
        seq = self.db.execute("UPDATE sessions SET seq = seq + 1, last_at = max(last_at, ?) WHERE id = ? RETURNING seq",
                              (at, session)).fetchall()[0][0]  # fmt: skip
        self.db.execute(
            "INSERT INTO observations (session_id, prompt_id, at, seq, obs_type, content, file_path, outcome, metadata,"
            " dedup_key) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (session, prompt, at, seq, obs_type, content, path, outcome, json.dumps(meta) if meta else None, f"o{seq}"),
        )

    def edit(self, session: str, minutes: float, *paths: str, prompt: int | None = None) -> None:
        for path in paths:
            self.do(session, minutes, "file_edit", path, path, prompt=prompt)

    def unit(self, session: str, *prompts: int, **columns: Any) -> int:
        """An episode of some prompts."""
        first = self.db.execute("SELECT at, content FROM prompts WHERE id = ?", (prompts[0],)).fetchone()
        last = self.db.execute("SELECT at FROM prompts WHERE id = ?", (prompts[-1],)).fetchone()
        row = {
            "session_id": session, "first_prompt_id": prompts[0], "last_prompt_id": prompts[-1],
            "started_at": first[0], "last_at": last[0], "intent": first[1], "turn_count": len(prompts),
            **{name: json.dumps(value) if isinstance(value, list | dict) else value for name, value in columns.items()},
        }  # fmt: skip
        made = self.db.execute(
            f"INSERT INTO work_units (thread_id, {', '.join(row)}) VALUES ("
            f"(SELECT thread_id FROM session_threads WHERE session_id = ?), {', '.join('?' * len(row))})",
            [session, *row.values()],
        ).lastrowid
        unit = int(made or 0)
        for prompt in prompts:
            self.db.execute(
                "INSERT INTO unit_prompts (prompt_id, unit_id, label, decided_by) VALUES (?, ?, 'cont', 'online')",
                (prompt, unit),
            )
        return unit

    def assign(self, session: str) -> int | None:
        return continuity.assign(self.db, session, START)

    def thread(self, session: str) -> int | None:
        row = self.db.execute("SELECT thread_id FROM session_threads WHERE session_id = ?", (session,)).fetchone()
        return int(row[0]) if row else None

    def how(self, session: str) -> str:
        return continuity.how(self.db, session)

    def all(self, sql: str, *values: Any) -> list[Any]:
        return self.db.execute(sql, values).fetchall()


@pytest.fixture
def world(db_path: str) -> Iterator[World]:
    """An empty world."""
    db = store.connect(db_path)
    tables.ensure(db)
    yield World(db)
    db.close()


@pytest.fixture(scope="session")
def replay() -> Callable[..., dict[str, frozenset[str]]]:
    """Sessions by the company they are in, when (id, minute, client, branch) are written in an order."""

    def run(
        events: list[tuple[str, int, str, str]], order: list[int], *, batch: bool, times: int = 1
    ) -> dict[str, frozenset[str]]:
        db = sqlite3.connect(":memory:", isolation_level=None)
        migrate(db)
        tables.ensure(db)
        world = World(db)
        for number in order:
            id_, minute, client, branch = events[number]
            world.session(id_, minute, SAID[number % len(SAID)], client=client, branch=branch)
            if not batch:
                world.assign(id_)
        for _ in range(times if batch else 0):
            continuity.assign_all(db)
            for id_, *_rest in events[: times - 1]:
                world.assign(id_)
        found = {id_: world.thread(id_) for id_, *_ in events}
        rows = db.execute("SELECT count(DISTINCT thread_id) FROM session_threads").fetchone()[0]
        assert rows == db.execute("SELECT count(*) FROM threads").fetchone()[0]
        db.close()
        return {id_: frozenset(other for other in found if found[other] == found[id_]) for id_ in found}

    return run
