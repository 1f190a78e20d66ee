"""The smoothed lines against sequences computed by hand, and what must hold of any sequence."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nmem.stance.trajectory import ALPHA, SCOPE_BASE, Trajectory, path, sections, tally
from tests.nmem.stance.conftest import Score, call, calls

scores = st.one_of(st.none(), st.floats(-1, 1, allow_nan=False))


def test_the_line_begins_with_the_first_score_and_moves_by_eight_hundredths() -> None:
    # 1; .92 * 1 + .08 * -1 = .84; .92 * .84 - .08 = .6928; .92 * .6928 + .08 * .5 = .677376
    way = Trajectory.of(calls([1, -1, -1, 0.5]))
    assert [point.ema_phase for point in way.points] == pytest.approx([1, 0.84, 0.6928, 0.677376])
    assert ALPHA == 0.08


def test_an_abstention_holds_its_own_axis_only() -> None:
    # phase 1, held, .92 - .08 = .84; scope 1, .92 - .08 = .84, held
    way = Trajectory.of(calls([1, None, -1], [1, -1, None]))
    assert [point.ema_phase for point in way.points] == pytest.approx([1, 1, 0.84])
    assert [point.ema_scope for point in way.points] == pytest.approx([1, 0.84, 0.84])
    assert (way.placed, way.signs["finish"]) == (3, 1)
    assert way.quadrants()["finish"] == (3, 1.0), "a call counts although one of its scores is not known"


def test_an_observation_without_both_does_not_count() -> None:
    way = Trajectory.of([call(1), call(2, phase=-1)])
    assert (way.observations, len(way.points), way.placed) == (2, 1, 0)
    assert way.quadrant == ""
    assert {each.share for each in way.quadrants().values()} == {0.0}


def test_shares_count_where_the_lines_stood_and_signs_count_the_calls() -> None:
    # phase -1, -.928, -.774, -.712, -.655; scope -1, -.904, -.872, -.802, -.658
    way = Trajectory.of(calls([-1, -0.1, 1, 0, 0], [-1, 0.2, -0.5, 0, 1]))
    assert {name: each.number for name, each in way.quadrants().items()} == {
        "explore": 5, "reason": 0, "scaffold": 0, "finish": 0,
    }  # fmt: skip
    assert way.signs == {"explore": 1, "reason": 1, "scaffold": 1, "finish": 2}


@pytest.mark.parametrize(
    ("phase", "scope", "name"),
    [(-1, -1, "explore"), (-1, 1, "reason"), (1, -1, "scaffold"), (1, 1, "finish"), (0, 0.5, "finish")],
)
def test_the_current_quadrant_is_where_the_lines_are(phase: float, scope: float, name: str) -> None:
    assert Trajectory.of([call(1, phase, scope)], SCOPE_BASE).quadrant == name


def test_scope_divides_at_zero_in_the_seed_and_at_half_as_shown() -> None:
    # 1 and four times -1: 2 * .92 ** 4 - 1 = .4328: above 0, below .5
    sequence = calls([1] * 5, [1, -1, -1, -1, -1])
    assert Trajectory.of(sequence).quadrant == "finish"
    assert Trajectory.of(sequence, SCOPE_BASE).quadrant == "scaffold"


def test_windows_are_means_of_the_last_scores() -> None:
    # last 5: -1; all nine: (4 - 5) / 9 = -.111; .889 apart
    way = Trajectory.of(calls([1, 1, 1, 1, -1, -1, -1, -1, -1]))
    assert way.phase.mean(5) == -1
    assert way.phase.mean(20) == pytest.approx(-1 / 9)
    assert (way.phase.direction, way.scope.direction) == ("think", "stable")


def test_windows_look_past_abstentions() -> None:
    way = Trajectory.of(calls([1, 0.5, None, None, 0.5, 0.5, 0.5, 0.5]))
    assert way.phase.mean(5) == 0.5


@pytest.mark.parametrize(("late", "direction"), [(0.59, "stable"), (0.6, "act"), (0.2, "think"), (0.21, "stable")])
def test_a_direction_begins_where_the_means_are_two_tenths_apart(late: float, direction: str) -> None:
    # 15 earlier scores bring the mean of 20 to .4: (8 - 5 * late) / 15 each
    early = (8 - 5 * late) / 15
    way = Trajectory.of(calls([early] * 15 + [late] * 5))
    assert way.phase.mean(20) == pytest.approx(0.4)
    assert way.phase.direction == direction


def test_only_the_last_twenty_count() -> None:
    way = Trajectory.of(calls([-1] * 30 + [1] * 20))
    assert way.phase.mean(20) == 1
    assert way.phase.direction == "stable"


def test_a_shift_is_where_the_line_went_over() -> None:
    # 2 * .92 ** n - 1: n = 8 .0264, n = 9 -.0557 (over zero), n = 10 -.1312 (a tenth beyond: it counts)
    way = Trajectory.of(calls([1] + [-1] * 9))
    assert way.crossings == []
    way.add(call(11, -1, 1))
    (crossing,) = way.crossings
    assert (crossing.axis, crossing.call.seq, crossing.above) == ("phase", 10, False)


def test_a_shift_of_scope_is_where_the_line_went_over_its_own_divide() -> None:
    # 2 * .92 ** n - 1: n = 3 .5574, n = 4 .4328 (over .5), n = 5 .3182 (a tenth beyond)
    way = Trajectory.of(calls([1] * 6, [1, *[-1.0] * 5]), SCOPE_BASE)
    (crossing,) = way.crossings
    assert (crossing.axis, crossing.call.seq, crossing.above) == ("scope", 5, False)


@pytest.mark.parametrize("run", [1, 2])
def test_a_wobble_around_zero_is_no_shift(run: int) -> None:
    # the line swings by .0417 when calls alternate, by .0832 when pairs of them do
    way = Trajectory.of(calls(([1] * run + [-1] * run) * 100))
    assert way.crossings == []


def test_a_wobble_after_a_shift_is_one_shift_in_all() -> None:
    # ten times -1 after the first: -.1312; then +1, -1 ... keeps the line between -.14 and -.04 and then below .05
    way = Trajectory.of(calls([1] + [-1] * 10 + [1, -1] * 60))
    assert len(way.crossings) == 1
    assert max(point.ema_phase or 0 for point in way.points[60:]) < 0.1


def test_both_axes_shift_and_the_way_has_a_stretch_between_shifts() -> None:
    # scope goes over with the 4th of the wide calls (seq 5), phase with the 9th thinking one (seq 10)
    way = Trajectory.of(calls([1] + [-1] * 14, [1] + [-1] * 14), SCOPE_BASE)
    assert [(each.axis, each.call.seq) for each in way.crossings] == [("scope", 5), ("phase", 10)]
    assert sections(way) == [(0, "finish"), (5, "scaffold"), (10, "explore")]
    stretches = path(way.points, SCOPE_BASE)
    assert [(each.quadrant, each.count) for each in stretches] == [("finish", 4), ("scaffold", 5), ("explore", 6)]
    assert stretches[1].at == way.points[4].at


def test_a_part_of_the_way_is_cut_to_its_points() -> None:
    way = Trajectory.of(calls([1] + [-1] * 14, [1] + [-1] * 14), SCOPE_BASE)
    assert [(each.quadrant, each.count) for each in path(way.points[2:6], SCOPE_BASE)] == [
        ("finish", 2), ("scaffold", 2),
    ]  # fmt: skip


def test_the_other_labels_are_counted_where_they_are_known() -> None:
    way = Trajectory.of([
        call(1, 1, 1, locus=-1, novelty=1, friction=1, outcome="failed"),
        call(2, 1, 1, locus=0.4, novelty=-0.2, friction=-1),
        call(3, 1, 1, novelty=1),
    ])  # fmt: skip
    assert way.split("internal", "external") == {"internal": (1, 0.5), "external": (1, 0.5)}
    assert way.split("routine", "novel")["novel"] == (2, 2 / 3)
    assert (way.counts["novel_friction"], way.counts["routine_smooth"], way.counts["novel_smooth"]) == (1, 1, 0)
    assert way.failed == 1


@given(st.lists(st.tuples(scores, scores), max_size=120))
def test_what_holds_of_any_sequence(sequence: list[tuple[Score, Score]]) -> None:
    found = calls([phase for phase, _ in sequence], [scope for _, scope in sequence])
    way = Trajectory.of(found, SCOPE_BASE)
    for point in way.points:
        assert point.ema_phase is None or -1 - 1e-9 <= point.ema_phase <= 1 + 1e-9
        assert point.ema_scope is None or -1 - 1e-9 <= point.ema_scope <= 1 + 1e-9
    total = sum(each.share for each in way.quadrants().values())
    assert total == pytest.approx(1 if way.placed else 0)
    assert sum(way.signs.values()) == sum(p is not None and s is not None for p, s in sequence)
    assert tally(sequence, SCOPE_BASE) == way.places
    for axis in ("phase", "scope"):
        sides = [each.above for each in way.crossings if each.axis == axis]
        assert all(one != other for one, other in pairwise(sides)), "a shift goes over to the other side"
    parts = sections(way)
    assert all(one[1] != other[1] and one[0] < other[0] for one, other in pairwise(parts))
    stretches = path(way.points, SCOPE_BASE)
    drawn = {name: sum(each.count for each in stretches if each.quadrant == name) for name in way.places}
    assert drawn == way.places, "shares and strip say the same"
    assert (stretches[-1].quadrant if stretches else "") == way.quadrant, "and both agree with where it stands now"


@given(st.lists(st.tuples(scores, scores), max_size=60), st.integers(0, 60))
def test_going_on_is_the_same_as_starting_over(sequence: list[tuple[Score, Score]], cut: int) -> None:
    found = calls([phase for phase, _ in sequence], [scope for _, scope in sequence])
    way = Trajectory.of(found[:cut])
    assert len(way.points) <= cut  # looked at in between, as a screen does
    for each in found[cut:]:
        way.add(each)
    whole = Trajectory.of(found)
    assert (way.points, way.crossings, way.places, way.counts) == (
        whole.points, whole.crossings, whole.places, whole.counts,
    )  # fmt: skip
