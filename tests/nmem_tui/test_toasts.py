"""What is said: one toast at a time, over the tabs and the bar above them, never over content; its end is readable."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nmem.text import width
from nmem_tui.screens import host
from tests.nmem_tui.gallery import screen_text

LONG = "the folder of a project, /home/dev/src/some-project, no longer exists: run this in a checkout · u undoes"


@pytest.mark.parametrize("size", [(80, 24), (120, 36)])
async def test_one_at_a_time_and_nothing_under_it_but_tabs(
    size: tuple[int, int], make_db: Any, cockpit: Any, settled: Any
) -> None:
    async with cockpit(make_db("story"), size) as pilot:
        await settled(pilot)
        before = screen_text(pilot)
        for text in ("one thing is done · u undoes", "another", "a third one", LONG, "the last one · u undoes"):
            pilot.app.say(text)
            for _ in range(3):
                await pilot.pause(0.02)
                assert screen_text(pilot)[2:] == before[2:]
            await settled(pilot)
            assert screen_text(pilot)[2:] == before[2:]
            if text != LONG:
                now = screen_text(pilot)
                assert now[0] == before[0]
                assert now[1].endswith(f"▊ {text}")
        assert len(pilot.app.screen.query("Toast")) == 1
        pilot.app.say(LONG)
        await settled(pilot)
        assert "u undoes" in "".join(screen_text(pilot)[:2])


async def test_screens_keep_no_place_of_a_toast_that_is_over(make_db: Any, cockpit: Any, settled: Any) -> None:
    async with cockpit(make_db("story"), (120, 36)) as pilot:
        await settled(pilot)
        for number in range(6):
            pilot.app.say(f"thing {number} is done")
            for key in "21":
                await pilot.press(key)
                await settled(pilot)
        await pilot.press("2")
        await settled(pilot)
        assert len(pilot.app.screen.query("ToastHolder")) <= 2


@given(st.text(max_size=300), st.integers(1, 200))
def test_at_most_two_lines_that_fit(text: str, cells: int) -> None:
    lines = host.toast_lines(f"{text} · u undoes", cells).split("\n")
    assert len(lines) <= 2
    assert all(width(line) <= max(8, cells - 3) for line in lines)
    assert cells < 20 or "".join(lines).replace(" ", "").endswith("·uundoes")
