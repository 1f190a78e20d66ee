"""Another size of the terminal, in any state: nothing breaks, the cursor stays, what matters most is in sight."""

from __future__ import annotations

from typing import Any

import pytest
from textual.pilot import Pilot
from textual.widgets import Input, OptionList

from nmem_tui.widgets.lines import Lines
from nmem_tui.widgets.stream import Stream

SMALL, LARGE, BETWEEN = (40, 12), (160, 45), ((60, 20), (160, 15), (100, 30))
"""Each state is seen small, in one of the sizes between, by turns, and large."""
STATES = {
    "now": "g j j",
    "now details": "g j enter",
    "now filter": "slash b u",
    "labels": "k L",
    "sessions": "s",
    "help": "question_mark p i n down",
    "episodes": "2 j j",
    "story": "2 j enter j j",
    "rename": "2 R",
    "purge": "2 x",
    "stance": "3 j",
    "learnings": "4",
    "context": "5 j",
    "search": "6 u p l o a d enter j",
    "search box": "6 u p",
    "tasks": "7",
    "task form": "7 n a b c",
    "health": "8 j",
    "storage": "8 v v v",
    "review": "r",
}
FIRST = {
    "1": "to 8 MB and add", "2": "Episodes", "3": "act", "4": "learning", "5": "Told", "6": "type:test",
    "7": "No task yet", "8": "Findings",
}  # fmt: skip
"""What has to be in sight on each screen."""


def held(pilot: Pilot[None]) -> list[Any]:
    """Where the cursors are, what has the keyboard, and what was typed."""
    screen = pilot.app.screen
    lists: list[Any] = [(each.id, each.cursor) for each in screen.query(Stream)]
    lists += [(each.id, each.highlighted) for each in screen.query(OptionList)]
    typed = [(each.id, each.value) for each in screen.query(Input)]
    return [type(screen).__name__, getattr(screen.focused, "id", None), lists, typed]


def within(pilot: Pilot[None]) -> None:
    """The cursor of the list that has the keyboard is on the screen."""
    focused = pilot.app.screen.focused
    if isinstance(focused, Lines | Stream) and focused.size.height and getattr(focused, "count", 1):
        assert 0 <= focused.cursor - focused.scroll_offset.y < max(1, focused.size.height)


@pytest.mark.parametrize("first", range(2))
async def test_a_resize_in_any_state_keeps_what_was_there(
    first: int, make_db: Any, cockpit: Any, settled: Any, text: Any
) -> None:
    """Each state is come to from the screen Now; the last size is the one in which it was come to."""
    async with cockpit(make_db("story"), LARGE) as pilot:
        for turn, state in enumerate(list(STATES)[first::2], first):
            await pilot.press(*STATES[state].split())
            await settled(pilot)
            before = held(pilot)
            for size in (SMALL, BETWEEN[turn % 3], LARGE):
                await pilot.resize_terminal(*size)
                await settled(pilot)
                shown = text(pilot).splitlines()
                assert len(shown) == size[1], state
                assert held(pilot) == before, (state, size)
                within(pilot)
            await pilot.press("escape", "escape", "escape", "1")
            await settled(pilot)
            assert pilot.app.current_mode == "now", state


async def test_the_list_of_stance_begins_at_its_top_again_where_no_one_moved_in_it(
    make_db: Any, cockpit: Any, settled: Any
) -> None:
    async with cockpit(make_db("long"), (60, 15)) as pilot:
        await pilot.press("3")
        await settled(pilot)
        listed = pilot.app.screen.query_one("#items", Lines)
        for size in ((160, 45), (80, 24), (160, 45), (60, 15), (80, 24), (60, 15), (160, 45), (80, 24)):
            await pilot.resize_terminal(*size)
            await settled(pilot)
            assert listed.scroll_offset.y == 0, size
            assert listed.cursor == listed._nearest(0, 1), size
        await pilot.press("j", "j", "j")
        here = listed.cursor
        await pilot.resize_terminal(160, 45)
        await settled(pilot)
        await pilot.resize_terminal(80, 24)
        await settled(pilot)
        assert listed.cursor == here, "nor does a person lose the line that was read"


async def test_episodes_look_the_same_whatever_size_they_had_before(
    make_db: Any, cockpit: Any, settled: Any, text: Any
) -> None:
    """As they look where they were opened in that size."""
    path, seen = make_db("story"), {}
    for size in ((160, 45), (80, 24), (60, 15)):
        async with cockpit(path, size) as pilot:
            await pilot.press("2")
            await settled(pilot)
            seen[size] = text(pilot)
            if size == (80, 24):
                continue
            for other in ((60, 15), (60, 8), (80, 24), (160, 45), (60, 15), (160, 45)):
                await pilot.resize_terminal(*other)
                await settled(pilot)
                within(pilot)
                assert seen.setdefault(other, text(pilot)) == text(pilot), (size, other)


async def test_a_stream_that_follows_ends_with_its_newest_row_at_every_size(
    make_db: Any, cockpit: Any, settled: Any
) -> None:
    async with cockpit(make_db("long"), (160, 45)) as pilot:
        stream = pilot.app.screen.query_one(Stream)
        for size in ((80, 24), (160, 45), (100, 20), (160, 30), (80, 24)):
            await pilot.resize_terminal(*size)
            await settled(pilot)
            assert stream.following
            assert stream.scroll_offset.y + stream.size.height == len(stream.window), size


async def test_half_a_terminal_shows_what_matters_and_the_keys(
    make_db: Any, cockpit: Any, settled: Any, text: Any
) -> None:
    async with cockpit(make_db("story"), (160, 15)) as pilot:
        for key, words in FIRST.items():
            await pilot.press(key)
            for size in ((160, 15), (60, 20)):
                await pilot.resize_terminal(*size)
                await settled(pilot)
                shown = text(pilot)
                assert words in shown, (key, size, shown)
                assert any(sign in shown.splitlines()[-1] for sign in ("? help", "enter takes")), (key, size)
                if key == "1":
                    rows = sum("✓ ok" in line or "✗" in line for line in shown.splitlines())
                    assert rows >= 3, f"the stream has room in {size}"
            await pilot.press("escape")  # out of the box of Search


async def test_the_frames_stand_before_anything_is_read(
    make_db: Any, cockpit: Any, settled: Any, text: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with cockpit(make_db("story"), (160, 45)) as pilot:
        for mode in ("stance", "context", "health"):
            with monkeypatch.context() as patched:
                patched.setattr("nmem_tui.store.access.Reads.ask", lambda *_a, **_k: None)
                pilot.app.switch_mode(mode)
                await settled(pilot)
                assert text(pilot).count("╭") >= 2, mode


async def test_what_is_said_covers_no_content_and_a_dialog_is_as_high_as_its_choices(
    make_db: Any, cockpit: Any, settled: Any, text: Any
) -> None:
    async with cockpit(make_db("story"), (80, 24)) as pilot:
        before = text(pilot).splitlines()
        await pilot.press("y")
        await settled(pilot)
        after = text(pilot).splitlines()
        assert "copied" in after[1]
        assert after[2:] == before[2:]
        await pilot.press("s")
        await settled(pilot)
        box = pilot.app.screen.query_one("#dialog").size.height
        choices = len(pilot.app.screen.query_one(OptionList).options)
        assert box <= max(4, choices + 1)
        await pilot.press(*"zzz")
        await settled(pilot)
        assert pilot.app.screen.query_one("#dialog").size.height == box, "typing does not move it"
