"""Sessions of several days and projects, as capture would have stored them, for what is learned of them."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator
from sqlite3 import Connection

import pytest

from capture.shell import parse
from capture.storage import store as base
from nmem import tables
from nmem.learn import kinds, read, refresh
from nmem.learn.learning import OPEN, RESOLVED, Learning

START = 1_760_000_000_000
MINUTE, DAY = 60_000, 86_400_000
MISSING = 'npm error Missing script: "tset"'


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
    db = base.connect(db_path)
    tables.ensure(db)
    yield History(db)
    db.close()
