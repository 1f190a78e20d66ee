"""The goal of an episode from prompts as people write and paste them, in several languages."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import pytest

from nmem.episodes.narrate.narrator import narrate

if TYPE_CHECKING:
    from tests.nmem.episodes.narrate.conftest import Story


class Goal(Protocol):
    def __call__(self, *prompts: str, before: str = "", thinking: str = "") -> str: ...


@pytest.fixture(scope="session")
def goal(begin: type[Story]) -> Goal:
    """The intent that is told of some prompts."""

    def told(*prompts: str, before: str = "", thinking: str = "") -> str:
        story = begin(before)
        for prompt in prompts:
            story.user(prompt)
        if thinking:
            story.agent(thinking, "thinking")
        return narrate(story.episode()).intent

    return told


def test_a_pasted_plan_is_told_by_its_title_and_goal(goal: Goal) -> None:
    plan = (
        "Implement the following plan:\n\n# Plan: Retry failed uploads\n\n## Context\n\nUploads of large"
        " files give up after one timeout.\n\n## Steps\n1. x"
    )
    assert goal(plan) == "Implement the plan: Retry failed uploads (Uploads of large files give up after one timeout)"


def test_logs_are_left_out_and_the_error_is_named(goal: Goal) -> None:
    text = goal(
        "can you fix the import, it fails on CI:\n2026-01-02 10:11:12 INFO start\nTypeError: x is not a"
        " function\n    at run (a.js:1:2)"
    )
    assert text.startswith("can you fix the import, it fails on CI")
    assert "TypeError: x is not a function" in text
    assert "10:11:12" not in text
    assert "a.js" not in text


@pytest.mark.parametrize(
    ("prompt", "expected"),
    [
        ("[Image #1] the header overlaps the table, please fix it", "the header overlaps the table, please fix it"),
        ("<command-name>/review</command-name><command-args>the last commit</command-args>", "/review the last commit"),
        ("<system-reminder>be nice</system-reminder>Add a dark theme", "Add a dark theme"),
        ("README의 설치 방법을 한국어로 바꿔줘", "README의 설치 방법을 한국어로 바꿔줘"),
        (
            "テストが遅いので並列で実行するように変更してください",
            "テストが遅いので並列で実行するように変更してください",
        ),
        ("Preciso que você corrija o login no celular", "Preciso que você corrija o login no celular"),
        ("", ""),
    ],
)
def test_wrappers_go_and_every_language_stays(goal: Goal, prompt: str, expected: str) -> None:
    assert goal(prompt) == expected


def test_a_bare_yes_is_told_by_what_it_agrees_to(goal: Goal) -> None:
    text = goal("yes", before="The cache is stale.\n\nShould I clear it on every deploy?")
    assert "Should I clear it on every deploy?" in text


def test_a_bare_word_is_told_by_what_the_agent_understood(goal: Goal) -> None:
    assert (
        goal("1", thinking="The user wants me to pin the driver to version 3. So I will.")
        == "Pin the driver to version 3."
    )


def test_the_next_substantive_prompt_stands_in_for_a_command(goal: Goal) -> None:
    assert goal("/prime", "Add a retry to the uploader") == "/prime: Add a retry to the uploader"
    assert goal("/test", "/coverage") == "Run /test, /coverage"


def test_a_new_goal_is_named_and_a_correction_is_none(goal: Goal) -> None:
    text = goal(
        "Add a retry to the uploader", "no, not like that", "Now write a migration guide for the billing tables"
    )
    assert text == "Add a retry to the uploader. Later: Now write a migration guide for the billing tables"


def test_a_request_that_ends_in_a_colon_takes_what_follows(goal: Goal) -> None:
    assert goal("Please fix this:\n\nThe total is doubled when a coupon is used.") == (
        "Please fix this: The total is doubled when a coupon is used."
    )


def test_what_is_asked_below_a_document_is_the_goal(begin: type[Story]) -> None:
    text = "# Guidelines\n\n## Tone\nFriendly.\n\n## Length\nShort.\n\n## Examples\n" + "- Many of them.\n" * 40
    asked = f"{text}\n\nMove that file, too"
    assert narrate(begin().user(text).edit("a.md").episode()).intent == "A document given: Guidelines"
    told = narrate(begin().user(asked).edit("a.md").episode()).intent
    assert told == "Move that file, too (a document given: Guidelines)"


@pytest.mark.parametrize(
    "last", ["MIT licence", "Last updated 2026-01-31", "Copyright 2024 The Kettle Authors", "Happy coding!"]
)
def test_the_last_line_of_a_document_is_no_request(begin: type[Story], last: str) -> None:
    text = "# Guidelines\n\n## Tone\nFriendly.\n\n## Length\nShort.\n\n" + "- Many of them.\n" * 40
    told = narrate(begin().user(f"{text}\n\n{last}").edit("a.md").episode()).intent
    assert told == "A document given: Guidelines"


@pytest.mark.parametrize("last", ["해당 파일도 이동해줘", "そのファイルも移動してください"])
def test_a_request_below_a_document_is_one_in_any_language(begin: type[Story], last: str) -> None:
    text = "# Guidelines\n\n## Tone\nFriendly.\n\n## Length\nShort.\n\n" + "- Many of them.\n" * 40
    told = narrate(begin().user(f"{text}\n\n{last}").edit("a.md").episode()).intent
    assert told.startswith(last)
