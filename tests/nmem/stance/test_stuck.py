"""When a session counts as stuck, and how often the same thing was."""

from __future__ import annotations

import pytest

from nmem.learn.commands import normalise
from nmem.stance.model import Call, Stuck
from nmem.stance.stuck import Tracker, command, hours
from tests.nmem.stance.conftest import MINUTE, START, call

HOUR = 60 * MINUTE


def test(seq: int, outcome: str = "failed", content: str = "pytest tests/test_cart.py", at: int | None = None) -> Call:
    return call(seq, obs_type="test", content=content, outcome=outcome, at=at)


test.__test__ = False  # type: ignore[attr-defined]


def edit(seq: int, path: str = "src/cart.py") -> Call:
    return call(seq, obs_type="file_edit", path=path, content="")


def test_three_failures_in_a_row_are_stuck_and_name_what_was_changed_twice() -> None:
    tracker = Tracker.of([test(1), edit(2), test(3), edit(4), edit(5, "src/tax.py"), test(6)])
    (one,) = tracker.all("s")
    assert one == Stuck("command", "pytest tests/test_cart.py", "s", START + MINUTE, START + 6 * MINUTE, 3,
                        over=False, files=("src/cart.py",))  # fmt: skip
    assert one.ms == 5 * MINUTE
    now = tracker.now()
    assert now is not None
    assert now.failures == 3


def test_two_failures_are_not() -> None:
    assert Tracker.of([test(1), test(2)]).all("s") == []


def test_a_success_ends_a_stretch_and_resets_the_count() -> None:
    tracker = Tracker.of([test(1), test(2), test(3, "ok"), test(4), test(5)])
    assert tracker.all("s") == []
    tracker = Tracker.of([test(1), test(2), test(3), test(4, "ok")])
    assert [each.over for each in tracker.all("s")] == [True]
    assert tracker.now() is None


def test_an_unknown_outcome_says_nothing() -> None:
    assert len(Tracker.of([test(1), test(2), test(3, "unknown"), test(4)]).all("s")) == 1


def test_more_than_an_hour_between_failures_is_another_stretch() -> None:
    times = (0, 1, 2, 2 + 61, 2 + 62)
    tracker = Tracker.of(test(number, at=START + at * MINUTE) for number, at in enumerate(times))
    assert [(each.failures, each.ms) for each in tracker.all("s")] == [(3, 2 * MINUTE)]


def test_options_make_no_other_test_but_another_command() -> None:
    assert len(Tracker.of([test(1), test(2, content="pytest -x tests/test_cart.py"),
                           test(3, content="pytest tests/test_cart.py -q 2>&1 | tail -5")]).all("s")) == 1  # fmt: skip
    rm = [call(seq, content=text, outcome="failed") for seq, text in enumerate(("rm a", "rm -f a", "rm -rf a"))]
    assert Tracker.of(rm).all("s") == []


def test_calls_on_a_file_that_fail_are_stuck_on_the_file() -> None:
    tracker = Tracker.of(call(seq, obs_type="file_edit", path="a.py", content="", outcome="failed") for seq in range(3))
    assert [(each.kind, each.key) for each in tracker.all("s")] == [("file", "a.py")]


def test_what_failed_long_ago_is_not_the_present() -> None:
    tracker = Tracker.of([test(1), test(2), test(3), *(edit(4 + number, f"{number}.py") for number in range(13))])
    assert tracker.now() is None
    assert len(tracker.all("s")) == 1


@pytest.mark.parametrize(
    ("text", "is_"),
    [
        ("cd /src/shop && make  all 2>&1 | tail -20", "make all"),
        ("cd a && cd b && make", "make"),
        ("ps aux | sort", "ps aux | sort"),
        ("make | grep error", "make"),
        ("cd web; npm test", "npm test"),
        ("(cd web && npm test)", "npm test"),
        ("npm test 2>&1 | tail -20 | cat", "npm test"),
        ("CI=1 timeout 60 npm test > /tmp/out.txt", "npm test"),
        ("cat a.sql | psql shop", "cat a.sql | psql shop"),
        ("python3 - <<'X'\nprint(1)\nX", "python3 - <<'X' print(1) X"),
        ("", ""),
    ],
)
def test_a_command_is_what_it_runs(text: str, is_: str) -> None:
    assert command(text) == is_


@pytest.mark.parametrize(
    "text",
    ["CI=1 npm test -- --watch=false", "cd web; npm test", "timeout 60 pytest a.py -q | tail -5",
     "go test ./till/... -v", "npm test 2>&1 | tail -20 | cat", "uv run ruff check src --fix",
     "make lint && make test"],
)  # fmt: skip
def test_a_test_build_or_lint_is_called_what_learnings_call_it(text: str) -> None:
    normal = normalise(text)
    assert normal is not None
    assert command(text, options=False) == normal.key


def test_the_same_typed_otherwise_is_one_stretch() -> None:
    typed = ("cd web; npm test", "CI=1 npm test 2>&1 | tail -20 | cat", "(cd web && npm test -- --watch=false)")
    (one,) = Tracker.of(test(number, content=text) for number, text in enumerate(typed)).all("s")
    assert (one.key, one.failures) == ("npm test", 3)


def stretch(start: float, end: float, key: str = "make", files: tuple[str, ...] = ("a.py",)) -> Stuck:
    began, ended = START + int(start * HOUR), START + int(end * HOUR)
    return Stuck("command", key, "x", began, ended, 3, over=False, files=files)


def test_stuck_hours_are_counted_by_file_over_a_week() -> None:
    # two stretches twenty minutes apart are one stuck hour; those of other files do not count
    earlier = [stretch(0, 0.5), stretch(0.8, 1, "tox"), stretch(24, 25, "tox"), stretch(30, 31, "tox", ("b.py",))]
    now = stretch(48, 48.5)
    # .5 + .2 + 1 + .5 hours
    assert hours(earlier, now, START) == (3, int(2.2 * HOUR), "a.py")


def test_what_ended_before_the_week_does_not_count() -> None:
    assert hours([stretch(0, 1)], stretch(200, 201), START + 2 * HOUR)[0] == 1


def test_without_a_file_in_common_the_command_counts() -> None:
    assert hours([stretch(0, 1, files=())], stretch(9, 10), START) == (2, 2 * HOUR, "make")
