"""`nmem learn`: what a person reads at 80 columns, what a pipe gets, and that nothing is written unasked."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from nmem.commands import learn, main, terminal
from nmem.commands.main import nmem
from nmem.learn import read, refresh
from nmem.learn.find import VERSION
from nmem.learn.instructions import OPEN
from nmem.read import lessons

Shop = Any
DAY = 86_400_000
HOSTILE = "\x1b[31mwipe\u202e it \x9b2J\n日本語 [bold]x[/bold] `<!-- @~/.ssh/id_rsa " + "long " * 40


def run(*words: str, typed: str | None = None) -> Result:
    return CliRunner().invoke(nmem, words, input=typed)


def fine(*words: str, typed: str | None = None) -> str:
    result = run(*words, typed=typed)
    assert result.exit_code == 0, (result.output, result.exception)
    return result.output


@pytest.fixture
def told(shop: Shop) -> Shop:
    """A failing command, a hostile error, a snoozed intent, and one in another project."""
    shop.learning()
    shop.learning(HOSTILE, "recurring_error", remedy=None, last_at=shop.now - 9 * DAY)
    shop.learning("deploy it", "repeated_intent", state="snoozed", snoozed_until=shop.now + DAY)
    shop.db.execute("INSERT INTO projects VALUES (2, 'farm', 'farm', '/src/farm', NULL, 0)")
    shop.db.execute(
        "INSERT INTO sessions (id, client, project_id, cwd, started_at, last_at) VALUES ('f', 'codex', 2, '/f', 1, ?)",
        (shop.now,),
    )
    shop.db.execute("INSERT INTO learned_sessions (session_id, seq, told_of, at) VALUES ('f', 0, ?, 1)", (VERSION,))
    shop.learning(project_id=2)
    shop.file(b"# Shop\n")
    return shop


def inert(text: str) -> bool:
    return all(char == "\n" or char.isprintable() for char in text)


def test_the_list_is_that_of_the_current_project(told: Shop, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    lines = fine("learn").splitlines()
    assert lines[0] == "# Learnings"
    assert [line.split("\t")[0] for line in lines[2:]] == ["1", "2"]
    assert lines[2].split("\t")[2:] == [
        "warm", "failing command", "2", "2025-10-08", "open", "shop", "npm test", "`pnpm test` works (3 sessions)",
    ]  # fmt: skip
    assert inert("\n".join(lines).replace("\t", ""))
    assert fine("learn", "--all-projects").count("\n") == 5
    assert fine("learn", "--across").count("\n") == 3
    assert fine("learn", "--project", "farm").count("\n") == 3
    assert fine("learn", "--state", "snoozed").count("deploy it") == 1
    assert fine("learn", "list", "--state", "all").count("\n") == 5
    assert fine("learn", "--since", "2d").count("\n") == 3
    assert fine("learn", "--limit", "1").count("\n") == 3
    monkeypatch.chdir(tmp_path)
    assert str(run("learn").exception).startswith(f"nothing is recorded of project {tmp_path.name}: ")


def test_the_list_as_json(told: Shop) -> None:
    found = json.loads(fine("learn", "--json"))["learnings"]
    assert [(one["id"], one["kind"], one["state"], one["heat_word"]) for one in found] == [
        (1, "failed_command", "open", "warm"), (2, "recurring_error", "open", "warm"),
    ]  # fmt: skip
    first = found[0]
    assert first["remedy"]["commands"] == ["pnpm test"]
    assert first["can"] == ["accept", "dismiss", "snooze", "resolve"]
    assert [count for _, count in first["weeks"]] == [2]
    across = json.loads(fine("learn", "--across", "--json"))["learnings"]
    assert (across[0]["members"], sorted(across[0]["projects"])) == ([1, 4], ["farm", "shop"])
    shown = json.loads(fine("learn", "show", "learning/1", "--json"))
    assert {*first, "proposed_rule", "evidence"} == set(shown)
    assert shown["proposed_rule"] == "Use `pnpm test`: `npm test` fails here"
    assert [each["session_id"] for each in shown["evidence"]] == ["two", "one"]


@pytest.mark.parametrize("columns", [80, 160])
def test_a_terminal_gets_two_lines_each(told: Shop, monkeypatch: pytest.MonkeyPatch, columns: int) -> None:
    monkeypatch.setattr(terminal, "is_terminal", lambda: True)
    monkeypatch.setenv("COLUMNS", str(columns))
    monkeypatch.setenv("NO_COLOR", "1")
    text = fine("learn", "--state", "all")
    assert text.splitlines()[0] == "Learnings of shop   2 open, 1 snoozed"
    assert "failing command  npm test" in text
    assert "2 sessions; last Wed 8 Oct; open; `pnpm test` works" in text
    assert inert(text)
    assert max(map(len, text.splitlines())) <= columns
    told.db.execute("DELETE FROM learning_evidence")
    told.db.execute("DELETE FROM learnings")
    assert "no open learnings here" in fine("learn")


def test_show_tells_what_there_is_to_know(told: Shop) -> None:
    text = fine("learn", "show", "1")
    for words in ("# Learning 1: npm test", "kind\tfailing command", "state\topen", "helped\t`pnpm test` works",
                  "as a rule\tUse `pnpm test`: `npm test` fails here", "2 times in 2 sessions, 2025-10-06 to",
                  "nmem learn accept 1", "## Evidence", "session/two"):  # fmt: skip
        assert words in text
    known = read.learning(told.db, 1, told.now)
    assert known
    lesson = lessons.of(told.db, known)
    assert lesson
    held = text.partition("## Does it hold (sessions)\n")[2].split("\n\n")[0].splitlines()
    assert held == ["\t".join(filter(None, row)) for row in lesson.told()]
    assert held == ["so far\tit applied in no session"]
    assert inert(fine("learn", "show", "2").replace("\t", ""))
    assert "until\t2025-10-10" in fine("learn", "show", "3")


def test_the_report_is_markdown_that_holds_what_it_quotes(told: Shop, tmp_path: Path) -> None:
    text = fine("learn", "--markdown", "--state", "all")
    assert text.startswith("# Learnings of shop\n\n2025-10-09: 3 of them, by kind, the hottest first.\n")
    assert [line for line in text.splitlines() if line.startswith("## ")] == [
        "## Failing command (1)", "## Recurring error (1)", "## Asked again (1)",
    ]  # fmt: skip
    assert "### 1: npm test\n" in text
    assert "- as a rule (`nmem learn accept 1`): Use `pnpm test`: `npm test` fails here" in text
    assert "session `two`, met: `npm error Missing script`" in text
    assert "<!--" not in text
    assert inert(text)
    file = tmp_path / "report.md"
    assert fine("learn", "-o", str(file)) == f"2 learnings in {file}\n"
    assert file.read_text(encoding="utf-8").startswith("# Learnings of shop")
    fine("learn", "--markdown", "-o", str(file), "--limit", "1")
    file.write_text("my own notes", encoding="utf-8")
    assert "is not a report" in str(run("learn", "-o", str(file)).exception)
    assert file.read_text(encoding="utf-8") == "my own notes"
    assert "cannot be written" in str(run("learn", "-o", str(tmp_path / "none" / "x.md")).exception)


def test_accept_shows_asks_and_writes(told: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    before = told.file().read_bytes()
    shown = fine("learn", "accept", "1", "--dry-run")
    assert "+- Use `pnpm test`: `npm test` fails here\n" in shown
    assert told.file().read_bytes() == before
    refused = run("learn", "accept", "1")
    assert (refused.exit_code, told.file().read_bytes()) == (2, before)
    assert "--yes" in refused.output
    monkeypatch.setattr(learn, "_interactive", lambda: True)
    assert "Write " in fine("learn", "accept", "1", typed="n\n")
    assert told.file().read_bytes() == before
    assert "its rule is in" in fine("learn", "accept", "1", typed="y\n")
    assert OPEN in told.file().read_bytes()
    assert fine("undo") == "undone: learning 1 “npm test” accepted, its rule put into CLAUDE.md\n"
    assert told.file().read_bytes() == before


def test_accept_into_another_file_in_other_words(told: Shop) -> None:
    fine("learn", "accept", "1", "--file", "AGENTS.md", "--text", "Use pnpm here", "--yes")
    assert b"\n- Use pnpm here\n" in told.file(name="AGENTS.md").read_bytes()
    assert "has this rule already: Use pnpm here" in fine(
        "learn", "accept", "2", "--file", "AGENTS.md", "--text", "Use pnpm here", "--dry-run"
    )
    assert run("learn", "reopen", "1").exit_code == 2
    assert "-- Use pnpm here" in fine("learn", "reopen", "1", "--dry-run")
    assert "its rule is out of" in fine("learn", "reopen", "1", "--yes")
    assert not told.file(name="AGENTS.md").exists()


def test_a_hostile_pattern_stays_one_harmless_line(told: Shop) -> None:
    shown = fine("learn", "accept", "2", "--yes", "--text", HOSTILE[:90])
    assert inert(shown)
    rule = told.file().read_text(encoding="utf-8").split("\n")[3]
    assert rule.startswith("- wipe it 日本語 [bold]x[/bold] `'<!-` `@~/.ssh/id_rsa` long")
    assert told.file().read_text(encoding="utf-8").count("\n") == 5


def test_the_other_verbs_and_their_undo(told: Shop) -> None:
    assert fine("learn", "dismiss", "1") == "learning 1 is dismissed (`nmem undo` takes it back)\n"
    assert "open again" in fine("learn", "reopen", "1")
    assert "snoozed until 2025-10-16 12:00" in fine("learn", "snooze", "1", "--for", "7d")
    assert "is resolved" in fine("learn", "resolve", "1")
    assert "1 “npm test” resolved" in fine("undo")
    listed = json.loads(fine("undo", "--list", "--json"))["corrections"]
    assert [(each["kind"], each["target"], bool(each["undone_at"])) for each in listed[:2]] == [
        ("resolve", "learning/1", True), ("snooze", "learning/1", False),
    ]  # fmt: skip
    assert "learning 1 “npm test” snoozed until 2025-10-16 12:00" in fine("undo", "--list")


@pytest.mark.parametrize(
    ("args", "code", "words"),
    [
        (("show", "99"), 1, "there is no learning 99"),
        (("accept", "99", "--yes"), 1, "there is no learning 99"),
        (("dismiss", "99"), 1, "there is no learning 99"),
        (("reopen", "1"), 1, "learning 1 is open already"),
        (("snooze", "1", "--for", "soon"), 2, "invalid duration 'soon'"),
        (("snooze", "1", "--for", "-3d"), 2, "invalid duration"),
        (("snooze", "1", "--for", "99999w"), 2, "at most five years"),
        (("snooze", "1"), 2, "--for"),
        (("show", "one\x1b[2J"), 2, "is not the number of a learning"),
        (("--since", "soon"), 2, "invalid time 'soon'"),
        (("--state", "lost"), 2, "lost"),
        (("--json", "--markdown"), 2, "exclude each other"),
        (("--across", "--project", "shop"), 2, "leave out --project"),
        (("accept", "2", "--yes"), 2, "word it with --text"),
        (("accept", "1", "--yes", "--text", ""), 2, "--text is empty"),
        (("--project", "none"), 1, "nothing is recorded of project none"),
        (("accept", "1", "--yes", "--file", "../x.md"), 1, "outside the project"),
        (("accept", "1", "--yes", "--file", "setup.cfg"), 1, "not a Markdown file"),
        (("accept", "1", "--yes", "--text", " "), 2, "--text is empty"),
        (("accept", "1"), 2, "--yes"),
        (("accept", "4", "--yes"), 1, "/src/farm, no longer exists"),
        (("frobnicate",), 2, "frobnicate"),
    ],
)
def test_errors_are_one_line(
    told: Shop, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str],
    args: tuple[str, ...], code: int, words: str,
) -> None:  # fmt: skip
    monkeypatch.setattr(sys, "argv", ["nmem", "learn", *args])
    monkeypatch.setattr(learn, "_interactive", lambda: False)
    with pytest.raises(SystemExit) as stop:
        main.main()
    error = capsys.readouterr().err
    assert stop.value.code == code
    assert words in error
    assert error.count("\n") == 1
    assert inert(error)


def test_nothing_recorded_yet(own_home: Path) -> None:
    for args in ((), ("show", "1"), ("accept", "1"), ("dismiss", "1")):
        assert "nmem init" in str(run("learn", *args).exception)


def test_a_new_user_who_has_only_imported_sees_learnings(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(3):
        shop.db.execute(
            "INSERT INTO sessions (id, client, project_id, cwd, started_at, last_at, seq)"
            " VALUES (?, 'claude', 1, '/s', 1, ?, 1)",
            (f"new{number}", shop.now - number),
        )
        shop.db.execute(
            "INSERT INTO observations (session_id, at, seq, obs_type, tool_name, content, outcome, metadata, dedup_key)"
            " VALUES (?, ?, 1, 'command', 'Bash', 'make seed', 'failed', ?, 'o')",
            (
                f"new{number}",
                shop.now - number,
                json.dumps({"response": "ModuleNotFoundError: No module named 'yaml'"}),
            ),
        )
    assert "Python module yaml is not installed" in fine("learn")
    monkeypatch.setattr(learn, "_PATIENCE", -1.0)
    shop.db.execute("UPDATE sessions SET seq = 2 WHERE id = 'new1'")
    result = run("learn")
    assert "Python module yaml" in result.output
    assert "1 session still to be read" in result.output


def test_nothing_is_searched_where_it_cannot_be_written(told: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(refresh, "_WAIT", 0.0)
    told.db.execute("BEGIN IMMEDIATE")
    told.db.execute("UPDATE sessions SET seq = 2 WHERE id = 'one'")
    assert "npm test" in fine("learn")
    told.db.execute("ROLLBACK")


def test_a_number_is_shown_and_help_says_that_list_is_meant(told: Shop) -> None:
    assert fine("learn", "1") == fine("learn", "show", "1") == fine("learn", "learning/1")
    assert "nmem learn list --help" in " ".join(fine("learn", "--help").split())
    assert "there is no learning 99" in str(run("learn", "99").exception)


def test_a_rule_that_helps_nobody_is_worded_by_the_person(told: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    before = told.file().read_bytes()
    assert "word it with --text" in fine("learn", "accept", "2", "--dry-run")
    monkeypatch.setattr(learn, "_interactive", lambda: True)
    said = fine("learn", "accept", "2", typed="Start the database first\ny\n")
    assert "+- Start the database first" in said
    assert b"\n- Start the database first\n" in told.file().read_bytes()
    fine("undo")
    assert told.file().read_bytes() == before


def test_enter_alone_writes_nothing(told: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    before = told.file().read_bytes()
    monkeypatch.setattr(learn, "_interactive", lambda: True)
    assert "[y/N]" in fine("learn", "accept", "1", typed="\n")
    assert told.file().read_bytes() == before
    assert str(told.file()) in fine("learn", "accept", "1", "--dry-run")


def test_where_a_rule_stands_is_shown_and_an_accepted_one_says_how_to_reword_it(told: Shop) -> None:
    fine("learn", "accept", "1", "--yes")
    assert "it stands in\tCLAUDE.md" in fine("learn", "show", "1")
    assert "`nmem learn reopen 1` first" in str(run("learn", "accept", "1", "--text", "x", "--yes").exception)


def test_weak_ones_are_listed_only_where_they_are_asked_for(told: Shop) -> None:
    told.learning("make seed", state="weak")
    assert "make seed" not in fine("learn")
    assert "make seed" in fine("learn", "--state", "weak")
    assert "make seed" in fine("learn", "--state", "all")
    assert "is dismissed" in fine("learn", "dismiss", "5")


def test_projects_that_nobody_works_on_come_last(told: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(terminal, "now", lambda: told.now + 90 * DAY)
    told.db.execute("UPDATE sessions SET last_at = ? WHERE id = 'f'", (told.now + 89 * DAY,))
    lines = fine("learn", "--all-projects").splitlines()
    assert [line.split("\t")[0] for line in lines[2:]] == ["4", "1", "2", "3"]
    monkeypatch.setattr(terminal, "is_terminal", lambda: True)
    assert fine("learn", "--all-projects").count("nobody works there now") == 3
    assert "nobody works there" not in fine("learn")


def test_evidence_is_told_by_session_in_its_order(told: Shop) -> None:
    for _ in range(2):
        told.db.execute(
            "INSERT INTO learning_evidence (learning_id, role, session_id, at, excerpt)"
            " VALUES (1, 'fix', 'one', ?, 'pnpm')",
            (told.now - 3 * DAY + 5,),
        )
    text = fine("learn", "show", "1")
    assert text.index("session/two") < text.index("session/one")
    told_of_one = text[text.index("session/one") :]
    assert told_of_one.index("Missing script") < told_of_one.index("put right")
    assert "(2 times)" in told_of_one
