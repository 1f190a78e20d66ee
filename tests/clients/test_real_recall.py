"""A person types /how and /when: the real client lists them, knows them, and its agent gets the decision."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.clients.conftest import Stage

pytestmark = [pytest.mark.client, pytest.mark.slow]

DECISIONS = "# Paths\n\n## How to Encode Paths\n\nPercent-encode them once, at the border, and never in a log.\n"


def played(stage: Stage, client: str, script: str, out: Path) -> str:
    """What the client sent to its model while a script was played in a project with decisions."""
    stage.connect(client, tools=True)
    folder = stage.project / "docs" / "decisions"
    folder.mkdir(parents=True)
    (stage.project / ".git").mkdir()
    (folder / "paths.md").write_text(DECISIONS)
    words = [*stage.player(client, script), "--requests", str(out)]
    done = subprocess.run(words, capture_output=True, text=True, timeout=1500)
    assert done.returncode == 0, done.stderr
    return out.read_text()


def test_claude_code_lists_both_and_answers_with_the_decision(stage: Stage, tmp_path: Path) -> None:
    told = played(stage, "claude", "asks-decisions", tmp_path / "requests.jsonl")
    for name in ("when", "how"):
        assert f"- {name}: The " in told, "the skill is not offered"
        assert f'`[\\"/{name} encode paths\\"]`' in told, "the command was not expanded"
    assert "at the border, and never in a log" in told
    with stage.database() as db:
        rows = db.execute("SELECT origin, outcome, entry FROM recall_calls").fetchall()
    assert rows == [("agent", "answered", "/how Encode Paths")]


def test_codex_lists_both_and_reads_the_one_that_is_named(stage: Stage, tmp_path: Path) -> None:
    told = played(stage, "codex", "asks-decisions-codex", tmp_path / "requests.jsonl")
    assert "- when: The decision" in told and "- how: The procedure" in told
    assert "<name>how</name>" in told and "# How it is done here" in told


def test_gemini_knows_the_command_and_answers_with_the_decision(stage: Stage, tmp_path: Path) -> None:
    told = played(stage, "gemini", "asks-decisions-gemini", tmp_path / "requests.jsonl")
    assert '`[\\"/how encode paths\\"]`' in told, "the command was not expanded"
    assert "at the border, and never in a log" in told
