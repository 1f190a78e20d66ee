"""The review deck: five queues, a key an answer; what each answer leaves in the database; the last one taken back."""

from __future__ import annotations

import re
import sqlite3
import time
from typing import Any

import pytest
from textual.events import AppBlur

from nmem.audit import review
from nmem_tui.model.review import key as key_of
from tests.nmem_tui.asked import rows as ask

PATH = "aurora.db"


@pytest.fixture(autouse=True)
def said_stands() -> None:
    """What is said goes by itself here: the queues stand below it."""


@pytest.fixture
def waiting(here: Any, seeds: Any, load: Any, monkeypatch: pytest.MonkeyPatch) -> dict[str, int]:
    """Something in each queue: a boundary, a link, learnings, calls that are not clear, redactions."""
    monkeypatch.setenv("NMEM_CONFIG", str(here / "config.toml"))
    db = seeds.database(PATH)
    seeds.story(db)
    made = seeds.history(db)
    learned = load("learnings_seed")
    learned.fill(db, seeds, made)
    for number in range(3):
        seeds.do(db, seeds.NOW - 2_000 + number, "command", f"login with [REDACTED:password] {number}")
    seeds.label(db)
    db.execute("UPDATE observations SET phase = NULL WHERE obs_type = 'lint'")
    review.draw(db, seeds.NOW, 3, 1)
    db.close()
    return dict(made)


async def opened(pilot: Any, until: Any, queue: str) -> None:
    await pilot.press("r")
    await until(pilot, "boundaries 1", "links 1", "A new task? ─ 1 of 1 question")
    await pilot.press(queue)


LABELLED = "SELECT count(*) FROM observations WHERE instr(label_model, '+')"
ANSWERS = {
    "boundary yes": ("1", "y", "SELECT offered, unit_id FROM unit_prompts WHERE prompt_id = :slow"),
    "boundary no": ("1", "n", "SELECT offered, decided_by FROM unit_prompts WHERE prompt_id = :slow"),
    "link yes": ("2", "y", "SELECT outcome, outcome_by FROM episode_links"),
    "link no": ("2", "n", "SELECT outcome, outcome_by FROM episode_links"),
    "learning no": ("3", "n", "SELECT id, state FROM learnings ORDER BY id"),
    "learning resolved": ("3", "R", "SELECT id, state FROM learnings ORDER BY id"),
    "label yes": ("4", "y", "SELECT id, label_model, phase FROM observations ORDER BY id"),
    "label no": ("4", "n", "SELECT id, label_model, phase FROM observations ORDER BY id"),
    "redaction yes": ("5", "y", "SELECT id, verdict FROM redaction_reviews ORDER BY id"),
    "redaction no": ("5", "n", "SELECT id, verdict FROM redaction_reviews ORDER BY id"),
}


async def test_one_key_answers_and_u_takes_it_back(waiting: Any, cockpit: Any, until: Any, settled: Any) -> None:
    names = ("boundaries", "links", "learnings", "labels", "redactions")
    wanted = {"label yes": "+", "redaction yes": "real", "redaction no": "false", "learning no": "dismissed",
              "learning resolved": "resolved", "boundary no": "person"}  # fmt: skip
    async with cockpit(PATH, (80, 24)) as pilot:
        await opened(pilot, until, "1")
        for answer, (queue, key, asked) in ANSWERS.items():
            sql = asked.replace(":slow", str(waiting["slow"]))
            before = ask(sql)
            await pilot.press(queue)
            await settled(pilot)
            await pilot.press(key)
            await until(pilot, "1 answered")
            await settled(pilot)
            assert ask(sql) != before, answer
            assert wanted.get(answer, "") in str(ask(sql)), answer
            pilot.app.clear_notifications()
            await pilot.press("u")
            await until(pilot, "undone: ", gone="1 answered")
            await settled(pilot)
            assert ask(sql) == before, answer
            assert pilot.app.screen.queue == names[int(queue) - 1]


async def test_what_was_read_leads_back_to_its_question(waiting: Any, cockpit: Any, until: Any, settled: Any) -> None:
    async with cockpit(PATH, (160, 45)) as pilot:
        for queue, there, back in (("1", "Story ─ ", "minus"), ("3", "Evidence", "escape"), ("4", "Stream", "minus"),
                                   ("4", "Stream", "escape")):  # fmt: skip
            await opened(pilot, until, queue)
            await settled(pilot)
            await pilot.press("j")
            await settled(pilot)
            question = pilot.app.screen.question
            await pilot.press("enter")
            await until(pilot, there, gone="▸ Review")
            await settled(pilot)
            await pilot.press(back)
            await until(pilot, "▸ Review")
            await settled(pilot)
            assert pilot.app.screen.queue == ("boundaries", "links", "learnings", "labels")[int(queue) - 1], back
            assert key_of(pilot.app.screen.question) == key_of(question), (queue, back)
            await pilot.press("escape")
            await until(pilot, "Stream", gone="▸ Review")
            await pilot.press("1")
            await settled(pilot)


async def test_accepting_shows_the_rule_first(waiting: Any, cockpit: Any, until: Any, settled: Any) -> None:
    before = ask("SELECT id, state FROM learnings ORDER BY id")
    async with cockpit(PATH, (120, 40)) as pilot:
        await opened(pilot, until, "3")
        await until(pilot, "A rule?", "Is this worth a rule")
        await pilot.press("y")
        await until(pilot, "Accept learning")
        await settled(pilot)
        await pilot.press("escape")
        await until(pilot, "A rule?", gone="Accept learning")
        assert ask("SELECT id, state FROM learnings ORDER BY id") == before


async def test_the_deck_goes_through_its_queues(
    waiting: Any, cockpit: Any, until: Any, settled: Any, text: Any
) -> None:
    async with cockpit(PATH, (80, 24)) as pilot:
        await pilot.press("r")
        await until(pilot, "A new task? ─ 1 of 1 question", "▸enter to answer◂")
        given = "SELECT count(*) FROM corrections"
        for stray in ("y", "n", "enter", "b", "n", "y"):  # a letter that means nothing takes the keyboard away
            await pilot.press(stray)
        assert "1 of 1 question" in text(pilot)
        assert ask(given) == [0]
        await pilot.press("enter")
        await until(pilot, "A new task? ─ 1 of 1 question", gone="to answer")
        pilot.app.post_message(AppBlur())
        await until(pilot, "▸enter to answer◂")
        await pilot.press("enter", "y")
        await until(pilot, "One line of work? ─ 1 of 1 question", "boundaries 0")
        await pilot.press("n")
        await until(pilot, "A rule? ─ 1 of ", "2 answered")
        await pilot.press("tab")
        await until(pilot, "The right word?")
        await pilot.press("tab")
        await until(pilot, "A secret? ─ 1 of 3 questions", "Was this a secret?")
        await settled(pilot)
        await pilot.press("j", "n", "n", "n")
        await until(pilot, "redactions 0")
        await settled(pilot)
        assert ask("SELECT verdict FROM redaction_reviews") == ["false"] * 3
        await pilot.press("1")
        await until(pilot, "Boundaries ─ nothing left", "all answered: 5 questions", "goes on: learnings")
        await pilot.press("escape")
        await until(pilot, "Stream")


async def test_r_opens_the_deck_from_every_screen(waiting: Any, cockpit: Any, until: Any, settled: Any) -> None:
    async with cockpit(PATH, (80, 24)) as pilot:
        for screen in "12345678":
            await pilot.press(screen)
            await settled(pilot)
            if screen == "6":
                await pilot.press("escape")
            await pilot.press("r")
            await until(pilot, "boundaries 1", "links 1", "labels ", "redactions 3", "Review")
            await pilot.press("escape")
            await until(pilot, gone="redactions 3")


async def test_episodes_count_the_questions_that_the_deck_has(
    waiting: Any, cockpit: Any, text: Any, until: Any, settled: Any
) -> None:
    async with cockpit(PATH, (160, 45)) as pilot:
        await pilot.press("2")
        await settled(pilot)
        counted = re.search(r"\? (\d+) open questions · r answers", text(pilot))
        await pilot.press("r")
        await until(pilot, "boundaries 1", "redactions 3")
        left = re.search(r"Review   (\d+) left", text(pilot))
        assert counted and left and counted[1] == left[1]


async def test_answers_that_could_not_be_given_come_back(waiting: Any, cockpit: Any, until: Any, settled: Any) -> None:
    async with cockpit(PATH, (80, 24)) as pilot:
        await opened(pilot, until, "5")
        await until(pilot, "A secret? ─ 1 of 3 questions")
        db = sqlite3.connect(PATH)
        db.execute("DROP TABLE corrections")
        db.commit()
        await pilot.press("y")
        await until(pilot, "not changed: ", "A secret? ─ 1 of 3 questions", gone="1 answered")
        db.close()
    assert ask("SELECT count(*) FROM redaction_reviews WHERE verdict IS NOT NULL") == [0]


async def test_a_commit_beside_does_not_lose_what_a_dialog_confirms(
    waiting: Any, cockpit: Any, until: Any, settled: Any
) -> None:
    async with cockpit(PATH, (80, 24)) as pilot:
        await opened(pilot, until, "3")
        await until(pilot, "A rule?")
        deck = pilot.app.screen
        asked = deck.question
        await pilot.press("z")
        await until(pilot, "Snooze")
        db = sqlite3.connect(PATH)
        db.execute("UPDATE observations SET phase = phase WHERE id = 1")
        db.commit()
        db.close()
        deck.look_again()
        end = time.monotonic() + 120
        while deck.question is asked and time.monotonic() < end:
            await pilot.pause(0.02)
        assert deck.question is not asked
        await pilot.press("enter")
        await until(pilot, "1 answered")
        await settled(pilot)
        assert ask("SELECT state FROM learnings WHERE id = ?", asked.id) == ["snoozed"]


async def test_a_question_that_was_answered_elsewhere_meanwhile_is_said(
    waiting: Any, cockpit: Any, until: Any, settled: Any
) -> None:
    async with cockpit(PATH, (80, 24)) as pilot:
        await opened(pilot, until, "3")
        await until(pilot, "A rule?")
        deck = pilot.app.screen
        asked = deck.question
        await pilot.press("z")
        await until(pilot, "Snooze")
        db = sqlite3.connect(PATH)
        db.execute("UPDATE learnings SET state = 'dismissed' WHERE id = ?", (asked.id,))
        db.commit()
        db.close()
        deck.look_again()
        end = time.monotonic() + 120
        while deck.question.id == asked.id and time.monotonic() < end:
            await pilot.pause(0.02)
        await pilot.press("enter")
        await until(pilot, "answered elsewhere")
        assert ask("SELECT state FROM learnings WHERE id = ?", asked.id) == ["dismissed"]


async def test_a_link_s_later_thread_is_read_and_esc_leads_back_to_the_question(
    waiting: Any, cockpit: Any, until: Any, settled: Any
) -> None:
    (begun,) = ask("SELECT u.id FROM episode_links l JOIN work_units u ON u.thread_id = l.later_thread_id"
                   " WHERE l.certainty = 'uncertain' ORDER BY l.at DESC, u.started_at LIMIT 1")  # fmt: skip
    async with cockpit(PATH, (80, 24)) as pilot:
        await opened(pilot, until, "2")
        await until(pilot, "Are these two threads one line of work?")
        await pilot.press("enter")
        await until(pilot, "Story ─ episode")
        assert pilot.app.screen.unit_id == begun
        await settled(pilot)
        await pilot.press("escape")
        await until(pilot, "Are these two threads one line of work?")
