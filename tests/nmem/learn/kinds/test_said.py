"""Rules that a person gives in passing: by their form, or because they are given again."""

from __future__ import annotations

from typing import Any

import pytest

from nmem.learn.kinds.said import wishes
from nmem.learn.learning import CORRECTION
from nmem.learn.rows import Said

History = Any


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("I don't want to commit docs", "Do not commit docs"),
        ("no, use pnpm, not npm", "Use pnpm, not npm"),
        ("don't add comments", "Do not add comments"),
        ("yes and do not wrap long lines in the markdown as that ruins the rendering",
         "Do not wrap long lines in the markdown as that ruins the rendering"),
        ("Please never push to main.", "Never push to main"),
        ("always run the linter before a commit, please", "Always run the linter before a commit"),
        ("stop adding emojis everywhere!", "Do not add emojis everywhere"),
        ("from now on answer in English", "Answer in English"),
        ("we don't mock the database", "Do not mock the database"),
        ("fold it in, do not run the test suite every time, only on HEAD",
         "Do not run the test suite every time, only on HEAD"),
    ],
)  # fmt: skip
def test_a_general_form_is_a_rule_in_the_persons_words(text: str, rule: str) -> None:
    (one,) = wishes([Said(1, 0, text)])
    assert (one.rule, one.general) == (rule, True)


@pytest.mark.parametrize(
    "text",
    [
        "don't commit it", "Do not change the code just yet", "don't create a pr, just a commit", "don't do that",
        "why don't you use pytest here?", "it is always failing on CI", "I don't know why it fails",
        "Do NOT edit the plan file itself.", "don't worry about the tests", "> never use tabs in this file",
        "fix the parser\n" + "and more of it " * 40 + "\ndon't rewrite prose meaning",
    ],
)  # fmt: skip
def test_what_is_tied_to_the_moment_is_none(text: str) -> None:
    assert not any(one.general for one in wishes([Said(1, 0, text)]))


def test_one_session_is_enough_for_a_general_form_and_two_for_any_other(history: History) -> None:
    history.begin("a").user("don't add comments").runs("ls")
    (one,) = history.learn()
    assert (one.kind, one.title, one.sessions) == (CORRECTION, "Do not add comments", 1)
    history.begin("b").user("don't commit generated files for now").runs("ls")
    assert len(history.learn()) == 1
    history.begin("c").user("do not commit generated files yet").runs("ls")
    assert sorted(one.sessions for one in history.learn()) == [1, 2]
