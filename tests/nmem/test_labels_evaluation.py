"""`nmem eval labels`: what it counts, and what it says of the shipped table."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from capture.labels import DIMENSIONS
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


def test_a_table_for_people(tmp_path: Path) -> None:
    done = CliRunner().invoke(nmem, ["eval", "labels", str(written(tmp_path, RECORD))])
    assert done.exit_code == 0, done.output
    assert "friction, rules" in done.output


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
