"""What the cockpit is told while it closes: its screens are gone before its messages are."""

from __future__ import annotations

import asyncio
import gc
import warnings
from collections.abc import Callable
from itertools import product
from typing import Any

import pytest
from textual.events import Key, Mount, ScreenResume

from nmem_tui.messages import Changed, FileChanged, Finished, Progress, StoreChanged, StoreGone
from nmem_tui.screens.palette import Help


async def test_news_that_comes_while_it_closes_is_nobodys(cockpit: Any, make_db: Callable[[str], str]) -> None:
    late = (
        StoreChanged(9), StoreGone("gone"), Changed("said", failed=True), Progress(), Finished("done", failed=False),
        FileChanged("trouble", "cannot watch"), FileChanged("config", "config.toml"),
    )  # fmt: skip
    async with cockpit(make_db("story")) as pilot:
        pilot.app._screen_stack.clear()
        for each in late:
            pilot.app.post_message(each)
            while not pilot.app._message_queue.empty() and pilot.app._exception is None:
                await asyncio.sleep(0)
            assert pilot.app._exception is None, each


@pytest.mark.parametrize("mode", ["episodes", "health"])
async def test_a_screen_that_is_never_composed_begins_nothing(
    mode: str, cockpit: Any, make_db: Callable[[str], str], settled: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A person leaves in the moment in which a screen, or the demo, is asked for."""
    async with cockpit(make_db("story")) as pilot:
        monkeypatch.setattr(pilot.app, "_play", lambda: None)
        pilot.app.visit(mode)
        await settled(pilot)
        pilot.app.do_demo()
        pilot.app.visit("learnings")
        pilot.app.exit()


async def test_a_dialog_that_is_left_before_it_was_composed_begins_nothing(
    cockpit: Any, make_db: Callable[[str], str]
) -> None:
    async with cockpit(make_db("story")):
        for leaving, event in product(("_closing", "_pruning"), (Mount, ScreenResume)):
            left = Help("now")
            setattr(left, leaving, True)
            await left.on_event(event())


async def test_work_that_ends_while_it_closes_is_nobodys(cockpit: Any, make_db: Callable[[str], str]) -> None:
    async with cockpit(make_db("story")) as pilot:
        heard: list[object] = []
        pilot.app._then = heard.append
        pilot.app._exit = True
        pilot.app.tell_end(Finished("done", failed=False, value=1))
        assert not heard


async def test_work_that_is_cancelled_before_its_first_step_leaves_no_coroutine_unawaited(
    cockpit: Any, make_db: Callable[[str], str], settled: Any
) -> None:
    """A person leaves in the moment in which the cockpit begins to watch, or a key changed something."""
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        async with cockpit(make_db("story")) as pilot:
            await settled(pilot)
            pilot.app._watching = True
            pilot.app._begin()
            pilot.app._load_ahead()
            pilot.app.change(lambda _db, _now: "done")
            pilot.app.workers.cancel_all()
            await settled(pilot)
        gc.collect()
    assert not [str(each.message) for each in told if "never awaited" in str(each.message)]


@pytest.mark.parametrize("late", ["visit", "begin anew"])
async def test_a_screen_that_is_asked_for_while_the_others_are_closed_is_not_made(
    cockpit: Any, make_db: Callable[[str], str], settled: Any, monkeypatch: pytest.MonkeyPatch, late: str
) -> None:
    """The library walks through its screens; one more meanwhile was a fault, and the process ended with it."""
    async with cockpit(make_db("story")) as pilot:
        await settled(pilot)
        app = pilot.app
        prune = app._prune

        async def slow(*nodes: Any, **options: Any) -> Any:
            app.switch_mode("health") if late == "visit" else app._begin_anew()
            return await prune(*nodes, **options)

        monkeypatch.setattr(app, "_prune", slow)


@pytest.mark.parametrize("handed_on", [False, True])
async def test_keys_typed_after_the_one_that_leaves_do_nothing(
    handed_on: bool, cockpit: Any, make_db: Callable[[str], str]
) -> None:
    """A dialog hands on what it had not used; a screen that is opened so late never stands, and no key waits for it."""
    async with cockpit(make_db("story")) as pilot:
        pilot.app.exit()
        pilot.app.do_review()
        late = Key("f1", None)
        if handed_on:
            late._set_forwarded()
        async with asyncio.timeout(20):
            await pilot.app.on_event(late)
        assert not isinstance(pilot.app.screen, Help)


async def test_an_action_that_is_clicked_once_it_leaves_is_nobodys(
    cockpit: Any, make_db: Callable[[str], str], settled: Any
) -> None:
    """The dialog was composed halfway, and the process ended with a fault instead of in peace."""
    async with cockpit(make_db("story")) as pilot:
        await settled(pilot)
        pilot.app.exit()
        for action in ("help", "palette", "export", "purge"):
            pilot.app.action_act(action)
