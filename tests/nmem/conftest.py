"""Sessions as capture would store them, for tests of what comes of a whole session."""

from __future__ import annotations

import itertools
import json
import sqlite3
from collections.abc import Callable, Iterator
from copy import copy
from pathlib import Path
from sqlite3 import Connection
from typing import Any

import pytest

from capture.event import STOPPED
from capture.storage import store
from nmem import tables
from nmem.purge import history

START = 1_760_000_000_000
MINUTE = 60_000
CLOCKS = (
    "nmem.search.examples._SECONDS", "nmem.commands.search.SECONDS", "nmem.mcp.tools.search._SECONDS",
    "nmem.mcp.tool.SECONDS", "nmem.audit.losses._SECONDS", "nmem.audit.servers._SECONDS", "nmem.doctor.probe._LIMIT",
    "nmem.doctor.checks.hooks._LIMIT",
)  # fmt: skip
"""Seconds after which nmem answers with what it has by then."""


@pytest.fixture(autouse=True)
def unhurried(monkeypatch: pytest.MonkeyPatch) -> None:
    """A busy machine makes no answer of this process a short one."""
    from nmem.search.search import search

    monkeypatch.setitem(search.__kwdefaults__ or {}, "seconds", 300.0)
    for name in CLOCKS:
        monkeypatch.setattr(name, 300.0)


_MADE: dict[str, tuple[sqlite3.Connection, dict[str, bytes], dict[str, Any]]] = {}
"""What was recorded once, by name: the database, the files beside it, and where its recorder was."""


class Recorded:
    """Writes sessions row by row, a minute apart; each one is over an hour before the next begins."""

    def __init__(self, db: Connection) -> None:
        self.db = db
        self.at = START
        self.session = ""
        self.prompt = 0
        self.seq = 0
        self.numbers = itertools.count()
        db.execute("INSERT OR IGNORE INTO projects VALUES (1, 'shop', 'shop', '/src/shop', NULL, 0)")

    def once(self, name: str, make: Callable[[], object]) -> Recorded:
        """What `make` records and settles: made by the first test of a process, copied for the others."""
        path = Path(self.db.execute("PRAGMA database_list").fetchone()[2])
        state = {key: value for key, value in vars(self).items() if key != "db"}
        if name not in _MADE:
            make()
            kept = sqlite3.connect(":memory:", check_same_thread=False)
            self.db.backup(kept)
            beside = (file for file in path.parent.rglob("*") if file.is_file() and path.name not in file.name)
            files = {str(file.relative_to(path.parent)): file.read_bytes() for file in beside}
            _MADE[name] = kept, files, {key: copy(getattr(self, key)) for key in state}
            return self
        kept, files, state = _MADE[name]
        kept.backup(self.db)
        vars(self).update({key: copy(value) for key, value in state.items()})
        for each, data in files.items():
            (path.parent / each).parent.mkdir(mode=0o700, exist_ok=True)
            (path.parent / each).write_bytes(data)
            (path.parent / each).chmod(0o600)
        return self

    def begin(self, session_id: str) -> Recorded:
        self.at += 60 * MINUTE
        self.session, self.seq = session_id, 0
        self.db.execute(
            "INSERT INTO sessions (id, client, project_id, cwd, started_at, last_at)"
            " VALUES (?, 'claude', 1, '/src/shop', ?, ?)",
            (session_id, self.at, self.at),
        )
        return self

    def _tick(self) -> int:
        self.at += MINUTE
        self.db.execute("UPDATE sessions SET last_at = ? WHERE id = ?", (self.at, self.session))
        return self.at

    def _say(self, source: str, kind: str, text: str) -> int:
        made = self.db.execute(
            "INSERT INTO prompts (session_id, at, source, kind, content, dedup_key) VALUES (?, ?, ?, ?, ?, ?)",
            (self.session, self._tick(), source, kind, text, f"p{next(self.numbers)}"),
        ).lastrowid
        return int(made or 0)

    def user(self, text: str) -> Recorded:
        self.prompt = self._say("user", "prompt", text)
        return self

    def agent(self, text: str, kind: str = "closing") -> Recorded:
        self._say("agent", kind, text)
        return self

    def stop(self) -> Recorded:
        """The user breaks the turn off."""
        self._say("machine", "notification", STOPPED)
        return self

    def act(self, obs_type: str, content: str, path: str | None = None, outcome: str = "ok", **meta: Any) -> Recorded:
        self.seq += 1
        self.db.execute(
            "INSERT INTO observations (session_id, prompt_id, at, seq, obs_type, tool_name, file_path, content,"
            " outcome, metadata, dedup_key) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (self.session, self.prompt, self._tick(), self.seq, obs_type, "Edit" if path else "Bash", path, content,
             outcome, json.dumps(meta) if meta else None, f"o{self.seq}"),
        )  # fmt: skip
        self.db.execute("UPDATE sessions SET seq = ? WHERE id = ?", (self.seq, self.session))
        return self

    def edit(self, path: str) -> Recorded:
        return self.act("file_edit", "- old\n+ new", path)

    def test(self, outcome: str = "ok", **meta: Any) -> Recorded:
        return self.act("test", "pytest tests/test_invoice.py", None, outcome, **meta)

    def coupon(self, session_id: str = "coupon") -> Recorded:
        """A session of one episode whose test still fails at the end, and nothing is committed."""
        self.begin(session_id).user("The invoice total is doubled when a coupon is used, fix it")
        self.test("failed", response="E AssertionError: expected 12, got 24").edit("src/invoice.py")
        self.test("failed", response="E AssertionError: expected 12, got 0")
        self.agent("The coupon was applied twice in `src/invoice.py`; the rounding is still wrong.")
        self.user("no, the coupon total is still wrong").edit("src/invoice.py").test("failed", response="E still 0")
        return self.agent("The invoice test still fails, because rounding happens before the coupon.")


@pytest.fixture
def record(db_path: str) -> Iterator[Recorded]:
    """An empty database to record sessions into."""
    db = store.connect(db_path)
    tables.ensure(db)
    history.begin(db, START)  # all that comes is redacted as it comes: settling does not go over it once more
    yield Recorded(db)
    db.close()
