"""Keys typed faster than screens open: each goes to the screen that the one before it opened, in order."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from textual.events import Key
from textual.widgets import Input


def type_keys(pilot: Any, keys: str) -> None:
    """As the terminal delivers them: into the app's queue, one after the other, whatever happens meanwhile."""
    for key in keys.split():
        pilot.app.post_message(Key(key, key if len(key) == 1 else None))


async def burst(pilot: Any, keys: str, gap: float) -> None:
    """With so many seconds between them."""
    for key in keys.split():
        type_keys(pilot, key)
        await asyncio.sleep(gap)


@pytest.mark.parametrize(
    ("keys", "mode", "gap"),
    [("2 g 1", "now", 0.0), ("4 3 4 3 4", "learnings", 0.05), ("1 2 3 4 3 8", "health", 0.0),
     ("3 v v 4 j 2", "episodes", 0.05)],
)  # fmt: skip
async def test_keys_that_outrun_a_screen_reach_it(
    make_db: Any, cockpit: Any, settled: Any, gap: float, keys: str, mode: str
) -> None:
    async with cockpit(make_db("story")) as pilot:
        await burst(pilot, keys, gap)
        await settled(pilot)
        assert pilot.app.current_mode == mode
        for stack in pilot.app._screen_stacks.values():
            for screen in stack:
                assert [field.value for field in screen.query(Input)] == [""] * len(screen.query(Input))
                assert not isinstance(screen.focused, Input)


async def test_quit_right_behind_a_screen_quits(make_db: Any, cockpit: Any) -> None:
    async with cockpit(make_db("story")) as pilot:
        type_keys(pilot, "1 2 4 q")
        for _ in range(6000):
            if pilot.app._exit:
                break
            await asyncio.sleep(0.02)
        assert pilot.app._exit


async def test_a_filter_gets_the_words_typed_right_behind_its_key(make_db: Any, cockpit: Any, settled: Any) -> None:
    async with cockpit(make_db("story")) as pilot:
        type_keys(pilot, "2 slash f l a k y")
        await settled(pilot)
        assert pilot.app.screen.query_one("#filter", Input).value == "flaky"


async def test_a_dialog_gets_the_words_that_outrun_it(make_db: Any, cockpit: Any, settled: Any) -> None:
    async with cockpit(make_db("story")) as pilot:
        type_keys(pilot, "question_mark q u i t")
        await settled(pilot)
        assert pilot.app.screen.query_one(Input).value == "quit"


async def test_a_cursor_key_waits_for_the_list_that_it_moves_in(make_db: Any, cockpit: Any, settled: Any) -> None:
    path = make_db("story")
    async with cockpit(path) as pilot:
        await pilot.press("2")
        await settled(pilot)
        await pilot.press("j", "j")
        slowly = pilot.app.screen.unit_id
    async with cockpit(path) as pilot:
        type_keys(pilot, "2 j j")
        await settled(pilot)
        assert pilot.app.screen.unit_id == slowly
