"""The card of the days on Now, and the files in the card of the work unit."""

from __future__ import annotations

from datetime import UTC
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nmem.read.figures import Days, midnights
from nmem.read.store import HotFile
from nmem_tui.model import now_cards, now_gauges, symbols
from nmem_tui.model.line import length, plain

NOW = 1_760_000_000_000
CELLS = st.integers(1, 200)
SETS = st.sampled_from(symbols.NAMES)


@pytest.fixture(autouse=True)
def usual() -> Any:
    """Blocks again after a test that draws with another set."""
    yield
    symbols.use(symbols.BLOCKS)


def made(*calls: int, episodes: int = 9, pinned: int = 2) -> Days:
    """Days up to now with these calls."""
    return Days(1, midnights(NOW, UTC, len(calls)), calls, episodes, pinned)


@given(st.lists(st.integers(0, 10**9), min_size=1, max_size=14), CELLS, st.integers(1, 9), SETS)
def test_no_width_is_too_small(calls: list[int], cells: int, rows: int, name: str) -> None:
    symbols.use(name)
    days = made(*calls, episodes=10**6)
    drawn = [
        *now_gauges.days_card(days, UTC, cells, rows),
        *now_gauges.days_card(None, UTC, cells, rows),
        now_gauges.line(days, cells),
    ]
    assert all(length(line) <= cells for line in drawn)
    assert len(now_gauges.days_card(days, UTC, cells, rows)) <= rows


def test_it_says_today_in_words() -> None:
    shown = plain(now_gauges.days_card(made(3, 0, 40, 31), UTC, 45, 3))
    assert "9 episodes  2 pinned  31 calls" in shown
    days = made(*[5] * 13, 31)
    assert plain(now_gauges.days_card(days, UTC, 45, 3)).splitlines()[1].endswith("W  today")
    assert plain(now_gauges.days_card(days, UTC, 30, 3)).splitlines()[1].endswith("today")
    assert plain(now_gauges.days_card(days, UTC, 30, 2)).splitlines()[0].endswith("← today")


def test_a_quiet_day_is_no_small_one() -> None:
    bars = plain(now_gauges.days_card(made(0, 1, 1000, 500, 0, 8), UTC, 20, 3)).splitlines()[0]
    assert [bar[0] for bar in bars.split()] == ["·", "▁", "█", "▅", "·", "▁"]


def test_nothing_done_says_what_would_fill_it() -> None:
    assert "nothing in 14 days: each call is counted here" in plain(now_gauges.days_card(made(*[0] * 14), UTC, 60, 3))
    rows = plain(now_gauges.days_card(made(*[0] * 14), UTC, 30, 3)).splitlines()
    assert " ".join(rows) == "nothing in 14 days: each call is counted here by day"
    assert now_gauges.line(made(*[0] * 14), 80) == []


@given(
    st.lists(
        st.builds(HotFile, st.text(min_size=1), st.integers(0, 10**6), st.integers(0, 10**6), st.integers(0, 10**6)),
        max_size=9,
    ),
    st.integers(30, 200), st.integers(0, 9),
)  # fmt: skip
def test_files_of_any_name_fit(files: list[HotFile], cells: int, rows: int) -> None:
    drawn = now_cards.hot_files(files, cells, rows)
    assert len(drawn) == min(len(files), rows, 3)
    assert all(length(line) <= cells for line in drawn)
    assert not any(char in "\n\x1b" for char in plain(drawn).replace("\n", ""))


async def test_wide_has_a_card_of_the_days_which_gives_way_to_the_stream(
    cockpit: Any, make_db: Any, text: Any, settled: Any
) -> None:
    async with cockpit(make_db("story"), size=(160, 45)) as pilot:
        for size in ((160, 45), (120, 30)):
            await pilot.resize_terminal(*size)
            await settled(pilot)
            shown = text(pilot)
            assert "Today ─ in this project" in shown, size
            assert "2 episodes  11 calls" in shown, size
            assert "hot     tests/test_limits.py" in shown or "hot     …test_limits.py" in shown, size
        for size, there in (((80, 24), True), ((80, 20), False), ((120, 24), True), ((120, 22), False)):
            await pilot.resize_terminal(*size)
            await settled(pilot)
            assert ("2 episodes  11 calls" in text(pilot)) is there, size
            assert pilot.app.screen.stream.size.height >= 8, size


async def test_a_call_is_counted_when_it_comes(cockpit: Any, make_db: Any, seeds: Any, text: Any, settled: Any) -> None:
    import sqlite3

    path = make_db("story")
    async with cockpit(path, size=(160, 45)) as pilot:
        db = sqlite3.connect(path, isolation_level=None)
        seeds.do(db, seeds.NOW - 1000, "command", "make")
        db.close()
        pilot.app.screen._read_days()
        await settled(pilot)
        assert "2 episodes  12 calls" in text(pilot)
