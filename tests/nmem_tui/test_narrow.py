"""What a screen with little room, or nothing to show, keeps: names, ages, prompts, how to leave, one sentence."""

from __future__ import annotations

from contextlib import closing
from datetime import UTC
from typing import Any

import pytest

from nmem.read.episode_store import TITLE_STORED, cut_title
from nmem.read.store import Effort
from nmem.read.views import StreamRow
from nmem.threads import store
from nmem_tui.model.actions import Action, bar
from nmem_tui.model.line import fit_words, length, plain
from nmem_tui.model.now_cards import effort
from nmem_tui.model.stream import draw
from nmem_tui.screens import prompt_dialogs
from nmem_tui.widgets.bars import fitting
from nmem_tui.widgets.details import describe

AT = 1_760_000_000_000
READ = StreamRow(1, AT, "file_read", "", "src/limits.py", "ok", None, 9)
TEST = StreamRow(3, AT, "test", "pytest tests/test_limits.py", "", "failed", 1, 2100, meta={"tests": {"failed": 1}})


@pytest.mark.parametrize("cells", [28, 38, 45, 46, 63, 64, 78, 120])
def test_a_row_keeps_its_name_at_every_width(cells: int) -> None:
    read, test = (plain([draw(row, cells, UTC)]) for row in (READ, TEST))
    assert "src/limits.py" in read or (cells == 28 and "limits.py" in read)
    assert "✗ 1 failed" in test
    assert length(draw(TEST, cells, UTC)) == cells
    assert ("9 ms" in read) == (cells >= 64)
    assert ("08:53" in read) == (cells >= 46)


@pytest.mark.parametrize(
    ("meta", "outcome", "said"),
    [
        ({"refused": "user"}, "unknown", "– refused"),
        ({"refused": "sibling"}, "unknown", "– not run"),
        ({"nothing_found": True}, "ok", "– no match"),
        ({}, "unknown", "· unsure"),
    ],
)
@pytest.mark.parametrize("cells", [60, 78, 120])
def test_what_neither_worked_nor_failed_says_so(meta: dict[str, object], outcome: str, said: str, cells: int) -> None:
    row = StreamRow(1, AT, "command", "rg nothing", outcome=outcome, exit_code=1, meta=meta)
    assert plain([draw(row, cells, UTC)]).endswith(said)


def _usual(context: str) -> list[Action]:
    """The bar's actions where no older database waits."""
    return [action for action in bar(context) if action.id != "upgrade"]


def test_the_bar_of_search_names_what_is_done_with_a_hit_at_80_columns() -> None:
    shown = [action.id for action in fitting(_usual("search"), 79)]
    assert shown == ["help", "open", "go", "pin_hit", "seek", "order", "previous", "quit"]


@pytest.mark.parametrize("context", ["now", "episodes", "stance", "learnings", "search", "health", "review"])
def test_key_bar_names_what_is_pressed_most_and_how_to_leave(context: str) -> None:
    every = _usual(context)
    for cells in (30, 40, 60, 80, 120, 400):
        shown = fitting(every, cells - 1)
        assert (shown[0].id, shown[-1].id) == ("help", "quit"), cells
        used = sum(len(one.shown_key) + len(one.label) + 3 for one in shown) + 4
        assert used <= cells or len(shown) == 2
        left_out = [one for one in every if one not in shown]
        assert all(used + len(one.shown_key) + len(one.label) + 3 > cells - 1 for one in left_out), cells
        assert cells < 60 or shown[1] == every[1], cells
        assert not left_out or cells < 400


def test_titles_end_with_a_whole_word() -> None:
    assert TITLE_STORED == store.TITLE
    assert fit_words("Raise the avatar limit to eight megabytes", 26) == "Raise the avatar limit to…"
    assert fit_words("Raise the avatar limit to eight megabytes", 28) == "Raise the avatar limit to…"
    assert fit_words("short", 28) == "short"
    assert fit_words("averyverylongword" * 3, 20) == "averyverylongwordav…"
    stored = "Raise the avatar limit to eight megabytes and tell every client of the interface about it"[:TITLE_STORED]
    assert cut_title(stored) == "Raise the avatar limit to eight megabytes and tell every client of the…"
    assert cut_title("Avatar uploads") == "Avatar uploads"


async def test_sessions_are_told_apart_by_age_and_prompt(
    make_db: Any, cockpit: Any, text: Any, settled: Any, seeds: Any
) -> None:
    path = make_db("story")
    db = seeds.database(path)
    seeds.session(db, "other", project="lighthouse", last_at=seeds.NOW - 90_000_000, state="ended")
    seeds.say(db, seeds.NOW - 90_000_000, "Why does the lamp flicker?", session_id="other")
    db.close()
    async with cockpit(path, (60, 20)) as pilot:
        await pilot.press("s")
        for size, project in (((60, 20), True), ((40, 12), False), ((160, 45), True)):
            await pilot.resize_terminal(*size)
            await settled(pilot)
            row = next(line for line in text(pilot).splitlines() if "Why does the lamp" in line)
            assert ("2025-10-08 07:53" if size[0] == 160 else "1 d") in row
            assert ("lighthouse" in row) == project, size
            assert ("claude" in row) == (size[0] == 160)
            assert "claude-code" not in text(pilot)
        await pilot.press(*"nowhere")
        await settled(pilot)
        assert "nothing matches" in text(pilot)


async def test_sessions_say_how_many_there_are_where_not_all_are_listed(
    make_db: Any, cockpit: Any, until: Any, seeds: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(prompt_dialogs, "_LISTED", 2)
    path = make_db("story")
    with closing(seeds.database(path)) as db:
        for number in range(3):
            seeds.session(db, f"other{number}", project="lighthouse", last_at=seeds.NOW - 90_000_000, state="ended")
        every = db.execute("SELECT count(*) FROM sessions").fetchone()[0]
    async with cockpit(path, (80, 24)) as pilot:
        await pilot.press("s")
        await until(pilot, f"Sessions ─ the newest 2 of {every}")


async def test_a_filter_of_sessions_finds_those_that_are_not_listed(
    make_db: Any, cockpit: Any, until: Any, seeds: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(prompt_dialogs, "_LISTED", 2)
    path = make_db("story")
    with closing(seeds.database(path)) as db:
        for number, name in enumerate(("lantern", "lantern", "lantern", "buoy")):
            at = seeds.NOW - 90_000_000 - number
            seeds.session(db, f"other{number}", project=name, last_at=at, state="ended")
        every = db.execute("SELECT count(*) FROM sessions").fetchone()[0]
    async with cockpit(path, (80, 24)) as pilot:
        await pilot.press("s")
        await until(pilot, f"Sessions ─ the newest 2 of {every}", gone="buoy")
        await pilot.press(*"buoy")
        await until(pilot, f"Sessions ─ 1 of {every} matches", "○ buoy")
        await pilot.press(*["backspace"] * 4, *"lantern")
        await until(pilot, "Sessions ─ the newest 2 of 3 that match")
        await pilot.press(*["backspace"] * 7)
        await until(pilot, f"Sessions ─ the newest 2 of {every}")
        await pilot.press(*"buoy", "enter")
        await until(pilot, gone="Sessions ─")
        assert pilot.app.chosen == "other3"


async def test_sessions_count_calls_as_their_stance_does_also_after_a_purge(
    make_db: Any, cockpit: Any, text: Any, settled: Any, seeds: Any
) -> None:
    path = make_db("story")
    db = seeds.database(path)
    seeds.session(db, "other", project="lighthouse", last_at=seeds.NOW - 1_000)
    seeds.say(db, seeds.NOW - 4_000, "Why does the lamp flicker?", session_id="other")
    for number, kind in enumerate(("session_compact", "marker", "file_read", "file_edit", "test")):
        seeds.do(db, seeds.NOW - 3_000 + number, kind, "lamp.py", "other")
    db.execute("DELETE FROM observations WHERE session_id = 'other' AND obs_type = 'test'")
    seeds.session(db, "swept", project="lighthouse", last_at=seeds.NOW - 2_000)
    seeds.do(db, seeds.NOW - 2_000, "test", "swept", "swept")
    db.execute("INSERT INTO swept_sessions (session_id, observations, at) VALUES ('swept', 1, 1)")
    db.close()
    async with cockpit(path) as pilot:
        await pilot.press("3", "s")
        await settled(pilot)
        lines = text(pilot).splitlines()
        told = [line for line in lines if "Why does the lamp" in line]
        assert len(told) == 2 and all(" 2 calls" in line for line in told), "in the header and in the list"
        assert "call" not in next(line for line in lines if "no prompt" in line), "what a sweep left is not all"


async def test_ctrl_u_empties_the_box_of_a_list(make_db: Any, cockpit: Any, text: Any, settled: Any) -> None:
    async with cockpit(make_db("story")) as pilot:
        await pilot.press("s", *"nowhere")
        await settled(pilot)
        assert "nothing matches" in text(pilot)
        await pilot.press("ctrl+u", *"follow")
        await settled(pilot)
        assert "follow the newest session" in text(pilot)


async def test_help_tells_the_whole_reason_at_80_columns(make_db: Any, cockpit: Any, text: Any, settled: Any) -> None:
    async with cockpit(make_db("empty")) as pilot:
        await pilot.press("question_mark", *"details of")
        await settled(pilot)
        assert "not now: no row yet" in text(pilot)


async def test_a_filter_without_a_match_says_so(make_db: Any, cockpit: Any, text: Any, settled: Any) -> None:
    async with cockpit(make_db("story")) as pilot:
        for screen in "12":
            await pilot.press(screen, "slash", *"zebra")
            await settled(pilot)
            assert "nothing matches: esc clears the filter" in text(pilot), screen
            await pilot.press("escape")
            await settled(pilot)
            assert "nothing matches" not in text(pilot), screen


@pytest.mark.parametrize("broken", [False, True])
async def test_health_without_figures_is_one_sentence(
    broken: bool, here: Any, cockpit: Any, text: Any, settled: Any, seeds: Any
) -> None:
    if broken:
        (here / "aurora.db").write_bytes(b"this is no database" * 100)
    async with cockpit("aurora.db") as pilot:
        await pilot.press("8")
        await settled(pilot)
        shown = text(pilot)
        assert ("cannot read the database" if broken else "Nothing to look after yet") in shown
        assert "may be old" not in shown
        assert not set("╭╰│─") & set("\n".join(shown.splitlines()[:-1]))
        if broken:
            return
        db = seeds.database("aurora.db")
        seeds.story(db)
        db.close()
        await pilot.press("ctrl+r")
        await settled(pilot)
        assert "Findings ─ 0 wrong" in text(pilot)


async def test_a_stream_that_is_not_of_today_tells_its_day(
    make_db: Any, cockpit: Any, text: Any, settled: Any, seeds: Any
) -> None:
    path = make_db("story")
    db = seeds.database(path)
    seeds.session(db, "other", project="lighthouse", last_at=seeds.NOW - 90_000_000, state="ended")
    seeds.say(db, seeds.NOW - 90_000_000, "Why does the lamp flicker?", session_id="other")
    db.close()
    async with cockpit(path) as pilot:
        assert "2025-10" not in text(pilot)
        await pilot.press("s")
        await settled(pilot)
        await pilot.press(*"lamp", "enter")
        await settled(pilot)
        assert "Stream ─ following ─ 2025-10-08" in text(pilot)


def test_a_command_is_shown_rather_than_the_folder_it_is_run_in() -> None:
    row = StreamRow(1, AT, "git_other", f"cd /home/me/{'deep/' * 20} && git status --short", outcome="ok")
    assert "… git status --short" in plain([draw(row, 80, UTC)])
    assert "cd /home/me" in plain([draw(row, 300, UTC)])


def test_counts_of_calls_stand_at_their_ends_of_the_bar_and_bars_line_up() -> None:
    unit, session = (plain([effort(name, what, 55)]) for name, what in (("unit    ", Effort(1, 13, 2)),
                                                                        ("session ", Effort(67, 55, 5))))  # fmt: skip
    assert unit.startswith("unit    look   1 ▓")
    assert "░ 13 do" in unit
    assert session.startswith("session look  67 ▓")
    assert "░ 55 do" in session
    assert unit.index("do") == session.index("do")


def test_details_say_short_lists_in_words_and_a_kind_once() -> None:
    meta: dict[str, object] = {"families": ["lint", "test"], "tests": {"failed": 1, "passed": 4}, "deep": {"a": ["b"]}}
    row = StreamRow(1, AT, "test", "make lint test", outcome="ok", meta=meta, labels=(0.9, 1.0, None, 0.8, 1.0))
    shown = plain(describe(row, UTC)).splitlines()
    assert "what      test" in shown
    assert "families  lint, test" in shown
    assert "tests  failed 1, passed 4" in shown
    assert "deep  {" in shown
    first = next(place for place, line in enumerate(shown) if line.startswith("labels    "))
    assert shown[first + 1].startswith(" " * 10), "the rest of them below the first"


@pytest.mark.parametrize(
    ("size", "edge"), [((80, 24), " Stream ─ following ───"), ((160, 45), "╭─ Stream ─ following ───")]
)
async def test_a_title_stands_clear_of_its_line(
    size: tuple[int, int], edge: str, cockpit: Any, make_db: Any, text: Any, settled: Any
) -> None:
    async with cockpit(make_db("story"), size) as pilot:
        await settled(pilot)
        assert edge in text(pilot)
