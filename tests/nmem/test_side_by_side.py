"""A crew answers in the order of its jobs, says which it could not do, and is of use again after it was left."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from pathlib import Path

import pytest

from nmem.side_by_side import Crew, Gone, answers, attend, seldom_collected

BAD = 13


def serve() -> None:
    """Run by each process of the crew."""

    def square(number: int) -> int:
        if number == BAD:
            raise ValueError(number)
        return number * number

    attend(square)


@pytest.fixture
def crew(monkeypatch: pytest.MonkeyPatch) -> Iterator[Crew[int, int]]:
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).resolve().parents[2]))  # its processes import this module
    made: Crew[int, int] = Crew("tests.nmem.test_side_by_side:serve", 2)
    yield made
    made.close()


def test_answers_come_in_the_order_of_the_jobs(crew: Crew[int, int]) -> None:
    answer = crew.each(range(9), 3)
    assert [answer() for _ in range(9)] == [number * number for number in range(9)]


def test_a_job_that_fails_says_so_and_costs_no_other(crew: Crew[int, int]) -> None:
    answer = crew.each([1, BAD, 2], 2)
    assert answer() == 1
    with pytest.raises(Gone):
        answer()
    assert answer() == 4


def test_what_nobody_took_is_not_taken_for_the_next_answer(crew: Crew[int, int]) -> None:
    left = crew.each(range(20, 30), 3)
    assert left() == 400
    assert crew.each([5], 1)() == 25


def test_dead_objects_are_looked_for_as_ever_once_the_work_is_done() -> None:
    usual = gc.get_threshold()
    with pytest.raises(KeyError), seldom_collected():
        assert gc.get_threshold()[0] > usual[0]
        raise KeyError
    assert gc.get_threshold() == usual


def test_whose_processes_have_ended_hears_so(crew: Crew[int, int]) -> None:
    crew.close()
    answer = crew.each([1, 2], 1)
    for _ in range(2):
        with pytest.raises(Gone):
            answer()


def dies() -> None:
    """Run by a process that ends before it answers."""


def test_jobs_whose_processes_have_ended_are_each_answered_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).resolve().parents[2]))
    found = answers(
        "tests.nmem.test_side_by_side:dies", range(10), 2, lambda _job, receive: iter([str(receive())]),
        lambda job: f"{job} was not done", 4,
    )  # fmt: skip
    assert sorted(map(str, found)) == [f"{job} was not done" for job in range(10)]
