"""`nmem threads` and `nmem eval linking`: tables, plain lines, JSON, one-line errors."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from nmem.commands import terminal
from nmem.commands.main import nmem
from nmem.errors import NmemError, NoDatabase
from nmem.evaluate import linking
from nmem.threads import continuity
from nmem.threads import links_store as _links
from nmem.threads.link import Linker
from nmem.training.linking import interval, main

World = Any
links: Any = _links  # what is found is there: a None fails the test all the same


def run(*words: str) -> str:
    result = CliRunner().invoke(nmem, ["threads", *words])
    assert result.exit_code == 0, (result.output, result.exception)
    return result.output


@pytest.fixture
def told(world: World) -> World:
    world.session("a", 0, "Raise the avatar limit in limits.py")
    world.edit("a", 1, "src/limits.py")
    world.session("b", 200, "The avatar limit in limits.py again \x1b[2J", client="codex")
    world.session("c", 300, "Else", project="borealis")
    continuity.assign_all(world.db)
    Linker(world.db).link_all(world.at(400))
    return world


def test_threads_of_several_sessions_are_listed_and_the_others_counted(told: World) -> None:
    assert run() == "3 threads of one session: --all lists them\n"
    told.session("d", 205, "and the limit of banners?")
    continuity.assign_all(told.db)
    lines = run().splitlines()
    assert lines[0] == "# Threads"
    assert "The avatar limit in limits.py again" in lines[2]
    assert lines[3:] == ["2 threads of one session: --all lists them"]
    found = json.loads(run("--json"))
    assert [each["session_count"] for each in found["threads"]] == [2]
    assert found["single"] == 2


def test_on_a_terminal_each_thread_is_a_block_of_its_own(told: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(terminal, "is_terminal", lambda: True)
    monkeypatch.setenv("COLUMNS", "80")
    told.session("d", 205, "and the limit of banners?")
    continuity.assign_all(told.db)
    lines = run().splitlines()
    assert any(line.startswith("thread/2  The avatar limit in limits.py again") for line in lines)
    assert any("2 turns in 2 sessions" in line for line in lines)
    assert max(map(len, lines)) <= 80


def test_all_are_listed_on_demand(told: World) -> None:
    lines = run("--all").splitlines()
    assert lines[0] == "# Threads"
    assert len(lines) == 5
    assert "\x1b" not in run("--all")
    assert run("--all", "--project", "borealis").count("\n") == 3
    assert run("list", "--all", "--limit", "1").count("\n") == 3
    found = json.loads(run("--all", "--json", "--project", "aurora"))["threads"]
    assert [each["clients"] for each in found] == [["codex"], ["claude"]]
    assert run("--all", "--since", "2001-01-01").count("\n") == 5
    assert run("--all", "--since", "2100-01-01").startswith("no threads: ")


def test_show(told: World) -> None:
    text = run("show", str(told.thread("b")))
    assert "Raise the avatar limit" in text
    assert "codex" in text and "## What was asked" in text
    assert f"thread/{told.thread('a')}\tRaise the avatar limit in limits.py · the same work, score" in text
    assert "(likely: " in text
    assert "close in time" in text
    assert "; `nmem threads confirm 1 y|n`)" in text
    found = json.loads(run("show", str(told.thread("b")), "--json"))
    assert found["decisions"][0]["decision"] == "link"
    assert found["turns"][0]["session_id"] == "b"


def test_a_person_answers(told: World) -> None:
    link = links.decisions_of(told.db, told.thread("b"))[0]
    assert run("confirm", str(link.id), "n") == f"link {link.id}: threads 1 and 2 are not linked\n"
    assert run("link", "2", "1").endswith("1 and 2 are linked\n")
    assert run("unlink", "1", "2").endswith("are not linked\n")
    assert links.decision(told.db, link.id).outcome_by == "person"


def test_continue_for_the_next_session_and_for_a_given_one(told: World) -> None:
    first = told.thread("a")
    assert "continues thread" in run("continue", str(first), "--timeout", "90")
    assert told.all("SELECT project_id, thread_id FROM thread_choices") == [(told.project(), first)]
    assert told.all("SELECT timeout_minutes FROM threads WHERE id = ?", first) == [(90,)]
    run("continue", str(first), "--forget")
    assert told.all("SELECT * FROM thread_choices") == []
    assert "new thread" in run("continue", "new", "--project", "aurora")
    run("continue", str(first), "--session", "b")
    assert told.thread("b") == first


def test_compact_and_tuning(told: World) -> None:
    assert "Raise the avatar limit" in run("compact", "1")
    assert json.loads(run("compact", "1", "--json"))["micro"]
    assert "# Formula" in run("tuning")
    history = json.loads(run("tuning", "--now", "--json"))["history"]
    assert [each["adopted"] for each in history] == [False]


@pytest.mark.parametrize("words", [
    ("show", "99"), ("confirm", "99", "y"), ("link", "1", "99"), ("link", "1", "3"), ("compact", "99"),
    ("continue", "99"), ("continue", "new", "--project", "none"), ("continue", "1", "--session", "nobody"),
])  # fmt: skip
def test_errors_are_one_line(told: World, words: tuple[str, ...]) -> None:
    result = CliRunner().invoke(nmem, ["threads", *words])
    assert isinstance(result.exception, NmemError), result.output
    assert "\n" not in str(result.exception)


@pytest.mark.parametrize("words", [("--since", "soon"), ("continue", "x"), ("confirm", "1", "maybe"), ("show", "x")])
def test_usage_errors(told: World, words: tuple[str, ...]) -> None:
    assert CliRunner().invoke(nmem, ["threads", *words]).exit_code == 2


def test_nothing_recorded(own_home: Path) -> None:
    assert isinstance(CliRunner().invoke(nmem, ["threads"]).exception, NoDatabase)


def pair(linked: bool, gap: float, first: str, **more: Any) -> str:
    message = f"the {first} parser again" if linked else "Else"
    return json.dumps({"linked": linked, "gap_minutes": gap, "repo": "r", **more,
                       "earlier": {"session_id": first, "prompts": [f"the {first} parser"], "files": [f"{first}.py"]},
                       "later": {"session_id": f"l{first}", "first_prompt": message}})  # fmt: skip


def test_eval_linking_has_exactly_its_keys(tmp_path: Path) -> None:
    file = tmp_path / "pairs.jsonl"
    file.write_text("\n".join([pair(True, 5, "alpha"), pair(False, 50_000, "beta"), ""]), encoding="utf-8")
    found = json.loads(CliRunner().invoke(nmem, ["eval", "linking", str(file), "--json"]).output)
    keys = {"precision", "recall", "f1", "accuracy", "n"}
    assert set(found) == {*keys, "baseline", "by"}
    assert set(found["baseline"]) == {*keys, "name"}
    assert set(found["by"]["project"]["r"]) == keys
    assert (found["f1"], found["n"], found["baseline"]["f1"]) == (1.0, 2, 1.0)
    assert CliRunner().invoke(nmem, ["eval", "linking", str(file), "--method", "seed"]).exit_code == 0


@pytest.mark.parametrize("line", ["{", "[]", '{"linked": true}', '{"linked": true, "earlier": 3, "later": {}}'])
def test_a_bad_record_is_one_line(tmp_path: Path, line: str) -> None:
    file = tmp_path / "pairs.jsonl"
    file.write_text(line, encoding="utf-8")
    with pytest.raises(NmemError, match=r"pairs\.jsonl:1"):
        list(linking.records([file]))
    with pytest.raises(NmemError, match="no pairs"):
        linking.evaluate([])


def test_figures() -> None:
    assert linking.figures([True, True, False, False], [True, False, True, False]) == {
        "precision": 0.5, "recall": 0.5, "f1": 0.5, "accuracy": 0.5, "n": 4,
    }  # fmt: skip
    assert linking.figures([False], [False])["f1"] == 0.0
    low, high = interval([True, False] * 30, [True, True] * 30, [str(number) for number in range(60)])
    assert low < 2 / 3 < high


def test_linking_on_real_pairs_with_folds_by_project(shared: Path) -> None:
    found = linking.evaluate(linking.records([shared / "data" / "linking" / "pairs.jsonl"]), folds=True)
    assert found["n"] == 283
    assert found["f1"] >= 0.75
    assert found["accuracy"] >= 0.88
    assert found["baseline"]["f1"] < 0.67


def test_the_shipped_formula_is_what_the_script_fits(
    shared: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    weights = tmp_path / "linking.json"
    main([str(shared / "data" / "linking" / "pairs.jsonl"), "--weights", str(weights)])
    ours = Path(linking.__file__).parents[1] / "threads" / "linking.json"
    assert json.loads(weights.read_text(encoding="utf-8")) == json.loads(ours.read_text(encoding="utf-8"))
    assert "folds by project" in capsys.readouterr().out
