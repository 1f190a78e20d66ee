"""Every sign that stands on a screen is explained in its help, and every key is found there by what it is called."""

from __future__ import annotations

import string
from typing import Any

import pytest

from nmem_tui.model import actions, episodes, sessions, stream, symbols, tasks
from nmem_tui.model.actions import NUMBERED
from nmem_tui.screens.palette import Help

_PLAIN = frozenset("·–─│×−←→↑↓‹›≤“”…┤└┴┼◂ ") | frozenset(string.printable)
"""What separates, frames and points: read without a key."""
GLYPHS = frozenset("".join(str(each) for each in symbols.SETS[symbols.BLOCKS][1:])) - _PLAIN
SCREENS = NUMBERED.split()


async def test_what_is_drawn_is_explained(whole: Any, cockpit: Any, settled: Any, at: Any, text: Any) -> None:
    async with cockpit("aurora.db", (160, 45)) as pilot:
        for screen in SCREENS:
            known = "".join(one.drawn() for one in symbols.of_screen(screen))
            view = await at(pilot, screen)
            seen = set()
            for key in ("", "enter", "v", "V"):
                await pilot.press(*([key] if key else []))
                await settled(pilot)
                if pilot.app.screen is view:
                    seen |= {char for line in text(pilot).splitlines()[1:] for char in line} & GLYPHS
            assert seen - set(known) == set(), screen
            assert len(seen) >= 2, screen
            pilot.app.clear_notifications()
            await pilot.press("escape", "escape")


def test_what_a_table_of_states_can_say_is_explained() -> None:
    for screen, table in (("sessions", sessions._STATES), ("tasks", tasks._STATES)):
        assert {sign for sign, _ in table.values()} <= {one.sign for one in symbols.of_screen(screen)}
    told = " ".join(one.sign for one in symbols.of_screen("episodes"))
    for word in (*(sign for sign, *_ in episodes._ENDED.values()), "bumpy", "rough", "A B C"):
        assert word in told
    assert {"P", "S"} <= {one.sign for one in symbols.of_screen("stance")}
    labels = " ".join(f"{one.sign} {one.means}" for one in symbols.of_screen("now"))
    assert all(word in labels for name in ("phase", "scope") for word in stream.POLES[name])


CALLED = {
    "sessions": "now", "cost": "now", "blame": "episodes", "ask": "search", "share": "episodes", "hand off": "episodes",
    "native": "learnings", "undo": "tasks", "signs": "health",
}  # fmt: skip


@pytest.mark.parametrize(("word", "screen"), CALLED.items())
def test_a_key_is_found_by_what_it_is_called(word: str, screen: str) -> None:
    found = [one for one in actions.of(screen) if word in Help._words(one).lower()]
    assert found, "the help and the palette find it"


async def test_the_help_lists_the_signs_of_the_screen(whole: Any, cockpit: Any, settled: Any, until: Any) -> None:
    async with cockpit("aurora.db", (80, 24)) as pilot:
        await pilot.press("2")
        await settled(pilot)
        await pilot.press("question_mark", *"bumpy")
        await until(pilot, "Signs on this screen", "met resistance", gone="list only rows")
        await pilot.press("enter")
        await until(pilot, gone="Signs on this screen")
        await pilot.press("I")
        await until(pilot, "Signs on this screen", "✓ commit", gone="list only rows")


async def test_the_words_of_a_dialog_are_explained_there(whole: Any, cockpit: Any, settled: Any, until: Any) -> None:
    dialogs = (
        ("5", "L", "question_mark", "Ledger", ("given back", "asked for and not told", "not missed", "needed")),
        ("1", "dollar_sign", "question_mark", "Cost ─", ("written", "cached", "unpriced")),
        ("2", "v", "question_mark", "what it changed", ("@@ obs/7", "was added")),
        ("2", "h", "f1", "Hot ─", ("heat", "back", "taken back")),
        ("2", "F", "f1", "Why ─", ("instead of", "explained")),
    )
    async with cockpit("aurora.db", (160, 45)) as pilot:
        for screen, key, asks, title, words in dialogs:
            await pilot.press(screen)
            await settled(pilot)
            await pilot.press(key)
            await until(pilot, title, "? words" if asks != "f1" or key == "F" else "f1 words")
            await pilot.press(asks)
            await until(pilot, "What the signs and words mean", *words)
            await pilot.press("escape")
            await until(pilot, title, gone="What the signs and words mean")
            await pilot.press("escape")
            await until(pilot, gone=title)


async def test_where_a_filter_has_the_keyboard_a_question_mark_is_typed(
    whole: Any, cockpit: Any, settled: Any, until: Any
) -> None:
    async with cockpit("aurora.db", (160, 45)) as pilot:
        await pilot.press("2")
        await settled(pilot)
        await pilot.press("h", "question_mark")
        await until(pilot, "Hot ─", "nothing matches", gone="What the signs and words mean")
        assert pilot.app.screen.field.value == "?"
