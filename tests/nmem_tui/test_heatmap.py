"""What heat says of old and finished learnings, and what the tabs count."""

from __future__ import annotations

import sqlite3
from dataclasses import replace
from datetime import UTC
from pathlib import Path
from typing import Any

import pytest

from capture.project import resolve
from nmem.learn.learning import DISMISSED, FAILED_COMMAND, FIX, OPEN, RESOLVED, Evidence, Learning
from nmem.learn.read import week
from nmem_tui.model import figures, learning_detail, learnings
from nmem_tui.model.learnings import Detail
from nmem_tui.model.line import plain
from nmem_tui.widgets.bars import Tabs

NOW = 1_773_313_440_000
DAY = 86_400_000


@pytest.fixture(scope="module")
def learned(load: Any) -> Any:
    """The module that writes learnings."""
    return load("learnings_seed")


def pattern(state: str = OPEN, days: int = 1, heat: int = 90) -> Learning:
    """A hot failing command that was met last so many days ago."""
    last = NOW - days * DAY
    return Learning(
        1, 1, "aurora", FAILED_COMMAND, "make", "`make` fails", (), last - DAY, last, 9, 12, heat, state, last, "",
        None, 0, None, "", ((week(last), 12),),
    )  # fmt: skip


@pytest.mark.parametrize("cells", [76, 120])
def test_what_is_old_says_when_and_does_not_stand_out(cells: int) -> None:
    shape = learnings.Shape([pattern()], states=False, where=False)
    old, new = (learnings.row(pattern(days=days), shape, cells, NOW) for days in (280, 3))
    assert ("9 months ago" if cells >= 96 else "9 mo") in plain([old])
    assert {"bad", "strong"} <= {tone for text, tone in new if text.strip()}
    assert "bad" not in {tone for text, tone in old if text.strip()}
    assert ("title", "strong") not in [("title", tone) for text, tone in old if "make" in text]


@pytest.mark.parametrize("state", [RESOLVED, DISMISSED])
def test_what_is_over_is_not_hot(state: str) -> None:
    one = pattern(state)
    told = learnings.row(one, learnings.Shape([one], states=True, where=False), 120, NOW)
    assert " hot" not in plain([told])
    assert "past" in plain([told])
    assert "bad" not in {tone for text, tone in told if text.strip()}


def test_detail_says_when_it_was_met_beside_its_heat() -> None:
    found = Detail(pattern(days=280), (), {}, (), "rule")
    told = plain(item.draw(80) for item in learning_detail.items(found, 80, NOW, UTC))
    assert any("90 hot" in row and row.endswith("last met 9 months ago") for row in told.splitlines())


def test_ages_beyond_two_months_are_told_in_months_and_years() -> None:
    assert [figures.age(days * DAY) for days in (59, 60, 280, 800)] == ["59 d", "1 mo", "9 mo", "2 y"]
    assert figures.ago(280 * DAY) == "9 months ago"
    assert figures.date(NOW - 400 * DAY, NOW, UTC) == "2025-02-05"
    assert figures.date(NOW - DAY, NOW, UTC) == "03-11 11:04"


def test_the_heat_map_ends_with_the_newest_week_in_which_anything_was_met() -> None:
    assert learning_detail.columns([pattern(days=40)], NOW, 90) == [week(NOW - 40 * DAY)]


def test_a_failure_stands_above_what_mended_it_and_says_its_error_once(here: Path, seeds: Any, learned: Any) -> None:
    from nmem.learn import read
    from nmem_tui.model import learnings

    db = seeds.database("aurora.db")
    seeds.session(db)
    one = learned.learning(db, "make", "`make` fails", NOW)
    learned.met(db, one, seeds.SESSION, NOW - 9000, "no rule for it")
    learned.met(db, one, seeds.SESSION, NOW - 6000, "no rule for it")
    learned.met(db, one, seeds.SESSION, NOW - 3000, "passed", role=FIX)
    db.row_factory = sqlite3.Row
    listed = read.learning(db, one, NOW)
    assert listed is not None
    found = learnings.detail(db, listed)
    db.close()
    assert [proof.at for proof in found.evidence] == [NOW - 9000, NOW - 6000, NOW - 3000]
    again = Evidence("occurrence", "s", 5, None, None, NOW, "no such file", "make", "failed")
    proofs = (again, replace(again, at=NOW + 1, observation_id=6))
    told = plain(item.draw(80) for item in learning_detail.items(Detail(listed, proofs, {}, (), ""), 80, NOW, UTC))
    assert told.count("no such file") == 1


async def other_project(seeds: Any, learned: Any) -> None:
    """A hot learning of another project, none of this one."""
    db = seeds.database("aurora.db")
    seeds.story(db)
    for number in range(8):
        seeds.session(
            db, f"beacon-{number}", project="lighthouse", state="ended", started_at=seeds.NOW - DAY,
            last_at=seeds.NOW - 3_600_000,
        )  # fmt: skip
    hot = learned.learning(db, "make", "`make` fails", seeds.NOW, project="lighthouse", sessions=8)
    mild = learned.learning(db, "npm", "`npm test` fails", seeds.NOW - DAY)
    for number in range(8):
        learned.met(db, hot, f"beacon-{number}", seeds.NOW - 3_600_000, "no rule")
    learned.met(db, mild, seeds.SESSION, seeds.NOW - DAY, "no script")
    db.execute("UPDATE projects SET root = '/src/' || name")
    db.close()


async def test_the_tab_counts_what_the_screen_lists_and_only_the_newest_notice_stands(
    here: Path, seeds: Any, learned: Any, cockpit: Any, text: Any, settled: Any
) -> None:
    await other_project(seeds, learned)
    async with cockpit("aurora.db", (160, 45)) as pilot:
        await settled(pilot)
        assert "▲" not in text(pilot).splitlines()[1], "what is hot in another project does not count here"
        await pilot.press("4")
        await settled(pilot)
        assert "nothing hot here, 1 elsewhere: P" in text(pilot)
        await pilot.press("P")
        await settled(pilot)
        assert "▲ 1 hot" in text(pilot)
        assert "4 Learnings ▲1" in text(pilot)
        await pilot.press("1")
        await settled(pilot)
        assert pilot.app.screen.query_one(Tabs).hot == 1
        pilot.app.say("dismissed")
        await settled(pilot)
        pilot.app.say("undone")
        await settled(pilot)
        assert "undone" in text(pilot)
        assert "dismissed" not in text(pilot)


async def test_it_opens_on_the_folders_project_and_elsewhere_on_the_newest(
    here: Path, seeds: Any, learned: Any, cockpit: Any, text: Any, settled: Any
) -> None:
    await other_project(seeds, learned)
    (here / "lighthouse").mkdir()
    db = sqlite3.connect("aurora.db")
    key = resolve(str(here / "lighthouse")).key
    db.execute("UPDATE projects SET key = ? WHERE name = 'lighthouse'", (key,))
    db.commit()
    db.close()
    for folder, project in ((here / "lighthouse", "lighthouse"), (here / "nowhere", "aurora-api")):
        async with cockpit("aurora.db", (160, 45), home=str(folder)) as pilot:
            assert pilot.app.session.project == project
            for key in ("3", "4"):
                await pilot.press(key)
                await settled(pilot)
                assert project in text(pilot).splitlines()[0]


@pytest.mark.parametrize("git", [True, False])
async def test_a_checkout_that_nothing_is_recorded_of_is_said_once(
    git: bool, here: Path, seeds: Any, learned: Any, cockpit: Any, text: Any, settled: Any
) -> None:
    await other_project(seeds, learned)
    (here / "shop" / ".git").mkdir(parents=True)
    if git:
        (here / "shop" / ".git" / "HEAD").write_text("ref: refs/heads/main\n", "utf-8")
    async with cockpit("aurora.db", (80, 24), home=str(here / "shop")) as pilot:
        await settled(pilot)
        assert ("project shop has no recorded session yet: showing aurora-api" in text(pilot)) == git
        pilot.app.say("something else")
        await pilot.press("3")
        await settled(pilot)
        await pilot.press("1")
        await settled(pilot)
        assert "project shop has no recorded session" not in text(pilot)
