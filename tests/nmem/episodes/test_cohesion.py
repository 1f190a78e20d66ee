"""The second look at a whole session: wrong cuts go, and beginnings that the first look missed come."""

from __future__ import annotations

from typing import Any

import pytest

from nmem.episodes import detect
from nmem.episodes.boundary import HAND_SET, Decision, load
from nmem.episodes.detect import decide
from nmem.episodes.features import form, spoken

COUPON = "round the coupon in the cart", "The coupon of the cart is rounded."
FOOTER = "translate the footer into Danish", "The footer is Danish."


def bags(*turns: tuple[str, str]) -> list[dict[str, int]]:
    return [detect.bag(spoken(text, {"said": said}), frozenset({"the"})) for text, said in turns]


def test_what_follows_is_held_against_the_episode_and_the_session() -> None:
    turns = bags(COUPON, FOOTER, FOOTER, COUPON)
    like = detect.likeness(turns, [True, True, False, False])
    assert like[0] == (0.0, 0.0)
    episode, session = like[3]
    assert episode < 0.3 < session
    assert like[2][0] > 0.5 > like[1][0]


def test_what_follows_ends_at_the_next_cut() -> None:
    turns = bags(COUPON, FOOTER, COUPON)
    apart = detect.likeness(turns, [True, False, True])[1]
    together = detect.likeness(turns, [True, False, False])[1]
    assert apart[0] < together[0]


def test_an_empty_turn_is_like_nothing() -> None:
    assert detect.likeness(bags(COUPON, ("", "")), [True, False]) == [(0.0, 0.0), (0.0, 0.0)]


@pytest.mark.parametrize(("like", "cut"), [((0.0, 0.6), True), ((0.6, 0.6), False), ((0.9, 0.4), False)])
def test_a_doubtful_prompt_is_cut_where_the_episode_does_not_go_on(like: tuple[float, float], cut: bool) -> None:
    detector = load()
    line = detector.models["revised"].threshold
    found = detector.look_again("now the footer", Decision(False, True, 0.4, "sub", score=line - 1.0), like)
    assert found.cut is cut
    assert (found.label == "new") is cut
    if cut:
        assert "not about the episode before it" in found.reason()


def test_a_cut_within_one_goal_is_taken_back_and_its_label_with_it() -> None:
    detector = load()
    line = detector.models["revised"].threshold
    found = detector.look_again("ok", Decision(True, False, 0.6, "new", ("fresh",), 2, line + 0.1), (0.8, 0.5))
    assert (found.cut, found.label, found.resumes) == (False, "ack", None)


@pytest.mark.parametrize("name", HAND_SET)
def test_a_cut_where_a_signal_set_by_hand_speaks_is_not_taken_back(name: str) -> None:
    detector = load()
    found = {**form("look at the footer"), name: 1.0}
    detector.models["revised"].threshold = detector.models["revised"].score(found) - 0.1
    first = detector.decide("revised", found)
    weaker = detector.look_again("look at the footer", first, (0.9, 0.1))
    assert weaker.cut and weaker.score == first.score
    assert detector.look_again("look at the footer", first, (0.0, 0.9)).score > first.score
    plain = Decision(True, False, 0.6, "new", score=first.score)
    assert not detector.look_again("look at the footer", plain, (0.9, 0.1)).cut


def test_without_weights_for_it_nothing_is_looked_at_again() -> None:
    prompts: list[dict[str, Any]] = [
        {"text": text, "gap_minutes": 2, "agent": {"said": said}} for text, said in (COUPON, FOOTER, FOOTER, COUPON)
    ]
    detector = load()
    detector.again = None
    first, _ = decide(prompts, detector)
    online, _ = decide(prompts, load(), online=True)
    assert [each.score for each in first[1:]] != [each.score for each in decide(prompts, load())[0][1:]]
    assert not any("apart" in each.why for each in [*first, *online])
