"""A screen that is opened first costs little more than one that was open before."""

import asyncio
import sys
from collections.abc import Callable, Iterable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from textual.dom import DOMNode

from nmem_tui import app, idle
from nmem_tui.screens.base import View


def test_the_code_of_the_screens_is_loaded_one_after_the_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    names = [f"loaded_ahead_{number}" for number in range(2)]
    for name in names:
        (tmp_path / f"{name}.py").write_text("")
        monkeypatch.delitem(sys.modules, name, raising=False)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(idle, "_PRELOAD_LOOK_S", 0)
    made: list[str] = []
    asyncio.run(idle.load(names, made.append))
    assert [name for name in sys.modules if name in names] == names == made


async def test_a_screen_that_is_made_ahead_begins_when_it_is_opened(
    make_db: Callable[[str], str], cockpit: Callable[..., Any], settled: Callable[..., Any], text: Callable[..., str]
) -> None:
    async with cockpit(make_db("story")) as pilot:
        seen = text(pilot)
        for name in app.LATER:
            pilot.app._make_ahead(name)
        await settled(pilot)
        assert text(pilot) == seen  # nothing of it shows
        stacks = pilot.app._screen_stacks
        made = stacks["episodes"][0]
        assert made.query("#listing"), "its widgets stand"
        assert made.listing is None, "nothing is read for it"
        assert not made.composed
        await pilot.press("t", "2")
        await settled(pilot)
        assert pilot.app.screen is made
        assert made.composed
        assert "5 episodes" in text(pilot)
        assert pilot.app.wears(made)


def test_every_screen_is_among_what_is_loaded() -> None:
    assert all(find_spec(name) for name in app.LATER)
    for make in app.Cockpit.MODES.values():
        assert type(make()).__module__ in app.LATER


@pytest.mark.parametrize("size", [(80, 24), (160, 45)])
async def test_a_new_screen_is_styled_once(
    make_db: Callable[[str], str],
    cockpit: Callable[..., Any],
    settled: Callable[..., Any],
    monkeypatch: pytest.MonkeyPatch,
    size: tuple[int, int],
) -> None:
    async with cockpit(make_db("story"), size) as pilot:
        styled: list[int] = []
        update = pilot.app.stylesheet.update_nodes

        def counted(nodes: Iterable[DOMNode], animate: bool = False) -> None:
            several = list(nodes)
            styled.append(len([each for each in several if each.parent is not None and not isinstance(each, View)]))
            update(several, animate=animate)

        monkeypatch.setattr(pilot.app.stylesheet, "update_nodes", counted)
        await pilot.press("2")
        await settled(pilot)
        assert pilot.app.screen.has_class("-wide") == (size[0] >= 120)
        assert sum(styled) == 0
