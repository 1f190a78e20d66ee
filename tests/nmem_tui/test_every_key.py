"""Keys that move, turn and lead elsewhere: each pressed where it works, and what a person would see of it."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any

import pytest

from nmem_tui.model.actions import BY_ID, NUMBERED

SCREENS = NUMBERED.split()
LISTS = [screen for screen in SCREENS if screen != "stance"]


@pytest.fixture
def whole(here: Path, load: Any, written: Any, monkeypatch: pytest.MonkeyPatch) -> dict[str, int]:
    """A database with something on every screen; ids by name."""
    monkeypatch.setenv("NMEM_CONFIG", str(here / "config.toml"))
    made: dict[str, int] = written("every screen", lambda: load("whole_seed").database(load, "aurora.db"))
    return made


def cursor(screen: Any) -> int:
    """The place of the cursor in whichever list has the keyboard."""
    return int((screen.stream if screen.CONTEXT == "now" else screen.active).cursor)


async def test_lists_are_moved_through(whole: dict[str, int], cockpit: Any, at: Any) -> None:
    """Top, down, half a page, bottom, and the same way back; both keys of each."""
    ways = (("g", "j", "ctrl+d", "G", "k", "ctrl+u"), ("home", "down", "pagedown", "end", "up", "pageup"))
    async with cockpit("aurora.db", (80, 24)) as pilot:
        for screen in LISTS:
            shown = await at(pilot, screen)
            for top, down, half, bottom, up, back in ways:
                places = []
                for key in (top, down, half, bottom, up, back, top):
                    await pilot.press(key)
                    places.append(cursor(shown))
                first, second, third, last, before, above, again = places
                assert first < second <= third <= last, screen
                assert above <= before <= last, screen
                assert again == first, screen
                assert last > first + 1 or before < last, screen


async def test_screens_follow_one_another_and_are_named_by_number(
    whole: dict[str, int], cockpit: Any, settled: Any, at: Any
) -> None:
    async with cockpit("aurora.db", (80, 24)) as pilot:
        for number, screen in enumerate(SCREENS, 1):
            await pilot.press(str(number))
            assert pilot.app.current_mode == screen
            await pilot.press("escape")  # out of the box of Search
        await pilot.press("tab")
        assert pilot.app.current_mode == "now"
        await pilot.press("shift+tab")
        assert pilot.app.current_mode == SCREENS[-1]
        await at(pilot, "stance")
        await pilot.press(*BY_ID["search_here"].keys[:1])
        await settled(pilot)
        assert pilot.app.current_mode == "search"
        assert pilot.app.screen.box.value.startswith("project:"), "the project of the session is searched"


async def test_failures_are_gone_to_with_their_labels_and_the_newest_row_is_followed(
    whole: dict[str, int], cockpit: Any, settled: Any, text: Any, until: Any
) -> None:
    async with cockpit("aurora.db", (160, 45)) as pilot:
        stream = pilot.app.screen.stream
        await pilot.press("n")
        await settled(pilot)
        newer = stream.cursor
        assert stream.row.outcome == "failed"
        await pilot.press("n")
        await settled(pilot)
        assert stream.cursor < newer
        await pilot.press("N")
        await settled(pilot)
        assert stream.cursor == newer
        assert "following" not in text(pilot)
        await pilot.press("f")
        await settled(pilot)
        assert "Stream ─ following" in text(pilot)
        await pilot.press("n", "L")
        await until(pilot, "phase", "scope", "friction")


async def test_what_is_told_beside_the_list_is_scrolled(
    whole: dict[str, int], cockpit: Any, settled: Any, at: Any
) -> None:
    async with cockpit("aurora.db", (160, 24)) as pilot:
        for screen in ("now", "episodes", "learnings", "tasks"):
            shown = await at(pilot, screen)
            if screen == "now":
                await pilot.press("enter")
                await settled(pilot)
                shown.details.query_one("#description").update("\n".join(map(str, range(200))))
                await settled(pilot)
            pane = shown.details if screen == "now" else shown.pane

            def where(pane: Any = pane, now: bool = screen == "now") -> float:
                return float(pane.scroll_y if now else pane.cursor)

            await pilot.press("J", "J")
            await settled(pilot)
            further = where()
            assert further > 0, screen
            await pilot.press("K")
            await settled(pilot)
            assert where() < further, screen
            await pilot.press("escape")


async def test_prompts_and_evidence_are_gone_through_both_ways(
    whole: dict[str, int], cockpit: Any, settled: Any, at: Any
) -> None:
    async with cockpit("aurora.db", (160, 45)) as pilot:
        for screen in ("episodes", "learnings"):
            shown = await at(pilot, screen)
            await pilot.press("right_square_bracket")
            await settled(pilot)
            first = shown.pane.cursor
            assert shown.pane.has_focus
            await pilot.press("right_square_bracket")
            await settled(pilot)
            further = shown.pane.cursor
            await pilot.press("left_square_bracket")
            await settled(pilot)
            assert shown.pane.cursor <= further
            assert shown.pane.cursor == first
            await pilot.press("escape")


async def test_views_are_turned_both_ways(whole: dict[str, int], cockpit: Any, settled: Any, at: Any) -> None:
    async with cockpit("aurora.db", (160, 45)) as pilot:
        for screen in ("context", "health"):
            shown = await at(pilot, screen)
            first = shown.mode
            seen = []
            for _ in range(2):
                await pilot.press("v")
                await settled(pilot)
                seen.append(shown.mode)
            assert len({first, *seen}) == 3, screen
            await pilot.press("V")
            await settled(pilot)
            assert shown.mode == seen[0], screen


async def test_the_search_box_and_its_filters(whole: dict[str, int], cockpit: Any, settled: Any, at: Any) -> None:
    async with cockpit("aurora.db", (160, 45)) as pilot:
        shown = await at(pilot, "search")
        assert not shown.box.has_focus
        await pilot.press("slash")
        await settled(pilot)
        assert shown.box.has_focus
        await pilot.press("escape", "f")
        await settled(pilot)
        chip = shown.chips.chip
        await pilot.press("l")
        await settled(pilot)
        assert shown.chips.chip != chip
        await pilot.press("h")
        await settled(pilot)
        assert shown.chips.chip == chip
        await pilot.press("f")
        hits = [hit.id for hit in shown.hits]
        db = sqlite3.connect("aurora.db")
        db.execute("UPDATE work_units SET pinned = 0")
        db.commit()
        db.close()
        for key in BY_ID["again"].keys:
            before = shown.results
            await pilot.press(key)
            await settled(pilot)
            assert shown.results is not before
        assert {hit.id for hit in shown.hits} >= set(hits)


async def test_the_theme_turns_and_the_demo_leaves_the_database_alone(
    whole: dict[str, int], cockpit: Any, settled: Any, until: Any, here: Path
) -> None:
    before = (here / "aurora.db").read_bytes()
    async with cockpit("aurora.db", (160, 45)) as pilot:
        theme = pilot.app.theme
        await pilot.press("t")
        await settled(pilot)
        assert pilot.app.theme != theme
        await pilot.press("D")
        await until(pilot, "DEMO")
        assert pilot.app.db_path != "aurora.db"
        assert pilot.app.why_not("demo") == "the demo is playing"
    assert (here / "aurora.db").read_bytes() == before


async def test_under_the_demo_s_banner_no_screen_shows_anything_of_one_s_own(
    whole: dict[str, int], cockpit: Any, settled: Any, text: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The demo is not played, so that all that could be seen would be from before it."""
    async with cockpit("aurora.db", (160, 45)) as pilot:
        monkeypatch.setattr(pilot.app, "_play", lambda: None)
        for screen in (*SCREENS, "health"):
            pilot.app.visit(screen)
            await settled(pilot)
            assert "aurora" in text(pilot) or screen in ("search", "tasks", "health")
        await pilot.press("D")
        await settled(pilot)
        assert pilot.app.current_mode == "now"
        for screen in SCREENS:
            pilot.app.visit(screen)
            await settled(pilot)
            assert "DEMO" in text(pilot)
            assert "aurora" not in text(pilot)
            assert "Findings ─ 1" not in text(pilot)


@pytest.mark.parametrize("key", ["q", "ctrl+q"])
async def test_it_is_left_and_ctrl_c_says_how(key: str, make_db: Any, cockpit: Any, until: Any) -> None:
    async with cockpit(make_db("story"), (80, 24)) as pilot:
        await pilot.press("ctrl+c")
        await until(pilot, "q quits; ctrl+c copies text marked with the mouse")
        assert pilot.app.is_running
        await pilot.press(key)
        await pilot.pause(0.2)
        assert pilot.app._exit


async def test_the_deck_s_cards_and_queues_are_gone_through_both_ways(
    whole: dict[str, int], cockpit: Any, settled: Any
) -> None:
    db = sqlite3.connect("aurora.db")
    db.execute("UPDATE observations SET phase = NULL WHERE obs_type = 'lint'")
    db.commit()
    db.close()
    async with cockpit("aurora.db", (160, 45)) as pilot:
        await pilot.press("r")
        await settled(pilot)
        deck = pilot.app.screen
        for key, queue in (
            ("1", "boundaries"),
            ("2", "links"),
            ("4", "labels"),
            ("5", "redactions"),
            ("3", "learnings"),
        ):
            await pilot.press(key)
            await settled(pilot)
            assert deck.queue == queue
        assert len(deck.cards["learnings"]) > 1
        await pilot.press("j")
        await settled(pilot)
        assert deck.place == 1
        await pilot.press("k")
        await settled(pilot)
        assert deck.place == 0
        await pilot.press("tab")
        await settled(pilot)
        other = deck.queue
        assert other != "learnings"
        await pilot.press("shift+tab")
        await settled(pilot)
        assert deck.queue == "learnings"
        await pilot.press("5")
        await settled(pilot)
        before = count("redaction_reviews")
        await pilot.press("d")
        await settled(pilot)
        assert count("redaction_reviews") > before
        await pilot.press("1", "enter")
        await settled(pilot)
        assert pilot.app.current_mode == "episodes"
        assert pilot.app.screen.telling.has_class("-open")


def count(table: str) -> int:
    db = sqlite3.connect("aurora.db")
    found: int = db.execute(f"SELECT count(*) FROM {table}").fetchone()[0]
    db.close()
    return found
