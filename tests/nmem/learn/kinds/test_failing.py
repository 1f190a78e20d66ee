"""Failing commands and recurring errors: what is a pattern, what is work, and what put it right."""

from __future__ import annotations

from typing import Any

import pytest

from nmem.learn import read
from nmem.learn.learning import FAILED_COMMAND, FIX, OCCURRENCE, OPEN, RECURRING_ERROR, RESOLVED

History = Any
NO_BUN = "error: unrecognized subcommand 'bun'\n\nUsage: rtk [OPTIONS]"


def test_a_command_that_fails_in_three_sessions_is_one_learning_with_the_spelling_that_works(history: History) -> None:
    for name in "abc":
        history.begin(name).fails("rtk bun run test 2>&1 | tail -5", NO_BUN).read("src/a.ts").runs("bun run test")
    (one,) = history.learn()
    assert (one.kind, one.sessions, one.occurrences, one.state) == (FAILED_COMMAND, 3, 3, OPEN)
    assert "rtk bun run test" in one.title
    assert one.remedy is not None
    assert (one.remedy.kind, one.remedy.text, one.remedy.times) == ("spelling", "`bun run test` works", 3)
    assert one.remedy.confidence >= 0.7


def test_two_sessions_are_no_pattern(history: History) -> None:
    for name in "ab":
        history.begin(name).fails("rtk bun run test", NO_BUN)
    assert history.learn() == []


def test_two_sessions_are_one_where_the_same_put_it_right_in_both(history: History) -> None:
    for name in "ab":
        history.begin(name).fails("rtk bun run test", NO_BUN).runs("bun run test")
    assert [one.sessions for one in history.learn()] == [2]


def test_three_times_in_one_session_are_no_pattern(history: History) -> None:
    history.begin("a")
    for _ in range(3):
        history.fails("npm run tset", 'npm error Missing script: "tset"')
    assert history.learn() == []


def test_a_test_that_is_red_before_it_is_green_is_work(history: History) -> None:
    for name in "abcd":
        history.begin(name).edit("tests/test_cart.py").fails(
            "pytest -q", "FAILED tests/test_cart.py::test_total - assert 1"
        )
        history.edit("src/cart.py").runs("pytest -q")
    assert history.learn() == []


def test_a_red_run_before_the_first_edit_that_an_edit_turns_green_is_work(history: History) -> None:
    for name in "abcd":
        history.begin(name).fails("pytest -q", "FAILED tests/test_cart.py::test_total - assert 1")
        history.edit("src/cart.py").runs("pytest -q")
    assert history.learn() == []


def test_what_a_red_test_prints_of_connections_and_files_is_work(history: History) -> None:
    for name in "abcd":
        history.begin(name).edit("till.go").fails("go test ./...", "Error: context deadline exceeded")
        history.fails("pytest -q", "cat: /x/fixture.json: No such file or directory").edit("till.go").runs(
            "go test ./..."
        )
    assert history.learn() == []


def test_code_that_does_not_compile_while_it_is_written_is_work(history: History) -> None:
    for name in "abcd":
        history.begin(name).edit("till.go").fails("go build ./...", "./till.go:3:2: undefined: Drawer")
    assert history.learn() == []


def test_a_test_that_fails_untouched_and_passes_when_run_again_is_a_pattern(history: History) -> None:
    for name in "abc":
        history.begin(name).fails("pytest -q", "FAILED tests/test_sync.py::test_race - timeout").runs("pytest -q")
    (one,) = history.learn()
    assert one.kind == RECURRING_ERROR
    assert "test_race" in one.title


def test_a_command_that_never_passes_is_a_pattern_whatever_its_output(history: History) -> None:
    for name in "abc":
        history.begin(name).fails("make seed", "seeding ... broken pipe at step")
    (one,) = history.learn()
    assert (one.kind, one.key) == (FAILED_COMMAND, "make seed")


def test_a_command_that_mostly_passes_is_healthy(history: History) -> None:
    for name in "abc":
        history.begin(name).fails("make seed", "seeding ... broken pipe at step")
    history.quiet(9, "make seed")
    assert history.learn() == []


def test_what_only_looks_never_is_a_pattern(history: History) -> None:
    for name in "abcd":
        history.begin(name).fails("which pnpm", "pnpm not found").fails(
            "ls web", "ls: cannot access 'web': No such file or directory"
        )
        history.fails("grep -rn vat src").fails("git status", "fatal: not a git repository").fails(
            "cat a", "cat: a: No such file"
        )
        history.fails("curl -sf http://localhost:3000/health", "curl: (7) Failed to connect to localhost port 3000")
    assert history.learn() == []


def test_what_the_user_refused_has_not_failed(history: History) -> None:
    for name in "abcd":
        history.begin(name).fails("npm publish", "Permission to use Bash with command npm publish has been denied.")
        history.edit_fails("a.py", "The user doesn't want to proceed with this tool use. The tool use was rejected")
    assert history.learn() == []


def test_an_error_of_several_commands_is_one_error(history: History) -> None:
    for name, command in zip("abc", ("pytest -q", "python tools/seed.py", "python -m shop"), strict=True):
        history.begin(name).fails(command, "ModuleNotFoundError: No module named 'yaml'").runs(
            "pip install pyyaml"
        ).runs(command)
    (one,) = history.learn()
    assert (one.kind, one.title) == (RECURRING_ERROR, "Python module yaml is not installed")
    assert one.remedy is not None
    assert one.remedy.commands == ("pip install pyyaml",)


def test_a_file_that_is_not_there_is_one_error_wherever_the_checkout_is(history: History) -> None:
    for name, root in zip("abc", ("/home/ana", "/Users/bo", "/w"), strict=True):
        history.begin(name).read_fails(f"{root}/shop/.lint.yml", "File does not exist. Did you mean .lint.yaml?")
    (one,) = history.learn()
    assert one.title == ".lint.yml does not exist"
    assert one.remedy is not None
    assert one.remedy.text == "It is `.lint.yaml`"


def test_a_relative_cd_is_one_error_whatever_the_folder(history: History) -> None:
    for name, folder in zip("abc", ("src", "web", "src"), strict=True):
        history.begin(name).fails(
            f"cd {folder} && go test ./till", f"bash: line 1: cd: {folder}: No such file or directory"
        )
        history.runs("go test ./till")
    (one,) = history.learn()
    assert one.kind == RECURRING_ERROR
    assert one.remedy is not None
    assert "the shell is there already" in one.remedy.text


def test_a_linters_rule_needs_one_session_more(history: History) -> None:
    said = "a.go:1:2: Error return value of `f.Close` is not checked (errcheck)"
    for name in "abc":
        history.begin(name).edit("a.go").fails("golangci-lint run", said).edit("a.go").runs("golangci-lint run")
    assert history.learn() == []
    history.begin("d").edit("a.go").fails("golangci-lint run", said)
    assert [one.title for one in history.learn()] == ["golangci-lint: errcheck"]


def test_slips_of_the_clients_tools_are_a_pattern_only_where_they_are_usual(history: History) -> None:
    for name in "abc":
        history.begin(name).edit_fails("a.py", "File has not been read yet. Read it first").read("a.py").edit("a.py")
    (one,) = history.learn()
    assert one.remedy is not None
    assert one.remedy.text.startswith("Read the file")
    history.quiet(40)
    assert history.learn() == []


def test_subagents_and_powershell_count(history: History) -> None:
    for name in "abc":
        history.begin(name)._did(
            "command", "PowerShell", None, "pnpm lint", "failed", "pnpm : The term 'pnpm' is not recognized"
        )
        history.db.execute("UPDATE observations SET agent_id = 'sub' WHERE session_id = ?", (name,))
    (one,) = history.learn()
    assert one.title == "`pnpm lint` fails: pnpm: command not found"


def test_two_projects_with_the_same_pattern_are_summed_across(history: History) -> None:
    history.project(2, "till")
    for name, project in zip("abcdef", (1, 1, 1, 2, 2, 2), strict=True):
        history.begin(name, project).fails("rtk bun run test", NO_BUN).runs("bun run test")
    assert len(history.learn()) == 2
    (one,) = read.learnings(history.db, history.at, across=True)
    assert (one.sessions, one.occurrences, set(one.projects), len(one.members)) == (6, 6, {"shop", "till"}, 2)
    assert one.heat > max(each.heat for each in history.learn())


def test_evidence_opens_what_happened_and_what_put_it_right(history: History) -> None:
    for name in "abc":
        history.begin(name).fails("rtk bun run test", NO_BUN).runs("bun run test")
    (one,) = history.learn()
    found = read.evidence(history.db, one.id)
    assert [each.role for each in found] == [FIX, OCCURRENCE] * 3
    assert found[1].command == "rtk bun run test"
    assert found[1].excerpt == "error: unrecognized subcommand 'bun'"
    assert found[0].command == "bun run test"
    assert all(each.observation_id and each.prompt_id for each in found if each.role == OCCURRENCE)


def test_the_edit_that_turned_it_green_is_the_remedy_when_it_is_always_the_same_file(history: History) -> None:
    for name in "abc":
        history.begin(name).fails("make serve", "Error: listen EADDRINUSE: address already in use :::3000")
        history.edit("config/ports.toml", "-port = 3000\n+port = 3001").runs("make serve")
    (one,) = history.learn()
    assert one.remedy is not None
    assert one.remedy.files == ("config/ports.toml",)
    assert "port = 3001" in one.remedy.text


def test_where_no_session_put_it_right_a_later_one_may(history: History) -> None:
    for name in "abc":
        history.begin(name).fails("make seed", 'psql: error: FATAL: database "shop" does not exist')
    history.begin("d").edit("Makefile").runs("make seed")
    (one,) = history.learn()
    assert one.remedy is not None
    assert one.remedy.files == ("Makefile",)


def test_what_was_put_right_and_stays_away_is_resolved_and_opens_when_it_comes_back(history: History) -> None:
    for name in "abc":
        history.begin(name).fails("rtk bun run test", NO_BUN).runs("bun run test")
    assert history.learn()[0].state == OPEN
    history.quiet(5)
    (one,) = history.learn()
    assert (one.state, one.state_by, one.reopened) == (RESOLVED, "evidence", 0)
    history.begin("back").fails("rtk bun run test", NO_BUN)
    (one,) = history.learn()
    assert (one.state, one.reopened) == (OPEN, 1)


def test_what_nothing_put_right_only_cools(history: History) -> None:
    for name in "abc":
        history.begin(name).fails("make seed", "seeding ... broken pipe")
    hot = history.learn()[0].heat
    history.quiet(30)
    (one,) = history.learn()
    assert one.state == OPEN
    assert one.heat < hot / 4


def test_the_formatter_that_mends_is_the_remedy_of_its_rule(history: History) -> None:
    said = "src/a.ts format\n  × Formatter would have printed the following content:"
    for name in "abcd":
        history.begin(name).edit("src/a.ts").fails("bun run lint", said).runs("bun run lint:fix").runs("bun run lint")
    (one,) = history.learn()
    assert one.remedy is not None
    assert (one.remedy.text, one.remedy.commands) == ("After `bun run lint:fix` it passes", ("bun run lint:fix",))


def test_words_in_which_the_remedies_differ_are_left_open(history: History) -> None:
    for name in ("till", "vat", "depot"):
        history.begin(name).fails("git push 2>&1", f"fatal: The current branch {name} has no upstream branch.")
        history.runs(f"git push --set-upstream origin {name} 2>&1")
    (one,) = history.learn()
    assert one.remedy is not None
    assert one.remedy.text == "`git push --set-upstream origin …` works"


ROOT = "/src/shop"


def test_a_path_is_called_as_the_project_calls_it(history: History) -> None:
    for name in "abc":
        history.begin(name).read_fails(f"{ROOT}/cmd/web/cli/commands", "Path does not exist: cmd/web/cli/commands")
    for name, root in zip("def", (ROOT, "/Users/bo/work/shop", "/home/ana/shop"), strict=True):
        history.begin(name).read_fails("x", f"File does not exist: {root}/tools/cli/.lint.yml.")
    assert sorted(one.title for one in history.learn()) == [
        "cmd/web/cli/commands does not exist", "tools/cli/.lint.yml does not exist",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("works", "text"),
    [
        (f"cd {ROOT} && bun run lint", "In the project's own folder it works"),
        (f"cd {ROOT}/web && bun run lint", "In the folder `web` it works"),
        ("cd web && bun run lint:fix 2>&1 | tail -3", "In the folder `web` `bun run lint:fix` works"),
        ("cd /Users/ana/Code/other && bun run lint:fix", "In the folder `other` `bun run lint:fix` works"),
        (f"bun run lint {ROOT}/web /Users/ana/notes", "`bun run lint web ~/notes` works"),
    ],
)
def test_no_remedy_tells_where_one_machine_has_its_files(history: History, works: str, text: str) -> None:
    for name in "abc":
        history.begin(name).fails("bun run lint", 'error: Script not found "lint"').runs(works)
    (one,) = history.learn()
    assert one.remedy is not None
    assert one.remedy.text == text
    assert "/Users" not in str(one.remedy)


def test_an_error_that_announces_something_is_kept_with_it(history: History) -> None:
    said = "The following paths are ignored by one of your .gitignore files:\npriv/static/assets\nhint: Use -f"
    for name in "abc":
        history.begin(name).fails("git add priv/static/assets", said)
    (one,) = history.learn()
    assert {each.excerpt for each in read.evidence(history.db, one.id)} == {
        "The following paths are ignored by one of your .gitignore files: priv/static/assets"
    }


def test_what_helped_once_of_many_is_no_remedy_and_any_cd_left_away_is_one(history: History) -> None:
    def fails(*folders: str) -> None:
        for folder in folders:
            history.begin(f"s{next(history.numbers)}").fails(
                f"cd {folder} && go test ./till", f"bash: line 1: cd: {folder}: No such file or directory"
            )

    fails("src", "web", "src")
    history.runs("go test ./till")
    fails("web")
    assert [one.remedy for one in history.learn()] == [None]
    fails("web")
    history.runs("go test ./till")
    (one,) = history.learn()
    assert one.remedy is not None
    assert (one.remedy.text, one.remedy.times) == ("Without `cd` it works: the shell is there already", 2)
