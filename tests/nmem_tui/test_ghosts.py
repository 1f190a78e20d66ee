"""After every key a terminal shows what a whole repaint would give: nothing that moved or went stays painted."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from nmem_tui.gallery import still as settle
from tests.nmem_tui.terminal import Terminal

Open = Callable[..., Any]
SIZES = [(80, 24), (100, 30), (160, 45)]


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
    whole: dict[str, int], cockpit: Open, size: tuple[int, int]
) -> None:
    async with cockpit("aurora.db", size) as pilot:
        with Terminal(pilot.app).listening() as terminal:
            assert not await ghosts(pilot, terminal, "5", *"vvvvvVVVVVhh")
