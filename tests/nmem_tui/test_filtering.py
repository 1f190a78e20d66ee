"""The filter of every screen: one key, one box with a live count, one way to keep it and to take it off."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any

import pytest

from nmem import database
from nmem.read import stream
from nmem.read.stream import Query
from nmem_tui.model import lists
from nmem_tui.model.lists import Item, Words

PATH = "aurora.db"
LISTS = {
    "1": ("limit", "Stream"), "2": ("flaky", "Episodes"), "3v": ("cache", "Sessions of the project"),
    "4": ("conftest", "aurora-api"), "5": ("upload.py", "Told at the start"), "7": ("queued", "Tasks"),
    "8": ("redaction", "Findings"),
}  # fmt: skip


@pytest.mark.parametrize(("size", "first"), [((80, 24), 0), ((160, 45), 1)])
async def test_a_filter_is_typed_counted_kept_and_taken_off(
    size: tuple[int, int], first: int, whole: Any, cockpit: Any, settled: Any, until: Any, text: Any
) -> None:
    """Every other list in one size, the rest in the other."""
    async with cockpit(PATH, size) as pilot:
        for screen, (typed, name) in list(LISTS.items())[first::2]:
            for key in screen:
                await pilot.press(key)
                await settled(pilot)
            view = pilot.app.screen
            everything, all_of = view.tally()[:2]
            await pilot.press("slash", *typed)
            await settled(pilot)
            left, of, more = view.tally()
            assert 0 < left < everything, screen
            assert (of, more) == (max(everything, all_of), False), screen
            shown = await until(pilot, f"{left} of {of}", "enter keeps the filter  esc clears it")
            assert f"─ filter “{typed}” · {left} of {of}" in shown, screen
            await pilot.press("enter")
            await settled(pilot)
            assert view.focused is view.home, screen
            assert f"{name} ─ filter “{typed}” · {left} of {of}" in text(pilot), screen
            await pilot.press("slash", *" zebra")
            await settled(pilot)
            assert "nothing matches: esc clears the filter" in text(pilot), screen
            assert f"0 of {of}" in text(pilot), screen
            await pilot.press("escape")
            await settled(pilot)
            assert "filter “" not in text(pilot), screen
            assert view.focused is view.home, screen
            assert not view.search.display, screen
            assert view.tally()[0] == everything, screen


async def test_escape_with_nothing_open_keeps_the_place(whole: Any, cockpit: Any, settled: Any) -> None:
    async with cockpit(PATH, (80, 24)) as pilot:
        for screen in LISTS:
            for key in (
                (screen, "k", "k", "j", "escape") if screen == "1" else (screen[0], "j", "j", "escape", "escape")
            ):
                place = pilot.app.screen.home.cursor
                await pilot.press(key)
                if key in LISTS or key == screen[0]:
                    await settled(pilot)
            home = pilot.app.screen.home
            assert home.cursor == place, screen
            assert home.has_focus, screen
            assert screen == "1" or home.cursor > 0, screen


async def test_words_must_all_be_there_and_others_not(whole: Any, cockpit: Any, settled: Any) -> None:
    async with cockpit(PATH, (80, 24)) as pilot:
        for screen in ("1", "2", "4"):
            await pilot.press(screen)
            await settled(pilot)
            view = pilot.app.screen
            counts = []
            for typed in ("thumbnails", "thumbnails the", "thumbnails !the"):
                await pilot.press("slash", *typed)
                await settled(pilot)
                counts.append(view.tally()[0])
                await pilot.press("escape")
                await settled(pilot)
            assert counts[0] == counts[1] + counts[2], screen


async def test_other_views_are_other_lists_and_what_has_no_rows_says_so(
    whole: Any, cockpit: Any, settled: Any, until: Any, text: Any
) -> None:
    async with cockpit(PATH, (160, 45)) as pilot:
        for screen, turn in (("3", "v"), ("5", "h"), ("8", "V")):
            await pilot.press(screen)
            await settled(pilot)
            await pilot.press("slash", *"e", "enter", turn)
            await settled(pilot)
            assert "filter “" not in text(pilot), screen
            await pilot.press("slash", *"zebra")
            await settled(pilot)
            assert "nothing matches" in text(pilot), screen
            await pilot.press("escape")
            await settled(pilot)
        await pilot.press("v", "v", "slash")  # the last view, the first, the cards
        await until(pilot, "these cards have no rows")
        await settled(pilot)
        await pilot.press("3", "m", "slash")
        await until(pilot, "not on the model cards")


async def test_a_heading_counts_what_is_listed_below_it_and_another_screen_takes_off_what_hides_its_row(
    whole: Any, cockpit: Any, settled: Any, text: Any, until: Any
) -> None:
    async with cockpit(PATH, (160, 45)) as pilot:
        await pilot.press("7")
        await settled(pilot)
        before = [row for row in text(pilot).splitlines() if "── Over" in row]
        await pilot.press("slash", *"failed")
        await until(pilot, "enter keeps the filter  esc clears it", gone="takes what is typed")
        await settled(pilot)
        view, after = pilot.app.screen, [row for row in text(pilot).splitlines() if "── Over" in row]
        left = view.tally()[0]
        assert before and after != before and f"── Over  {left}, " in after[0]
        await pilot.press("escape", "2", "slash", *"notes", "enter")
        await settled(pilot)
        assert "filter “notes”" in text(pilot)
        pilot.app.show_episode(whole["flaky"])
        await settled(pilot)
        assert "filter “" not in text(pilot)
        assert f"episode {whole['flaky']}" in text(pilot)


@pytest.fixture
def far_back(here: Path, seeds: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """A long stream with one needle near its beginning, looked through in short stretches."""
    monkeypatch.setattr("nmem_tui.model.now_queries.SPAN", 50)
    monkeypatch.setattr("nmem_tui.screens.now_stream.SPAN", 50)
    monkeypatch.setattr("nmem_tui.screens.now_stream.MOST_SPAN", 100)
    monkeypatch.setattr("nmem_tui.screens.now_stream._REST_S", 1.0)  # long enough to be seen on the way
    db = seeds.database(PATH)
    seeds.session(db)
    for number in range(1000):
        seeds.do(db, seeds.NOW - number * 1000, "command", "needle" if number == 990 else f"echo {number}")
    db.close()


async def test_far_back_is_looked_for_in_stretches(far_back: None, cockpit: Any, settled: Any, until: Any) -> None:
    async with cockpit(PATH, (160, 45)) as pilot:
        await settled(pilot)
        await pilot.press("slash", *"needle")
        await until(pilot, "looking further back", "0+")
        await until(pilot, "filter “needle” · 1 of 1,000")


async def test_what_is_found_before_the_rest_is_over_is_listed_once(
    far_back: None, cockpit: Any, settled: Any, until: Any, text: Any
) -> None:
    async with cockpit(PATH, (160, 45)) as pilot:
        await settled(pilot)
        await pilot.press("slash", *"needle", "enter")
        await until(pilot, "looking further back")
        await pilot.press("home")  # to the top: looked for at once
        await until(pilot, "filter “needle” · 1 of 1,000")
        await pilot.pause(1.2)
        assert "filter “needle” · 1 of 1,000" in text(pilot)


def test_stretches_together_are_the_whole(here: Path, seeds: Any) -> None:
    db = seeds.database(PATH)
    seeds.session(db)
    for number in range(300):
        at = seeds.NOW - number // 3 * 1000  # several at one time
        if number % 4:
            seeds.do(db, at, "command", f"echo {number}")
        else:
            seeds.say(db, at, f"say {number}", *(("thinking", "agent") if number % 8 else ()))
    db.close()
    reader = database.reader(PATH)
    for typed in ("", "1", "echo !2", "type:command", "is:failed"):
        query = Query(typed)
        whole = stream.page(reader, seeds.SESSION, None, query, 10_000)
        keys: list[int] = []
        before: tuple[int, int] | None = None
        while True:
            found = stream.stretch(reader, seeds.SESSION, before, query, 40)
            keys[:0] = found.slots.key
            before = found.before
            if before is None:
                break
        assert keys == list(whole.key), typed
    assert stream.number(reader, seeds.SESSION) == 300
    pages = stream.page(reader, seeds.SESSION, None, Query(), 100)
    older = stream.page(reader, seeds.SESSION, (pages.at[0], pages.key[0]), Query(), 1000)
    assert sorted([*pages.key, *older.key]) == sorted(stream.page(reader, seeds.SESSION, None, Query(), 1000).key)
    reader.close()


def test_sources_are_those_of_the_table(here: Path, seeds: Any) -> None:
    db = sqlite3.connect(":memory:")
    seeds.database(PATH).close()
    db.close()
    made = sqlite3.connect(PATH)
    sql = made.execute("SELECT sql FROM sqlite_master WHERE name = 'prompts'").fetchone()[0]
    made.close()
    assert "CHECK (source IN (" + ", ".join(f"'{each}'" for each in stream.SOURCES) + "))" in sql


def test_a_group_keeps_its_heading_and_no_other() -> None:
    def item(said: str, kind: str = "") -> Item:
        return Item(lambda _cells: [(said, "text")], kind, said)

    items = [
        item("Words"),
        item("First"),
        item("one", "x"),
        item("two", "x"),
        item(""),
        item("Second"),
        item("six", "x"),
    ]
    texts = [lists.text_of(each) for each in items]

    def left(typed: str) -> list[str]:
        return [each.key for each in lists.narrowed(items, texts, Words(typed))]

    assert left("t") == ["First", "two"]
    assert left("o !n") == ["First", "two"]
    assert left("x") == ["Second", "six"]
    assert left("zebra") == []


@pytest.mark.parametrize(("key", "said"), [
    ("1", "is:failed (calls), file:upload"), ("2", "is:failed (tests), thread:, theme:, file:, project:"),
])  # fmt: skip
async def test_the_empty_box_says_what_failed_means_on_its_screen(
    key: str, said: str, make_db: Any, cockpit: Any, settled: Any, text: Any
) -> None:
    async with cockpit(make_db("story"), (80, 24)) as pilot:
        await pilot.press(key, "slash")
        await settled(pilot)
        assert said in text(pilot)
