"""`nmem eval boundaries`: the contract's keys, both inputs, every method, and the figures that are claimed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from nmem.commands.eval_ import command
from nmem.episodes.boundary import Decision
from nmem.errors import NmemError
from nmem.evaluate.boundaries import KEYS, evaluate, pk, records, window_diff

SESSION = {
    "session_id": "a", "lang": "en", "author": "p1", "repo": "r",
    "prompts": [{"text": text, "gap_minutes": 1, "agent": {"tools": {"Edit": 1}}} for text in (
        "fix the lexer", "ok", "draw the invoices of each customer as a chart", "commit")],
    "labels": ["new", "ack", "new", "ack"], "resumes": {},
}  # fmt: skip
DIALOGUE = {"utterances": [{"role": "user", "text": "hello"}, {"role": "agent", "text": "hi"},
                           {"role": "user", "text": "my bus is late"}], "boundaries": [2]}  # fmt: skip


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "sessions.jsonl"
    path.write_text(json.dumps(SESSION) + "\n" + json.dumps(DIALOGUE) + "\n")
    return path


@pytest.mark.parametrize("words", [[], ["--online"], ["--method", "jaccard"]])
def test_the_keys_are_those_agreed(words: list[str], file: Path) -> None:
    done = CliRunner().invoke(command, ["boundaries", str(file), "--json", *words])
    assert done.exit_code == 0, done.output
    found = json.loads(done.output)
    assert set(found) == {*KEYS, "baseline", "by"}
    assert set(found["baseline"]) == {*KEYS, "name"} and set(found["by"]) == {"method", "lang", "person"}
    assert found["sessions"] == 2 and found["prompts"] == 5 and found["true_rate"] == 0.4
    assert CliRunner().invoke(command, ["boundaries", str(file), *words]).exit_code == 0


def scripted(labels: list[str]) -> Any:
    return lambda prompts: [Decision(label == "new", False, 1.0, label) for label in labels][: len(prompts)]


def test_a_model_that_answers_the_truth_is_perfect_and_nonsense_falls_back(file: Path) -> None:
    sessions = [each for each in records([file]) if each.prompts]
    assert evaluate(sessions, "llm", judge=scripted(SESSION["labels"]))["f1"] == 1.0  # type: ignore[arg-type]
    by_default = evaluate(sessions)
    assert evaluate(sessions, "llm", judge=lambda _prompts: None)["f1"] == by_default["f1"]
    assert evaluate(sessions, "llm", judge=scripted(["new"]))["f1"] == by_default["f1"]
    with pytest.raises(NmemError, match="language model"):
        evaluate(sessions, "llm")


@pytest.mark.parametrize("line", ["{", "3", '{"prompts": [], "labels": ["new"]}', '{"prompts": [{"text": "a"}]}'])
def test_what_is_no_session_is_said_with_its_line(line: str, tmp_path: Path) -> None:
    path = tmp_path / "bad.jsonl"
    path.write_text(json.dumps(SESSION) + "\n" + line + "\n")
    with pytest.raises(NmemError, match=r"bad\.jsonl:2"):
        list(records([path]))


def test_windows_are_counted_as_published() -> None:
    gold = [False, False, True, False, False, False]
    assert pk(gold, gold) == 0 == window_diff(gold, gold)
    assert pk(gold, [False] * 6, 2) == pytest.approx(2 / 5)
    assert window_diff(gold, [False, True, True, False, False, False], 2) == pytest.approx(2 / 5)
    assert pk([True], [False]) is None


def test_the_shipped_weights_reach_what_the_documentation_says(shared: Path) -> None:
    files = [shared / "data/episodes" / name for name in ("sessions.jsonl", "sessions_more.jsonl")]
    found, online = evaluate(records(files)), evaluate(records(files), online=True)
    assert (found["f1"], online["f1"]) == (0.6226, 0.5832)
    assert found["cut_rate"] <= 1.45 * found["true_rate"] and online["cut_rate"] <= 1.45 * online["true_rate"]
    assert found["baseline"]["f1"] < 0.25
