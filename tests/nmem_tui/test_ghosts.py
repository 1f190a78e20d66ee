"""After every key a terminal shows what a whole repaint would give: nothing that moved or went stays painted."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from nmem_tui.widgets.bars import KeyBar
from tests.nmem_tui.gallery import still as settle
from tests.nmem_tui.terminal import Terminal

Open = Callable[..., Any]
SIZES = [(80, 24), (160, 45)]
"""Smaller and larger than the one in which each screen's tour begins."""


async def ghosts(pilot: Any, terminal: Terminal, *keys: str) -> list[str]:
    """Press keys one after the other: what is wrong on the terminal, with the keys pressed by then."""
    found = []
    for at, key in enumerate(keys):
        await pilot.press(key)
        await settle(pilot)
        found += [f"after {' '.join(keys[: at + 1])}: {row}" for row in terminal.differs(pilot)]
    return found


@pytest.mark.parametrize("size", SIZES)
async def test_the_views_of_context_leave_no_row_behind(
    whole: dict[str, int], cockpit: Open, monkeypatch: pytest.MonkeyPatch, size: tuple[int, int]
) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    async with cockpit("aurora.db", size, "") as pilot:
        with Terminal(pilot.app).listening() as terminal:
            assert not await ghosts(pilot, terminal, "5", *"vvvVVVhh")


TOUR = {
    "now": "j k G g enter J escape s escape v escape slash x escape L escape w escape question_mark escape t t",
    "episodes": "j j enter J escape slash x escape x escape R escape m escape r j escape",
    "stance": "j j v v m escape slash x escape",
    "learnings": "j j s S P P enter J escape h h a escape d escape",
    "context": "j a x y enter v v V enter J escape p u x u h j h greater_than_sign u",
    "search": "j j f l h f m escape s",
    "tasks": "j j o o e escape n escape s escape",
    "health": "j j v v v v V s escape",
}
"""What moves, opens and turns each screen."""


@pytest.mark.parametrize("first", [0, 1])
async def test_no_key_of_a_screen_leaves_anything_behind(
    whole: dict[str, int], cockpit: Open, at: Any, first: int
) -> None:
    async with cockpit("aurora.db", (100, 30)) as pilot:
        with Terminal(pilot.app).listening() as terminal:
            for screen in list(TOUR)[first::2]:
                await at(pilot, screen)
                found = terminal.differs(pilot) + await ghosts(pilot, terminal, *TOUR[screen].split())
                for size in (160, 45), (80, 24):
                    await pilot.resize_terminal(*size)
                    await settle(pilot)
                    found += [f"at {size}: {row}" for row in terminal.differs(pilot)]
                assert not found, screen
                await pilot.press("escape")
                await pilot.resize_terminal(100, 30)


async def test_keys_that_are_drawn_while_a_list_is_read_are_drawn_again_once_it_is_there(
    whole: dict[str, int], cockpit: Open, at: Any
) -> None:
    async with cockpit("aurora.db", (100, 30)) as pilot:
        await at(pilot, "stance")
        with Terminal(pilot.app).listening() as terminal:
            shown = pilot.app.screen
            found, shown.found = shown.found, None
            bar = shown.query_one(KeyBar)
            bar.refresh()  # as where a dialog over it closes
            bar.render_line(0)
            shown.found = found
            shown.check_keys()
            await settle(pilot)
            assert not terminal.differs(pilot)
