"""Shares and durations: when a change is one, and when it is chance."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nmem.audit import shift
from nmem.audit.shift import Share
from nmem.intervals import wilson


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [((0, 10), (5, 5), 1 / 3003), ((8, 10), (1, 6), 0.0350), ((3, 20), (4, 22), 1.0), ((1, 2), (1, 2), 1.0)],
)
def test_fishers_test(before: tuple[int, int], after: tuple[int, int], expected: float) -> None:
    assert shift.probability(Share(*before), Share(*after)) == pytest.approx(expected, rel=0.01)


def test_large_samples_agree_with_small_ones() -> None:
    exact = shift.probability(Share(40, 1_900), Share(80, 2_000))
    assert shift.probability(Share(40, 1_900), Share(84, 2_102)) == pytest.approx(exact, abs=0.002)


def test_false_alarms_are_as_rare_as_promised() -> None:
    """Sessions of one share, drawn again and again, with calls that are alike within a session."""
    dice = random.Random(4)
    alarms = 0
    for _ in range(400):
        halves = []
        for _half in range(2):
            parts = [dice.betavariate(1, 4) for _ in range(12)]
            halves.append(shift.share((sum(dice.random() < part for _ in range(30)), 30) for part in parts))
        alarms += shift.shifted(halves[0], halves[1])
    assert alarms <= 4


def test_sessions_alike_weigh_as_they_are() -> None:
    assert shift.share([(5, 10), (5, 10), (5, 10)]).weight == 1.0
    assert shift.share([(10, 10), (0, 10), (10, 10), (0, 10)]).weight > 5


@given(st.integers(0, 200), st.integers(0, 200), st.integers(0, 200), st.integers(0, 200))
def test_it_is_a_probability(a: int, n: int, b: int, m: int) -> None:
    found = shift.probability(Share(min(a, n), n), Share(min(b, m), m))
    assert 0.0 <= found <= 1.0
    low, high = wilson(min(a, n), n)
    assert 0.0 <= low <= high <= 1.0


def test_durations() -> None:
    assert shift.slower([20] * 40, [40] * 40, 1.5)
    assert not shift.slower([20] * 40, [25] * 40, 1.5)
    assert not shift.slower([20] * 40, [40] * 10, 1.5)
