"""After a purge, and after its undo, sessions of the project are told something again: nobody has to settle."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import pytest

from capture import paths
from capture.storage import store
from nmem import settle_start, tables
from nmem.commands import main as cli
from nmem.context import candidate_store
from nmem.purge import run
from nmem.purge.selection import Selection
from nmem.undo import undo
from tests.nmem.purge.conftest import TOKEN

NOW = time.time_ns() // 1_000_000


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The databases of which settling was started in the background."""
    out: list[str] = []
    monkeypatch.delenv("NMEM_SKIP_SETTLE")

    def spawned(path: str) -> bool:
        out.append(path)
        return True

    monkeypatch.setattr(settle_start, "_spawn", spawned)
    return out


def nmem(monkeypatch: pytest.MonkeyPatch, *words: str) -> None:
    monkeypatch.setattr(sys, "argv", ["nmem", *words])
    cli.main()


@pytest.fixture(autouse=True)
def patient(no_models: None) -> None:
    """A machine that is busy answers late, which is not what is asked here."""
    with Path(os.environ["NMEM_CONFIG"]).open("a", encoding="utf-8") as config:
        config.write("[context]\ndeadline_ms = 1000\n")


def behind(db_path: str) -> bool:
    with closing(store.connect(db_path, timeout=5)) as db:
        return candidate_store.behind(db)


def told(db_path: str, session: str) -> str:
    """What a new session is told with its first prompt."""
    payload = {"hook_event_name": "UserPromptSubmit", "session_id": session, "cwd": str(Path(db_path).parent),
               "prompt": "write on in the readme of invoice.py"}  # fmt: skip
    words = [sys.executable, "-I", "-S", paths.entry(), "claude", "UserPromptSubmit", "--db", db_path]
    done = subprocess.run(words, input=json.dumps(payload).encode(), check=True, capture_output=True,
                          env={**os.environ, "NMEM_SKIP_SETTLE": "1"})  # fmt: skip
    return done.stdout.decode()


def test_a_command_ends_once_sessions_are_told_again(planted: str, monkeypatch: pytest.MonkeyPatch) -> None:
    named = Path(planted).parent / "src" / "invoice.py"  # a file that is not there any more is not named
    named.parent.mkdir()
    named.touch()
    nmem(monkeypatch, "purge", "--text", TOKEN, "--yes")
    assert not behind(planted)
    assert "invoice.py" in told(planted, "n1")
    nmem(monkeypatch, "undo")
    assert not behind(planted)
    assert "invoice.py" in told(planted, "n2")


def test_the_undo_of_a_whole_project_ends_once_its_sessions_are_told_again(
    planted: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    named = Path(planted).parent / "src" / "invoice.py"
    named.parent.mkdir()
    named.touch()
    before = told(planted, "n0")
    assert "Files that matter" in before
    nmem(monkeypatch, "purge", "--project", "data", "--yes")
    assert "invoice.py" not in told(planted, "n1")
    nmem(monkeypatch, "undo")
    assert "Files that matter" in told(planted, "n2")


def test_an_undo_from_elsewhere_starts_settling(planted: str, started: list[str]) -> None:
    run.purge(planted, Selection(texts=(TOKEN,)), NOW)
    with closing(store.connect(planted, timeout=5)) as db:
        tables.ensure(db)
        undo(db, NOW)
    assert started == [planted]


def test_a_command_that_finds_another_settling_leaves_its_wish(
    planted: str, started: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("nmem.settle.settle", lambda *_given, **_more: None)
    monkeypatch.setattr(run, "_SETTLES", 0.0)
    nmem(monkeypatch, "purge", "--text", TOKEN, "--yes")
    assert started == [planted]
    assert Path(settle_start.wanted(planted)).read_bytes() == b"1"


def test_a_prompt_that_may_be_told_nothing_yet_starts_settling(planted: str) -> None:
    with closing(sqlite3.connect(planted)) as db, db:
        db.execute("UPDATE context_projects SET taken = taken + 1")  # as whoever was killed left it
    payload = {"hook_event_name": "UserPromptSubmit", "session_id": "n3", "cwd": str(Path(planted).parent),
               "prompt": "write on in the readme of invoice.py"}  # fmt: skip
    words = [sys.executable, "-I", "-S", paths.entry(), "claude", "UserPromptSubmit", "--db", planted]
    settles = {name: value for name, value in os.environ.items() if name != "NMEM_SKIP_SETTLE"}
    subprocess.run(words, input=json.dumps(payload).encode(), check=True, env=settles)
    until = time.monotonic() + 120
    while behind(planted) and time.monotonic() < until:
        time.sleep(0.1)
    assert not behind(planted)
