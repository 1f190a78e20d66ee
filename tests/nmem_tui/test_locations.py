"""The way back: `-` leads to where one was, over screens, sessions, stories, moments; lists keep their cursor."""

from __future__ import annotations

from typing import Any

import pytest
from textual.widgets import Input

from nmem_tui.model.locations import MOST, Place, Places

PATH = "aurora.db"


def test_places_are_bounded_and_never_lead_to_where_one_is() -> None:
    places, here = Places(), Place("now", "s", None)
    assert places.back(here) is None
    places.leave(here)
    places.leave(here)
    assert len(places) == 1
    assert not places.leads(here)
    other = Place("episodes", "s", (3, True))
    places.leave(other)
    places.leave(here)
    assert places.leads(here)
    assert places.back(here) == other
    for number in range(3 * MOST):
        places.leave(Place("now", "s", number))
    assert len(places) == MOST
    places.clear()
    assert places.back(other) is None


async def test_back_over_screens_in_their_order_to_a_story_and_to_a_filter_as_it_was_left(
    whole: Any, cockpit: Any, settled: Any, text: Any
) -> None:
    async with cockpit(PATH, (80, 24)) as pilot:
        assert "- back" not in text(pilot)
        for key in "24713":
            await pilot.press(key)
            await settled(pilot)
        assert "- back" in text(pilot)
        went = []
        for _ in range(5):
            await pilot.press("minus")
            await settled(pilot)
            went.append(pilot.app.current_mode)
        assert went == ["now", "tasks", "learnings", "episodes", "now"]
        assert "- back" not in text(pilot)
        await pilot.press("2")
        await settled(pilot)
        await pilot.press("j", "enter")
        await settled(pilot)
        read = pilot.app.screen.unit_id
        await pilot.press("1")
        await settled(pilot)
        pilot.app.show_episode(whole["refused"])
        await settled(pilot)
        assert pilot.app.screen.unit_id == whole["refused"] != read
        await pilot.press("minus", "minus")
        await settled(pilot)
        assert pilot.app.current_mode == "episodes"
        assert pilot.app.screen.unit_id == read, "the story that was read before"
        assert pilot.app.screen.pane.has_focus
        await pilot.press("escape", "slash", *"thumbnails", "enter")
        await settled(pilot)
        await pilot.press("1")
        await settled(pilot)
        await pilot.press("minus")
        await settled(pilot)
        assert "filter “thumbnails”" in text(pilot)


async def test_back_from_a_moment_to_the_learning_and_on_to_the_row(
    whole: Any, cockpit: Any, settled: Any, until: Any, text: Any
) -> None:
    async with cockpit(PATH, (160, 45)) as pilot:
        await pilot.press("g", "j", "j")
        await settled(pilot)
        row = pilot.app.screen.row_key
        await pilot.press("4")
        await settled(pilot)
        learning = pilot.app.screen.one.id
        await pilot.press("right_square_bracket", "enter")
        await settled(pilot)
        assert pilot.app.current_mode == "now"
        assert pilot.app.screen.row_key != row
        await pilot.press("minus")
        await settled(pilot)
        assert pilot.app.current_mode == "learnings"
        assert pilot.app.screen.one.id == learning
        assert pilot.app.screen.pane.has_focus
        await pilot.press("minus")
        await settled(pilot)
        assert pilot.app.current_mode == "now"
        assert pilot.app.screen.row_key == row, "in the session it was in, on the row it was on"


async def test_back_to_the_query_and_its_hit_and_less_budget_has_keys_of_its_own(
    whole: Any, cockpit: Any, settled: Any, until: Any
) -> None:
    async with cockpit(PATH, (160, 45)) as pilot:
        await pilot.press("6", *"limit", "enter")
        await settled(pilot)
        await pilot.press("j", "j")
        await settled(pilot)
        hit = pilot.app.screen.one.id
        await pilot.press("o")
        await settled(pilot)
        assert pilot.app.current_mode != "search"
        pilot.app.show_search("cache")
        await settled(pilot)
        await pilot.press("escape", "minus", "minus")
        await settled(pilot)
        assert pilot.app.current_mode == "search"
        assert pilot.app.screen.box.value == "limit"
        assert pilot.app.screen.one.id == hit
        await pilot.press("5")
        await until(pilot, "of 1,500 tokens")
        await pilot.press("less_than_sign", "left_square_bracket")
        await until(pilot, "of 1,300 tokens")
        await pilot.press("right_square_bracket")
        await until(pilot, "of 1,400 tokens")
        await pilot.press("greater_than_sign")
        await until(pilot, "of 1,500 tokens", "as configured")
        await pilot.press("minus")
        await settled(pilot)
        assert pilot.app.current_mode == "search"


async def test_back_over_sessions_tasks_views_and_things(whole: Any, cockpit: Any, settled: Any) -> None:
    async with cockpit(PATH, (160, 45)) as pilot:
        shown = pilot.app.session.id
        await pilot.press("3", "v")
        await settled(pilot)
        await pilot.press("j", "enter")
        await settled(pilot)
        assert pilot.app.session.id != shown
        await pilot.press("5", "v", "v")
        await settled(pilot)
        mode, *_ = pilot.app.screen.spot()
        await pilot.press("7")
        await settled(pilot)
        await pilot.press("j", "j")
        task = pilot.app.screen.one.id
        await pilot.press("8", "v", "v")
        await settled(pilot)
        await pilot.press("1", "minus")
        await settled(pilot)
        assert pilot.app.screen.spot()[0] == "secrets"
        pilot.app.screen.turn("findings")
        await pilot.press("minus")
        await settled(pilot)
        assert (pilot.app.current_mode, pilot.app.screen.one.id) == ("tasks", task)
        await pilot.press("minus")
        await settled(pilot)
        assert (pilot.app.current_mode, pilot.app.screen.spot()[0]) == ("context", mode)
        await pilot.press("minus")
        await settled(pilot)
        assert pilot.app.current_mode == "stance"
        await pilot.press("minus")
        await settled(pilot)
        assert (pilot.app.current_mode, pilot.app.session.id) == ("stance", shown)
        assert pilot.app.screen.spot()[0] == "over"


async def test_every_list_keeps_its_cursor_when_it_is_read_again(
    whole: Any, cockpit: Any, settled: Any, seeds: Any, load: Any
) -> None:
    """Rows come before and after the one under the cursor, and it stays under it."""
    async with cockpit(PATH, (160, 45)) as pilot:
        spots = {}
        for screen in "2345678":
            await pilot.press(screen)
            if screen == "6":
                await pilot.press(*"limit", "enter")
            await settled(pilot)
            await pilot.press(*(["v"] if screen == "3" else []))
            await settled(pilot)
            await pilot.press("j", "j")
            await settled(pilot)
            spots[screen] = pilot.app.screen.spot()
        await pilot.press("1", "g", "j", "j")
        await settled(pilot)
        spots["1"] = pilot.app.screen.spot()
        db = seeds.database(PATH)
        made = seeds.say(db, seeds.NOW, "Now something else about the limit entirely.")
        seeds.unit(db, [made], seeds.Verdict("new", "online", 0.9, "new intent"))
        seeds.do(db, seeds.NOW - 819_999, "command", "make before all")
        seeds.session(db, "later", last_at=seeds.NOW + 1)
        seeds.do(db, seeds.NOW + 1, "command", "make limit", session_id="later", phase=0.9, scope=0.9,
                 label_model=seeds.MODEL)  # fmt: skip
        load("learnings_seed").learning(db, "new", "`make` fails hotly", seeds.NOW, sessions=40, occurrences=90)
        db.execute("UPDATE tasks SET priority = 9 WHERE state = 'queued' AND id % 2")
        db.close()
        pilot.app.chosen = pilot.app.session.id
        await settled(pilot)
        for screen, spot in spots.items():
            await pilot.press(*["escape"] * isinstance(pilot.app.focused, Input), screen)
            await settled(pilot)
            if again := getattr(pilot.app.screen, "look_again", None):
                again()
            await settled(pilot)
            assert pilot.app.screen.spot() == spot, screen


@pytest.mark.parametrize("size", [(80, 24), (160, 45)])
async def test_rows_that_arrive_are_told_without_moving_anything(
    size: tuple[int, int], whole: Any, cockpit: Any, settled: Any, until: Any, text: Any, seeds: Any
) -> None:
    async with cockpit(PATH, size) as pilot:
        await pilot.press("g")
        await settled(pilot)
        stream = pilot.app.screen.stream
        before, focused = stream.scroll_offset, pilot.app.screen.focused
        for leave in ("f", "click"):
            db = seeds.database(PATH)
            for number in range(12):
                seeds.do(db, seeds.NOW + number, "command", f"make {leave} {number}")
            db.close()
            shown = await until(pilot, "12 new ↓  f follows")
            assert (stream.cursor, stream.scroll_offset, pilot.app.screen.focused) == (0, before, focused)
            assert shown.count("12 new ↓") == 1
            if leave == "f":
                await pilot.press("f")
            else:
                await pilot.click(stream, offset=(stream.scrollable_content_region.width - 3, stream.size.height - 1))
            await until(pilot, f"make {leave} 11")
            assert stream.following
            assert "f follows" not in text(pilot)
            await pilot.press("g")
            await settled(pilot)
