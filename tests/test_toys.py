"""What CONTRIBUTING promises: a client, a pattern, a tool, a command, a screen are each one module, named nowhere else.

The toys lie outside the packages, in tests/toys; each is used as a person, a client or an agent would use it.
"""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from tests.house import ROOT

PARROT = (
    ("SessionStart", {"source": "startup"}),
    ("UserPromptSubmit", {"prompt": "KEEP THE CAGE SHUT"}),
    ("PostToolUse", {"tool_name": "run", "tool_input": {"command": "make test"}, "tool_use_id": "1",
                     "tool_response": {"stdout": "2 failed", "failed": True}}),
    ("Stop", {"last_assistant_message": "It counts."}),
)  # fmt: skip
"""A session as the toy client tells it."""
SESSIONS = ("s1", "s2", "s3")


def run(*words: str, home: Path, given: object = None) -> str:
    """The output of nmem with the toys, in a home of its own."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.toys.overlay", *words],
        cwd=ROOT, input=json.dumps(given), capture_output=True, text=True, timeout=100,
        env={**os.environ, "HOME": str(home), "NMEM_DB": str(home / "nmem.db"), "PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home in which the toy client was used in three sessions, told of whole once."""
    made = tmp_path_factory.mktemp("home")
    (made / "project").mkdir()
    for session in SESSIONS:
        for event, fields in PARROT if session == SESSIONS[-1] else PARROT[1:2]:
            payload = {"session_id": session, "cwd": str(made / "project"), "hook_event_name": event, **fields}
            run("hook", "parrot", event, home=made, given=payload)
    return made


def test_a_client_records(home: Path) -> None:
    found = json.loads(run("nmem", "show", "session/s1", "--json", home=home))
    assert found["client"] == "parrot"


def test_a_client_is_connected_and_disconnected(home: Path) -> None:
    run("nmem", "init", "--client", "parrot", "--yes", home=home)
    settings = home / ".parrot" / "settings.json"
    hooks = json.loads(settings.read_text())["hooks"]
    assert list(hooks) == ["SessionStart", "UserPromptSubmit", "PostToolUse", "Stop", "SessionEnd"]
    assert " parrot " in hooks["Stop"][0]["hooks"][0]["command"]
    run("nmem", "uninstall", "--client", "parrot", "--yes", home=home)
    assert not settings.exists()


def test_a_command_is_listed_and_runs(home: Path) -> None:
    assert "how many sessions are recorded" in run("nmem", "--help", home=home)
    assert run("nmem", "count", home=home) == f"{len(SESSIONS)}\n"


def test_a_kind_of_learning_is_found_and_worded(home: Path) -> None:
    listed = json.loads(run("nmem", "learn", "list", "--all-projects", "--json", home=home))["learnings"]
    (found,) = (one for one in listed if one["kind"] == "shouting")
    assert (found["title"], found["sessions"]) == ("KEEP THE CAGE SHUT", len(SESSIONS))
    told = run("nmem", "learn", "show", str(found["id"]), home=home)
    assert "shouted" in told
    assert "Take this to heart: keep the cage shut" in told


def test_a_screen_has_a_tab_a_key_and_its_actions(home: Path) -> None:
    said, *shown = run("screen", "9", "b", home=home).splitlines()
    assert said == "boo"
    assert "9 Ghosts" in "\n".join(shown)
    assert any("s2 in project" in line for line in shown)
    assert "b boo" in shown[-1]


def perches(home: Path) -> list[tuple[str, str]]:
    """The rows of the toy table."""
    with closing(sqlite3.connect(home / "nmem.db")) as db:
        return db.execute("SELECT session_id, place FROM perches ORDER BY place").fetchall()


def test_a_table_is_purged_restored_and_exported(home: Path, tmp_path: Path) -> None:
    with closing(sqlite3.connect(home / "nmem.db")) as db:
        rows = zip(SESSIONS, ("a", "b", "the hidden branch"), strict=True)
        db.executemany("INSERT INTO perches (session_id, at, place) VALUES (?, 1, ?)", rows)
        db.commit()
    before = perches(home)
    run("nmem", "purge", "--session", "s1", "--yes", home=home)
    run("nmem", "purge", "--text", "hidden branch", "--yes", home=home)
    assert perches(home) == [("s2", "b")]
    for _ in range(2):
        run("nmem", "undo", home=home)
    assert perches(home) == before
    run("nmem", "export", str(tmp_path / "out.db"), home=home)
    run("nmem", "import", "--from-export", str(tmp_path / "out.db"), home=tmp_path)
    assert perches(tmp_path) == before
