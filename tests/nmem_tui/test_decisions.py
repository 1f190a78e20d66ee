"""Decisions in the story of an episode: shown with their question, judged, worded, written as an entry, undone."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

FOUND = "SELECT d.state, d.wording FROM said_decisions d"


@pytest.fixture
def decided(here: Any, seeds: Any, tmp_path: Path) -> Path:
    """The flaky test's episode settles one thing; the project's folder is there."""
    root = tmp_path / "aurora"
    root.mkdir()
    db = seeds.database("aurora.db")
    seeds.story(db)
    made = seeds.history(db)
    prompt, session, at, size = db.execute(
        "SELECT p.id, p.session_id, p.at, length(p.content) FROM unit_prompts x JOIN prompts p ON p.id = x.prompt_id"
        " WHERE x.unit_id = ? ORDER BY p.at DESC LIMIT 1",
        (made["flaky"],),
    ).fetchone()
    db.execute("UPDATE projects SET root = ?", (str(root),))
    db.execute(
        "INSERT INTO said_decisions (prompt_id, said_from, said_to, said_size, session_id, at, kind, confidence)"
        " VALUES (?, 0, ?, ?, ?, ?, 'rule', 0.8)",
        (prompt, size, size, session, at),
    )
    db.close()
    return root


def rows(root: Path, sql: str = FOUND) -> list[tuple[Any, ...]]:
    with closing(sqlite3.connect(f"file:{root.parent / 'home/data/nmem.db'}?mode=ro", uri=True)) as db:
        return db.execute(sql).fetchall()


async def at_story(pilot: Any, settled: Any) -> None:
    await pilot.press("2")
    await settled(pilot)
    await pilot.press("j", "j", "j")
    await settled(pilot)


async def test_a_story_shows_what_was_decided_and_its_keys_judge_it(
    decided: Path, cockpit: Any, text: Any, settled: Any
) -> None:
    async with cockpit("aurora.db", (160, 60)) as pilot:
        await at_story(pilot, settled)
        assert "1 decision" in text(pilot)
        assert "no decision" in text(pilot) and "to a /when entry" in text(pilot)
        await pilot.press("o")
        await settled(pilot)
        assert "1 decision" not in text(pilot)
        await pilot.press("u")
        await settled(pilot)
        assert "1 decision" in text(pilot)


async def test_a_decision_is_worded_anew(decided: Path, cockpit: Any, text: Any, settled: Any) -> None:
    async with cockpit("aurora.db", (160, 60)) as pilot:
        await at_story(pilot, settled)
        await pilot.press("w")
        await settled(pilot)
        await pilot.press("ctrl+u", *"fixed clocks only", "enter")
        await settled(pilot)
        assert "fixed clocks only" in text(pilot)


async def test_a_decision_becomes_an_entry_once_its_diff_was_seen(
    decided: Path, cockpit: Any, text: Any, settled: Any
) -> None:
    async with cockpit("aurora.db", (160, 60)) as pilot:
        await at_story(pilot, settled)
        await pilot.press("W")
        await settled(pilot)
        await pilot.press(*"testing thumbnails with clocks", "enter")
        await settled(pilot)
        assert "/when testing thumbnails with clocks" in text(pilot)
        assert not list(decided.rglob("*.md")), "nothing is written before y"
        await pilot.press("y")
        await settled(pilot)
    assert any("testing thumbnails with clocks" in path.read_text("utf-8").lower() for path in decided.rglob("*.md"))
