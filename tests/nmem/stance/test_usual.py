"""A session beside earlier ones: quartiles computed by hand."""

from __future__ import annotations

import pytest

from nmem.stance.model import SessionStance
from nmem.stance.read import compared, quantile


def session(think: float | None = None, failed: int = 0, observations: int = 100) -> SessionStance:
    count = observations
    return SessionStance("s", "claude", 0, 0, "", count, count, 0, None, None, {}, think, None, None, None, failed)


def test_quartiles_lie_between_neighbours() -> None:
    # places 0..3: a quarter is at .75, between 1 and 2; the median at 1.5
    assert quantile([4, 1, 3, 2], 0.25) == 1.75
    assert quantile([4, 1, 3, 2], 0.5) == 2.5
    assert quantile([7], 0.75) == 7


def test_what_is_far_outside_the_middle_half_is_unusual() -> None:
    # middle half .35 to .45: half as much again as its width beyond is .2 to .6
    earlier = [session(value) for value in (0.3, 0.35, 0.4, 0.45, 0.5)]
    (think, _) = compared(session(0.7), earlier)
    assert (think.median, think.low, think.high, think.sessions) == (0.4, 0.35, 0.45, 5)
    assert think.unusual
    assert think.text == "70 % of the calls think; usually 40 % here."
    assert not compared(session(0.59), earlier)[0].unusual


def test_a_small_difference_is_usual_however_narrow_the_spread() -> None:
    earlier = [session(0.4)] * 6
    assert not compared(session(0.49), earlier)[0].unusual
    assert compared(session(0.51), earlier)[0].unusual


@pytest.mark.parametrize(
    ("mine", "earlier"),
    [
        (session(0.7), [session(0.4)] * 4),
        (session(0.7), [session(0.4, observations=19)] * 9),
        (session(0.7, observations=19), [session(0.4)] * 9),
    ],
)
def test_too_little_to_compare_with_is_not_compared(mine: SessionStance, earlier: list[SessionStance]) -> None:
    assert compared(mine, earlier) == ()


def test_figures_that_nobody_knows_are_left_out() -> None:
    assert [each.name for each in compared(session(None, failed=5), [session(0.4, failed=5)] * 5)] == ["failed"]
