"""Rows that are marked: what is done is done with all of them, and one `u` takes it back."""

from __future__ import annotations

import os
import sqlite3
from typing import Any

import pytest

from tests.nmem_tui.asked import rows as ask

PATH = "aurora.db"


async def on(pilot: Any, settled: Any, screen: str) -> None:
    """On a screen."""
    await pilot.press(screen)
    await settled(pilot)


async def test_episodes_are_pinned_together_and_taken_back_together(
    whole: Any, cockpit: Any, settled: Any, until: Any, text: Any
) -> None:
    async with cockpit(PATH, (80, 24)) as pilot:
        await on(pilot, settled, "2")
        before = ask("SELECT id FROM work_units WHERE pinned ORDER BY id")
        await pilot.press("space", "space", "space")
        marked = sorted(pilot.app.screen.marked)
        shown = await until(pilot, "Episodes ─ ■ 3 marked")
        assert sum(line.startswith("■") for line in shown.splitlines()) == 3
        await pilot.press("p")
        await until(pilot, "pinned · u takes all of them back")
        assert set(marked) <= set(ask("SELECT id FROM work_units WHERE pinned"))
        assert "marked" not in text(pilot)
        await pilot.press("u")
        await until(pilot, "undone: ")
        assert ask("SELECT id FROM work_units WHERE pinned ORDER BY id") == before


async def test_all_that_are_listed_are_marked_and_purged_and_brought_back(
    whole: Any, cockpit: Any, settled: Any, until: Any
) -> None:
    async with cockpit(PATH, (160, 45)) as pilot:
        await on(pilot, settled, "2")
        everything = ask("SELECT id, intent FROM work_units ORDER BY id")
        await pilot.press("slash", *"flaky", "enter")
        await until(pilot, "filter “flaky” · ")
        await settled(pilot)
        await pilot.press("asterisk")
        listed = len(pilot.app.screen.marked)
        assert listed == pilot.app.screen.total > 0
        await until(pilot, f"■ {listed} marked")
        await pilot.press("x")
        await until(pilot, "y purges this")
        await pilot.press("y")
        await until(pilot, "purged: ")
        assert len(ask("SELECT id FROM work_units")) == len(everything) - listed
        assert not pilot.app.screen.marked
        await settled(pilot)
        await pilot.press("u")
        await until(pilot, "undone: ")
        assert ask("SELECT id, intent FROM work_units ORDER BY id") == everything


async def test_escape_takes_marks_off_before_the_filter_and_another_session_begins_without(
    whole: Any, cockpit: Any, settled: Any, until: Any, text: Any
) -> None:
    async with cockpit(PATH, (80, 24)) as pilot:
        await on(pilot, settled, "4")
        await pilot.press("slash", *"thumb", "enter", "asterisk")
        await until(pilot, "marked ─ filter “thumb”")
        await pilot.press("escape")
        assert not pilot.app.screen.marked
        assert "filter “thumb”" in text(pilot)
        await pilot.press("asterisk", "asterisk")
        assert not pilot.app.screen.marked
        await pilot.press("escape")
        await settled(pilot)
        assert "filter" not in text(pilot).splitlines()[2]
        await on(pilot, settled, "1")
        await pilot.press("up", "space", "space")
        await until(pilot, " marked")
        here = pilot.app.session.id
        other = ask("SELECT id FROM sessions WHERE id <> ? LIMIT 1", here)[0]
        pilot.app.show_session(other)
        await until(pilot, gone=" marked")
        await settled(pilot)
        assert pilot.app.session.id == other
        assert not pilot.app.screen.marked


async def test_learnings_are_dismissed_resolved_snoozed_and_purged_together(
    whole: Any, cockpit: Any, settled: Any, until: Any
) -> None:
    async with cockpit(PATH, (160, 45)) as pilot:
        await on(pilot, settled, "4")
        for keys, state in (("i", "dismissed"), ("R", "resolved"), ("z", "snoozed")):
            await pilot.press("g", "space", "space")
            first, second = pilot.app.screen.marked
            await pilot.press(keys)
            if keys == "z":
                await until(pilot, "open again after")
                await pilot.press("enter")
            await until(pilot, f"2 rows {state}")
            assert ask("SELECT state FROM learnings WHERE id IN (?, ?)", first, second) == [state, state]
            await settled(pilot)
            await pilot.press("u")
            await until(pilot, "undone: 2 at once")
            assert ask("SELECT state FROM learnings WHERE id IN (?, ?)", first, second) == ["open", "open"]
            await settled(pilot)
        await pilot.press("g", "space", "space", "x")
        gone = list(pilot.app.view().marked)
        await until(pilot, "Purge 2 items")
        await pilot.press("y")
        await until(pilot, "purged: ")
        assert not set(gone) & set(ask("SELECT id FROM learnings"))


async def test_what_is_done_with_one_or_does_not_apply_says_so(
    whole: Any, cockpit: Any, settled: Any, until: Any
) -> None:
    async with cockpit(PATH, (160, 45)) as pilot:
        await on(pilot, settled, "2")
        await pilot.press("space", "space", "d")
        await until(pilot, "2 rows are marked, this works on one: esc clears the marks")
        await on(pilot, settled, "7")
        await pilot.press("space", "e")
        await until(pilot, "this works on one")
        await pilot.press("escape", "asterisk", "c")
        await until(pilot, "of the marked ones stay as they are")
        await pilot.press("n")
        assert len(pilot.app.screen.marked) == len(ask("SELECT id FROM tasks"))


async def test_tasks_are_removed_cancelled_and_tried_again_together(
    whole: Any, cockpit: Any, settled: Any, until: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    cancelled: list[str] = []

    def command(_path: str, *given: str) -> str:
        cancelled.append(" ".join(given))
        return ""

    monkeypatch.setattr("nmem_tui.operations.processes._command", command)
    async with cockpit(PATH, (160, 45)) as pilot:
        await on(pilot, settled, "7")
        await pilot.press("slash", *"queued", "enter", "asterisk")
        await settled(pilot)
        queued = sorted(pilot.app.screen.marked)
        assert queued == ask("SELECT id FROM tasks WHERE state = 'queued' ORDER BY id")
        await pilot.press("c")
        await until(pilot, f"Cancel {len(queued)} tasks?", "y cancels them")
        await pilot.press("y")
        await until(pilot, f"{len(queued)} tasks cancelled")
        assert sorted(cancelled) == sorted(f"cancel {each}" for each in queued)
        await pilot.press("escape", "slash", *"failed !cancelled", "enter", "asterisk")
        await settled(pilot)
        over = list(pilot.app.screen.marked)
        await pilot.press("R")
        await until(pilot, "queued again")
        assert set(ask("SELECT state FROM tasks WHERE id IN (SELECT value FROM json_each(?))", str(over))) == {"queued"}
        await settled(pilot)
        await pilot.press("escape", "slash", *"succeeded", "enter", "asterisk", "x")
        await until(pilot, "Purge task/", "its worktree stays")
        await pilot.press("y")
        await until(pilot, "purged: ")
        assert whole["done"] not in ask("SELECT id FROM tasks")


async def test_hits_are_pinned_together_and_things_of_a_context_are_chosen_together(
    whole: Any, cockpit: Any, settled: Any, until: Any
) -> None:
    async with cockpit(PATH, (160, 45)) as pilot:
        await on(pilot, settled, "6")
        await pilot.press(*"limit", "enter")
        await settled(pilot)
        await pilot.press("space", "space")
        await until(pilot, "Hits ─ ■ 2 marked")
        await pilot.press("p")
        await until(pilot, "2 rows pinned")
        await settled(pilot)
        await pilot.press("u")
        await until(pilot, "undone: 2 at once")
        await on(pilot, settled, "5")
        await pilot.press("a", *"the upload limit error", "enter")
        await until(pilot, "Told at a prompt")
        await settled(pilot)
        for key, choice in (("e", "exclude"), ("i", "include")):
            await pilot.press("g", "space", "space")
            await pilot.press(key)
            await until(pilot, "from now on · u takes all of them back")
            assert sorted(ask("SELECT choice FROM context_choices")) == [choice] * 2
            await settled(pilot)
            await pilot.press("u")
            await until(pilot, "undone: 2 at once")
            assert ask("SELECT choice FROM context_choices") == []
            await settled(pilot)


async def test_rows_of_the_stream_are_copied_and_purged_together(
    whole: Any, cockpit: Any, settled: Any, until: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    copied: list[str] = []
    async with cockpit(PATH, (160, 45)) as pilot:
        monkeypatch.setattr(type(pilot.app), "copy_out", lambda _app, said: copied.append(said))
        await pilot.press("g", "space", "space", "space")
        await until(pilot, "Stream ─ ■ 3 marked")
        keys = list(pilot.app.screen.marked)
        await pilot.press("y")
        await settled(pilot)
        assert len(copied) == 1
        assert copied[0].count("\n\n") == 2
        await pilot.press("x")
        await until(pilot, "Purge 3 items")
        await pilot.press("y")
        await until(pilot, "purged: ")
        left = ask("SELECT id * 2 + 1 FROM observations UNION SELECT id * 2 FROM prompts")
        assert not set(keys) & set(left)
        await settled(pilot)
        await pilot.press("u")
        await until(pilot, "undone: ")
        assert set(keys) <= set(ask("SELECT id * 2 + 1 FROM observations UNION SELECT id * 2 FROM prompts"))


@pytest.mark.skipif(os.environ.get("NO_COLOR", "") != "", reason="looks at tones")
async def test_a_mark_is_a_sign_and_not_a_colour_alone(whole: Any, cockpit: Any, settled: Any, text: Any) -> None:
    async with cockpit(PATH, (80, 24)) as pilot:
        for screen, keys in (("1", "g"), ("2", "g"), ("4", "g"), ("5", "g"), ("7", "g")):
            await on(pilot, settled, screen)
            await pilot.press(keys, "space")
            await settled(pilot)
            assert "\n■" in text(pilot), screen


async def test_what_a_filter_hides_is_left_alone_and_what_could_not_be_purged_stays_marked(
    whole: Any, cockpit: Any, settled: Any, until: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_args: object, **_named: object) -> None:
        raise sqlite3.OperationalError("database is locked")

    monkeypatch.setattr("nmem.purge.run.purge", fails)
    async with cockpit(PATH, (160, 45)) as pilot:
        await on(pilot, settled, "2")
        before = ask("SELECT id FROM work_units WHERE pinned ORDER BY id")
        await pilot.press("asterisk")
        marked = len(pilot.app.screen.marked)
        await pilot.press("slash", *"flaky", "enter")
        await settled(pilot)
        listed = pilot.app.screen.total
        assert 0 < listed < marked
        await until(pilot, f"■ {marked} marked, {marked - listed} hidden")
        await pilot.press("x")
        await until(pilot, f"Purge {listed} items" if listed > 1 else "Purge episode/")
        await pilot.press("escape", "slash", "ctrl+u", *"zzzz", "enter")
        await settled(pilot)
        await until(pilot, f"■ {marked} marked, {marked} hidden")
        await pilot.press("p")
        await until(pilot, "no marked row is listed")
        assert ask("SELECT id FROM work_units WHERE pinned ORDER BY id") == before
        await pilot.press("escape", "escape")
        await settled(pilot)
        await pilot.press("space", "space", "x")
        await until(pilot, "Purge 2 items")
        await settled(pilot)
        await pilot.press("y")
        await until(pilot, "not changed: ")
        await settled(pilot)
        assert len(pilot.app.screen.marked) == 2


async def test_in_a_story_that_covers_the_list_keys_are_about_the_story(
    whole: Any, cockpit: Any, settled: Any, until: Any, text: Any
) -> None:
    async with cockpit(PATH, (80, 24)) as pilot:
        await on(pilot, settled, "2")
        before = ask("SELECT id FROM work_units WHERE pinned ORDER BY id")
        await pilot.press("space", "enter")
        await until(pilot, "Story ─ episode")
        (marked,), told = pilot.app.screen.all_marked, pilot.app.screen.unit_id
        assert marked != told
        assert not {marked, told} & set(before)
        await pilot.press("asterisk")
        await until(pilot, "the list is behind this: esc returns to it")
        await pilot.press("p")
        await until(pilot, "★ pinned")
        assert ask("SELECT id FROM work_units WHERE pinned ORDER BY id") == sorted([*before, told])
        await settled(pilot)
        await pilot.press("escape")
        await until(pilot, "Episodes ─ ■ 1 marked")


async def test_nothing_is_marked_behind_what_is_open(whole: Any, cockpit: Any, settled: Any, until: Any) -> None:
    async with cockpit(PATH, (80, 24)) as pilot:
        for screen in "1457":
            await on(pilot, settled, screen)
            await pilot.press("enter")
            await settled(pilot)
            assert pilot.app.screen.covered, screen
            for key in ("space", "asterisk"):
                pilot.app.clear_notifications()
                await pilot.press(key)
                await until(pilot, "the list is behind this")
            assert not pilot.app.screen.all_marked
            await pilot.press("escape")
            await settled(pilot)
            assert not pilot.app.screen.covered
            await pilot.press("space")
            await settled(pilot)
            assert len(pilot.app.screen.marked) == 1, screen
