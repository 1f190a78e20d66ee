"""Are hooks slow, and since when; how fast the memory grows; and how hot an episode's files are."""

from __future__ import annotations

import sqlite3
from datetime import UTC
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from capture.storage.schema import migrate
from nmem.read.health import HOUR, SPANS, WEEK, WEEKS, Pace, Span, pace
from nmem_tui.model import health_cards as drawn
from nmem_tui.model import symbols
from nmem_tui.model.line import length, plain

NOW = 1_760_000_000_000


@pytest.fixture(autouse=True)
def usual() -> Any:
    """Blocks again after a test that draws with another set."""
    yield
    symbols.use(symbols.BLOCKS)


@pytest.fixture
def db(tmp_path: Path) -> sqlite3.Connection:
    """No run yet."""
    db = sqlite3.connect(tmp_path / "d.db", isolation_level=None)
    migrate(db)
    db.execute("INSERT INTO projects VALUES (1, 'a', 'a', '/a', NULL, 0)")
    return db


def ran(db: sqlite3.Connection, hours_ago: float, ms: int, times: int = 6) -> None:
    """Hooks that took so long, so long ago."""
    db.executemany(
        "INSERT INTO hook_runs (at, client, event, wall_us, cpu_us, bytes, result)"
        " VALUES (?, 'c', 'e', ?, 1, 1, 'stored')",
        [(int(NOW - hours_ago * HOUR), ms * 1000)] * times,
    )  # fmt: skip


def test_slower_hooks_are_told_with_the_hour_since_which_they_are(db: sqlite3.Connection) -> None:
    for hour in (9, 8, 7, 5):
        ran(db, hour - 0.5, 24)
    for hour in (3, 2, 1):
        ran(db, hour - 0.5, 90)
    found = pace(db, NOW)
    assert (found.length, len(found.spans), found.usual) == (HOUR, 9, 24_000)
    assert found.slower is not None
    assert found.slower.at == NOW - 3 * HOUR
    shown = plain(drawn.hook_bars(found, UTC, 60)).splitlines()
    assert shown[0] == "by hour ▃▃▃·▃·███"
    assert shown[-1] == "! slower since Thu 05:53: 90 ms, before 24 ms"


def test_one_slow_hour_that_is_over_is_no_trend_and_few_runs_say_nothing(db: sqlite3.Connection) -> None:
    for hour, ms, times in ((5, 24, 6), (4, 90, 6), (3, 25, 6), (2, 24, 6), (1, 300, 2)):
        ran(db, hour - 0.5, ms, times)
    found = pace(db, NOW)
    assert found.slower is None
    assert plain(drawn.hook_bars(found, UTC, 80)).endswith("✓ no slower than before: 25 ms, 300 ms at worst")


@pytest.mark.parametrize(("hours", "length"), [(47, HOUR), (200, 6 * HOUR), (1000, 24 * HOUR), (5000, WEEK)])
def test_spans_are_as_long_as_the_kept_runs_ask_for(db: sqlite3.Connection, hours: int, length: int) -> None:
    ran(db, hours, 24)
    ran(db, 0.1, 24)
    found = pace(db, NOW)
    assert found.length == length
    assert len(found.spans) <= SPANS
    assert sum(one.runs for one in found.spans if one) == 12


def test_nothing_ran_and_one_hour_only(db: sqlite3.Connection) -> None:
    assert drawn.hook_bars(pace(db, NOW), UTC, 80) == []
    assert drawn.hook_bars(None, UTC, 80) == []
    assert drawn.growth(pace(db, NOW), 1000, 10, 80) == []
    ran(db, 0.1, 24)
    assert plain(drawn.hook_bars(pace(db, NOW), UTC, 80)) == "too little history to say whether hooks become slower"


def test_growth_counts_what_sessions_counted(db: sqlite3.Connection) -> None:
    for number, (weeks, rows) in enumerate(((0.5, 30), (0.9, 20), (3.5, 7), (11.9, 5), (13, 99), (-1, 99))):
        db.execute(
            "INSERT INTO sessions (id, client, project_id, cwd, started_at, last_at, seq)"
            " VALUES (?, 'c', 1, '', 0, ?, ?)",
            (str(number), int(NOW - weeks * WEEK), rows),
        )
    found = pace(db, NOW)
    assert found.weeks == (5, *[0] * 7, 7, 0, 0, 50)
    assert "50" in plain(drawn.growth(found, 10_000, 100, 80))
    assert plain(drawn.growth(found, 10_000, 100, 80)).endswith("  by week, about 5.0 kB")
    assert plain(drawn.growth(found, 10_000, 100, 54)).endswith("█  about 5.0 kB")


SPAN = st.none() | st.builds(
    Span, st.integers(-(2**60), 2**60), st.integers(1, 999), st.integers(0, 2**40), st.integers(0, 2**40)
)


@given(
    st.sampled_from([HOUR, 6 * HOUR, 24 * HOUR, WEEK]), st.lists(SPAN, max_size=SPANS), st.integers(0, 2**40), SPAN,
    st.integers(1, 200), st.lists(st.integers(0, 2**40), min_size=WEEKS, max_size=WEEKS),
    st.sampled_from(symbols.NAMES),
)  # fmt: skip
def test_no_width_is_exceeded(
    size: int, spans: list[Span | None], usual: int, slower: Span | None, cells: int, weeks: list[int], name: str
) -> None:
    symbols.use(name)
    known = any(spans)
    found = Pace(size, tuple(spans), usual if known else None, slower if known else None, tuple(weeks))
    lines = [*drawn.hook_bars(found, UTC, cells), *drawn.growth(found, 10**9, 10, cells)]
    assert all(length(line) <= cells for line in lines)


async def test_health_says_whether_hooks_are_slower(cockpit: Any, make_db: Any, text: Any, settled: Any) -> None:
    path = make_db("story")
    db = sqlite3.connect(path, isolation_level=None)
    db.execute("DELETE FROM hook_runs")
    for hours, ms in ((6, 24), (5, 24), (4, 25), (2, 88), (1, 90)):
        ran(db, hours - 0.5, ms)
    db.close()
    async with cockpit(path, size=(160, 45)) as pilot:
        await pilot.press("8", "v")
        await settled(pilot)
        assert "! slower since Thu 06:53: 90 ms, before 24 ms" in text(pilot)
        assert "in 7 days" in text(pilot)


async def test_a_story_draws_how_hot_its_files_are(cockpit: Any, make_db: Any, text: Any, settled: Any) -> None:
    async with cockpit(make_db("story"), size=(200, 45)) as pilot:
        await pilot.press("2")
        await settled(pilot)
        rows = [row for row in text(pilot).splitlines() if ", changed " in row]
        assert "▇▇▇▇▇▇▇▇  read 0, changed 2" in rows[0]
        assert "▇▇▇▇      read 0, changed 1" in rows[1]
