"""A session that was recorded while the clock was ahead: said, leading no list, and put where it belongs."""

from __future__ import annotations

import itertools
import sqlite3
import time

import pytest
from click.testing import CliRunner

from nmem import undo
from nmem.audit import WRONG, future, read
from nmem.commands.main import nmem
from nmem.read import episodes, listing, views
from nmem.read.episode_store import Filter
from nmem.settle import settle
from nmem.stance.read import newest
from nmem.threads import read as threads
from tests.nmem.conftest import MINUTE, Recorded

YEAR = 365 * 86_400_000


@pytest.fixture
def leapt(record: Recorded, db_path: str) -> Recorded:
    """Three sessions; the clock was a year ahead during the second one."""
    record.at = int(time.time() * 1000) - 30 * 60 * MINUTE
    record.coupon("first")
    record.at += YEAR
    record.coupon("ahead")
    record.at -= YEAR
    record.coupon("last")
    assert settle(db_path, 600, models=False, clock=lambda: record.at + 2 * YEAR) is not None
    return record


def sessions_of(record: Recorded) -> list[str]:
    return [row.id for row in views.sessions(record.db)]


def test_what_lies_in_the_future_leads_no_list(leapt: Recorded) -> None:
    db = leapt.db
    db.row_factory = sqlite3.Row
    assert sessions_of(leapt) == ["last", "first", "ahead"]
    assert sessions_of(leapt)[:1] == [views.sessions(db, 1)[0].id] == [views.sessions(db, 1, "shop")[0].id]
    assert newest(db, "shop") == "last"
    of = {row["id"]: row["session_id"] for row in db.execute("SELECT id, session_id FROM work_units")}
    page = episodes.page(db, None, Filter(), 10)
    assert [of[slot.id] for slot in page.slots] == ["last", "first", "ahead"]
    for at in range(3):
        rest = [of[slot.id] for slot in episodes.older(db, page.slots[at], Filter())]
        assert rest == ["last", "first", "ahead"][at + 1 :], "paging goes on behind every row"
    assert [row.session_id for row in listing.listed(db)] == ["last", "first", "ahead"]
    assert threads.threads(db)[-1].last_at > future.now()


def test_it_is_said_and_put_right_where_it_belongs(leapt: Recorded, db_path: str) -> None:
    db = leapt.db
    found = [one for one in read.findings(db, db_path, future.now()) if one.check == "clock"]
    assert [(one.severity, one.mend, one.examples) for one in found] == [
        (WRONG, "nmem doctor --fix", ("session/ahead",))
    ]
    before = db.execute("SELECT at FROM observations WHERE session_id = 'ahead' ORDER BY seq").fetchall()
    CliRunner().invoke(nmem, ["doctor", "--fix"])
    assert not future.ahead(db, future.now())
    after = db.execute("SELECT at FROM observations WHERE session_id = 'ahead' ORDER BY seq").fetchall()
    gaps = [[b[0] - a[0] for a, b in itertools.pairwise(one)] for one in (before, after)]
    assert gaps[0] == gaps[1], "what happened keeps its distances"
    end, start = (db.execute(f"SELECT {sql}").fetchone()[0] for sql in (
        "last_at FROM sessions WHERE id = 'ahead'", "started_at FROM sessions WHERE id = 'last'"))  # fmt: skip
    assert end == start
    assert settle(db_path, 600, models=False) is not None
    assert not db.execute("SELECT 1 FROM work_units WHERE last_at > ?1 OR obs_trace LIKE ?2", (
        future.now(), f'%"t":{before[0][0]}%')).fetchone()  # fmt: skip
    assert [row[0] for row in db.execute("SELECT session_id FROM work_units ORDER BY last_at DESC")] == [
        "last", "ahead", "first"
    ]  # fmt: skip
    assert read.fix(db_path) == [], "there is nothing to do a second time"


def test_the_key_of_health_puts_right_what_it_shows(leapt: Recorded, db_path: str) -> None:
    assert read.fix(db_path)[0] == "1 session brought back from the future"


def test_undo_puts_back_every_time_that_was_moved(leapt: Recorded, db_path: str) -> None:
    db = leapt.db

    def times() -> list[list[tuple[object, ...]]]:
        return [
            db.execute(f"SELECT {columns} FROM {table} ORDER BY rowid").fetchall()
            for table, columns in (
                ("sessions", "started_at, last_at"), ("observations", "at"), ("prompts", "at"),
                ("work_units", "started_at, last_at, ended_at"), ("threads", "last_at"),
            )
        ]  # fmt: skip

    before = times()
    assert read.fix(db_path) and times() != before
    assert settle(db_path, 600, models=False) is not None, "what was made anew meanwhile is in nobody's way"
    assert undo.undo(db, future.now()) == "session ahead brought back from the future"
    assert [one.session_id for one in future.ahead(db, future.now())] == ["ahead"]
    assert times() == before
    assert read.fix(db_path) == ["1 session brought back from the future"]


def test_one_undo_takes_back_what_one_key_moved(record: Recorded, db_path: str) -> None:
    record.at = int(time.time() * 1000) + YEAR
    for name in ("one", "two"):
        record.coupon(name)
    assert read.fix(db_path) == ["2 sessions brought back from the future"]
    assert undo.undo(record.db, future.now()).startswith("2 at once: session two brought back")
    assert len(future.ahead(record.db, future.now())) == 2


def test_a_session_of_now_is_left_alone(record: Recorded, db_path: str) -> None:
    record.at = int(time.time() * 1000) - 60 * MINUTE
    record.coupon()
    assert settle(db_path, 600, models=False) is not None
    assert not future.findings(record.db, future.now()) and not future.fix(record.db, future.now())
