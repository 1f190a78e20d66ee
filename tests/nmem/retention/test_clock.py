"""A clock that is wrong for a while is not the end of any lifetime, nor of forgetting."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from click.testing import CliRunner

from nmem.commands import terminal
from nmem.commands.main import nmem
from nmem.retention import plan, policy, sweep
from nmem.retention.idle import automatic
from nmem.retention.store import kept
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
    assert not db.execute("SELECT 1 FROM upkeep WHERE name = ?", (plan.LEAPT,)).fetchone()
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


def test_many_leaps_below_the_limit_are_a_leap(record: Recorded, settled: Settled, db_path: str) -> None:
    record.coupon()
    db = settled().db
    now = record.at + 10 * DAY
    db.execute("DELETE FROM upkeep")
    automatic(db, db_path, now, never)
    automatic(db, db_path, now + 8 * DAY, never)
    gone = [automatic(db, db_path, now + 8 * DAY + leap * 30 * DAY, never).forgotten for leap in range(1, 14)]
    assert gone == [0] * 13
    assert automatic(db, db_path, now + 8 * DAY + 13 * 30 * DAY + DAY, never).forgotten > 0, "it has lasted a day"


def test_by_hand_a_leap_is_said_and_yes_alone_is_not_enough(
    record: Recorded, settled: Settled, monkeypatch: pytest.MonkeyPatch
) -> None:
    record.coupon()
    db = settled().db
    db.execute("DELETE FROM upkeep")
    now = record.at + 10 * DAY
    plan.believed(db, now)
    held = db.execute("SELECT count(*) FROM observations").fetchone()
    monkeypatch.setattr(terminal, "now", lambda: now + YEAR)
    refused = CliRunner().invoke(nmem, ["sweep", "--yes"])
    assert refused.exit_code == 1 and "--clock-is-right" in str(refused.exception)
    assert "365 days after nmem last saw it" in str(refused.exception)
    assert db.execute("SELECT count(*) FROM observations").fetchone() == held
    assert CliRunner().invoke(nmem, ["sweep", "--dry-run"]).exit_code == 0
    monkeypatch.setattr(terminal, "is_terminal", lambda: True)
    assert CliRunner().invoke(nmem, ["sweep", "--yes"], input="n\n").exit_code == 1
    assert db.execute("SELECT count(*) FROM observations").fetchone() == held
    assert CliRunner().invoke(nmem, ["sweep", "--yes", "--clock-is-right"]).exit_code == 0
    assert db.execute("SELECT count(*) FROM observations").fetchone()[0] < held[0]


def test_a_clock_that_goes_on_needs_no_flag(record: Recorded, settled: Settled) -> None:
    record.coupon()
    db = settled().db
    for day in range(60):
        plan.believed(db, record.at + day * DAY)
    assert plan.ahead_by(db, record.at + 60 * DAY) == 0


def test_a_lifetime_begins_when_a_session_was_stored(record: Recorded, settled: Settled) -> None:
    """A clock that was years behind: its session is as old as those beside it."""
    record.coupon("before")
    record.coupon("behind")
    for table in ("prompts", "observations"):
        record.db.execute(f"UPDATE {table} SET at = at - ? WHERE session_id = 'behind'", (2 * YEAR,))
    record.db.execute("UPDATE sessions SET started_at = started_at - ?1, last_at = last_at - ?1 WHERE id = 'behind'",
                      (2 * YEAR,))  # fmt: skip
    db = settled().db
    now = record.at + DAY
    assert kept(db, now).taken_in.keys() == {"behind"}
    assert sweep.sweep(db, policy.load(), now, dry=True).count == 0
    assert sweep.sweep(db, policy.load(), now + 2 * YEAR, dry=True).count > 0


def test_a_session_in_which_the_clock_fell_behind_lives_as_long_as_others(record: Recorded, settled: Settled) -> None:
    record.coupon("mixed")
    record.coupon("after")
    for table in ("prompts", "observations"):
        middle = f"SELECT avg(id) FROM {table} WHERE session_id = 'mixed'"
        later = f"UPDATE {table} SET at = at - ? WHERE session_id = 'mixed' AND id > ({middle})"
        record.db.execute(later, (2 * YEAR,))
    record.db.execute("UPDATE sessions SET started_at = started_at - ? WHERE id = 'mixed'", (2 * YEAR,))
    db = settled().db
    now = record.at + DAY
    assert kept(db, now).taken_in.keys() == {"mixed"}
    assert sweep.sweep(db, policy.load(), now, dry=True).count == 0
    assert sweep.sweep(db, policy.load(), now + 2 * YEAR, dry=True).count > 0


@pytest.fixture
def looked(record: Recorded, settled: Settled) -> Callable[..., bool]:
    """A look at the clock, so many days after the last one was right; whether it is believed."""
    record.coupon()
    db = settled().db
    db.execute("DELETE FROM upkeep")
    now = record.at + 10 * DAY
    plan.believed(db, now)
    return lambda days: plan.believed(db, int(now + days * DAY))


def test_a_leap_that_lasted_leaves_the_guard_against_small_ones(looked: Callable[..., bool]) -> None:
    """Whoever was away for three weeks is guarded afterwards as before."""
    assert [looked(days) for days in (21, 21.5, 22)] == [False, False, True]
    assert [looked(22 + 13 * leap) for leap in range(1, 14)] == [True] + [False] * 12


def test_a_second_leap_is_no_sign_that_the_first_was_none(looked: Callable[..., bool]) -> None:
    assert not looked(20)
    assert not looked(33), "the clock has lasted no day: it leapt once more"
    assert not looked(33.5)
    assert looked(34), "half a day and half a day were seen to pass"


def test_a_leap_is_taken_back_by_nothing_but_the_whole_way(looked: Callable[..., bool]) -> None:
    assert not looked(365)
    assert not looked(364.999), "a second back is what any clock is put right by"
    assert not looked(300)
    assert not looked(299.999)
    assert looked(0.1)


def test_small_steps_back_do_not_wipe_out_what_was_skipped(looked: Callable[..., bool]) -> None:
    assert looked(13)
    assert looked(12.999)
    assert not looked(26)


def test_a_memory_of_before_looks_were_kept_is_guarded(record: Recorded, settled: Settled) -> None:
    record.coupon()
    db = settled().db
    now = record.at + YEAR
    record.begin("now").user("and now?")
    db.execute("UPDATE sessions SET started_at = ?1, last_at = ?1 WHERE id = 'now'", (now,))
    db.execute("DELETE FROM upkeep")
    assert plan.ahead_by(db, now) >= YEAR - DAY
    assert not plan.believed(db, now)
    assert plan.ahead_by(db, now + DAY // 2) >= YEAR - DAY, "how far it leapt is still said"
