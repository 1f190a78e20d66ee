"""A question in the box of the screen Search: quotes as hits, or nothing; enter opens the episode."""

from __future__ import annotations

from typing import Any

import pytest

from nmem.search import refresh
from tests.nmem_tui.test_search import keys, steady  # noqa: F401 - steady is a fixture


@pytest.fixture
def story(here: Any, seeds: Any) -> str:
    db = seeds.database("aurora.db")
    seeds.story(db)
    seeds.history(db)
    seeds.label(db)
    refresh.refresh(db)
    db.close()
    return "aurora.db"


async def test_a_key_asks_and_enter_opens_the_episode_of_a_quote(
    story: str, cockpit: Any, settled: Any, text: Any
) -> None:
    async with cockpit(story, (160, 45)) as pilot:
        await pilot.press("6", "escape", "a", *keys("which test is flaky on CI"), "enter")
        await settled(pilot)
        hit = pilot.app.screen.hits[0]
        assert hit.id.startswith("prompt/")
        assert "thumbnails test is flaky" in hit.snippet.text
        assert hit.id in text(pilot), "the list names the row"
        assert "Answer to “which test is flaky on CI”" in text(pilot)
        marked = {hit.snippet.text[begin:end].lower() for begin, end in hit.snippet.marks}
        assert {"test", "flaky"} <= marked
        await pilot.press("enter")
        await settled(pilot)
        assert pilot.app.screen.CONTEXT == "episodes"


async def test_what_is_not_recorded_is_said_and_shows_no_noise(
    story: str, cockpit: Any, settled: Any, text: Any
) -> None:
    async with cockpit(story, (160, 45)) as pilot:
        await pilot.press("6", *keys("?who approves the zebra rollout"), "enter")
        await settled(pilot)
        assert pilot.app.screen.hits == []
        assert "nothing is recorded about it" in text(pilot)


async def test_what_comes_near_is_no_answer(story: str, cockpit: Any, settled: Any, text: Any) -> None:
    async with cockpit(story, (160, 45)) as pilot:
        await pilot.press("6", *keys("?which test is flaky under postgres"), "enter")
        await settled(pilot)
        shown = text(pilot)
        assert pilot.app.screen.hits and "Nearest to" in shown and "Answer to" not in shown
        assert "no answer is recorded: these come nearest" in shown


async def test_before_a_question_is_typed_no_answer_is_told(story: str, cockpit: Any, settled: Any, until: Any) -> None:
    async with cockpit(story, (160, 45)) as pilot:
        await pilot.press("6", "escape", "a")
        shown = await until(pilot, "type the question behind the ?: quotes from the records answer it")
        assert "nothing found" not in shown and "Answer to" not in shown and "! type" not in shown
        await pilot.press(*keys("which test is flaky on CI"))
        await until(pilot, "Answer to “which test is flaky on CI”")
        await pilot.press(*["backspace"] * len("which test is flaky on CI"))
        await until(pilot, "type the question behind the ?", gone="Answer to")
