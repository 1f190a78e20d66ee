"""Skills: what goes together in a project, and what anybody does is none."""

from __future__ import annotations

from typing import Any

import pytest

from nmem.learn import read, rules
from nmem.learn.kinds import skills
from nmem.learn.kinds.skills import form
from nmem.learn.learning import SKILL

History = Any


def _skills(history: History) -> list[Any]:
    history.learn()
    return list(read.learnings(history.db, history.at, kinds=(SKILL,)))


def _work(history: History, name: str, *commands: str, path: str = "src/a.go") -> None:
    history.begin(name).edit(path)
    for each in commands:
        history.runs(each)


def test_what_three_sessions_run_before_a_commit_is_a_skill(history: History) -> None:
    for name in "abc":
        _work(history, name, "go test ./...", "modernize ./...", "golangci-lint run", 'git commit -m "x"')
    (one,) = _skills(history)
    assert one.remedy.commands == ("go test ./...", "modernize ./...", "golangci-lint run", "git commit")
    assert (one.files, one.sessions) == (("*.go",), 3)
    assert rules.rule(one) == (
        "Before `git commit` of a changed `*.go`, run `go test ./...`, then `modernize ./...`, then `golangci-lint run`"
    )


def test_what_anybody_runs_is_none_and_two_sessions_are_too_few(history: History) -> None:
    for name in "abcd":
        _work(history, name, "pytest", "git status", 'git commit -m "x"', "git push")
    for name in "ef":
        _work(history, name, "make docs", "vale docs", 'git commit -m "x"')
    assert _skills(history) == []


def test_what_is_run_again_until_it_passes_is_one_step_at_its_last_place(history: History) -> None:
    for name in "abc":
        history.begin(name).edit("web/a.tsx").runs("bun run lint").fails("bun run check").edit("web/a.tsx")
        history.runs("bun run check").runs("bun run lint")
    (one,) = _skills(history)
    assert one.remedy.commands == ("bun run check", "bun run lint")


def test_one_way_of_many_is_no_habit(history: History) -> None:
    for number in range(13):
        _work(history, f"m{number}", "make all", "make web")
    for name in "abc":
        _work(history, name, "vale docs", "make odd")
    assert [one.remedy.commands for one in _skills(history)] == [("make all", "make web")]


@pytest.mark.parametrize(
    ("part", "said"),
    [
        ("bun run lint:fix", "bun run lint:fix"), ("rtk git commit", "git commit"), ("bd sync", "bd sync"),
        ("bd show", ""), ("python scripts/gen.py", "python scripts/gen.py"), ("python", ""), ("git add", ""),
        ("modernize ./...", "modernize"), ("go test ./...", "go test"),
    ],
)  # fmt: skip
def test_the_form_of_a_command_is_what_is_asked_of_which_program(part: str, said: str) -> None:
    assert form(part) == said


@pytest.mark.parametrize(("commands", "files", "said"), [
    (("npx markdownlint-cli2", "git commit"), ("*.mdx",), "commit changed mdx files"),
    (("bd sync", "git push"), (), "push changes with bd sync"),
    (("bun run typecheck", "gh pr create"), ("*.ts", "*.tsx"), "open a pull request for changed ts or tsx files"),
    (("npx markdownlint-cli2", "vale"), (), "check changes with npx markdownlint cli2"),
    (("mise run fmt", "mise run lint"), (), "check changes with mise run fmt"),
])  # fmt: skip
def test_its_situation_in_plain_words(commands: tuple[str, ...], files: tuple[str, ...], said: str) -> None:
    assert skills.situation(commands, files) == said
