"""A database of a newer nmem: every command says so in one line, a hook keeps what it is told, nothing is touched."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from capture import paths
from capture.hook import SKIP
from capture.storage import spool, store
from capture.storage.schema import MIGRATIONS
from nmem import tables
from nmem.commands.main import COMMANDS, nmem
from nmem.errors import NmemError
from nmem.settle import settle
from tests.nmem.conftest import Recorded

FACTS = f"PRAGMA user_version = {len(MIGRATIONS) + 1}"
MEANING = f"UPDATE nmem_schema SET version = {tables.VERSION + 1}"
ELSEWHERE = {"completion", "tui", "redact", "mcp", "eval", "config", "uninstall", "doctor", "when", "how", "recall",
             "sync"}  # fmt: skip
"""Commands that do not open the database, open it later, or say it in a form of their own."""
WORDS: dict[str, tuple[str, ...]] = {
    "init": ("--client", "claude", "--yes"), "show": ("episode/1",), "search": ("coupon",), "pin": ("obs/1",),
    "unpin": ("obs/1",), "mark": ("a note",), "relabel": ("1", "phase=act"), "narrate": ("1",), "learn": ("list",),
    "import": ("--from-export", "{other}"), "restore": ("{other}", "--yes"), "train": ("labels",),
    "purge": ("--id", "obs/1", "--yes"), "task": ("list",), "sweep": ("--dry-run",), "episodes": ("list",),
    "threads": ("list",), "fix": ("pytest: command not found",),
    "sync": ("members",),
    "ask": ("why round half up?",), "blame": (__file__,), "handoff": ("1", "--print"), "share": ("episode/1",),
}  # fmt: skip


@pytest.fixture(scope="module")
def settled(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """A database of this nmem with a settled session, as a file."""
    path = tmp_path_factory.mktemp("settled") / "nmem.db"
    with closing(store.connect(str(path))) as db:
        tables.ensure(db)
        Recorded(db).coupon()
        settle(str(path), models=False)
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return path.read_bytes()


@pytest.fixture(params=[FACTS, MEANING], ids=["facts", "meaning"])
def newer(
    request: pytest.FixtureRequest, settled: bytes, db_path: str, monkeypatch: pytest.MonkeyPatch
) -> Iterator[str]:
    """A database as a newer nmem would leave it; it is in use."""
    monkeypatch.setenv(SKIP, "")  # `nmem settle` sets it in its own process, which is this one here
    Path(db_path).parent.mkdir(mode=0o700)
    Path(db_path).write_bytes(settled)
    Path(db_path).chmod(0o600)
    with closing(store.connect(db_path)) as db:
        db.execute(request.param)
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        yield db_path


@pytest.fixture
def other(tmp_path: Path, settled: bytes) -> str:
    """Another database, of this nmem."""
    path = tmp_path / "other.db"
    path.write_bytes(settled)
    return str(path)


def dump(path: str) -> list[Any]:
    with closing(sqlite3.connect(path)) as db:
        return [*db.iterdump(), *db.execute("PRAGMA user_version").fetchall()]


def test_every_command_says_so_and_touches_nothing(newer: str, other: str, monkeypatch: pytest.MonkeyPatch) -> None:
    before, data = dump(newer), Path(newer).read_bytes()
    for name in sorted(set(COMMANDS) - ELSEWHERE):
        monkeypatch.setenv(SKIP, "")  # `nmem settle` sets it
        words = [word.format(other=other) for word in WORDS.get(name, ())]
        result = CliRunner().invoke(nmem, [name, *words])
        assert isinstance(result.exception, NmemError), (name, result.output, result.exception)
        said = str(result.exception)
        assert any(words in said for words in ("upgrade nmem", "newer", "this nmem knows")), (name, said)
        assert "\n" not in said, name
        assert dump(newer) == before, name
        assert Path(newer).read_bytes() == data, name
        assert not list(Path(newer).parent.glob("backups/*")), name


def test_doctor_says_so(newer: str) -> None:
    result = CliRunner().invoke(nmem, ["doctor", "--json"])
    assert result.exit_code == 1
    found = json.loads(result.stdout)["findings"]
    assert any("newer nmem" in one["evidence"] and one["severity"] not in ("ok", "note") for one in found), found


def hook(path: str, event: str, **more: object) -> None:
    payload = {"session_id": "new", "cwd": "/src/shop", "hook_event_name": event, **more}
    done = subprocess.run(
        [sys.executable, "-I", "-S", paths.entry(), "claude", event, "--db", path],
        input=json.dumps(payload), capture_output=True, text=True, timeout=300, env=dict(os.environ),
    )  # fmt: skip
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_a_hook_loses_nothing_and_leaves_what_it_does_not_know_alone(newer: str) -> None:
    """Facts of a newer form wait in the spool; where only their meaning is of a newer form, they are stored."""
    with closing(sqlite3.connect(newer)) as db:
        units = db.execute("SELECT * FROM work_units").fetchall()
        version = db.execute("SELECT version FROM nmem_schema").fetchone()
    hook(newer, "UserPromptSubmit", prompt="what now", prompt_id="p1")
    hook(newer, "SessionEnd", reason="exit")
    with closing(sqlite3.connect(newer)) as db:
        stored = db.execute("SELECT count(*) FROM prompts WHERE session_id = 'new'").fetchone()[0]
        assert stored + spool.waiting(newer) >= 1
        assert db.execute("SELECT * FROM work_units").fetchall() == units
        assert db.execute("SELECT version FROM nmem_schema").fetchone() == version
    assert "NewerDatabase" in Path(paths.log(newer)).read_text()
