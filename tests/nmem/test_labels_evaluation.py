"""`nmem eval labels`: what it counts, and what it says of the shipped table."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from capture.labels import DIMENSIONS
from nmem.commands import terminal
from nmem.commands.main import nmem
from nmem.errors import NmemError
from nmem.evaluate import labels as ev

RECORD = {"prompt": "fix it", "previous": ["Bash pytest -q", "ERROR Exit code 1\n1 failed"], "tool": "Edit",
          "arg": "/srv/x/a.py", "error": "", "repo": "x", "phase": "act", "scope": "converge", "locus": "internal",
          "novelty": "routine", "friction": "?"}  # fmt: skip


def written(tmp_path: Path, *records: object) -> Path:
    file = tmp_path / "calls.jsonl"
    file.write_text("\n".join(map(json.dumps, records)))
    return file


def test_figures_by_hand() -> None:
    pairs = [("act", 0.9, True), ("act", -0.2, False), ("think", -0.8, True), ("think", 0.7, True), ("?", 1.0, True)]
    found = ev.figures(pairs, ("think", "act"))
    assert found == {"macro_f1": 0.5, "accuracy": 0.5, "coverage": 0.75, "accuracy_answered": 0.6667, "n": 4}
    assert ev.figures([], ("think", "act"))["n"] == 0


def test_the_calls_before_are_read_newest_first_with_their_failures() -> None:
    calls = ev.before(["ERROR <tool_use_error>x</tool_use_error>", "Read /a/b.py", "Bash make", "ERROR Exit code 2"])
    assert [(one.role, one.failed) for one in calls] == [("check", True), ("read", False), ("other", True)]


def test_exactly_the_keys_that_were_promised(tmp_path: Path) -> None:
    done = CliRunner().invoke(nmem, ["eval", "labels", str(written(tmp_path, RECORD, RECORD)), "--json"])
    assert done.exit_code == 0, done.output
    found = json.loads(done.output)
    assert set(found) == {*DIMENSIONS, "baseline", "by"}
    for part in (found, found["baseline"], found["by"]["tool"]["Edit"], found["by"]["repo"]["x"]):
        assert {name: set(part[name]) for name in DIMENSIONS} == {name: set(ev.KEYS) for name in DIMENSIONS}
    assert (found["phase"]["n"], found["friction"]["n"]) == (2, 0)


def test_a_table_for_people(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = str(written(tmp_path, RECORD, {**RECORD, "tool": "Read"}, RECORD))
    lines = CliRunner().invoke(nmem, ["eval", "labels", file]).output.splitlines()
    assert [line.split("\t")[0] for line in lines[2:]] == [
        f"{name}, {who}" for who in ("model", "rules") for name in DIMENSIONS
    ]
    assert lines[1].split("\t")[1:] == list(ev.HEADS), "tabs in a pipe, no boxes"
    by = CliRunner().invoke(nmem, ["eval", "labels", file, "--by", "tool"]).output.splitlines()
    assert [line.split("\t")[0] for line in by[1:]] == ["tool", "Edit", "Read"]
    edit = by[2].split("\t")
    assert (edit[1], edit[5], edit[6]) == ("1.00", "", "2"), "friction is not said"
    monkeypatch.setattr(terminal, "is_terminal", lambda: True)
    monkeypatch.setenv("COLUMNS", "80")
    shown = CliRunner().invoke(nmem, ["eval", "labels", file]).output.splitlines()
    assert len(shown) < 20
    assert max(map(len, shown)) <= 80


@pytest.mark.parametrize("subject", ["labels", "secrets", "boundaries", "linking"])
def test_a_file_that_is_no_text_is_one_line(tmp_path: Path, subject: str) -> None:
    file = tmp_path / "x.jsonl"
    file.write_bytes(b"\x93\xff\xfe{}\n")
    done = CliRunner().invoke(nmem, ["eval", subject, str(file)])
    assert isinstance(done.exception, NmemError), done.exception
    assert "x.jsonl: not UTF-8 text" in str(done.exception)


def test_a_line_that_is_no_call_is_named(tmp_path: Path) -> None:
    with pytest.raises(NmemError, match=r"calls\.jsonl:2: no labelled call"):
        list(ev.records([written(tmp_path, RECORD, {"prompt": "x"})]))


def test_what_it_is_worth_on_real_sessions(shared: Path) -> None:
    found = ev.evaluate(ev.records([shared / "data" / "labels" / "observations.jsonl"]))
    least = {"phase": 0.91, "scope": 0.74, "locus": 0.95, "novelty": 0.68, "friction": 0.88}
    for name, macro in least.items():
        assert found[name]["macro_f1"] >= macro
        assert found[name]["macro_f1"] >= found["baseline"][name]["macro_f1"]
    for name in ("phase", "locus", "friction"):
        assert found[name]["accuracy_answered"] >= 0.95
        assert found[name]["coverage"] >= 0.60
