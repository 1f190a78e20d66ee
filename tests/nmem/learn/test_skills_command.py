"""`nmem skills`: listed, told in full, promoted to a client's skill or to /how, measured by use."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from nmem.commands.main import nmem

Shop = Any
STEPS: dict[str, Any] = {
    "kind": "steps", "text": "`make gen`, then `golangci-lint run`", "files": [], "observation_ids": [],
    "commands": ["make gen", "golangci-lint run", "git commit"], "confidence": 0.6, "times": 3,
}  # fmt: skip
NAME = "go-make-gen-golangci-lint-run-git-commit"


def fine(*words: str) -> str:
    result = CliRunner().invoke(nmem, words)
    assert result.exit_code == 0, (result.output, result.exception)
    return result.output


@pytest.fixture
def skilled(shop: Shop) -> Shop:
    """A skill, and a failing command beside it."""
    shop.learning()
    shop.number = shop.learning(
        "`make gen`, then `golangci-lint run`", "skill", key="make gen > golangci-lint run > git commit",
        files='["*.go"]', remedy=json.dumps(STEPS), sessions=3,
    )  # fmt: skip
    return shop


def _file(shop: Shop) -> Path:
    return Path(shop.folder, ".claude/skills", NAME, "SKILL.md")


def test_skills_are_listed_apart_from_what_goes_wrong(skilled: Shop) -> None:
    (one,) = json.loads(fine("skills", "--json"))["skills"]
    assert (one["name"], one["steps"], one["evidence"]) == (NAME, STEPS["commands"], 3)
    assert one["when"] == "Before `git commit` of a changed `*.go`"
    assert NAME in fine("skills")
    assert "golangci" not in fine("learn")
    assert fine("skills", "--since", "1h") == "no skill of shop yet: needs three sessions with the same steps\n"


def test_one_in_full_says_how_often_it_was_followed(skilled: Shop) -> None:
    told = fine("skills", str(skilled.number))
    assert "told\t0 times, followed 0" in told
    assert "2.\tgolangci-lint run" in told


def test_promoted_to_a_clients_skill_and_taken_back(skilled: Shop) -> None:
    assert "+name: " + NAME in fine("skills", "promote", str(skilled.number), "--dry-run")
    assert not _file(skilled).exists()
    fine("skills", "promote", str(skilled.number), "--yes")
    text = _file(skilled).read_text("utf-8")
    assert text.startswith(f"---\nname: {NAME}\ndescription: ")
    assert "2. `golangci-lint run`" in text
    assert skilled.state(skilled.number) == "accepted"
    skilled.undo()
    assert not _file(skilled).parent.exists()
    assert skilled.state(skilled.number) == "open"


def test_a_promoted_skill_that_somebody_changed_stays(skilled: Shop) -> None:
    fine("skills", "promote", str(skilled.number), "--yes")
    _file(skilled).write_text("mine", "utf-8")
    skilled.undo()
    assert _file(skilled).read_text("utf-8") == "mine"


def test_since_its_promotion_use_is_counted(skilled: Shop) -> None:
    fine("skills", "promote", str(skilled.number), "--yes")
    whole = [["make gen", ""], ["golangci-lint run", ""], ["git commit", ""]]
    for number, done in enumerate((whole, [["make gen", "make gen"]])):
        skilled.session(f"later{number}", -1)
        data = {"failures": [{"e": [".go"], "d": done}]}
        skilled.db.execute(
            "INSERT INTO learning_findings (project_id, kind, key, session_id, at, data)"
            " VALUES (1, 'steps', 'steps', ?, 0, ?)",
            (f"later{number}", json.dumps(data)),
        )
    skilled.db.commit()
    assert "followed in 1 of 2 sessions" in fine("skills", str(skilled.number))


def test_written_down_as_how(skilled: Shop) -> None:
    fine("skills", "promote", str(skilled.number), "--to", "when", "--as", "commit go changes", "--yes")
    assert "## How to commit go changes" in Path(skilled.folder, "agents/decisions/decisions.md").read_text("utf-8")
    skilled.undo()
    assert not Path(skilled.folder, "agents/decisions/decisions.md").exists()


def test_written_down_without_words_it_says_when_it_is_due(skilled: Shop) -> None:
    fine("skills", "promote", str(skilled.number), "--to", "when", "--yes")
    told = Path(skilled.folder, "agents/decisions/decisions.md").read_text("utf-8")
    assert "## How to commit changed go files" in told
