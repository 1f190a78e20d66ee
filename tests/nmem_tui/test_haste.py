"""Hands that are faster than the screen: keys that come together, before a list is drawn or after a dialog has left."""

from __future__ import annotations

import asyncio
from itertools import product
from typing import Any

import pytest
from textual.command import CommandList
from textual.events import Key

from nmem_tui.messages import Loaded
from nmem_tui.widgets.drawn import once_laid_out


async def together(pilot: Any, *keys: str) -> None:
    """The keys as a terminal hands them over when they were read at once: none waits for what the one before did."""
    for key in keys:
        pilot.app.post_message(Key(key, None))
    await asyncio.sleep(0)


THEN = (("escape", "escape"), ("pagedown",), ("enter", "enter", "enter"))


@pytest.mark.parametrize("early", [True, False], ids=["before it is drawn", "once it stands"])
async def test_keys_that_come_together_close_no_more_than_the_dialog(
    early: bool, make_db: Any, cockpit: Any, settled: Any
) -> None:
    async with cockpit(make_db("story"), (80, 24)) as pilot:
        for opens, then in product(("question_mark", "colon", "ctrl+p", "s", "E", "r"), THEN):
            if early:
                await together(pilot, opens, *then)
            else:
                await pilot.press(opens)
                await settled(pilot)
                await together(pilot, *then)
            await settled(pilot)
            await pilot.press("escape", "escape", "escape", "1")
            assert pilot.app.is_running, (opens, then)
            assert pilot.app.current_mode == "now", (opens, then)
            assert len(pilot.app.screen_stack) == 1, (opens, then)


async def test_what_is_chosen_in_the_palette_is_done_once_and_without_its_list_it_searches_no_more(
    make_db: Any, cockpit: Any, settled: Any
) -> None:
    async with cockpit(make_db("story"), (80, 24)) as pilot:
        theme = pilot.app.theme
        await pilot.press("colon")
        await settled(pilot)
        await pilot.press(*"dark or light")
        await settled(pilot)
        await pilot.press("down")
        await together(pilot, "enter", "enter", "enter")
        await settled(pilot)
        assert pilot.app.theme != theme
        await pilot.press("colon")
        await settled(pilot)
        await pilot.app.screen.query_one(CommandList).remove()  # as when it is left while a search begins
        await pilot.press("x")
        await settled(pilot)
        assert pilot.app.is_running


async def test_a_dialog_opens_again_while_the_one_before_it_leaves(make_db: Any, cockpit: Any, settled: Any) -> None:
    async with cockpit(make_db("story"), (80, 24)) as pilot:
        for opens in ("question_mark", "ctrl+p", "s", "E"):
            await pilot.press(opens)
            await settled(pilot)
            opened = pilot.app.screen
            opened.dismiss(None)  # its widgets go once the loop comes to them
            await together(pilot, opens)
            await settled(pilot)
            assert type(pilot.app.screen) is type(opened), opens
            assert pilot.app.screen is not opened, opens
            await pilot.press("escape")
            await settled(pilot)
            assert len(pilot.app.screen_stack) == 1, opens


async def test_an_answer_that_comes_while_the_cockpit_closes_is_dropped(
    make_db: Any, cockpit: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with cockpit(make_db("story")) as pilot:
        view = pilot.app.screen
        shown: list[str] = []
        view.reads._running["late"] = 0, shown.append
        with monkeypatch.context() as closing:
            closing.setattr(type(pilot.app), "screen_stack", [])
            view.hand_out(Loaded("late", 0, "an answer"))
        assert not shown


class Left:
    """A widget that has left its screen while the next layout was on its way."""

    is_attached = False

    def call_after_refresh(self, then: Any) -> None:
        then()


def test_a_widget_that_left_before_its_layout_is_asked_nothing() -> None:
    called: list[int] = []
    once_laid_out(Left(), called.append, 1)  # type: ignore[arg-type]
    assert called == []
