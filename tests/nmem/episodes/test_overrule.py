"""What a model may not say: that something ended well which the records do not show."""

from __future__ import annotations

import time

import pytest

from nmem.episodes.narrate.records import Narrative
from nmem.episodes.overrule import overrule, stands
from nmem.llm.story import Story as Worded

FAILED = frozenset(("tests_failed", "uncommitted"))
GOOD = frozenset(("tests_passed", "committed", "pushed", "pull_request"))


@pytest.mark.parametrize(
    "sentence",
    [
        "All tests pass now.",
        "The test suite is green.",
        "The build was successful after the change to invoice.py.",
        "14 tests passed.",
        "Tests failed at first, then passed.",
        "The tests passed, not only the first one.",
        "The fix was committed to main.",
        "It was committed and pushed.",
        "A pull request was not needed, so it was committed.",
        "Everything passes in CI, and the checks are fine.",
        "Todos os testes passaram.",
        "Las pruebas ahora pasan.",
        "すべてのテストが成功しました。",
        "测试全部通过。",
        "테스트가 모두 통과했다.",
        "変更はコミットしました。",
    ],
)
def test_a_good_end_needs_the_records(sentence: str) -> None:
    assert not stands(sentence, FAILED)
    assert stands(sentence, GOOD) or "needed" in sentence


@pytest.mark.parametrize(
    "sentence",
    [
        "The tests did not pass because of the rounding.",
        "The suite never passed in this session.",
        "It was not committed.",
        "The coupon was applied twice in invoice.py.",
        "The tests fail because of the rounding.",
        "The parser passes the token to the lexer.",
        "Nothing is committed.",
        "Nothing has been committed or pushed yet.",
        "The change has to be committed.",
        "変更はコミットしていない。",
        "変更はコミットされていません。",
        "변경은 커밋되지 않았다.",
        "テストは成功しなかった。",
    ],
)
def test_what_claims_no_good_end_stands(sentence: str) -> None:
    assert stands(sentence, FAILED) or "成功し" in sentence  # a denial that follows is not read: it is dropped


def test_what_nothing_shows_is_never_said() -> None:
    assert not stands("The release was deployed to production.", GOOD)
    assert not stands("The branch was merged into main.", GOOD)
    assert stands("The helpers were merged into one function.", GOOD)


def test_the_records_give_the_rest() -> None:
    facts = Narrative(
        intent="fix it", learned=["a cause"], completed=["Edited a.py"], next_steps=["open"], files_read=["b.py"],
        files_edited=["a.py"], notes=["pytest failed 3 times"], outcome="1 changed file not committed",
        obstacle="pytest failed 3 times", marks=["tests_failed"],
    )  # fmt: skip
    told = Worded(
        "Fix the doubled total so that the tests pass.", learned=("All tests pass.",),
        notes=("Pytest failed 3 times. The build is green.",), dropped=1,
    )  # fmt: skip
    found, dropped = overrule(facts, told, "m")
    assert found.intent == "Fix the doubled total so that the tests pass.", "a wish is no claim"
    assert found.learned == ["a cause"], "nothing of the model's stands, so the records speak"
    assert found.completed == ["Edited a.py"]
    assert found.notes == ["Pytest failed 3 times."], "once"
    assert (found.outcome, found.files_edited, found.files_read, found.marks) == (
        facts.outcome, facts.files_edited, facts.files_read, facts.marks,
    )  # fmt: skip
    assert (found.narrator, dropped) == ("m", 3)


def test_an_intent_that_is_a_claim_is_the_records_own() -> None:
    facts = Narrative(intent="fix it", marks=["tests_failed"])
    assert overrule(facts, Worded("All tests are green."), "m")[0].intent == "fix it"


def test_the_command_that_opened_an_episode_is_part_of_its_goal() -> None:
    facts = Narrative(intent="Run /workflows:review.\nLater:\n  explain the builder.", outcome="", completed=[])
    told, _ = overrule(facts, Worded("The user wanted the builder explained."), "m")
    assert told.intent == "The user ran /workflows:review. The user wanted the builder explained."
    told, _ = overrule(facts, Worded("The user wanted a review of the branch."), "m")
    assert told.intent == "The user wanted a review of the branch."


def test_what_a_model_says_came_of_it_is_one_part_of_the_end() -> None:
    facts = Narrative(outcome="Committed (abc); the agent at the end: “Done”", marks=["committed"])
    told = overrule(facts, Worded("Mend it.", outcome="The pool is closed; others wait."), "m")[0].outcome
    assert told == "Committed (abc); The pool is closed, others wait"


def test_no_model_replaces_what_a_person_decided_or_what_the_agent_asked_last() -> None:
    facts = Narrative(
        learned=["The user decided: “keep Redis”", "a cause"],
        next_steps=["Open question of the agent: Shall I push?", "pytest still fails", "To do: docs"],
    )
    found, _ = overrule(facts, Worded("Mend it.", learned=("The pool leaks.",), next_steps=("Write the docs.",)), "m")
    assert found.learned == ["The user decided: “keep Redis”", "The pool leaks."]
    assert found.next_steps == ["Open question of the agent: Shall I push?", "pytest still fails", "Write the docs."]


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("`bun run lint` failed with error: no script.", "bun run lint failed once, then passed later"),
        ("The pool was exhausted.", "The pool was exhausted."),
        ("", "bun run lint failed once, then passed later"),
        ("An unbun run lint failed.", "An unbun run lint failed."),
    ],
)
def test_a_command_that_failed_is_told_with_its_cure(said: str, told: str) -> None:
    facts = Narrative(obstacle="bun run lint failed once, then passed later")
    assert overrule(facts, Worded("Mend it.", obstacle=said), "m")[0].obstacle == told


def test_what_failed_again_and_again_is_told_beside_the_models_obstacle() -> None:
    facts = Narrative(obstacle="bun run test failed 4 times, then passed after edits to pot.ts")
    told = overrule(facts, Worded("Mend it.", obstacle="An output file was gone."), "m")[0].obstacle
    assert told == "An output file was gone. bun run test failed 4 times, then passed after edits to pot.ts"


@pytest.mark.parametrize(
    "facts",
    [
        "pytest tests/test_a.py failed once, then passed later",
        "ruff check . failed once, then passed as `ruff check . --fix`",
        "pytest failed once (assert f(g(1)) == 2), then passed after edits to a.py",
        "pytest failed once (1 failed, 3 passed), then passed later",
    ],
)
def test_one_failure_that_went_away_is_left_out_whatever_its_name_and_reason(facts: str) -> None:
    told = Worded("Mend it.", obstacle="An output file was gone.")
    assert overrule(Narrative(obstacle=facts), told, "m")[0].obstacle == "An output file was gone."


@pytest.mark.parametrize(
    "facts",
    [
        "The user objected: “no”. pytest failed once, then passed later",
        "mypy failed 2 times and was not seen to pass. pytest failed once, then passed later",
        "pytest failed once and was not seen to pass",
    ],
)
def test_what_stood_in_the_way_beside_one_failure_is_told(facts: str) -> None:
    told = overrule(Narrative(obstacle=facts), Worded("Mend it.", obstacle="An output file was gone."), "m")[0].obstacle
    assert told == f"An output file was gone. {facts}"


def test_an_obstacle_of_any_length_is_read_in_a_moment() -> None:
    began = time.perf_counter()
    overrule(Narrative(obstacle="x failed once (" * 20_000), Worded("Mend it.", obstacle="A file was gone."), "m")
    assert time.perf_counter() - began < 2


def test_a_note_is_told_as_a_note_where_nobody_names_an_obstacle() -> None:
    told = overrule(Narrative(), Worded("Mend it.", notes=("The run was broken off.", "A hook warned.")), "m")[0]
    assert (told.obstacle, told.notes) == ("", ["The run was broken off.", "A hook warned."])


def test_of_a_command_that_failed_the_records_tell_alone() -> None:
    kept = "`apply` met a lock, as no module named lid is there."
    said = ("`git commit` FAILED.", "`pytest` failed 3 times.", kept)
    facts = Narrative(notes=["pytest failed 2 times, then passed later"])
    told = overrule(facts, Worded("Mend it.", notes=said), "m")[0]
    assert told.notes == [kept, "pytest failed 2 times, then passed later"]
