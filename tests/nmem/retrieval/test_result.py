"""Which sentences of an agent's closing words are quoted for what came of an episode."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from nmem.retrieval.documents import LONGEST_RESULT, result


def test_causes_and_changes_are_quoted_and_pleasantries_are_not() -> None:
    said = (
        "Perfect! Everything works now.\n\n## Cause\n\nThe issue was that `round_cents` used ROUND_HALF_UP.\n\n"
        "- Changed the mode to ROUND_HALF_DOWN in pay/rounding.py\n\nLet me know if you want more tests!"
    )
    assert result([said]) == (
        "The issue was that round_cents used ROUND_HALF_UP. Changed the mode to ROUND_HALF_DOWN in pay/rounding.py."
    )


def test_sentences_that_did_not_follow_each_other_are_not_one_quotation() -> None:
    first = "The cause was that the cache was never cleared.\n\nOK?\n\nSet the limit to 5, because of the window."
    assert result([first]).split("\n") == [
        "The cause was that the cache was never cleared.", "Set the limit to 5, because of the window."
    ]  # fmt: skip
    two = result(["The cause was a stale lock.", "Moved the lock into the folder, because two users share it."])
    assert two.split("\n") == [
        "The cause was a stale lock.",
        "Moved the lock into the folder, because two users share it.",
    ]


def test_questions_offers_and_lists_ahead_are_not_quoted() -> None:
    assert result(["Shall I also update the docs?", "Here is what I would do next:", "OK."]) == ""


def test_the_newest_words_count_most() -> None:
    said = result(["Set the limit to 5 because of the window.", "Set MAX_ATTEMPTS to 7, because the eighth trips it."])
    assert said.endswith("Set MAX_ATTEMPTS to 7, because the eighth trips it.")


def test_a_sentence_that_was_cut_is_not_quoted() -> None:
    assert result(["The cause was that the cache …[+863] was never cleared."]) == ""


@given(st.lists(st.text(max_size=600), max_size=5))
def test_any_words_give_whole_sentences_within_bounds(closings: list[str]) -> None:
    assert len(result(closings)) <= LONGEST_RESULT + 3


def test_an_entry_of_a_list_is_no_sentence() -> None:
    said = result(["- Both args of that long line\n- Moved the cache out of the loop because it was made anew."])
    assert said == "Moved the cache out of the loop because it was made anew."


def test_how_checks_ended_is_not_what_came_of_the_work() -> None:
    assert result(["- Shadow branch of the run - PASS (it is there)"]) == ""
    assert result(["All 8 tasks are complete."]) == ""
