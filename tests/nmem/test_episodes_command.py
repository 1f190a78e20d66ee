"""`nmem episodes`, `nmem show` and `nmem undo`: what a person reads at 80 columns, and what a pipe gets."""

from __future__ import annotations

import json
import sqlite3
import sys
from contextlib import closing
from typing import Any

import pytest
from click.testing import CliRunner

from capture.storage import store
from nmem import tables
from nmem.commands import main, terminal
from nmem.commands.main import nmem
from nmem.episodes import detect, narrations, storytelling, units

NOON = 1_760_011_200_000
MINUTE = 60_000
HOSTILE = "\x1b[31mwipe\u202e it \x9b2J\n日本語のプロンプト [bold]x[/bold] " + "long " * 60
WANTED = (
    ("fix the login redirect that loses the query string", "src/login.py"),
    ("yes", "src/login.py"),
    ("Next problem: I want the invoice export to write CSV with German number formats", "billing/export.py"),
    (HOSTILE, "src/\x1b]0;title\x07[red]a.py"),
)

HEAD = ["# Episodes", "# id\tstarted\tactive\tturns\tstate\tend\tproject\tthread\tname"]
"""Begins a list for a pipe."""


@pytest.fixture
def told(db_path: str, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Three episodes in one session, and a short one in another project; it is the next day."""
    monkeypatch.setattr(terminal, "now", lambda: NOON + 86_400_000)
    monkeypatch.setenv("TZ", "UTC")
    db = store.connect(db_path)
    tables.ensure(db)
    for number, (project, session) in enumerate((("aurora", "4f2c-one"), ("borealis", "4f2c-two")), 1):
        db.execute("INSERT INTO projects VALUES (?, ?, ?, '/a', NULL, 0)", (number, project, project))
        db.execute(
            "INSERT INTO sessions (id, client, project_id, cwd, branch, state, started_at, last_at)"
            " VALUES (?, 'claude', ?, '/a', 'main', 'ended', ?, ?)",
            (session, number, NOON, NOON),
        )
        for step, (text, path) in enumerate(WANTED if number == 1 else WANTED[:1]):
            at = NOON + step * 100 * MINUTE + number * 7
            prompt = db.execute(
                "INSERT INTO prompts (session_id, at, source, kind, content, dedup_key)"
                " VALUES (?, ?, 'user', 'prompt', ?, ?)", (session, at, text, f"p{at}"),
            ).lastrowid  # fmt: skip
            for seq, kind, content, where, outcome in (
                (1, "file_edit", f"edit {path}", path, "ok"), (2, "test", "pytest -q", None, "failed"),
                (3, "test", "pytest -q", None, "ok"),
            ):  # fmt: skip
                db.execute(
                    "INSERT INTO observations (session_id, prompt_id, at, seq, obs_type, tool_name, content, file_path,"
                    " outcome, exit_code, dedup_key) VALUES (?, ?, ?, ?, ?, 'Bash', ?, ?, ?, ?, ?)",
                    (session, prompt, at + seq * MINUTE, step * 3 + seq, kind, content, where, outcome,
                     int(outcome == "failed"), f"o{step}.{seq}"),
                )  # fmt: skip
    detect.session(db, "4f2c-one")
    made = units.split(db, 4, units.Verdict(units.NEW, units.REVISED, 0.7, "other files"))
    units.close(db, made)
    detect.session(db, "4f2c-two")
    yield db
    db.close()


def run(*args: str) -> Any:
    return CliRunner().invoke(nmem, args)


def wide(monkeypatch: pytest.MonkeyPatch, *args: str) -> list[str]:
    """What a person sees on a terminal of 80 columns."""
    monkeypatch.setattr(terminal, "is_terminal", lambda: True)
    monkeypatch.setenv("COLUMNS", "80")
    result = run(*args)
    assert result.exit_code == 0, result.output
    lines: list[str] = result.output.splitlines()
    return lines


def inert(text: str) -> bool:
    return not {"\x1b", "\x00", "\u202e", "\x9b", "\x07"} & set(text)


def cells(text: str) -> int:
    from nmem.text import width

    return width(text)


def test_the_list_fits_the_terminal(told: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = wide(monkeypatch, "episodes")
    assert lines[0] == "Yesterday, Thu 9 Oct  aurora"
    assert all(cells(line) <= 80 for line in lines)
    assert all(inert(line) for line in lines)
    first = next(line for line in lines if line.startswith("1 "))
    assert first.split()[:2] == ["1", "12:00"]
    assert "Fix the login" in first
    assert "tests pass" in first
    assert "Fix the login redirect that loses the query str" in first, "the name has what the terminal leaves"


def test_a_wide_terminal_has_the_projects_behind_the_names(told: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(terminal, "is_terminal", lambda: True)
    monkeypatch.setenv("COLUMNS", "160")
    lines = run("episodes").output.splitlines()
    first = next(line for line in lines if line.startswith("1 "))
    assert first.endswith("aurora")
    assert "Fix the login redirect that loses the query string" in first
    assert all(cells(line) <= 160 for line in lines)


def test_the_list_for_a_pipe(told: Any) -> None:
    lines = run("episodes").output.splitlines()
    assert lines[:2] == HEAD
    assert [line.split("\t")[0] for line in lines[2:]] == ["3", "2", "1", "4"]
    assert all(len(line.split("\t")) == 9 and inert(line) for line in lines[2:])
    assert run("episodes", "--limit", "1").output.splitlines()[2:] == lines[2:3]
    assert [line.split("\t")[6] for line in run("episodes", "--project", "borealis").output.splitlines()[2:]] == [
        "borealis"
    ]
    assert run("episodes", "--since", "2026-01-01").output.splitlines() == HEAD
    assert run("episodes", "--thread", "9").output.splitlines() == HEAD


def test_the_list_as_json(told: Any) -> None:
    found = json.loads(run("episodes", "list", "--json").output)["episodes"]
    assert [each["id"] for each in found] == [3, 2, 1, 4]
    assert found[2]["turns"] == 2
    assert found[2]["outcome"]["tests"] == "passed"


def test_an_episode_is_told(told: Any, db_path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = wide(monkeypatch, "show", "1")
    text = "\n".join(line.rstrip() for line in lines)
    assert lines[0] == "episode/1  Fix the login redirect that loses the query string"
    assert "aurora · main · claude" in text
    assert "session/4f2c-one" in text
    assert "pytest -q: failed 2 times, passed in the end" in text
    assert "prompt/1  fix the login" in text
    assert "pytest -q  FAILED (exit 1)" in text
    assert all(cells(line) <= 80 for line in lines)
    assert run("episodes", "show", "1").output == run("show", "episode/1").output
    assert run("narrate", "episode/2").exit_code == 0
    assert "nothing that mattered" in run("show", "2").output, "its one failure was put right at once"
    with closing(sqlite3.connect(db_path, isolation_level=None)) as db:
        db.execute("""UPDATE narrations SET marks = '["interrupted"]' WHERE unit_id = 2""")
    assert "nothing that mattered" not in run("show", "2").output, "work that was cut short"


def test_of_an_open_episode_what_was_done_so_far_is_told(told: Any, db_path: str) -> None:
    of_it = "prompt_id IN (SELECT prompt_id FROM unit_prompts WHERE unit_id = 1)"
    with closing(sqlite3.connect(db_path, isolation_level=None)) as db:
        db.execute("UPDATE work_units SET state = 'open', obs_count = 0, active_ms = 0 WHERE id = 1")
        (done,) = db.execute(f"SELECT count(*) FROM observations WHERE {of_it}").fetchone()
    said = run("show", "episode/1").output
    assert f" to now: 2 prompts, {done} actions" in said
    assert done > 1


def test_hostile_text_is_inert_and_markup_is_text(told: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    for what in ("3", "session/4f2c-one", "prompt/4"):
        plain = run("show", what, "--all").output
        assert inert(plain)
        quoted = not what.startswith("session/")  # which tells titles alone
        assert not quoted or "[bold]x[/bold]" in plain
        lines = wide(monkeypatch, "show", what)
        monkeypatch.setattr(terminal, "is_terminal", lambda: False)
        assert all(inert(line) and cells(line) <= 80 for line in lines)
        assert not quoted or any("[bold]x[/bold]" in line for line in lines)


def test_a_prompt_and_a_session_are_told(told: Any) -> None:
    said = run("show", "prompt/3").output
    assert "episode\tepisode/2, which it opens" in said
    assert "something new begins here" in said
    session = run("show", "4f2c-o").output
    assert session.startswith("# session/4f2c-one")
    assert "episode/2\tProblem: I want the invoice export" in session
    found = json.loads(run("show", "session/4f2c-two", "--json").output)
    assert [each["id"] for each in found["episodes"]] == [4]
    assert json.loads(run("show", "prompt/3", "--json").output)["unit_id"] == 2
    assert json.loads(run("show", "2", "--json").output)["row"]["id"] == 2


def test_a_thread_is_shown_by_its_own_command(told: Any) -> None:
    result = run("show", "thread/7")
    assert result.exit_code == 1
    assert "no thread 7" in str(result.exception)


def test_text_of_a_foreign_program_is_shown_as_far_as_it_can_be_read(told: Any) -> None:
    told.execute("UPDATE prompts SET content = CAST(? AS TEXT)", (b"lamp \xff is dark",))
    told.execute("UPDATE observations SET content = CAST(? AS TEXT)", (b"make \xff lamp",))
    for what in ("episode/1", "session/4f2c-one", "prompt/1", "obs/1"):
        for more in ((), ("--json",)):
            result = run("show", what, *more)
            assert (result.exit_code, result.exception) == (0, None)
        if what != "session/4f2c-one":
            assert "\ufffd" in result.output
    assert run("search", "type:prompt").exit_code == 0


def test_the_stories_of_what_was_cut_are_told_at_once(told: Any) -> None:
    def untrue() -> list[int]:
        """Episodes whose story was told of something else, or not at all."""
        return [unit.id for unit in units.of_session(told, "4f2c-one")
                if (known := narrations.known(told, unit.id)) is None
                or known.told_of != narrations.holds(told, unit.id)]  # fmt: skip

    storytelling.retell(told, (1, 2, 3), NOON)
    assert not untrue()
    for args in (("split", "1", "--at", "2"), ("merge", "2", "5"), ("move", "3", "1")):
        assert run("episodes", *args).exit_code == 0
        assert not untrue(), args


def test_the_stories_of_what_came_back_are_told_at_once(told: Any) -> None:
    def stories() -> list[tuple[object, ...]]:
        return [tuple(row) for row in told.execute(
            "SELECT u.id, u.summary, u.completed, u.next_steps, n.outcome, n.obstacle FROM work_units u"
            " JOIN narrations n ON n.unit_id = u.id ORDER BY u.id")]  # fmt: skip

    storytelling.retell(told, (1, 2, 3, 4), NOON)
    before = stories()
    assert len(before) == 4
    for args in (("split", "1", "--at", "2"), ("merge", "2", "1"), ("move", "2", "2")):
        assert run("episodes", *args).exit_code == 0, args
        assert stories() != before
        assert run("undo").exit_code == 0
        assert stories() == before, args
        assert not narrations.outdated(told, "4f2c-one")


def test_corrections_and_undo(told: Any) -> None:
    def order() -> list[list[str]]:
        found = json.loads(run("episodes", "--json").output)["episodes"]
        return [[str(each["id"]), str(each["turns"]), each["name"][:7]] for each in found]

    before = order()
    assert "episode 5 begins there" in run("episodes", "split", "episode/1", "--at", "prompt/2").output
    for args in (("rename", "5", "Redirects"), ("merge", "2", "5"), ("pin", "5"), ("unpin", "5"), ("keep", "1"),
                 ("resume", "3", "1"), ("unresume", "3"), ("move", "3", "1")):  # fmt: skip
        result = run("episodes", *args)
        assert result.exit_code == 0, (args, result.output, result.exception)
        assert len(result.output.splitlines()) == 1
        assert "nmem undo" in result.output
    assert order() == [["3", "1", before[0][2]], ["1", "2", "Fix the"], ["5", "1", "Redirec"], ["4", "1", "Fix the"]]
    listed = run("undo", "--list").output
    assert listed.count("\n") >= 9
    assert "move of prompt 3 from episode 5 into episode 1" in listed
    assert json.loads(run("undo", "--list", "--json").output)["corrections"][0]["kind"] == "move"
    assert run("undo").output == "undone: move of prompt 3 from episode 5 into episode 1\n"
    for _ in range(8):
        assert run("undo").output.startswith("undone: ")
    assert order() == before
    result = run("undo")
    assert (result.exit_code, str(result.exception)) == (1, "nothing to undo")
    assert run("undo", "--list").output.count("(undone)") == 9


@pytest.mark.parametrize(
    ("args", "code", "words"),
    [
        (("episodes", "split", "1"), 2, "--at"),
        (("episodes", "split", "one", "--at", "2"), 2, "one is not the number of an episode"),
        (("episodes", "move", "prompt/x\x1b[2J", "1"), 2, "is not the number of a prompt"),
        (("episodes", "merge", "1", "99"), 1, "there is no episode 99"),
        (("episodes", "merge", "1", "4"), 1, "different sessions"),
        (("episodes", "--since", "soon"), 2, "invalid time 'soon'"),
        (("episodes", "frobnicate"), 2, "frobnicate"),
        (("show", "episode/99"), 1, "there is no episode 99"),
        (("show", "prompt/abc"), 2, "cannot be shown"),
        (("show", "99999999999999999999"), 2, "cannot be shown"),
        (("show", "4f2c"), 1, "matches several sessions: 4f2c-"),
        (("show", "nobody"), 1, "there is no session nobody"),
        (("show", "prompt/999"), 1, "there is no prompt 999"),
        (("undo", "--json"), 2, "--list"),
        (("undo",), 1, "nothing to undo"),
    ],
)
def test_errors_are_one_line(
    told: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str],
    args: tuple[str, ...], code: int, words: str,
) -> None:  # fmt: skip
    monkeypatch.setattr(sys, "argv", ["nmem", *args])
    with pytest.raises(SystemExit) as stop:
        main.main()
    error = capsys.readouterr().err
    assert stop.value.code == code
    assert words in error
    assert error.count("\n") == 1
    assert inert(error)


def test_nothing_recorded_yet(own_home: Any) -> None:
    for args in (("episodes",), ("show", "1"), ("undo",), ("episodes", "pin", "1"), ("train", "boundaries")):
        assert "nmem init" in str(run(*args).exception)


def test_recorded_but_not_yet_cut(db_path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    store.connect(db_path).close()
    assert run("episodes").output.splitlines() == HEAD
    assert wide(monkeypatch, "episodes")[0].startswith("no episodes")
    assert "no episode 1" in str(run("show", "1").exception)
    assert run("undo", "--list").exception is None, "the tables of meaning are made by whoever reads first"
