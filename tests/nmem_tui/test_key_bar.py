"""The key bar: no key that refuses where the cursor stands, the most used first, one key for one thing everywhere."""

from __future__ import annotations

from typing import Any

import pytest

from nmem.labels.read import Reason, Word
from nmem_tui.model import empty, review
from nmem_tui.model.actions import ACTIONS, BY_ID, NUMBERED, bar, of
from nmem_tui.model.line import plain
from nmem_tui.widgets.bars import KeyBar

SCREENS = NUMBERED.split()
MOST = {
    "episodes": "filter browse_themes review", "learnings": "accept dismiss snooze",
    "context": "exclude pin_item ask", "tasks": "new_task", "health": "next_check audit backup",
}  # fmt: skip
"""What is pressed most: it has room in eighty columns."""


@pytest.fixture
def whole(here: Any, load: Any, written: Any, monkeypatch: pytest.MonkeyPatch) -> dict[str, int]:
    """A database with something on every screen; ids by name."""
    monkeypatch.setenv("NMEM_CONFIG", str(here / "config.toml"))
    made: dict[str, int] = written("every screen", lambda: load("whole_seed").database(load, "aurora.db"))
    return made


def shown(pilot: Any) -> list[str]:
    """The actions whose keys the bar shows."""
    return [action for _, _, action in pilot.app.screen.query_one(KeyBar).spots]


@pytest.mark.parametrize(("width", "downs"), [(80, 2), (160, 6)])
async def test_each_key_that_is_shown_does_something_at_every_row(
    width: int, downs: int, whole: dict[str, int], cockpit: Any, settled: Any, at: Any
) -> None:
    async with cockpit("aurora.db", (width, 30)) as pilot:
        for screen in SCREENS:
            await at(pilot, screen)
            assert set(MOST.get(screen, "").split()) <= set(shown(pilot)), f"{screen}: what is pressed most has room"
            await pilot.press("g")
            for key in ("", *["j"] * downs, "enter", "j", "escape", "space"):
                await pilot.press(*([key] if key else []))
                await settled(pilot)
                refused = {one: why for one in shown(pilot) if (why := pilot.app.why_not(one))}
                assert not refused, f"{screen}, after {key!r}: {refused}"
            assert shown(pilot)[0] == "help", screen
            assert shown(pilot)[-1] == "quit", screen


async def test_where_nothing_is_recorded_no_key_is_shown_that_needs_something(
    make_db: Any, cockpit: Any, settled: Any
) -> None:
    async with cockpit(make_db("empty"), (160, 45)) as pilot:
        for number, screen in enumerate(SCREENS, 1):
            await pilot.press(str(number), "escape")
            await settled(pilot)
            assert not set(shown(pilot)) & {"open", "purge", "filter", "sessions", "pin", "copy", "undo"}, screen


async def test_a_cockpit_that_only_reads_shows_no_key_that_writes(
    whole: dict[str, int], cockpit: Any, settled: Any, text: Any
) -> None:
    async with cockpit("aurora.db", (160, 45), read_only=True) as pilot:
        await settled(pilot)
        assert shown(pilot)
        assert not [one for one in shown(pilot) if BY_ID[one].writes]
        assert "read-only" in text(pilot)
        await pilot.press("x")
        await settled(pilot)
        assert "read-only" in text(pilot).splitlines()[1]


def test_every_action_with_a_label_can_come_onto_the_bar() -> None:
    for screen in SCREENS:
        assert {one.id for one in bar(screen)} == {one.id for one in of(screen) if one.label}


def test_one_key_purges_and_one_takes_back_wherever_something_is_listed() -> None:
    purge, undo = BY_ID["purge"], BY_ID["undo"]
    assert set(purge.context.split()) == set(SCREENS) - {"stance"}
    assert purge.keys == ("x",)
    assert [one.id for one in ACTIONS if "x" in one.keys or "u" in one.keys] == [purge.id, undo.id]


@pytest.mark.parametrize("screen", SCREENS)
def test_an_empty_screen_says_what_begins_it_and_names_no_key_that_is_refused(screen: str) -> None:
    said, reading = (plain(empty.told(screen, 100, 40, writes=writes)) for writes in (True, False))
    assert "nmem import" in said or "nmem task add" in said
    assert ("write the first one" in said) == (screen == "tasks")
    assert "write the first one" not in reading
    assert said.split("\n")[-1] == reading.split("\n")[-1]


def test_what_speaks_for_a_label_is_told_though_stronger_reasons_speak_against_it() -> None:
    against = tuple(Reason(f"a{size}", f"against {size}", -float(size)) for size in (3, 2, 2))
    speaks = (Reason("r", "reads a file", 1.0), Reason("s", "searches one name", 0.5))
    word = Word("scope", "converge", 0.9, False, "m", "converge", 0.9, 0.5, (*against, *speaks))
    assert review.because(word, 60, 1) == ["because: reads a file; searches one name"]
    assert review.because(word, 24, 1) == ["because: reads a file"], "a reason stands whole, or not at all"
