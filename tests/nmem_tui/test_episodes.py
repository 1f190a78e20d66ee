"""The screen Episodes and the review deck: what keys show, and what they leave in the database."""

from __future__ import annotations

import json
import sqlite3
import threading
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from datetime import UTC
from typing import Any

import pytest

from nmem.episodes import storytelling
from nmem.read.episodes import rows
from nmem.read.stories import story
from nmem_tui.messages import Changed
from nmem_tui.model import episodes
from nmem_tui.model.episodes import Entry
from nmem_tui.model.line import plain
from nmem_tui.model.story import StoryText
from nmem_tui.operations import processes
from nmem_tui.store.access import Reads
from tests.nmem_tui.asked import row as ask


@pytest.fixture
def told(here: Any, seeds: Any) -> dict[str, int]:
    """The history in aurora.db: ids by name."""
    db = seeds.database("aurora.db")
    seeds.story(db)
    made: dict[str, int] = seeds.history(db)
    db.close()
    return made


@pytest.fixture
def until(text: Any) -> Callable[..., Any]:
    """Waits until a word is on the screen."""

    async def wait(pilot: Any, *words: str) -> str:
        for _ in range(6000):
            await pilot.pause(0.02)
            if all(word in text(pilot) for word in words):
                return str(text(pilot))
        pytest.fail(f"{words} did not come:\n{text(pilot)}")

    return wait


async def at_flaky(pilot: Any, settled: Any) -> None:
    """On the screen Episodes, with the cursor on the fourth episode."""
    await pilot.press("2")
    await settled(pilot)
    await pilot.press("j", "j", "j")
    await settled(pilot)


async def test_list_stands_by_day_and_thread_and_is_filtered(
    told: Any, cockpit: Any, text: Any, settled: Any, seeds: Any
) -> None:
    db = seeds.database("aurora.db")
    db.execute("UPDATE work_units SET summary = 'a marmalade of clocks' WHERE id = ?", (told["notes"],))
    db.close()
    async with cockpit("aurora.db", (160, 45)) as pilot:
        await pilot.press("2")
        await settled(pilot)
        assert "open questions · r answers" in text(pilot)
        shown = text(pilot).partition("Episodes ─ ")[2]
        order = ["Today ─ Thu 09 Oct 2025", "Avatar uploads", "● open", "↩ ", "Yesterday", "Write the release",
                 "Flaky thumbnails", "Users report"]  # fmt: skip
        places = [shown.index(word) for word in order]
        assert places == sorted(places)
        assert "no narrative yet: n writes one now" in text(pilot)
        for typed, many in (
            ("marmal", 1), ("is:pinned", 1), ("aurora", 5), ("avatar", 5), ("test_limits.py", 1), ("zeppelin", 0),
        ):  # fmt: skip
            await pilot.press("slash", *typed)
            await settled(pilot)
            assert f"filter “{typed}” · {many} of 5" in text(pilot) or not many, "it counts while it is typed"
            assert "nothing matches" in text(pilot) or many, typed
            assert "Write the release notes" in text(pilot) or typed != "marmal", "words of a narrative are found"
            await pilot.press("escape")
            await settled(pilot)
            assert "Episodes ─ 5 episodes" in text(pilot), typed


async def test_story_tells_everything_in_order_and_names_one_obstacle(
    told: Any, cockpit: Any, text: Any, settled: Any, seeds: Any, until: Any
) -> None:
    async with cockpit("aurora.db", (200, 60)) as pilot:
        await at_flaky(pilot, settled)
        shown = text(pilot)
        for words in (
            "nothing that mattered", "sure 91%  new intent: no file and no word", "without a model",
            "The test compared minutes of two calls", "With a fixed clock it passes ten times",
            "? nearly cut here, 46%", "rough", "unsure (l)",
        ):  # fmt: skip
            assert words in shown
        dialogue = shown[shown.index("Dialogue and actions") :]  # the last answer stands above it as well
        said = [
            dialogue.index(word)
            for word in ("The thumbnails test is flaky on CI", "Could it be the clock", "passes ten")
        ]
        assert said == sorted(said)
        assert "NEWS.md" not in shown
        with closing(seeds.database("aurora.db")) as db:
            storytelling.retell(db, (told["flaky"],), seeds.NOW)
            row = "UPDATE narrations SET obstacle = 'bash deploy.sh failed once' WHERE unit_id = ?"
            db.execute(row, (told["flaky"],))
        shown = await until(pilot, "obstacle  bash deploy.sh failed once")
        assert "main snag" not in shown
        assert "✓ then it passed" not in shown


def test_threads_that_are_surely_others_take_no_line_and_what_is_open_keeps_its_own(told: Any, seeds: Any) -> None:
    with closing(sqlite3.connect("aurora.db")) as db:
        db.row_factory = sqlite3.Row
        found = story(db, told["flaky"])
    assert found
    (link,) = found.links
    dull = [link._replace(id=10 + number, certainty="high", score=number / 100, linked=False) for number in range(8)]
    same = link._replace(id=30, certainty="likely", score=0.9, linked=True, sure="likely", because="one branch")
    refused = link._replace(id=40, linked=False, outcome="incorrect")
    many = StoryText(replace(found, links=(link, same, refused, *dull)), 80, UTC, seeds.NOW)
    lines = [plain([many.line(place, 80)]) for place in range(len(many))]
    links = [line for line in lines if line.startswith("link")]
    assert len(links) == 2
    assert "score 0.64, unsure (l)" in links[0]
    assert "same work as" in links[1]
    assert "likely: one branch" in links[1]


@pytest.mark.parametrize("cells", [40, 78])
def test_a_long_prompt_is_told_once_above_a_story(cells: int, told: Any, seeds: Any) -> None:
    with closing(sqlite3.connect("aurora.db")) as db:
        db.row_factory = sqlite3.Row
        found = story(db, told["flaky"])
    assert found
    prompt = "Look into the upload of avatars, " + "which is slow and which fails now and then, " * 12
    shown = StoryText(
        replace(found, titled=False, intent=prompt, row=found.row._replace(name="Look into the upload of avatars")),
        cells,
        UTC,
        seeds.NOW,
    )
    first = [plain([shown.line(place, cells)]) for place in range(6)]
    assert first[0].startswith("Look into the upload of avatars")
    assert "turn" in first[1], "one line of it, then how it stands"
    assert any(line.startswith("intent    Look into") for line in first)


async def test_themes_are_browsed_and_list_their_episodes(
    told: Any, cockpit: Any, text: Any, settled: Any, seeds: Any
) -> None:
    async with cockpit("aurora.db", (160, 45)) as pilot:
        await pilot.press("2", "b")
        await settled(pilot)
        assert "no themes yet: twelve told episodes of a project make them" in text(pilot)
        await pilot.press("escape")
        with closing(seeds.database("aurora.db")) as db:
            db.executemany(
                "INSERT INTO unit_themes SELECT u.id, s.project_id, ?, ? FROM work_units u JOIN sessions s"
                " ON s.id = u.session_id WHERE u.id = ?",
                [(7, "release [notes]", told["notes"]), (7, "release [notes]", told["raise"]),
                 (8, "flaky thumbnails", told["flaky"]), (0, "", told["why"])],
            )  # fmt: skip
        await at_flaky(pilot, settled)
        await pilot.press("b")
        await settled(pilot)
        shown = text(pilot)
        rows = shown.splitlines()
        first, second = (next(row for row in rows if word in row) for word in ("flaky thumb", "release ["))
        assert "▸ " in first and "1 episode" in first, "the theme of the episode under the cursor"
        assert "▸ " not in second and "2 episodes" in second and shown.index(first) < shown.index(second)
        await pilot.resize_terminal(80, 24)
        await settled(pilot)
        (narrow,) = [row for row in text(pilot).splitlines() if "release [notes]" in row]
        assert "Write the release notes" in narrow, "the words leave the title its room"
        await pilot.press(*"notes", "enter")
        await settled(pilot)
        assert "Episodes ─ release [notes]" in text(pilot) and "filter “theme:7” · 2 of 5" in text(pilot)
        await pilot.press("escape")
        await settled(pilot)
        assert "Episodes ─ 5 episodes" in text(pilot)


async def test_now_opens_the_story_of_its_work_unit(
    told: Any, cockpit: Any, text: Any, settled: Any, until: Any
) -> None:
    async with cockpit("aurora.db", (80, 24)) as pilot:
        await pilot.press("w")
        await until(pilot, f"Story ─ episode {told['raise']}", "Raise to 8 MB")
        await pilot.press("escape")
        await settled(pilot)
        assert "Today ─" in text(pilot)


async def test_names_and_pins_are_given_and_taken_back(told: Any, cockpit: Any, settled: Any, until: Any) -> None:
    pinned = "SELECT pinned FROM work_units WHERE id = ?"
    async with cockpit("aurora.db", (160, 45)) as pilot:
        await pilot.press("2")
        await settled(pilot)
        await pilot.press("R", *"Bigger avatars", "enter")
        await until(pilot, "renamed to", "│▌08:44 Bigger avatars")
        assert ask("SELECT title FROM work_units WHERE id = ?", told["raise"]) == "Bigger avatars"
        await pilot.press("u")
        await until(pilot, "undone", "│▌08:44 Raise to 8 MB")
        assert ask("SELECT title FROM work_units WHERE id = ?", told["raise"]) is None
        await at_flaky(pilot, settled)
        for key, said in (("p", "★ pinned"), ("P", "told in every project")):
            pilot.app.clear_notifications()
            await pilot.press(key)
            await until(pilot, said)
            assert ask(pinned, told["flaky"]) == 1, key
            everywhere = ask("SELECT item FROM pins_everywhere WHERE item = ?", f"episode/{told['flaky']}")
            assert bool(everywhere) == (key == "P")
            await settled(pilot)
            await pilot.press("u")
            await until(pilot, "undone")
            assert ask(pinned, told["flaky"]) == 0, key
            await settled(pilot)


async def test_an_episode_is_split_and_merged_and_each_is_undone(
    told: Any, cockpit: Any, settled: Any, until: Any
) -> None:
    def holds() -> Any:
        return ask("SELECT unit_id FROM unit_prompts WHERE prompt_id = ?", told["slow"])

    async with cockpit("aurora.db", (160, 45)) as pilot:
        await at_flaky(pilot, settled)
        await pilot.press("S")
        await until(pilot, "put the cursor on a prompt")
        await pilot.press("enter", "right_square_bracket", "S")
        await until(pilot, "begins with this prompt already")
        await pilot.press("right_square_bracket", "S")
        await until(pilot, "split: a new episode begins", "Episodes ─ 6 episodes")
        assert holds() != told["flaky"]
        assert ask("SELECT cut_by FROM work_units WHERE id = ?", holds()) == "person"
        await pilot.press("u")
        await until(pilot, "undone", "Episodes ─ 5 episodes")
        assert holds() == told["flaky"]
        await pilot.press("escape", "1", "2", "G")
        await settled(pilot)
        await pilot.press("m")
        await until(pilot, "the first episode of its session")
        assert ask("SELECT count(*) FROM work_units") == 5
        await pilot.press("g", "j", "j", "j")
        await settled(pilot)
        await pilot.press("m")
        await until(pilot, "merged into", "Episodes ─ 4 episodes")
        assert holds() == told["refused"]
    async with cockpit("aurora.db", (80, 24)) as pilot:
        await pilot.press("2", "u")
        await until(pilot, "undone", "Episodes ─ 5 episodes")  # after a restart as well
        assert holds() == told["flaky"]
        assert ask("SELECT title FROM work_units WHERE id = ?", told["flaky"]) == "Flaky thumbnails test"


async def test_a_prompt_is_moved_and_a_link_answered_from_the_story_and_a_thread_goes_on(
    told: Any, cockpit: Any, settled: Any, until: Any
) -> None:
    async with cockpit("aurora.db", (160, 45)) as pilot:
        await pilot.press("2")
        await settled(pilot)
        await pilot.press("c")
        await until(pilot, "→ the next session continues it")
        assert ask("SELECT thread_id FROM thread_choices") == told["uploads"]
        await settled(pilot)
        await pilot.press("c")
        await until(pilot, "continues the last work")
        assert ask("SELECT count(*) FROM thread_choices") == 0
        await settled(pilot)
        await pilot.press("l")
        await until(pilot, "One line of work?", "1 of 1 question")
        await pilot.press("enter", "y")
        await until(pilot, "linked: one line of work")
        row = ask("SELECT decision, outcome, outcome_by FROM episode_links")
        assert row == ("dont_link", "incorrect", "person")  # it had said no
        await pilot.press("escape")
        await settled(pilot)
        await until(pilot, "same work as Upload error")
        await pilot.press("j", "j", "j")
        await settled(pilot)
        await pilot.press("enter", "right_square_bracket", "right_square_bracket", "M")
        await until(pilot, "Move the prompt into")
        await settled(pilot)
        await pilot.press(*"release", "enter")
        await until(pilot, "the prompt was moved")
        assert ask("SELECT unit_id FROM unit_prompts WHERE prompt_id = ?", told["slow"]) == told["notes"]


async def test_a_key_that_outruns_the_story_is_not_lost(told: Any, cockpit: Any, settled: Any, until: Any) -> None:
    async with cockpit("aurora.db", (160, 45)) as pilot:
        await pilot.press("2")
        await settled(pilot)
        pilot.app.screen.do_down()
        pilot.app.screen.do_down()
        pilot.app.screen.do_down()
        pilot.app.action_act("pin")
        await until(pilot, "pinned · u undoes")
        assert ask("SELECT id FROM work_units WHERE pinned AND id != ?", told["notes"]) == told["flaky"]


async def test_what_is_split_off_under_a_filter_is_shown_with_its_own_story(
    told: Any, cockpit: Any, settled: Any, until: Any, text: Any
) -> None:
    async with cockpit("aurora.db", (160, 45)) as pilot:
        await pilot.press("2")
        await settled(pilot)
        await pilot.press("slash", *"flaky", "enter")
        await settled(pilot)
        assert "Write the release" not in text(pilot)
        await pilot.press("g", "enter", "right_square_bracket", "right_square_bracket", "S")
        await until(pilot, "split: a new episode begins")
        made = ask("SELECT unit_id FROM unit_prompts WHERE prompt_id = ?", told["slow"])
        shown = await until(pilot, "▌", f"Story ─ episode {made}", "Could it be the clock")
        (line,) = (line for line in shown.splitlines() if "│▌" in line)
        assert "Try a fixed one" in line
        assert ask("SELECT narrator FROM work_units WHERE id = ?", made) == "extractive"
        assert "clock" not in ask("SELECT summary FROM work_units WHERE id = ?", told["flaky"])


async def test_resume_and_unresume(told: Any, cockpit: Any, settled: Any, until: Any) -> None:
    async with cockpit("aurora.db", (160, 45)) as pilot:
        await pilot.press("2", "j")
        await settled(pilot)
        await pilot.press("e")
        await until(pilot, "now separate from earlier episodes", "08:39 ")
        assert ask("SELECT resumes FROM work_units WHERE id = ?", told["why"]) is None
        await settled(pilot)
        await pilot.press("e")
        await until(pilot, "Continues ─")
        await settled(pilot)
        await pilot.press(*"flaky", "enter")
        await until(pilot, "now continues the earlier episode")
        assert ask("SELECT resumes FROM work_units WHERE id = ?", told["why"]) == told["flaky"]


@pytest.mark.parametrize(("key", "moved"), [("y", True), ("n", False)])
async def test_review_asks_one_question_a_card(
    key: str, moved: bool, told: Any, cockpit: Any, settled: Any, until: Any, text: Any
) -> None:
    async with cockpit("aurora.db", (80, 24)) as pilot:
        await pilot.press("r")
        await until(pilot, "A new task? ─ 1 of 1 question", "boundaries 1", "links 1", "Could it be the clock?")
        await pilot.press("enter", key)
        await until(pilot, "One line of work? ─ 1 of 1 question", "u undoes")
        row = ask(
            "SELECT unit_id != ?, offered, decided_by FROM unit_prompts WHERE prompt_id = ?",
            told["flaky"],
            told["slow"],
        )
        assert row == (int(moved), 0, "person")
        await settled(pilot)
        await pilot.press("n")
        await until(pilot, "links 0", "2 answered")
        assert ask("SELECT outcome FROM episode_links") == "correct"  # it had said no as well
        await settled(pilot)
        await pilot.press("u")
        await until(pilot, "1 of 1 question")
        assert ask("SELECT outcome FROM episode_links") is None


async def test_thousands_of_episodes_scroll_and_filter(
    here: Any, seeds: Any, cockpit: Any, settled: Any, until: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    db = seeds.database("aurora.db")
    seeds.session(db)
    db.execute("BEGIN")
    for number in range(6_000):
        at = seeds.NOW - number * 600_000
        seeds.say(db, at, f"task {number} of many")
    db.execute(
        "INSERT INTO work_units(session_id, first_prompt_id, last_prompt_id, started_at, last_at, intent, state)"
        " SELECT session_id, id, id, at, at, content, 'closed' FROM prompts"
    )
    db.execute("COMMIT")
    db.close()
    async with cockpit("aurora.db", (160, 45)) as pilot:
        await pilot.press("2")
        await until(pilot, "Episodes ─ 6,000 episodes", "task 0 of many")
        asked: list[str] = []
        plain = Reads.ask

        def ask_for(reads: Reads, topic: str, work: Any, then: Any) -> None:
            asked.append(topic)
            plain(reads, topic, work, then)

        monkeypatch.setattr(Reads, "ask", ask_for)
        await pilot.press("G")
        await until(pilot, "task 5999 of many")
        assert asked[0] == "rest"
        assert asked.count("rest") == 1 and "older" not in asked
        await pilot.press("g")
        await until(pilot, "task 0 of many")
        pilot.app.screen.to_end = True  # the end was asked for, and is not there yet
        await pilot.press("slash", *"5998")
        await until(pilot, "filter “5998” · 1 of 6,000", "task 5998")
        assert not pilot.app.screen.to_end, "that was the end of another list"


async def test_what_changes_elsewhere_shows_without_moving_the_cursor(
    told: Any, cockpit: Any, text: Any, settled: Any, seeds: Any, until: Any
) -> None:
    async with cockpit("aurora.db", (160, 45)) as pilot:
        await at_flaky(pilot, settled)
        db = seeds.database("aurora.db")
        made = seeds.say(db, seeds.NOW, "Now something else entirely.")
        seeds.unit(db, [made], seeds.Verdict("new", "online", 0.9, "new intent"))
        db.execute(
            "UPDATE work_units SET learned = ? WHERE id = ?", (json.dumps(["a lesson that came late"]), told["flaky"])
        )
        db.close()
        shown = await until(pilot, "Episodes ─ 6 episodes", "Something else entirely", "a lesson that came late")
        assert "Story ─ episode 2" in shown


async def test_narrate_tells_when_it_is_done(
    told: Any, cockpit: Any, settled: Any, until: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen, write = threading.Event(), processes.narrate

    def narrate(path: str, unit_id: int) -> Changed:
        seen.wait(300)
        return write(path, unit_id)

    monkeypatch.setattr(processes, "narrate", narrate)
    async with cockpit("aurora.db", (160, 45)) as pilot:
        await pilot.press("2", "j", "j")
        await settled(pilot)
        await pilot.press("n")
        await until(pilot, "the narrative is being written")
        await pilot.press("n")
        await until(pilot, "a narrative is being written")
        seen.set()
        await until(pilot, "the narrative is written, from the records alone", "summary without a model")
        assert ask("SELECT narrator FROM work_units WHERE id = ?", told["notes"]) == "extractive"


def test_a_heading_says_no_name_that_the_row_below_it_says(told: Any, seeds: Any) -> None:
    with closing(sqlite3.connect("aurora.db")) as db:
        db.row_factory = sqlite3.Row
        row = next(iter(rows(db, [told["flaky"]]).values()))
    same = row._replace(
        name="Make the thumbnails build green again", thread="Make the thumbnails build green again", thread_id=3
    )
    said = [
        plain([episodes.heading(Entry("thread", 1, row.id, size), one, 1, 100, projects=False)])
        for size, one in (
            (1, same),
            (2, same),
            (1, same._replace(name="Another one")),
            (1, same._replace(name=same.name[:25] + "…")),
        )
    ]
    alone = "┌ a thread of the same name  1 episode"
    named = "┌ Make the thumbnails build green again  "
    assert said == [alone, f"{named}2 episodes", f"{named}1 episode", alone]


async def test_enter_in_a_story_opens_the_moment_of_what_was_done(
    make_db: Any, cockpit: Any, settled: Any, text: Any
) -> None:
    async with cockpit(make_db("story"), (80, 24)) as pilot:
        await pilot.press("2")
        await settled(pilot)
        shown = pilot.app.screen
        assert "enter open" in text(pilot)
        await pilot.press("enter")
        await settled(pilot)
        assert "enter open" not in text(pilot).splitlines()[-1]  # the title of a story leads nowhere
        while not (shown.pane.row and shown.pane.row.outcome == "failed"):
            before = shown.pane.cursor
            await pilot.press("j")
            assert shown.pane.cursor > before, "no failed call in the story"
        row = shown.pane.row
        await pilot.press("enter")
        await settled(pilot)
        assert pilot.app.current_mode == "now"
        assert pilot.app.screen.stream.row.key == row.key
        await pilot.press("minus")
        await settled(pilot)
        assert pilot.app.current_mode == "episodes"
