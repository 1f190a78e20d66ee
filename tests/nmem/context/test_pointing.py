"""What a prompt points at by itself."""

from __future__ import annotations

import pytest

from nmem.context import pointing


@pytest.mark.parametrize(
    ("prompt", "numbers"),
    [
        ("solve https://github.com/a/b/issues/7340#issuecomment-5 please", ["7340"]),
        ("can you review pr 227 for me?", ["227"]),
        ("is #12, or #13, the same?", ["12", "13"]),
        ("bump go to 1.25.6 on port 8080", []),
    ],
)
def test_numbers_of_issues_and_pull_requests(prompt: str, numbers: list[str]) -> None:
    assert pointing.numbers(prompt) == numbers


def test_a_word_of_time_says_when_the_work_was() -> None:
    assert pointing.window("we used yesterday the test skill") == (4 * 3_600_000, 48 * 3_600_000)
    assert pointing.window("the same as earlier today") is not None
    assert pointing.window("add a day picker") is None


def test_the_latest_work_is_pointed_at_by_few_words() -> None:
    assert pointing.latest("can you look at the last commit, can we add a test for it") == "last commit"
    assert pointing.latest("add a commit button") == ""
    assert pointing.latest("the last commit " + "and much more " * 20) == ""
