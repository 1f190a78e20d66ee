"""What settling after each turn costs, in calls of functions: the same on every machine, however busy."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType
from typing import TYPE_CHECKING

from nmem.episodes import online
from nmem.settle import settle

if TYPE_CHECKING:
    from tests.nmem.conftest import Recorded

SUBJECTS = ("the invoice total", "a coupon", "the currency", "its rounding", "the tax", "the discount")


def _calls(work: Callable[[], object]) -> int:
    """Python functions that are called meanwhile."""
    count = 0

    def seen(_frame: FrameType, event: str, _arg: object) -> None:
        nonlocal count
        count += event == "call"

    before = sys.getprofile()
    sys.setprofile(seen)
    try:
        work()
    finally:
        sys.setprofile(before)
    return count


def _turn(record: Recorded, number: int, db_path: str) -> None:
    subject = SUBJECTS[number % len(SUBJECTS)]
    record.user(f"now look at {subject} of the invoice with a coupon as well, it is wrong for order {number}")
    record.edit("src/invoice.py").act("test", f"pytest tests/test_invoice.py -k order_{number}")
    record.agent(f"The sum for order {number} was wrong because {subject} was counted twice.")
    online.arrived(record.db, record.session, db_path)


def test_a_turn_does_not_tell_and_read_all_of_its_session_anew(record: Recorded, db_path: str) -> None:
    record.coupon()

    def run() -> None:
        assert settle(db_path, models=False, clock=lambda: record.at) is not None

    run()
    spent, idle = [], []
    for number in range(48):
        _turn(record, number, db_path)
        spent.append(_calls(run))
        idle.append(_calls(run))
    nothing = sorted(idle)[len(idle) // 2]
    assert nothing < 3_500  # 2,371 when this was written
    assert sum(one - nothing for one in spent) < 480_000  # 348,000; 779,000 where each turn was told and read of anew
