"""The screen Search: what typing shows, what its filters and keys do, and what they leave in the database."""

from __future__ import annotations

import asyncio
import sqlite3
import threading
from collections.abc import Callable
from contextlib import closing
from datetime import UTC
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len
from textual.widgets import Input

from nmem.search import refresh
from nmem.search.examples import examples
from nmem.search.match import Snippet
from nmem.search.query import standing, toggled
from nmem.search.search import Hit
from nmem.search.search import search as searching
from nmem_tui.model import search
from nmem_tui.model.line import TONES, Line, plain

SIZES = {"80x24": (80, 24), "160x45": (160, 45)}
SIGNS = {" ": "space", "/": "slash", ":": "colon", '"': "quotation_mark", "!": "exclamation_mark", ".": "full_stop",
         "_": "underscore", "[": "left_square_bracket", "]": "right_square_bracket"}  # fmt: skip


def keys(text: str) -> list[str]:
    """A text as keys."""
    return [SIGNS.get(sign, sign) for sign in text]


@pytest.fixture
def make(here: Any, seeds: Any) -> Callable[[str], str]:
    """Writes aurora.db, settled: empty (no file), story, hostile, or many (130 calls that say the same word)."""

    def write(kind: str) -> str:
        if kind == "empty":
            return "aurora.db"
        db = seeds.database("aurora.db")
        if kind == "many":
            seeds.session(db)
            for number in range(130):
                seeds.do(db, seeds.NOW - 600_000 + number * 1000, "command", f"make coupon-{number:03}")
        else:
            getattr(seeds, kind)(db)
            if kind == "story":
                seeds.history(db)
            seeds.label(db)
        refresh.refresh(db)
        db.close()
        return "aurora.db"

    return write


@pytest.fixture(autouse=True)
def steady(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every search takes as long, and none ends early."""
    monkeypatch.setattr("nmem.search.clock.Clock.spent", lambda _self: 0.012)


def ask(sql: str) -> list[Any]:
    """All rows of the database, as tuples."""
    db = sqlite3.connect("aurora.db")
    try:
        return db.execute(sql).fetchall()
    finally:
        db.close()


def row(shown: str) -> str:
    """The list's row under the cursor."""
    return next((line for line in shown.splitlines() if "▌" in line), "")


def box(pilot: Any) -> str:
    return str(pilot.app.screen.query_one("#box", Input).value)


@pytest.mark.parametrize(
    ("kind", "query"), [("empty", ""), ("story", ""), ("story", "limit"), ("hostile", ""), ("hostile", "foo")]
)
async def test_screen_is_as_accepted(kind: str, query: str, make: Any, looks: Any, settled: Any, text: Any) -> None:
    async def arrive(pilot: Any) -> None:
        await pilot.press("6")
        await settled(pilot)
        if query:
            await pilot.press(*keys(query), "enter", "j")
            await settled(pilot)
        box = kind != "empty" and not query
        assert ("esc leaves the box" if box else "? help") in text(pilot).splitlines()[-1]

    await looks(make(kind), f"search-{kind}{'-' if query else ''}{query}", arrive)


@pytest.mark.parametrize(
    ("name", "query", "then"),
    [
        ("call", "type:test is:failed", ["enter", "enter"]), ("prompt", "avatar type:prompt", ["enter", "enter"]),
        ("chips", "limit", ["enter", "f", "l"]), ("nothing", "zebra type:test", ["enter"]),
        ("manual", "", ["escape", "m"]), ("wrong", "since:nosuch", ["enter"]),
    ],
)  # fmt: skip
async def test_parts_are_as_accepted(
    name: str, query: str, then: list[str], make: Any, cockpit: Any, snapshot: Any, settled: Any, text: Any,
    harmless: Any,
) -> None:  # fmt: skip
    """A hit that is looked at covers the list where there is no room beside it."""
    covers = name in ("call", "prompt")
    async with cockpit(make("story"), SIZES["160x45"]) as pilot:
        await pilot.press("6", *keys(query))
        await settled(pilot)
        for key in then[:1] if covers else then:
            await pilot.press(key)
            await settled(pilot)
        harmless(text(pilot))
        snapshot(pilot, f"search-part-{name}-160x45")
        await pilot.resize_terminal(*SIZES["80x24"])
        await settled(pilot)
        await pilot.press(*(then[1:] if covers else []))
        await settled(pilot)
        harmless(text(pilot))
        snapshot(pilot, f"search-part-{name}-80x24")


async def test_results_come_while_typing_and_filters_go_in_and_out_by_key_mouse_and_manual(
    make: Any, cockpit: Any, settled: Any, text: Any
) -> None:
    async with cockpit(make("story"), (160, 45)) as pilot:
        await pilot.press("6")
        await settled(pilot)
        assert "type: results come with every key" in text(pilot)
        await pilot.press(*"flak")
        await settled(pilot)
        assert "The thumbnails test is flaky on CI" in text(pilot)
        assert "best first" in text(pilot)
        hit = pilot.app.screen.hits[0]
        assert [hit.snippet.text[begin:end].lower() for begin, end in hit.snippet.marks] == ["flaky"]
        await pilot.press(*"zzz")
        await settled(pilot)
        assert "nothing found" in text(pilot)
        assert "flaky on CI" not in text(pilot)
        await pilot.press("ctrl+u", *"limit", "enter")
        await settled(pilot)
        everything = len(pilot.app.screen.hits)
        await pilot.press("f", "space")
        await settled(pilot)
        assert box(pilot).startswith("limit type:")
        assert 0 < len(pilot.app.screen.hits) < everything
        assert "✓" in text(pilot).splitlines()[3]
        await pilot.press("space")
        await settled(pilot)
        assert box(pilot) == "limit"
        assert len(pilot.app.screen.hits) == everything
        line = text(pilot).splitlines()[4]
        await pilot.click("#chips", offset=(line.index("failed") + 1, 1))
        await settled(pilot)
        assert box(pilot) == "limit is:failed"
        assert {hit.outcome for hit in pilot.app.screen.hits} == {"failed"}
        await pilot.press("escape", "S")
        await settled(pilot)
        assert "newest first" in text(pilot)
        pilot.app.screen.put("is:failed")
        await settled(pilot)
        await pilot.press("S")
        assert "the newest come first anyway" in text(pilot)
        await pilot.press("6", *"test", "enter", "m", *keys("failed"), "enter")
        await settled(pilot)
        assert box(pilot) == "test is:failed", "what is taken from the manual"


async def test_a_key_ends_the_search_of_the_key_before(
    make: Any, cockpit: Any, settled: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen, began = [], threading.Event()
    from nmem_tui.model import search_queries

    real = searching

    def slow(db: Any, asked: str, at: int, **more: Any) -> Any:
        import time

        if asked == "lim":
            began.set()
            until = time.monotonic() + 120
            while not more["stopped"]() and time.monotonic() < until:
                time.sleep(0.005)
            seen.append((asked, more["stopped"]()))
        return real(db, asked, at, **more)

    monkeypatch.setattr(search_queries, "search", slow)
    async with cockpit(make("story"), (160, 45)) as pilot:
        await pilot.press("6")
        await settled(pilot)
        await pilot.press(*"lim")
        assert await asyncio.to_thread(began.wait, 120)
        await pilot.press("i")
        await settled(pilot)
        assert seen == [("lim", True)]
        assert pilot.app.screen.results.query.text == "limi"


async def test_the_end_of_the_list_reads_the_next_page(make: Any, cockpit: Any, settled: Any, text: Any) -> None:
    async with cockpit(make("many")) as pilot:
        await pilot.press("6", *"coupon", "enter")
        await settled(pilot)
        screen = pilot.app.screen
        assert len(screen.hits) == 40
        for _ in range(8):
            await pilot.press("G")
            await settled(pilot)
        assert len(screen.hits) == 130
        assert len({hit.id for hit in screen.hits}) == 130
        assert "these were all" in text(pilot)
        assert screen.one.id == screen.hits[-1].id


async def test_a_hit_is_copied_and_pinned_and_undo_takes_that_back(
    make: Any, cockpit: Any, settled: Any, text: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with cockpit(make("story"), (160, 45)) as pilot:
        said: list[str] = []
        monkeypatch.setattr(pilot.app, "copy_out", said.append)
        await pilot.press("6", *keys("type:git_commit"), "enter")
        await settled(pilot)
        hit = pilot.app.screen.one.id
        assert hit == "obs/11"
        await pilot.press("y", "Y")
        assert said == ["Raise the avatar limit to 8 MB", "obs/11"]
        await pilot.press("p")
        await settled(pilot)
        await settled(pilot)
        assert ask("SELECT pinned FROM observations WHERE id = 11") == [(1,)]
        assert "★ pinned" in text(pilot)
        assert pilot.app.screen.one.id == hit
        await pilot.press("u")
        await settled(pilot)
        await settled(pilot)
        assert ask("SELECT pinned FROM observations WHERE id = 11") == [(0,)]
        assert "★ pinned" not in text(pilot)


async def test_a_hit_leads_to_the_thing(make: Any, cockpit: Any, settled: Any, text: Any) -> None:
    async with cockpit(make("story"), (160, 45)) as pilot:
        for query, mode, said in (
            ("type:episode thumbnails", "episodes", "Story ─ episode 2"), ("type:git_commit", "now", "row 16 of 17"),
            ("type:prompt flaky", "now", "The thumbnails test is flaky"),
        ):  # fmt: skip
            await pilot.press("6", *keys(query), "enter")
            await settled(pilot)
            await pilot.press("o")
            await settled(pilot)
            assert pilot.app.current_mode == mode, query
            assert said in text(pilot)
            await pilot.press("minus")
            await settled(pilot)
            assert pilot.app.current_mode == "search"
            assert box(pilot) == query
            assert not isinstance(pilot.app.focused, Input), "the keys work at once"


async def test_a_task_is_shown_in_full_and_leads_to_itself(
    make: Any, cockpit: Any, load: Any, seeds: Any, settled: Any, text: Any
) -> None:
    file, tasks = make("story"), load("tasks_seed")
    with closing(sqlite3.connect(file)) as db:
        tasks.task(db, "sweep the yard", "queued", seeds.NOW)
        one = tasks.task(db, "publish the zeppelin\nwith its crew", "failed", seeds.NOW, output="no mast here")
        tasks.task(db, "water the plants", "queued", seeds.NOW)
        db.commit()
    async with cockpit(file, SIZES["160x45"]) as pilot:
        await pilot.press("6", *keys("type:task zeppelin"), "enter")
        await settled(pilot)
        for size, opens in (("160x45", []), ("80x24", ["enter"])):
            await pilot.resize_terminal(*SIZES[size])
            await settled(pilot)
            await pilot.press(*opens)
            await settled(pilot)
            for said in (f"Task ─ task/{one}", "✗ failed", "with its crew", "Said last", "no mast here"):
                assert said in text(pilot), size
        await pilot.press("escape")
        await pilot.press("p")
        await settled(pilot)
        assert not ask("SELECT 1 FROM corrections WHERE kind = 'pin'")
        await pilot.press("o")
        await settled(pilot)
        assert pilot.app.current_mode == "tasks"
        assert "publish the zeppelin" in row(text(pilot))
        await pilot.press("minus")
        await settled(pilot)
        assert (pilot.app.current_mode, box(pilot)) == ("search", "type:task zeppelin")


async def test_a_query_may_begin_with_a_number_and_enter_looks_at_a_hit_first_where_there_is_no_room(
    make: Any, cockpit: Any, settled: Any, text: Any
) -> None:
    async with cockpit(make("story")) as pilot:
        for query in ("404", "2xx", "8"):
            await pilot.press("6", *query)
            await settled(pilot)
            assert (pilot.app.current_mode, box(pilot)) == ("search", query)
            await pilot.press("escape", "escape", "7")
            await settled(pilot)
            assert pilot.app.current_mode == "tasks", "out of the box a number leads on"
        await pilot.press("6", *keys("type:test is:failed"), "enter", "enter")
        await settled(pilot)
        assert "Around it" in text(pilot)
        assert pilot.app.current_mode == "search"
        await pilot.press("escape")
        await settled(pilot)
        assert "Around it" not in text(pilot)
        await pilot.press("enter", "enter")
        await settled(pilot)
        assert pilot.app.current_mode == "now"


async def test_six_leads_into_the_box_and_what_is_typed_replaces_the_query(
    make: Any, cockpit: Any, settled: Any, text: Any
) -> None:
    async with cockpit(make("story"), (160, 45)) as pilot:
        for way in (["6"], ["1", "6"], ["1", *["shift+tab"] * 4], ["f", "6"]):
            await pilot.press("6", *"flaky", "enter")
            await settled(pilot)
            assert not isinstance(pilot.app.focused, Input)
            await pilot.press(*way)
            await settled(pilot)
            assert isinstance(pilot.app.focused, Input), way
            await pilot.press(*"type")
            await pilot.press("colon", *"test", "enter")
            await settled(pilot)
            assert box(pilot) == "type:test", way
        assert not ask("SELECT 1 FROM corrections WHERE kind = 'pin'")


async def test_an_example_finds_what_it_says_and_the_last_queries_come_back(
    make: Any, cockpit: Any, settled: Any, text: Any, seeds: Any
) -> None:
    with closing(seeds.database(make("story"))) as db:
        offered = examples(db, seeds.NOW)
    assert len(offered) >= 5
    assert all(one.found for one in offered)
    async with cockpit("aurora.db", (160, 45)) as pilot:
        await pilot.press("6")
        await settled(pilot)
        assert "file:limits.py" in text(pilot)
        await pilot.press("down", "enter")
        await settled(pilot)
        assert pilot.app.screen.hits
        await pilot.press("6", *"flaky", "enter", "escape")
        await settled(pilot)
        assert box(pilot) == ""
        await pilot.press("6", *"limit", "enter", "escape")
        await settled(pilot)
        assert "Asked before" in text(pilot)
        for key, query in (("slash", ""), ("up", "limit"), ("up", "flaky"), ("down", "limit"), ("down", "")):
            await pilot.press(key)
            assert box(pilot) == query
        await settled(pilot)
        await pilot.press("down", "enter")
        await settled(pilot)
        assert box(pilot) == "limit"


async def test_a_project_is_searched_from_another_screen_and_what_is_recorded_meanwhile_is_told(
    make: Any, cockpit: Any, settled: Any, until: Any, seeds: Any
) -> None:
    path = make("story")
    async with cockpit(path, (160, 45)) as pilot:
        await pilot.press("3", "ctrl+f")
        await settled(pilot)
        assert pilot.app.current_mode == "search"
        assert box(pilot) == "project:aurora-api "
        await pilot.press(*"limit", "enter")
        await settled(pilot)
        assert box(pilot) == "project:aurora-api limit"
        before = len(pilot.app.screen.hits)
        assert before
        db = seeds.database(path)
        seeds.do(db, seeds.NOW, "command", "echo another limit")
        db.close()
        await until(pilot, "more was recorded since: ^r looks again")
        assert len(pilot.app.screen.hits) == before
        await pilot.press("ctrl+r")
        await settled(pilot)
        assert len(pilot.app.screen.hits) == before + 1


async def test_a_link_opens_the_screen_with_its_query(make: Any, cockpit: Any, settled: Any) -> None:
    from nmem.errors import NmemError
    from nmem_tui.model.locations import parse

    path = make("story")
    async with cockpit(path, (160, 45), link=parse("?q=flaky type:prompt", path)) as pilot:
        await settled(pilot)
        assert pilot.app.current_mode == "search"
        assert [hit.id for hit in pilot.app.screen.hits] == ["prompt/8"]
    async with cockpit(path, (160, 45), link=parse("episode/2", path)) as pilot:
        await settled(pilot)
        assert pilot.app.current_mode == "episodes"
        assert pilot.app.screen.pane.story.row.id == 2
    for wrong in ("episode/99", "nosuch", "episode/x", "obs/9999"):
        with pytest.raises(NmemError):
            parse(wrong, path)


async def test_a_cockpit_of_one_project_searches_that_one(make: Any, cockpit: Any, settled: Any, seeds: Any) -> None:
    path = make("story")
    db = seeds.database(path)
    seeds.session(db, "other", project="lighthouse", last_at=seeds.NOW - 90_000_000, state="ended")
    seeds.say(db, seeds.NOW - 90_000_000, "What is the limit of the lamp?", session_id="other")
    db.close()
    for project, some in (("", {"aurora-api", "lighthouse"}), ("lighthouse", {"lighthouse"}), ("nosuch", set())):
        async with cockpit(path, project=project) as pilot:
            await pilot.press("6", *"limit", "enter")
            await settled(pilot)
            assert {hit.project for hit in pilot.app.screen.hits} == some


def found(*, beneath: bool, superseded: str = "") -> Hit:
    """A prompt as a hit, of an episode that stands above it or of none."""
    return Hit("prompt/8", "prompt", "prompt", 0, "s1", "shop", "claude", "", "", False,
               Snippet("Round the coupons half up", ((10, 17),)), 1.0, 1, 3, beneath, superseded)  # fmt: skip


def test_what_says_an_episode_is_moved_in_beneath_it() -> None:
    def second(hit: Hit, cells: int) -> Line:
        return search.second(hit, cells, 0, UTC, where=True)

    for line in (search.first, second):
        alone, below = (plain([line(found(beneath=beneath), 60)]) for beneath in (False, True))
        assert below == "  " + alone
        assert cell_len(plain([line(found(beneath=True), 24)])) <= 24


def test_a_hit_says_which_decision_replaced_its_own() -> None:
    told = plain([search.second(found(beneath=True, superseded="decision/19"), 80, 0, UTC, where=False)])
    assert "superseded by decision/19" in told


def test_toggling_keeps_the_rest_of_a_query() -> None:
    assert toggled("coupon", "type:test") == "coupon type:test"
    assert toggled("coupon type:git", "type:git_commit") == "coupon type:git_commit"
    assert toggled("coupon type:test", "type:test") == "coupon"
    assert toggled('"a b" is:failed', "is:pinned") == '"a b" is:failed is:pinned'
    assert toggled('project:"my shop" x', 'project:"my shop"') == "x"
    assert standing('a type:test "type:x" !type:git project:"my shop" since:soon') == ["type:test", 'project:"my shop"']


HITS = st.builds(
    Hit, id=st.sampled_from(["obs/1", "session/abc"]), kind=st.sampled_from(["obs", "prompt", "reasoning", "session"]),
    type=st.sampled_from(["test", "thinking", "nonsense[/x]", "\x1b[2J"]), at=st.integers(-(2**53), 2**53),
    session_id=st.text(), project=st.text(max_size=40), client=st.text(), path=st.text(max_size=60),
    outcome=st.sampled_from(["", "ok", "failed"]), pinned=st.booleans(), score=st.floats(0, 9),
    snippet=st.builds(
        Snippet, st.sampled_from(["", "see [/foo] [red]x[/]", "漢字" * 60, "a limit " * 20]),
        st.lists(st.tuples(st.integers(0, 200), st.integers(0, 200)), max_size=3).map(tuple),
    ),
    times=st.integers(1, 9),
)  # fmt: skip


@given(HITS, st.integers(20, 140))
@settings(max_examples=60, deadline=None)
def test_a_hit_is_never_wider_than_its_room(harmless: Any, hit: Hit, cells: int) -> None:
    for line in (search.first(hit, cells), search.second(hit, cells, 1_760_000_000_000, UTC, where=True)):
        shown = "".join(piece for piece, _ in line)
        harmless(shown)
        assert cell_len(shown) <= cells
        assert {tone for _, tone in line} <= TONES
