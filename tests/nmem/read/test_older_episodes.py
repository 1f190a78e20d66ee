"""The list of episodes, from a slot to its end."""

from __future__ import annotations

import sqlite3

import pytest

from nmem.read import episodes
from nmem.read.episode_store import Filter
from nmem.read.episodes import Slot


@pytest.fixture
def listed(db: sqlite3.Connection) -> sqlite3.Connection:
    """Forty episodes, two at each moment, every third of them in a thread."""
    db.execute("INSERT INTO threads(id, project_id, title, created_at, last_at) VALUES (7, 1, 'uploads', 1, 1)")
    for number in range(40):
        session = "aa11" if number % 4 else "bb33"
        prompt = db.execute(
            "INSERT INTO prompts(session_id, at, source, kind, content, dedup_key)"
            " VALUES (?, 1, 'user', 'prompt', 'x', ?)",
            (session, f"p{number}"),
        ).lastrowid
        db.execute(
            "INSERT INTO work_units(session_id, thread_id, first_prompt_id, last_prompt_id, started_at, last_at,"
            " intent) VALUES (?, ?, ?, ?, 1, ?, ?)",
            (session, None if number % 3 else 7, prompt, prompt, number // 2, f"task {number}"),
        )
    return db


@pytest.mark.parametrize(("words", "project"), [("", ""), ("", "shop"), ("task", ""), ("!task", "lamp")])
def test_the_rest_is_what_the_pages_after_it_hold(listed: sqlite3.Connection, words: str, project: str) -> None:
    query = Filter(words)
    every: list[Slot] = []
    while page := episodes.page(listed, every[-1] if every else None, query, 7, project).slots:
        every += page
    assert len(every) == (0 if words == "!task" else 30 if project else 40)
    for place in range(0, len(every), 9):
        assert episodes.older(listed, every[place], query, project) == tuple(every[place + 1 :])
        assert episodes.older(listed, every[place], query, project, 3) == tuple(every[place + 1 : place + 4])


def test_without_nmem_s_tables_nothing_is_older() -> None:
    assert episodes.older(sqlite3.connect(":memory:"), Slot(1, 1, None), Filter()) == ()


def test_a_thread_of_one_session_is_none_to_group_by(listed: sqlite3.Connection) -> None:
    listed.execute("INSERT INTO session_threads VALUES ('aa11', 7, 'new')")
    newest = episodes.page(listed, None, Filter("")).slots
    assert {slot.thread_id for slot in newest} == {None}
    listed.execute("INSERT INTO session_threads VALUES ('bb33', 7, 'timeout')")
    newest = episodes.page(listed, None, Filter("")).slots
    assert {slot.thread_id for slot in newest} == {None, 7}
    assert {slot.thread_id for slot in episodes.older(listed, newest[5], Filter(""))} == {None, 7}
