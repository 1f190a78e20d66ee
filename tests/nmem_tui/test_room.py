"""What gives way where there is little room: whole parts and columns, never the end of a figure."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC
from types import SimpleNamespace
from typing import Any

import pytest

from nmem.read.episodes import EpisodeRow, Outcome
from nmem.read.store import HotFile
from nmem.read.views import Failure
from nmem.retention.policy import Life
from nmem.retention.read import Due
from nmem.text import width
from nmem_tui.model import episodes as episode_rows
from nmem_tui.model import health_storage, learnings, now_cards, now_gauges, stance, symbols
from nmem_tui.model.figures import by_day
from nmem_tui.model.health import Stored
from nmem_tui.model.line import length, plain
from nmem_tui.screens import episodes

WIDTHS = range(40, 161, 5)


def test_a_header_leaves_out_whole_parts() -> None:
    counts = {"open": 6, "resolved": 2}
    for cells in WIDTHS:
        heads = {
            "6 open learnings": learnings.header(counts, 0, 0, "aurora", cells),
            "219 episodes": episodes._header(219, 347, "aurora", cells),
            "122 calls": stance.header(SimpleNamespace(observations=122), "aurora", "Why " * 40, cells),  # type: ignore[arg-type]
        }
        for kept, line in heads.items():
            said = plain([line])
            assert kept in said, cells
            assert length(line) <= cells
            assert kept == "122 calls" or "…" not in said, cells
        assert ("answers" in plain([heads["219 episodes"]])) == (cells >= 65)


def stored(lives: tuple[Life, ...] = ()) -> Any:
    rows = (Due("aurora", "file_edit", 365.0, 4386, 12, 34, 56, 0),)
    made: Any = Stored
    standing = SimpleNamespace(
        lives=lives, gone=0, max_bytes=0, bytes_used=1, bytes_empty=0, enabled=True, next_at=0, mediation=True,
        journal=(), upkeep=(),
    )  # fmt: skip
    return made(standing=standing, forecast=SimpleNamespace(rows=rows))


@pytest.mark.parametrize(("cells", "columns"), [(44, 0), (48, 1), (58, 2), (66, 3), (104, 3)])
def test_of_a_table_whole_columns_go(cells: int, columns: int) -> None:
    shown = plain([item.draw(cells) for item in health_storage.items(stored(), 0, None)])
    assert [name in shown for name in ("past it", "in 7 d", "in 30 d")] == [number < columns for number in range(3)]
    assert [figure in shown for figure in (" 12", " 34", " 56")] == [number < columns for number in range(3)]


def test_projects_whose_rows_live_alike_are_told_together() -> None:
    usual = Life(0, "project-0", "file_edit", 365.0, 365.0, 1.0, 0, 0, 0, 0, "no later use is known")
    lives = (
        replace(usual, in_force=310.0, factor=0.85, reason="17 of 631 are evidence: shorter"),
        *(replace(usual, project_id=number, project=f"project-{number}") for number in range(1, 9)),
    )
    told = plain(health_storage.about(stored(lives), health_storage.TYPE, "file_edit", 60))
    assert told.count("no later use is known") == 1
    assert told.index("310 days instead of 365") < told.index("project-0") < told.index("365 days, as written")
    assert all(f"project-{number}" in told for number in range(9))


def test_a_day_without_anything_is_a_dot() -> None:
    assert by_day([0, 3, 0, 1], 3) == "█·▃"


def test_what_a_reset_tells_is_never_cut_within_a_figure() -> None:
    for cells in range(30, 60):
        said = plain(now_gauges.after_reset((1_017, 12_562), cells))
        assert said in (
            "after a reset: 1,017 items, 12,562 tokens; 5 shows", "after a reset: 1,017 items, 12,562 tokens",
            "after a reset: 1,017 items",
        )  # fmt: skip
        assert len(said) <= cells


@pytest.mark.parametrize("cells", [60, 78, 100])
def test_how_an_episode_ended_is_told_in_whole_words_clear_of_the_edge(cells: int) -> None:
    row = EpisodeRow(
        1, "a", None, "", "aurora", "Round the heights " * 9, "closed", resumes=False, pinned=False, started_at=0,
        last_at=60_000, active_ms=0, turns=1, outcome=Outcome(reverted=True), friction=None, narrated=True, offered=0,
    )  # fmt: skip
    told = "".join(text for text, _ in episode_rows.unit(row, cells, UTC))
    assert "… ↶ reverted" in told
    assert told.endswith(" 1 m ")
    assert width(told) == cells


def test_a_row_tells_a_whole_title_one_word_how_it_ended_files_and_time() -> None:
    row = EpisodeRow(
        1, "a", None, "", "aurora", "Round the heights of the tide tables to whole centimetres: 4", "closed",
        resumes=False, pinned=False, started_at=0, last_at=60_000, active_ms=0, turns=1,
        outcome=Outcome(commits=2), friction=0.4, narrated=True, offered=1, files=12,
    )  # fmt: skip
    told = "".join(text for text, _ in episode_rows.unit(row, 93, UTC))  # as wide as at 160 columns
    assert told == f"00:00 ? {row.name} ✓ commit 12 files   1 m "
    unknown = "".join(text for text, _ in episode_rows.unit(row._replace(outcome=Outcome()), 78, UTC))
    assert unknown == f"00:00 ? {row.name[:56].rstrip()}… bumpy   1 m "


async def test_a_narrow_now_warns_of_what_is_still_open(
    cockpit: Any, make_db: Any, text: Any, settled: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    mended = Failure(9, 2_000, "test", "make test", "", "failed", mended=True)
    opened = mended._replace(id=8, at=1_000, content="make lint", mended=False)
    monkeypatch.setattr("nmem.read.views.failures", lambda *_: (mended, opened))
    async with cockpit(make_db("story"), (80, 24)) as pilot:
        await settled(pilot)
        (warned,) = [line for line in text(pilot).splitlines() if line.startswith(" ! ")]
        assert "make lint" in warned
        assert "mended" not in warned


async def test_the_form_of_a_task_says_how_to_leave_it(cockpit: Any, make_db: Any, text: Any, settled: Any) -> None:
    async with cockpit(make_db("story"), (80, 24)) as pilot:
        await pilot.press("7", "n")
        await settled(pilot)
        assert "ctrl+s or enter in a field queues it · esc leaves · ctrl+e editor ─╯" in text(pilot)


def test_a_hot_file_keeps_its_name_rather_than_its_bar() -> None:
    files = (HotFile("src/limits/test_of_the_limits.py", 3, 2, 0),)
    assert "test_of_the_limits.py" in plain(now_cards.hot(files, 36, 3))
    assert symbols.now().bar in plain(now_cards.hot(files, 60, 3))
