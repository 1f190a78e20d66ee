"""What the screens show: every screen, size and look on an empty, an ordinary and a hostile database."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from nmem_tui.model.locations import SCREENS

KEYS = {"now": "", "episodes": "2", "stance": "3", "health": "8", "review": "1 r"}


@pytest.mark.parametrize("kind", ["empty", "story", "hostile"])
async def test_screens_are_as_accepted(
    kind: str, make_db: Callable[[str], str], looks_at_each: Any, settled: Any, text: Any
) -> None:
    def arrive(screen: str) -> Callable[[Any], Any]:
        async def go(pilot: Any) -> None:
            for key in KEYS[screen].split():
                await pilot.press(key)
                await settled(pilot)
            assert "? help" in text(pilot).splitlines()[-1]

        return go

    await looks_at_each(make_db(kind), {f"{screen}-{kind}": arrive(screen) for screen in KEYS})


async def test_help_and_palette_list_actions_and_run_one_and_a_filter_counts(
    make_db: Any, cockpit: Any, text: Any, settled: Any
) -> None:
    async with cockpit(make_db("story"), (160, 45)) as pilot:
        await pilot.press("slash", *"is:failed")
        await settled(pilot)
        assert "filter “is:failed” · 2 of 17" in text(pilot)
        await pilot.press("escape")
        await settled(pilot)
        assert "Stream ─ following" in text(pilot)
        assert "Why is the avatar limit" in text(pilot)
        await pilot.press("k", "enter")
        await settled(pilot)
        assert "Details" in text(pilot)
        assert "41c2aa7" in text(pilot)
        await pilot.press("k")
        await settled(pilot)
        assert "exit code 1" in text(pilot), "the details follow the cursor"
        await pilot.press("escape")
        await settled(pilot)
        assert "Details" not in text(pilot)
        await pilot.press("question_mark")
        await pilot.pause()
        assert "follow the newest session" not in text(pilot)
        assert "follow the newest row" in text(pilot)
        await pilot.press(*"oldest")
        await pilot.pause()
        assert "follow the newest row" not in text(pilot)
        await pilot.press("enter")
        await settled(pilot)
        assert "row 1 of 17" in text(pilot)
        before = pilot.app.theme
        await pilot.press("colon")
        await settled(pilot)
        await pilot.press(*"theme")
        await settled(pilot)
        await pilot.press("enter")
        await settled(pilot)
        assert pilot.app.theme != before


async def test_arriving_rows_never_move_the_cursor(
    make_db: Any, cockpit: Any, text: Any, settled: Any, until: Any, seeds: Any
) -> None:
    path = make_db("story")
    async with cockpit(path, (160, 45)) as pilot:
        await pilot.press("g")
        await settled(pilot)
        assert "row 1 of 17" in text(pilot)
        db = seeds.database(path)
        seeds.do(db, seeds.NOW, "command", "make all")
        seeds.say(db, seeds.NOW - 819_999, "an earlier thought that came late", "thinking", "agent")
        await until(pilot, "2 new ↓  f follows", "row 1 of 19")
        await pilot.press("G")
        await settled(pilot)
        assert "following" in text(pilot)
        assert "f follows" not in text(pilot)
        assert "make all" in text(pilot)
        db.close()


async def test_screen_comes_to_life_when_the_first_event_is_stored(
    make_db: Any, cockpit: Any, text: Any, seeds: Any
) -> None:
    async with cockpit(make_db("empty"), (160, 45)) as pilot:
        assert "nmem init" in text(pilot)
        db = seeds.database("aurora.db")
        seeds.story(db)
        for _ in range(2400):
            await pilot.pause(0.05)
            if "Raise it to 8 MB" in text(pilot):
                break
        assert "Raise it to 8 MB" in text(pilot)
        db.close()


async def test_a_broken_database_is_told_in_place(here: Any, cockpit: Any, text: Any) -> None:
    (here / "aurora.db").write_bytes(b"this is no database" * 100)
    async with cockpit("aurora.db") as pilot:
        assert "✗ cannot read the database" in text(pilot)


async def test_a_session_is_called_by_what_it_was_begun_for_is_switched_to_and_left(
    make_db: Any, cockpit: Any, text: Any, settled: Any, seeds: Any
) -> None:
    path = make_db("story")
    db = seeds.database(path)
    at = seeds.NOW - 90_000_000
    seeds.session(db, "other", project="lighthouse", last_at=at, state="ended")
    for n, said in enumerate(
        ("/clear", "<ci-event>CI check failed</ci-event>", "hi", "Why does the lamp flicker?", "yes")
    ):
        seeds.say(db, at + n, said, session_id="other")
    db.close()
    async with cockpit(path, (160, 45)) as pilot:
        await pilot.press("s")
        for size, wide in (((80, 24), False), ((160, 45), True)):
            await pilot.resize_terminal(*size)
            await settled(pilot)
            (line,) = (line for line in text(pilot).splitlines() if "lighthouse" in line)
            assert "Why does the lamp flicker?" in line
            assert "calls" in line
            assert line.index("lamp") < (line + "last: yes").index("last: yes")
            assert ("last: yes" in line) == wide
        await pilot.press(*"lamp", "enter")
        await settled(pilot)
        assert "Why does the lamp flicker?" in text(pilot)
        await pilot.press("minus")
        await settled(pilot)
        assert "Raise it to 8 MB" in text(pilot)


async def test_copy_says_how_it_travels(
    make_db: Any, cockpit: Any, text: Any, settled: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("nmem_tui.screens.host.Host.environ", {"TMUX": "/tmp/tmux,1,0", "PATH": ""})
    async with cockpit(make_db("story"), (160, 45)) as pilot:
        await pilot.press("y")
        await settled(pilot)
        assert "through tmux (OSC 52)" in text(pilot)


async def test_a_database_that_was_deleted_is_said_and_nothing_is_written_into_a_new_one(
    make_db: Any, cockpit: Any, text: Any, settled: Any, until: Any
) -> None:
    path = Path(make_db("story"))
    async with cockpit(str(path), (120, 36)) as pilot:
        for screen in "1238":
            await pilot.press(screen)
            await settled(pilot)
        for ending in ("", "-wal", "-shm"):
            Path(f"{path}{ending}").unlink(missing_ok=True)
        for screen in "8321":
            await pilot.press(screen)
            pilot.app.view().refresh_data()
            shown = await until(pilot, "the database was deleted at 08:5", "nmem restore")
            for words in ("No episode yet", "nothing lost", "0 wrong"):
                assert words not in shown, screen
            await pilot.press("u")
            await settled(pilot)
            pilot.app.clear_notifications()
            assert not path.exists(), screen


async def test_every_header_says_that_the_database_is_gone_until_it_is_back(
    whole: Any, here: Path, cockpit: Any, text: Any, settled: Any
) -> None:
    async with cockpit("aurora.db", (100, 30)) as pilot:
        for screen in SCREENS:
            pilot.app.visit(screen)
            await settled(pilot)
        Path("aurora.db").rename("aside.db")
        for _ in range(2):
            pilot.app.feed.check()
            pilot.app.feed.poll()
        await settled(pilot)
        for screen in (*reversed(SCREENS), "now"):
            pilot.app.visit(screen)
            await settled(pilot)
            assert text(pilot).startswith(" nmem ▸ the database is gone"), screen
        assert "working" not in text(pilot)
        Path("aside.db").rename("aurora.db")
        pilot.app.feed.poll()
        await settled(pilot)
        for screen in SCREENS:
            pilot.app.visit(screen)
            await settled(pilot)
            assert "the database is gone" not in text(pilot), screen


async def test_what_sqlite_says_reaches_nobody(make_db: Any, cockpit: Any, text: Any, settled: Any, until: Any) -> None:
    path = make_db("story")
    async with cockpit(path, (120, 36)) as pilot:
        db = sqlite3.connect(path)
        db.execute("DROP TABLE search_state")
        db.execute("BEGIN EXCLUSIVE")
        pilot.app.simulate_key("p")  # it is not done before the lock is gone
        await until(pilot, "waiting for the database")
        db.rollback()
        db.close()
        await settled(pilot)
        await pilot.press("6", *"limit", "enter")
        shown = await until(pilot, "the database file is another one, or incomplete")
        assert "OperationalError" not in shown and "no such table" not in shown


@pytest.mark.parametrize("word", ["attention", "bell"])
async def test_the_palette_tells_how_settings_are_changed(word: str, make_db: Any, cockpit: Any, until: Any) -> None:
    async with cockpit(make_db("story"), (80, 24)) as pilot:
        await pilot.press("colon", *word)
        await until(pilot, "settings  ·  ,")
        await pilot.press("enter")
        await until(pilot, "nmem config set attention.how", "changes one", gone="settings  ·  ,")
