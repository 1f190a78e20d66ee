"""What was done by day: counted by index, bounded to the last days, and the same when only today is counted anew."""

from __future__ import annotations

import sqlite3
from datetime import UTC, datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from capture.storage.schema import migrate
from nmem import tables
from nmem.read.figures import DAYS_SHOWN, days, midnights

NOW = 1_760_000_000_000
DAY = 86_400_000


@pytest.fixture
def db(tmp_path: Path) -> sqlite3.Connection:
    """Two projects; the session `now` is of the first one."""
    db = sqlite3.connect(tmp_path / "d.db", isolation_level=None)
    migrate(db)
    tables.ensure(db)
    db.execute("INSERT INTO projects VALUES (1, 'a', 'a', '/a', NULL, 0), (2, 'b', 'b', '/b', NULL, 0)")
    session(db, "now", NOW - 3_600_000, NOW)
    return db


def session(db: sqlite3.Connection, name: str, began: int, last: int, project: int = 1) -> None:
    """A session without calls."""
    db.execute("INSERT INTO sessions (id, client, project_id, cwd, started_at, last_at) VALUES (?, 'c', ?, '', ?, ?)",
               (name, project, began, last))  # fmt: skip


def call(db: sqlite3.Connection, name: str, at: int, times: int = 1, kind: str = "command") -> None:
    """Calls of a session at a time."""
    for _ in range(times):
        seq = db.execute("UPDATE sessions SET seq = seq + 1 WHERE id = ? RETURNING seq", (name,)).fetchone()[0]
        db.execute("INSERT INTO observations (session_id, at, seq, obs_type, content, dedup_key)"
                   " VALUES (?, ?, ?, ?, 'ls', ?)", (name, at, seq, kind, str(seq)))  # fmt: skip


def pinned_unit(db: sqlite3.Connection, name: str, at: int, pinned: int) -> None:
    """An episode that was worked on at a time."""
    db.execute("INSERT INTO prompts (session_id, at, source, kind, content, dedup_key) VALUES (?, ?, 'user', 'prompt',"
               " 'do it', ?)", (name, at, str(at)))  # fmt: skip
    number = db.execute("SELECT max(id) FROM prompts").fetchone()[0]
    db.execute("INSERT INTO work_units (session_id, first_prompt_id, last_prompt_id, started_at, last_at, intent,"
               " pinned) VALUES (?, ?, ?, ?, ?, 'do it', ?)", (name, number, number, at, at, pinned))  # fmt: skip


def test_a_session_over_midnight_counts_on_both_its_days(db: sqlite3.Connection) -> None:
    starts = midnights(NOW, UTC)
    session(db, "night", starts[-1] - 60_000, starts[-1] + 60_000)
    call(db, "night", starts[-1] - 30_000, 3)
    call(db, "night", starts[-1] + 30_000, 2)
    call(db, "now", NOW, 4)
    call(db, "now", NOW, 1, "session_start")
    found = days(db, "now", starts)
    assert found is not None
    assert found.calls == (*[0] * 12, 3, 6)


def test_other_projects_and_older_days_are_left_out(db: sqlite3.Connection) -> None:
    starts = midnights(NOW, UTC)
    session(db, "other", NOW - 1000, NOW, 2)
    session(db, "old", starts[0] - 2 * DAY, starts[0] - DAY)
    call(db, "other", NOW, 5)
    call(db, "old", starts[0] - DAY, 5)
    pinned_unit(db, "other", NOW, 1)
    pinned_unit(db, "now", NOW, 1)
    pinned_unit(db, "now", NOW - 1000, 0)
    pinned_unit(db, "now", starts[-1] - 1, 1)
    found = days(db, "now", starts)
    assert found is not None
    assert (sum(found.calls), found.episodes, found.pinned) == (0, 2, 1)


def test_only_today_is_counted_again(db: sqlite3.Connection) -> None:
    starts = midnights(NOW, UTC)
    session(db, "before", starts[3], starts[4] - 1)
    call(db, "before", starts[3] + 5, 7)
    first = days(db, "now", starts)
    call(db, "now", NOW, 2)
    asked: list[str] = []
    db.set_trace_callback(asked.append)
    again = days(db, "now", starts, first)
    db.set_trace_callback(None)
    assert again == days(db, "now", starts)
    assert again is not None
    assert again.calls == (0, 0, 0, 7, *[0] * 9, 2)
    assert not any(str(starts[0]) in sql for sql in asked)


def test_nothing_scans_the_calls(db: sqlite3.Connection) -> None:
    asked: list[str] = []
    db.set_trace_callback(asked.append)
    days(db, "now", midnights(NOW, UTC))
    db.set_trace_callback(None)
    for sql in asked:
        plan = db.execute(f"EXPLAIN QUERY PLAN {sql}").fetchall()
        assert not any(row[3].startswith(("SCAN observations", "SCAN work_units", "SCAN u")) for row in plan), sql


def test_no_session_no_time_no_tables_of_meaning(tmp_path: Path, db: sqlite3.Connection) -> None:
    starts = midnights(NOW, UTC)
    assert days(db, "nobody", starts) is None
    assert days(db, "now", midnights(10**18, UTC)) is None
    bare = sqlite3.connect(tmp_path / "bare.db")
    migrate(bare)
    bare.execute("INSERT INTO projects VALUES (1, 'a', 'a', '/a', NULL, 0)")
    session(bare, "now", NOW, NOW)
    found = days(bare, "now", starts)
    assert found is not None
    assert (found.episodes, found.pinned) == (0, 0)


@given(st.integers(0, 4 * 10**12), st.sampled_from(["UTC", "Europe/Berlin", "America/Santiago", "Asia/Kathmandu"]))
def test_days_are_whole_in_every_zone(at: int, name: str) -> None:
    zone = ZoneInfo(name)
    starts = midnights(at, zone)
    assert len(starts) == DAYS_SHOWN
    assert starts[-1] <= at < starts[-1] + 25 * 3_600_000
    dates = [datetime.fromtimestamp(start / 1000 + 7200, zone).toordinal() for start in starts]
    assert dates == list(range(dates[0], dates[0] + DAYS_SHOWN))
