"""A clock that is wrong for a while is not the end of any lifetime, nor of forgetting."""

from __future__ import annotations

from collections.abc import Callable

from nmem.retention import clock, sweep
from nmem.retention.automatic import automatic
from tests.nmem.conftest import Recorded
from tests.nmem.retention.conftest import DAY

Settled = Callable[[], Recorded]
YEAR = 365 * DAY


def never() -> bool:
    return False


def test_a_leap_of_a_year_forgets_nothing_unless_it_lasts(record: Recorded, settled: Settled, db_path: str) -> None:
    record.coupon()
    db = settled().db
    now = record.at + 10 * DAY
    db.execute("DELETE FROM upkeep")
    automatic(db, db_path, now, never)
    automatic(db, db_path, now + 8 * DAY, never)
    held = db.execute("SELECT count(*) FROM observations").fetchone()
    assert automatic(db, db_path, now + YEAR, never).forgotten == 0
    assert automatic(db, db_path, now + YEAR + DAY // 2, never).forgotten == 0
    assert automatic(db, db_path, now + 9 * DAY, never).forgotten == 0
    assert db.execute("SELECT count(*) FROM observations").fetchone() == held
    assert not db.execute("SELECT 1 FROM upkeep WHERE name = ?", (clock.LEAPT,)).fetchone()
    automatic(db, db_path, now + YEAR, never)
    assert automatic(db, db_path, now + YEAR + DAY, never).forgotten > 0, "a year that is over is over"


def test_what_a_clock_ahead_has_noted_stops_no_sweep(record: Recorded, settled: Settled) -> None:
    record.coupon()
    db = settled().db
    now = record.at + 10 * DAY
    db.execute("DELETE FROM upkeep")
    assert not sweep.due(db, now + YEAR)
    assert not sweep.due(db, now), "the week of grace begins now"
    assert sweep.due(db, now + 8 * DAY)
