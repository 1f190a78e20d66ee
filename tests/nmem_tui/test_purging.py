"""Purges from every screen: what goes is shown, by item, file, session, project, text and time; taken; brought back."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from nmem.purge import run
from nmem.settle import settle
from tests.nmem_tui.asked import rows as ask

TOKEN = "zq7planted-token-42"
PATH = "aurora.db"


def facts() -> Any:
    """Every session, prompt, call, episode, learning."""
    return [
        *ask("SELECT 'session', id, project_id FROM sessions ORDER BY id"),
        *ask("SELECT 'prompt', id, session_id, content FROM prompts ORDER BY id"),
        *ask("SELECT 'obs', id, session_id, content, file_path, prompt_id FROM observations ORDER BY id"),
        *ask("SELECT 'unit', id, session_id, title, intent FROM work_units ORDER BY id"),
        *ask("SELECT 'learning', id, title, state FROM learnings ORDER BY id"),
    ]


def held(word: str = TOKEN) -> list[str]:
    """The files in which a word stands, in whatever case."""
    found = [path for path in Path().rglob("*") if path.is_file() and path.name != "config.toml"]
    return [str(path) for path in found if word.encode() in path.read_bytes().lower()]


@pytest.fixture
def planted(here: Path, seeds: Any, monkeypatch: pytest.MonkeyPatch) -> str:
    """A story with a token in one call, its file, one prompt."""
    monkeypatch.setenv("NMEM_CONFIG", str(here / "config.toml"))
    db = seeds.database(PATH)
    seeds.story(db)
    seeds.history(db)
    said = seeds.say(db, seeds.NOW - 4_000, f"deploy with {TOKEN} now")
    seeds.do(db, seeds.NOW - 3_500, "command", f"deploy --key {TOKEN}", prompt_id=said)
    seeds.do(db, seeds.NOW - 3_000, "file_edit", f"keys/{TOKEN}.txt", file_path=f"keys/{TOKEN}.txt", prompt_id=said)
    seeds.label(db)
    db.close()
    return PATH


@pytest.fixture
def cleaned(seeds: Any) -> Callable[[], None]:
    """What settling does in the background after a purge."""

    def clean() -> None:
        run.finish(PATH, seeds.NOW)

    return clean


@pytest.fixture
def purged(until: Any, settled: Any) -> Callable[..., Any]:
    """Says yes to what a dialog shows, and waits until it is told and done."""

    async def confirm(pilot: Any, *told: str) -> None:
        await pilot.press("y")
        await until(pilot, *(told or ("purged: ",)))
        await settled(pilot)

    return confirm


@pytest.fixture
def undone(until: Any, settled: Any) -> Callable[..., Any]:
    """Takes the purge back, and waits until it is told and done."""

    async def undo(pilot: Any) -> None:
        await pilot.press("u")
        await until(pilot, "undone: purge/1")
        await settled(pilot)

    return undo


REACHES = {"item": ("", ["command"]), "project": ("p", [])}
"""Reach -> the key that chooses it, and which calls with the token it leaves."""


@pytest.mark.parametrize("reach", REACHES)
async def test_a_row_goes_or_what_it_lies_in(
    reach: str, planted: str, cockpit: Any, until: Any, settled: Any, cleaned: Any, purged: Any
) -> None:
    key, kept = REACHES[reach]
    before = facts()
    async with cockpit(planted, (100, 40)) as pilot:
        await pilot.press("x")
        await until(pilot, "only this: obs/", "its file: keys/zq7", "its session", "all of aurora-api", "enter cancel")
        await pilot.press(*key)
        await until(pilot, "These go:", "brings them back until 10-10 08:53", "purges this")
        assert facts() == before
        await purged(pilot, "purged: ", "u brings them back until 10-10 08:53")
        left = ask("SELECT obs_type FROM observations WHERE content LIKE ? ORDER BY id", f"%{TOKEN}%")
        assert left == kept
        if reach == "project":
            cleaned()
            assert held() == []
            assert [path.suffix for path in sorted(Path("trash").iterdir())] == [".age", ".key"]
        assert ask("SELECT count(*) FROM projects") == [0 if reach == "project" else 1]
    async with cockpit(planted, (100, 40)) as pilot:  # also after a restart, from another screen
        await pilot.press("5", "u")
        await until(pilot, "undone: purge/1")
        await settled(pilot)
    assert facts() == before
    assert ask("SELECT state FROM purges") == ["undone"]


async def test_where_there_are_few_rows_the_list_has_them_and_all_is_said_in_few_columns(
    planted: str, cockpit: Any, until: Any, settled: Any
) -> None:
    async with cockpit(planted, (60, 15)) as pilot:
        await pilot.press("2", "x")
        await until(pilot, "These go", "brings them back until")
        await settled(pilot)
        assert pilot.app.screen.query_one("#what").size.height >= 5
        await pilot.resize_terminal(80, 24)
        await until(pilot, "lie sealed")
        await pilot.press("escape", "1", "x")
        await until(pilot, "brings them back until", "encrypted", gone="sealed, e…")


async def test_an_episode_goes_or_its_thread_or_session(
    planted: str, cockpit: Any, until: Any, settled: Any, purged: Any
) -> None:
    before = facts()
    async with cockpit(planted, (120, 40)) as pilot:
        await pilot.press("2")
        await settled(pilot)
        for number, key in enumerate("etsi", 1):
            await pilot.press("x")
            shown = await until(pilot, "only this: episode/", "its thread", "its session", "all of aurora-api")
            assert "its file" not in shown
            await pilot.press(key)
            await until(pilot, "These go:", "purges this")
            await purged(pilot)
            assert len(facts()) < len(before), key
            await pilot.press("u")
            await until(pilot, f"undone: purge/{number}")
            await settled(pilot)
            assert facts() == before, key
            pilot.app.clear_notifications()


@pytest.mark.parametrize("typed", ["since:1m", "re:zq7[a-z]+ project:aurora-api", f"file:keys/{TOKEN}.txt"])
async def test_time_file_and_pattern_from_health(
    typed: str, planted: str, cockpit: Any, until: Any, settled: Any, cleaned: Any, purged: Any, undone: Any
) -> None:
    before = facts()
    async with cockpit(planted, (100, 40)) as pilot:
        await pilot.press("8")
        await until(pilot, "Findings")
        await settled(pilot)
        await pilot.press("x")
        await until(pilot, "Purge what?")
        pilot.app.screen.query_one("Input").value = typed
        await pilot.press("enter")
        await until(pilot, "These go:", "purges this")
        await purged(pilot)
    cleaned()
    left = ask("SELECT count(*) FROM observations WHERE content LIKE ?", f"%{TOKEN}%")
    assert left == [1 if typed.startswith("file:") else 0]
    if not typed.startswith("file:"):
        assert held() == []
    assert len(facts()) < len(before)
    async with cockpit(planted, (100, 40)) as pilot:
        await undone(pilot)
    assert facts() == before


async def test_preview_toast_and_undo_say_the_same(
    planted: str, cockpit: Any, until: Any, purged: Any, settled: Any, cleaned: Any
) -> None:
    before = facts()
    async with cockpit(planted, (140, 40)) as pilot:
        for number, (key, left) in enumerate((("i", ["command"]), ("f", ["command"]), ("s", [])), 1):
            await pilot.press("x")
            await until(pilot, "These go:", "purges this")
            await pilot.press(key)
            shown = await until(pilot, "These go:", "purges this")
            goes = re.findall(r"These go: ([^│]*?) *│", shown)[0]
            assert re.fullmatch(r"(\d+ (project|session|prompt|call)s?(, )?)+", goes)
            await purged(pilot, f"purged: {goes} · u brings them back")
            assert ask("SELECT obs_type FROM observations WHERE content LIKE ?", f"%{TOKEN}%") == left, key
            if key == "s":
                cleaned()
                assert held() == []
            await pilot.press("u")
            await until(pilot, f"undone: purge/{number}: {goes}")
            await settled(pilot)
            assert facts() == before, key
            pilot.app.clear_notifications()


async def test_for_good_stays_for_good_when_words_are_typed(
    planted: str, cockpit: Any, until: Any, purged: Any
) -> None:
    async with cockpit(planted, (140, 40)) as pilot:
        await pilot.press("x")
        await until(pilot, "These go:", "purges this", "can be taken back")
        await pilot.press("o", "b")
        await until(pilot, "for good: nothing brings them back", "backups go too")
        await pilot.press("w")
        await until(pilot, "Purge what?")
        await pilot.press(*TOKEN, "enter")
        shown = await until(pilot, "These go:", "for good: nothing brings them back", "backups go too")
        assert "can be taken back" not in shown
        await purged(pilot, "purged for good: ")
    assert ask("SELECT at = keep_until FROM purges") == [1]


async def test_an_undo_after_a_purge_for_good_says_so_before_it_takes_back_what_is_older(
    planted: str, cockpit: Any, until: Any, settled: Any, purged: Any
) -> None:
    (before,) = ask("SELECT count(*) FROM work_units WHERE pinned")
    async with cockpit(planted, (140, 40)) as pilot:
        await pilot.press("2")
        await settled(pilot)
        await pilot.press("p")
        await until(pilot, "pinned · u undoes")
        await pilot.press("1")
        await settled(pilot)
        await pilot.press("x")
        await until(pilot, "These go:", "purges this", "can be taken back")
        await pilot.press("o")
        await until(pilot, "for good: nothing brings them back")
        await purged(pilot, "purged for good: ")
        await pilot.press("u")
        await until(pilot, "nothing was undone: purge/1: ", "the next undo reverts: pin of episode")
        assert ask("SELECT count(*) FROM work_units WHERE pinned") == [before + 1]
        await pilot.press("u")
        await until(pilot, "undone: pin of episode")
        assert ask("SELECT count(*) FROM work_units WHERE pinned") == [before]


async def test_a_hit_of_search_goes(
    planted: str, cockpit: Any, until: Any, settled: Any, seeds: Any, purged: Any, undone: Any
) -> None:
    settle(planted, 600, models=False, clock=lambda: seeds.NOW)
    before = facts()
    async with cockpit(planted, (120, 40)) as pilot:
        await pilot.press("6")
        await settled(pilot)
        await pilot.press(*"type:command deploy", "enter")
        await until(pilot, "Hits for", "deploy --key")
        await settled(pilot)
        await pilot.press("x")
        await until(pilot, "only this: obs/", "These go: 1 call")
        await purged(pilot)
        assert ask("SELECT count(*) FROM observations WHERE content LIKE 'deploy%'") == [0]
        await undone(pilot)
    assert facts() == before


async def test_what_context_tells_of_goes(
    planted: str, cockpit: Any, until: Any, settled: Any, seeds: Any, purged: Any, undone: Any
) -> None:
    settle(planted, 600, models=False, clock=lambda: seeds.NOW)
    before = facts()
    async with cockpit(planted, (120, 40)) as pilot:
        await pilot.press("5")
        await settled(pilot)
        await pilot.press("x")
        await until(pilot, "Purge ", "purges this")
        await purged(pilot)
        assert len(facts()) < len(before)
        await undone(pilot)
    assert facts() == before


async def test_search_forgets_what_was_asked_and_takes_a_purge_for_no_news(
    planted: str, cockpit: Any, text: Any, until: Any, settled: Any
) -> None:
    async def after_commit(pilot: Any) -> None:
        await settled(pilot)
        pilot.app.screen.refresh_data()
        await settled(pilot)
        assert "recorded since" not in text(pilot)

    async with cockpit(planted, (120, 40)) as pilot:
        await pilot.press("6", *TOKEN, "enter", "escape")
        await until(pilot, "Asked before", TOKEN)
        await pilot.press("slash", *"type:command deploy", "enter")
        await until(pilot, "Hits for", "deploy --key")
        await settled(pilot)
        await pilot.press("x")
        await until(pilot, "These go: 1 call")
        await pilot.press("y")
        await until(pilot, "purged: ")
        await after_commit(pilot)
        await pilot.press("u")
        await until(pilot, "undone: purge/1", "deploy --key")
        await after_commit(pilot)
        await pilot.press("escape")
        shown = await until(pilot, "One box searches", gone="Hits for")
        assert "Asked before" not in shown
        assert pilot.app.asked == []


async def test_only_y_purges_and_enter_is_cancel(
    planted: str, cockpit: Any, until: Any, settled: Any, purged: Any
) -> None:
    from nmem_tui.screens import purge_dialog

    before = facts()
    ids = [f"obs/{number}" for number in ask("SELECT id FROM observations WHERE content LIKE ?", f"%{TOKEN}%")]
    async with cockpit(planted, (100, 40)) as pilot:
        for key in ("enter", "escape", "q", "n", "x", "space"):
            await pilot.press("x")
            await until(pilot, "purges this")
            await pilot.press(key)
            await settled(pilot)
            if key in ("x", "space"):
                await until(pilot, "purges this")
                await pilot.press("escape")
            await until(pilot, gone="purges this")
            assert facts() == before
        await pilot.press("x")
        await until(pilot, "purges this")
        await pilot.click("#ends", offset=(4, 0))
        await until(pilot, gone="purges this")
        assert facts() == before
        await pilot.resize_terminal(120, 40)
        purge_dialog.ask(pilot.app, ids)  # several at once
        await until(pilot, "Purge 2 items", "only these: 2 items", "their file: keys/", "These go: 2 calls")
        await purged(pilot)
    assert ask("SELECT count(*) FROM observations WHERE content LIKE ?", f"%{TOKEN}%") == [0]


async def test_backups_go_too_and_for_good_only_where_asked(
    planted: str, cockpit: Any, until: Any, settled: Any, cleaned: Any, purged: Any
) -> None:
    from nmem.backup import take

    made = Path(take.backup(planted).path)
    async with cockpit(planted, (120, 40)) as pilot:
        await pilot.press("8")
        await settled(pilot)
        await pilot.press("x")
        await until(pilot, "Purge what?")
        pilot.app.screen.query_one("Input").value = TOKEN
        await pilot.press("enter")
        await until(pilot, "backups stay", "b takes them as well", "can be taken back")
        await pilot.press("b", "o")
        await until(pilot, "backups go too", "they go, too", "for good: nothing brings them back")
        await purged(pilot, "purged for good: ", "and 1 backup")
        cleaned()
        assert not made.exists()
        assert held() == []
        await pilot.press("u")
        await until(pilot, "nothing was undone: purge/1: ", "for good; nothing else is left to undo")
    assert not list(Path("trash").glob("*.age"))


async def test_what_stays_stands_in_sight_and_is_said_again(
    planted: str, cockpit: Any, until: Any, settled: Any, text: Any
) -> None:
    from nmem.backup import take

    take.backup(planted)
    Path("theirs.jsonl").write_text(TOKEN)
    db = sqlite3.connect(PATH)
    db.execute("UPDATE sessions SET transcript_path = 'theirs.jsonl' WHERE id ="
               " (SELECT session_id FROM observations ORDER BY id DESC LIMIT 1)")  # fmt: skip
    db.commit()
    db.close()
    async with cockpit(planted, (60, 15)) as pilot:
        await pilot.press("x")
        await until(pilot, "purges this", "These go")
        await settled(pilot)
        shown = text(pilot)
        assert "! 1 backup and 1 transcript still hold it, or may;" in shown
        assert "backups too" in shown
        assert "enter cancel" in shown and "y purges this" in shown
        assert re.search(r"\d+ more lines? below · j k scroll", shown)
        pane = pilot.app.screen.pane
        assert pane.size.height
        for rows in (1, 2, 1):
            await pilot.press("j" if rows != 1 or not pane.scroll_offset.y else "k")
            await settled(pilot)
            assert pane.scroll_offset.y == rows
        await pilot.press("G")
        await settled(pilot)
        assert "below" not in text(pilot).splitlines()[-1]
        assert "more line" not in text(pilot)
        pilot.app.say("a toast of some words")
        await settled(pilot)
        assert "Purge" in text(pilot) and "These go" in text(pilot)
        await pilot.press("o", "y")
        await until(pilot, "purged for good: ", "1 backup and 1 transcript")
        await settled(pilot)


async def test_after_its_window_a_purge_is_permanent(
    planted: str, cockpit: Any, until: Any, cleaned: Any, seeds: Any, purged: Any
) -> None:
    async with cockpit(planted, (100, 40)) as pilot:
        await pilot.press("x")
        await until(pilot, "purges this")
        await purged(pilot)
        cleaned()
        run.finish(planted, seeds.NOW + 2 * 86_400_000)
        assert not list(Path("trash").glob("*.key"))
        await pilot.press("u")
        await until(pilot, "nothing to undo")
    assert ask("SELECT state FROM purges") == ["gone"]
