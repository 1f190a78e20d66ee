"""A project on disk with learnings, as a history would have left them; sessions of several days and projects."""

from __future__ import annotations

import itertools
import json
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from sqlite3 import Connection
from typing import Any

import pytest

from capture.shell import parse
from capture.storage import store
from nmem import tables, undo
from nmem.commands import terminal
from nmem.learn import accept, kinds, lifecycle, read, refresh
from nmem.learn.accept import Plan
from nmem.learn.find import VERSION
from nmem.learn.learning import OPEN, RESOLVED, Learning

START = 1_760_000_000_000
NOON = 1_760_011_200_000
MINUTE, DAY = 60_000, 86_400_000
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


class History:
    """Writes sessions, a day apart, one thing a minute."""

    def __init__(self, db: Connection) -> None:
        self.db = db
        self.at = START
        self.session = ""
        self.prompt: int | None = None
        self.seq = 0
        self.numbers = itertools.count()
        self.project(1, "shop")

    def project(self, number: int, name: str) -> None:
        self.db.execute("INSERT INTO projects VALUES (?, ?, ?, ?, NULL, 0)", (number, name, name, f"/src/{name}"))

    def begin(self, session_id: str, project: int = 1, days: float = 1) -> History:
        """A new session, so many days after the last thing."""
        self.at += int(days * DAY)
        self.session, self.seq, self.prompt = session_id, 0, None
        self.db.execute(
            "INSERT INTO sessions (id, client, project_id, cwd, started_at, last_at)"
            " VALUES (?, 'claude', ?, '/src', ?, ?)",
            (session_id, project, self.at, self.at),
        )
        return self.user(f"go on with number {session_id}")

    def user(self, text: str) -> History:
        self.at += MINUTE
        self.prompt = self.db.execute(
            "INSERT INTO prompts (session_id, at, source, kind, content, dedup_key)"
            " VALUES (?, ?, 'user', 'prompt', ?, ?)",
            (self.session, self.at, text, f"p{next(self.numbers)}"),
        ).lastrowid
        return self

    def _did(self, kind: str, tool: str, path: str | None, content: str, outcome: str, response: str) -> History:
        self.at += MINUTE
        self.seq += 1
        self.db.execute(
            "INSERT INTO observations (session_id, prompt_id, at, seq, obs_type, tool_name, file_path, content,"
            " outcome, metadata, dedup_key) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (self.session, self.prompt, self.at, self.seq, kind, tool, path, content, outcome,
             json.dumps({"response": response}) if response else None, f"o{self.seq}"),
        )  # fmt: skip
        self.db.execute("UPDATE sessions SET seq = ?, last_at = ? WHERE id = ?", (self.seq, self.at, self.session))
        return self

    def fails(self, command: str, response: str = "") -> History:
        return self._did(parse(command).obs_type, "Bash", None, command, "failed", response)

    def runs(self, command: str, outcome: str = "ok") -> History:
        return self._did(parse(command).obs_type, "Bash", None, command, outcome, "")

    def edit(self, path: str, diff: str = "-old\n+new line here") -> History:
        return self._did("file_edit", "Edit", path, diff, "ok", "")

    def edit_fails(self, path: str, response: str) -> History:
        return self._did("file_edit", "Edit", path, path, "failed", response)

    def read(self, path: str) -> History:
        return self._did("file_read", "Read", path, path, "ok", "")

    def read_fails(self, path: str, response: str) -> History:
        return self._did("file_read", "Read", path, path, "failed", response)

    def quiet(self, number: int, command: str = "ls", project: int = 1) -> History:
        """Sessions in which nothing goes wrong."""
        for _ in range(number):
            self.begin(f"quiet{next(self.numbers)}", project).runs(command)
        return self

    def anew(self) -> refresh.Refreshed:
        """Reads every session as if none had been read before."""
        self.db.executescript("DELETE FROM learning_findings; DELETE FROM learned_sessions")
        return refresh.refresh(self.db, self.at)

    def learn(self) -> list[Learning]:
        """What is learned by now, whatever its state, in a stable order."""
        refresh.refresh(self.db, self.at)
        found = read.learnings(self.db, self.at, states=(OPEN, RESOLVED, "accepted", "dismissed", "snoozed"))
        return sorted(found, key=lambda one: (one.project_id, kinds.names().index(one.kind), one.key))

    def rows(self) -> list[list[tuple[object, ...]]]:
        """Everything that is written of learnings, without ids and the clock."""
        return [
            self.db.execute(
                "SELECT project_id, kind, key, title, files, first_at, last_at, sessions, occurrences, state, state_at,"
                " state_by, reopened, remedy FROM learnings ORDER BY project_id, kind, key"
            ).fetchall(),
            self.db.execute(
                "SELECT l.kind, l.key, e.role, e.session_id, e.observation_id, e.prompt_id, e.at, e.excerpt"
                " FROM learning_evidence e JOIN learnings l ON l.id = e.learning_id ORDER BY l.kind, l.key, e.id"
            ).fetchall(),
            self.db.execute(
                "SELECT project_id, kind, key, session_id, data FROM learning_findings ORDER BY 1, 2, 3, 4"
            ).fetchall(),
        ]  # fmt: skip


@pytest.fixture
def history(db_path: str) -> Iterator[History]:
    """An empty database to write sessions into."""
    db = store.connect(db_path)
    tables.ensure(db)
    yield History(db)
    db.close()


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
