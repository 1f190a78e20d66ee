"""The strip over the list of episodes: segments in time's order, letters of threads, the cursor's mark, clicks."""

from __future__ import annotations

from datetime import UTC
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nmem.read.episodes import EpisodeRow, Outcome, Slot
from nmem_tui.model import band, symbols
from nmem_tui.model.band import Letters, Stretch
from nmem_tui.model.episodes import Shelf, heading
from nmem_tui.model.line import length, plain

NOW = 1_760_000_000_000
MINUTE = 60_000
DAY = 86_400_000


@pytest.fixture(autouse=True)
def usual() -> Any:
    """Blocks again after a test that draws with another set."""
    yield
    symbols.use(symbols.BLOCKS)


def row(number: int, began: int, minutes: int = 4, thread: int | None = 1, name: str = "Do it") -> EpisodeRow:
    """An episode that began at a time and was active for some minutes."""
    long = minutes * MINUTE
    title = f"Thread {thread}" if thread else ""
    return EpisodeRow(number, "s", thread, title, "p", name, "closed", False, False, began, began + long, long, 1,
                      Outcome(), None, False, 0)  # fmt: skip


def shelf(rows: list[EpisodeRow]) -> Shelf:
    """A list of these, all in memory."""
    known = Shelf(UTC)
    known.fill({each.id: each for each in rows})
    newest = sorted(rows, key=lambda each: (-each.last_at, -each.id))
    known.add([Slot(each.last_at, each.id, each.thread_id) for each in newest], complete=True)
    return known


ROWS = st.lists(
    st.tuples(st.integers(-(2**55), 2**55), st.integers(-(10**9), 10**9), st.none() | st.integers(1, 60), st.text()),
    min_size=1, max_size=40,
)  # fmt: skip


@given(ROWS, st.integers(1, 200), st.integers(0, 6), st.integers(0, 39), st.sampled_from(symbols.NAMES))
def test_no_width_is_exceeded_and_no_segment_lies_on_another(
    made: list[tuple[int, int, int | None, str]], cells: int, rows: int, chosen: int, name: str
) -> None:
    symbols.use(name)
    known = shelf([row(number, *each) for number, each in enumerate(made, 1)])
    stretch, unit_id = Stretch(), chosen % len(made) + 1
    segments = stretch.around(known, unit_id, cells)
    drawn = band.draw(segments, unit_id, stretch.letters, cells, rows, NOW, UTC)
    assert len(drawn) <= rows
    assert all(length(line) <= cells for line in drawn)
    assert not any(char in "\n\x1b" for line in drawn for text, _ in line for char in text)
    taken = [cell for one in segments for cell in range(one.first, one.first + one.cells)]
    assert len(taken) == len(set(taken))
    assert all(cell < cells for cell in taken)
    assert unit_id in [one.row.id for one in segments]
    assert all(band.at(segments, one.first + one.cells - 1) == one.row.id for one in segments)
    assert band.title(segments, len(made)).startswith("Timeline")


def test_idle_time_is_a_gap_and_a_night_is_marked() -> None:
    noon = NOW // DAY * DAY + 8 * 3_600_000
    before, later = row(2, noon - DAY + 10 * MINUTE, 0, 2), row(4, noon + 2 * 3_600_000, 0, None)
    known = shelf([row(1, noon - DAY, 10), before, row(3, noon, 5), later])
    stretch = Stretch()
    segments = stretch.around(known, 2, 60)
    days, strip, mark, legend = plain(band.draw(segments, 2, stretch.letters, 60, 4, NOW, UTC)).splitlines()
    assert strip == "A▄▄▄▄B██ ┊ A▄▄▄ ─▄▄"
    assert days == "Wed 08     Today"
    assert mark == "     ▲ Do it  08:10"
    assert legend == "A Thread 1 2  B Thread 2 1  ─ no thread 1"


@pytest.mark.parametrize(
    ("name", "told"), [("Do it", "A Thread 1: Do it"), ("Thread 1", "A Thread 1  "), ("", "A Thread 1:")]
)
def test_below_the_strip_a_thread_is_named_once(name: str, told: str) -> None:
    stretch = Stretch()
    segments = stretch.around(shelf([row(1, NOW - 9 * MINUTE, name=name)]), 1, 120)
    mark = plain(band.draw(segments, 1, stretch.letters, 120, 2, NOW, UTC)).splitlines()[-1]
    assert told in mark, mark


def test_the_stretch_stays_while_the_cursor_moves_in_it_and_follows_when_it_leaves() -> None:
    known = shelf([row(number, NOW - number * 3_600_000) for number in range(1, 200)])
    stretch = Stretch()
    first = stretch.around(known, 1, 60)
    shown = [one.row.id for one in first]
    assert shown[-1] == 1
    assert all(stretch.around(known, number, 60) == first for number in shown)
    further = stretch.around(known, max(shown) + 1, 60)
    assert max(shown) + 1 in [one.row.id for one in further]
    assert 1 not in [one.row.id for one in further]
    assert stretch.around(known, 1, 60) == first


def test_what_is_not_in_memory_is_waited_for() -> None:
    known = Shelf(UTC)
    known.add([Slot(NOW, 1, None), Slot(NOW - 1, 2, None)], complete=True)
    assert Stretch().around(known, 1, 80) == []
    known.fill({1: row(1, NOW)})
    assert [one.row.id for one in Stretch().around(known, 1, 80)] == [1]


def test_sessions_by_themselves_share_one_heading_beside_threads() -> None:
    known = Shelf(UTC)
    known.add([Slot(NOW, 1, None), Slot(NOW - 1, 2, 7), Slot(NOW - 2, 3, None), Slot(NOW - 3, 4, 7)], complete=True)
    assert [(one.kind, one.id, one.size) for one in known.entries] == [
        ("day", 1, 4), ("single", 1, 2), ("unit", 1, 0), ("unit", 3, 0),
        ("thread", 2, 2), ("unit", 2, 0), ("unit", 4, 0),
    ]  # fmt: skip
    text = "".join(part for part, _ in heading(known.entries[1], None, 0, 60, projects=False))
    assert text == "┌ single sessions  2 episodes"
    alone = Shelf(UTC)
    alone.add([Slot(NOW, 1, None), Slot(NOW - 1, 2, None)], complete=True)
    assert [one.kind for one in alone.entries] == ["day", "unit", "unit"]


def test_letters_are_given_once() -> None:
    letters = Letters()
    assert [letters.of(number)[0] for number in (7, 3, 7, None, 9)] == ["A", "B", "A", "─", "C"]
    assert len({letters.of(number)[0] for number in range(100, 140)}) == 40


@pytest.mark.parametrize(("size", "rows"), [((160, 45), 4), ((100, 40), 3), ((80, 24), 2)])
async def test_the_strip_follows_the_cursor(
    cockpit: Any, make_db: Any, settled: Any, size: tuple[int, int], rows: int
) -> None:
    async with cockpit(make_db("story"), size=size) as pilot:
        await pilot.press("2")
        await settled(pilot)
        shown = pilot.app.screen.band
        assert shown.content_size.height == rows
        lines = plain(shown.lines(rows)).splitlines()
        pointer = lines[-1 - (rows == 4)]
        assert "▲" in pointer
        assert "Raise" in pointer and "8 MB" in pointer
        assert "08:44, 2 m" in pointer
        await pilot.press("j", "j")
        await settled(pilot)
        assert "Write the release notes" in plain(shown.lines(rows))


async def test_a_click_on_a_segment_goes_to_its_episode(cockpit: Any, make_db: Any, text: Any, settled: Any) -> None:
    async with cockpit(make_db("story"), size=(80, 24)) as pilot:
        await pilot.press("2")
        await settled(pilot)
        screen = pilot.app.screen
        oldest = screen.band.segments[0]
        await pilot.click(screen.band, offset=(oldest.first + 1 + 1, 0))
        await settled(pilot)
        assert screen.unit_id == oldest.row.id
        assert "▌06:53 " in text(pilot)


async def test_no_strip_where_there_is_nothing_or_little_room(cockpit: Any, make_db: Any, settled: Any) -> None:
    async with cockpit(make_db("empty"), size=(80, 24)) as pilot:
        await pilot.press("2")
        await settled(pilot)
        assert not pilot.app.screen.band.size.height
    async with cockpit(make_db("story"), size=(80, 18)) as pilot:
        await pilot.press("2")
        await settled(pilot)
        assert not pilot.app.screen.band.size.height
