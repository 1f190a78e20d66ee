"""What an episode leaves to know: decisions, failures with their cure, causes that the work bears out; no more."""

from __future__ import annotations

import time

import pytest

from nmem.episodes.narrate.learned import picked
from nmem.episodes.narrate.narrator import narrate
from tests.nmem.episodes.narrate.conftest import Story


def test_a_slip_of_ones_own_edits_is_a_note_and_a_failure_found_is_learned(begin: type[Story]) -> None:
    slip = begin().user("Add a retry to the uploader").edit("up.py")
    slip.shell("pytest", "test", "failed", response="up.py:4: error: retries is not defined").edit("up.py")
    told = narrate(slip.shell("pytest", "test").agent("Added the retry.").episode())
    assert not told.learned and any("retries is not defined" in note for note in told.notes)
    found = begin().user("The tests fail on CI").shell("pytest", "test", "failed", response="KeyError: 'TZ' is not set")
    told = narrate(found.edit("conf.py").shell("pytest", "test").agent("Set the zone.").episode())
    assert told.learned == ["pytest failed once (KeyError: 'TZ' is not set), then passed after edits to conf.py"]


def test_a_cause_is_learned_where_the_agent_ended_its_work_with_it(begin: type[Story]) -> None:
    cause = "The cause was that the cache key of `load_page` ignored the locale, so both languages shared one page."
    fixed = begin().user("Both languages show one page").edit("load_page.py").agent(f"Fixed it.\n\n{cause}")
    assert narrate(fixed.episode()).learned == [cause.replace("`", "")]
    thought = begin().user("Both languages show one page").agent(cause, "thinking").edit("load_page.py").agent("Done.")
    assert not narrate(thought.episode()).learned
    place = "The bug was in the load_page function in web/load_page.py at line 250."
    assert not narrate(
        begin().user("Both languages are mixed").edit("load_page.py").agent(f"Done. {place}").episode()
    ).learned
    theirs = begin().user(cause.replace("The cause was that the", "The")).edit("load_page.py").agent(f"Done. {cause}")
    assert not narrate(theirs.episode()).learned


@pytest.mark.parametrize(
    ("reply", "learned"),
    [
        ("2", ["The user decided: “2” (Drop the plugin and use plain vitest)"]),
        ("1 is better", ["The user decided: “1 is better” (Keep the old version of both)"]),
        ("2 of the tests still fail", []),
    ],
)
def test_a_bare_number_is_told_by_the_option_it_stands_for(begin: type[Story], reply: str, learned: list[str]) -> None:
    said = "Both do not fit.\n\n1. Keep the old version of both\n2. Drop the plugin and use plain vitest\n\nWhich one?"
    story = begin().user("Update vitest").agent(said).user(reply).edit("package.json").agent("Updated package.json.")
    assert narrate(story.episode()).learned == learned


def test_a_choice_is_read_in_a_moment_whatever_follows_it() -> None:
    said = "1. Keep the old version\n2. Drop the plugin\n\nWhich one?"
    assert picked("2번으로 해주세요!!", said) == "Drop the plugin"
    began = time.perf_counter()
    assert not picked("1번 해" + "." * 20_000 + " a", said)
    assert time.perf_counter() - began < 1


@pytest.mark.parametrize(
    ("output", "reason"),
    [
        ("$ lint ./...\nERROR task failed\nup.go:40:1: Get returns an interface (ireturn)", "up.go:40:1: Get returns"),
        ("2026/02/03 11:25:30 INFO cleanup failed=0 error=none\nFAIL: TestReset (0.01s)", "FAIL: TestReset"),
        ("ok a/b 1.2s\nFAIL a/c 3.2s\nc_test.go:9: total = 15, want 14", "c_test.go:9: total = 15"),
    ],
)
def test_the_line_that_says_why_is_quoted(begin: type[Story], output: str, reason: str) -> None:
    story = begin().user("The check fails").shell("make check", "lint", "failed", response=output)
    assert f"make check still fails: {reason}" in narrate(story.episode()).next_steps[1]


@pytest.mark.parametrize(
    ("closing", "answer"),
    [
        ("That's a crucial distinction!\n\nSquash merges keep the trailers of all commits.", "Squash merges keep the"),
        ("Yes! The variable is documented on the page of hooks.", "Yes! The variable is documented"),
        ("# Isolation by suffix\n\n## Problem\n\nOne branch holds both trees of it.", "“Isolation by suffix”: "),
        ("There are two ways to do this, from simple to full provenance of lines:\n\n- Blame\n- Hash", "There are two"),
    ],
)  # fmt: skip
def test_an_answer_begins_with_its_first_sentence_of_substance(begin: type[Story], closing: str, answer: str) -> None:
    story = begin().user("How do squash merges keep the trailers?").act("search", "trailers").agent(closing)
    assert narrate(story.episode()).completed[0].startswith(f"Answer: {answer}")


def test_a_branch_called_next_is_no_heading_of_what_is_left(begin: type[Story]) -> None:
    story = begin().user("Fix both bugs").edit("a.py").commit("1a2b3c4", "Fix both")
    story.agent(
        "Two commits on `next`:\n\n- `1a2b3c4` the path is replaced by its span\n- `2b3c4d5` merging keeps keys\n"
    )
    assert not narrate(story.episode()).next_steps
    story = begin().user("Fix both bugs").edit("a.py").agent("Fixed both.\n\n## Next steps\n\n- Try it on Windows\n")
    assert narrate(story.episode()).next_steps == ["Try it on Windows"]


def test_an_option_taken_by_its_number_is_told_with_what_it_is_in_korean_too(begin: type[Story]) -> None:
    story = begin().user("어떤 방식이 좋을까?")
    story.agent("1. 모델을 직접 바꾼다\n2. 현재 모델에서 subagent를 활용한다\n어떤 방식으로 진행하시겠습니까?")
    told = narrate(story.user("2번 방식으로 해줘.").edit("a.md").agent("완료했습니다.").episode()).learned
    assert told == ["The user decided: “2번 방식으로 해줘.” (현재 모델에서 subagent를 활용한다)"]
    bare = begin().user("어떤 방식이 좋을까?").agent("어떤 방식으로 진행하시겠습니까?").user("2번 방식으로 해줘.")
    assert not narrate(bare.edit("a.md").agent("완료했습니다.").episode()).learned
