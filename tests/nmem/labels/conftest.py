"""Sessions stored the way hooks store them, one call after the other, each labelled as it arrives."""

from __future__ import annotations

from collections.abc import Iterator
from sqlite3 import Connection

import pytest

from capture.event import USER, Batch, Prompt
from capture.labels import model as engine
from capture.seal import seal
from capture.storage import store
from capture.storage.rows import write
from nmem import tables
from nmem.labels.corpus import observation

START = 1_760_000_000_000
LABELS = "phase, scope, locus, novelty, friction, label_model"


class Hooks:
    """Stores prompts and calls of sessions, ten seconds apart, each in a transaction of its own."""

    def __init__(self, db: Connection) -> None:
        self.db = db
        self.at = START

    def _batch(self, session_id: str) -> Batch:
        self.at += 10_000
        return Batch("claude", session_id, self.at, "/src/shop")

    def user(self, session_id: str, text: str) -> None:
        batch = self._batch(session_id)
        prompt = Prompt(self.at, USER, "prompt", text, dedup_key=f"p{self.at}.{self.at}")
        batch.prompts.append(prompt)
        write(self.db, seal(batch))

    def call(self, session_id: str, tool: str, argument: str, error: str = "", agent: str = "") -> int:
        batch = self._batch(session_id)
        made = observation(tool, argument, error)
        made.at, made.dedup_key, made.tool_use_id, made.agent_id = self.at, f"t{self.at}", f"t{self.at}", agent
        batch.observations.append(made)
        write(self.db, seal(batch))
        return int(self.db.execute("SELECT max(id) FROM observations").fetchone()[0])

    def session(self, session_id: str = "s", times: int = 1) -> None:
        """A usual one: a question, a look round by two agents, a failure, a repair, a commit and a push."""
        for _ in range(times):
            self.user(session_id, "why is the login test flaky? find out and fix it")
            self.call(session_id, "Grep", "login in tests")
            self.call(session_id, "Read", "/src/shop/tests/test_login.py")
            self.call(session_id, "Bash", "pytest tests/test_login.py -q", "Exit code 1\n1 failed")
            self.call(session_id, "Read", "/src/shop/web/login.py", agent="a1")
            self.call(session_id, "Bash", "git log --oneline -5", agent="a1")
            self.call(session_id, "Edit", "/src/shop/web/login.py")
            self.call(session_id, "WebSearch", "session cookie same-site race")
            self.call(session_id, "Bash", "pytest tests/test_login.py -q")
            self.user(session_id, "commit and push")
            self.call(session_id, "Bash", "git commit -am 'Login waits for the cookie'")
            self.call(session_id, "Bash", "git push origin main")

    def labels(self, where: str = "1") -> list[tuple[object, ...]]:
        """The labels of all rows in their order."""
        return self.db.execute(
            f"SELECT {LABELS} FROM observations WHERE {where} ORDER BY session_id, at, seq"
        ).fetchall()

    def bare(self) -> None:
        """As a database from before there were labels."""
        self.db.execute("UPDATE observations SET phase=NULL, scope=NULL, locus=NULL, novelty=NULL, friction=NULL,"
                        " label_model=NULL")  # fmt: skip


@pytest.fixture
def hooks(db_path: str) -> Iterator[Hooks]:
    db = store.connect(db_path)
    tables.ensure(db)
    yield Hooks(db)
    db.close()
    engine.forget()


def other_model() -> engine.Model:
    """A model that says of everything: act, converge, internal, routine, smooth."""
    return engine.Model("0123456789ab", {}, engine.pack([3.0, 3.0, -3.0, -3.0, -3.0]), [0.0] * 5)


def use(db_path: str, model: engine.Model) -> None:
    """Put a person's own model beside the database."""
    from capture import cache

    value = (engine.FORMAT, model.name, model.weights, model.constant, list(model.thresholds))
    assert cache.write(engine.personal_file(db_path), value)
    engine.forget()
