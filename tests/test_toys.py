"""What CONTRIBUTING promises: a client, a pattern, a tool, a command, a screen are each one module, named nowhere else.

The toys lie outside the packages, in tests/toys; each is used as a person, a client or an agent would use it.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.house import ROOT

PARROT = (
    ("SessionStart", {"source": "startup"}),
    ("UserPromptSubmit", {"prompt": "teach the parrot to count"}),
    ("PostToolUse", {"tool_name": "run", "tool_input": {"command": "make test"}, "tool_use_id": "1",
                     "tool_response": {"stdout": "2 failed", "failed": True}}),
    ("Stop", {"last_assistant_message": "It counts."}),
)  # fmt: skip
"""A session as the toy client tells it."""


def run(*words: str, home: Path, given: object = None) -> str:
    """The output of nmem with the toys, in a home of its own."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.toys.overlay", *words],
        cwd=ROOT, input=json.dumps(given), capture_output=True, text=True, timeout=300,
        env={**os.environ, "HOME": str(home), "NMEM_DB": str(home / "nmem.db"), "PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home in which the toy client was used once."""
    made = tmp_path_factory.mktemp("home")
    (made / "project").mkdir()
    for event, fields in PARROT:
        payload = {"session_id": "s1", "cwd": str(made / "project"), "hook_event_name": event, **fields}
        run("hook", "parrot", event, home=made, given=payload)
    return made


def test_a_client_records(home: Path) -> None:
    found = json.loads(run("nmem", "show", "session/s1", "--json", home=home))
    assert found["client"] == "parrot"


def test_a_client_is_connected_checked_and_disconnected(home: Path) -> None:
    run("nmem", "init", "--client", "parrot", "--yes", home=home)
    settings = home / ".parrot" / "settings.json"
    hooks = json.loads(settings.read_text())["hooks"]
    assert list(hooks) == ["SessionStart", "UserPromptSubmit", "PostToolUse", "Stop", "SessionEnd"]
    assert " parrot " in hooks["Stop"][0]["hooks"][0]["command"]
    run("nmem", "uninstall", "--client", "parrot", "--yes", home=home)
    assert not settings.exists()


def test_a_command_is_listed_and_runs(home: Path) -> None:
    assert "how many sessions are recorded" in run("nmem", "--help", home=home)
    assert run("nmem", "count", home=home) == "1\n"
