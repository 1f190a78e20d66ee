"""Which prompts lean on earlier work by their own words."""

from __future__ import annotations

import pytest

from nmem.threads.leaning import leaning, of_a_branch


@pytest.mark.parametrize(
    "prompt",
    ["continue", "again", "still failing", "mach weiter", "es sigue fallando", "continue stp", "계속해줘", "続けて",
     "继续", "まだ失敗する", "resume the work on the parser, and mind src/a.py"],
)  # fmt: skip
def test_a_cue_says_that_the_person_goes_on(prompt: str) -> None:
    assert leaning(prompt).said


@pytest.mark.parametrize(
    "prompt",
    ["and what is it on Thursday?", "and the docs?", "now fix it", "same for the other one", "fix tests", "ok do it",
     "does this apply there too?", "und was ist mit Donnerstag?", "¿y el jueves?", "et pour jeudi ?", "e agora?",
     "목요일은?"],
)  # fmt: skip
def test_a_terse_prompt_leans_without_saying_so(prompt: str) -> None:
    found = leaning(prompt)
    assert found.by
    assert not found.said


@pytest.mark.parametrize(
    "prompt",
    ["", "hello", "thanks", "/test", "can you add a standard MIT license?", "what is the weather in Paris",
     "can you review pr 227 for me?", "https://host.example/issues/7340 investigate this issue again",
     "still, look at the retry client of the billing service in src/retry.py. " * 4],
)  # fmt: skip
def test_a_prompt_with_a_subject_of_its_own_does_not_lean(prompt: str) -> None:
    assert not leaning(prompt).by


def test_what_is_about_a_branch_as_such() -> None:
    assert of_a_branch("can you review the changes in this branch?")
    assert of_a_branch("fix lint errors")
    assert not of_a_branch("add a dark theme to the settings page")
    assert not of_a_branch("review https://host.example/pull/7")
