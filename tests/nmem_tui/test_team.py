"""What others of the team did, in the cockpit: a key lists it with its authors, another mutes one and hears them."""

from __future__ import annotations

import json
import sqlite3
from typing import Any

import pytest

from tests.nmem.team_rows import fact

EVIL = "Avatar \x1b[31mred [red]x[/red] \u202eflow"


@pytest.fixture
def shared(here: Any, seeds: Any) -> str:
    """A project that is shared with two others, who said something of each kind."""
    db = seeds.database("aurora.db")
    seeds.story(db)
    seeds.history(db)
    number, at = db.execute("SELECT project_id, max(last_at) FROM sessions GROUP BY 1 ORDER BY 2 DESC").fetchone()
    put = {"project": number, "at": at}
    fact(db, "Avatars are cut to squares", "alice", kind="episode", body="Before they are stored; " * 20, **put)
    fact(db, EVIL, "bob", kind="episode", **put)
    fact(db, "Limits live in one file", "bob", superseded="yes", **put)
    fact(db, "Run make avatars first", "alice", kind="learning", body="It builds the fixture.", **put)
    fact(db, "/when Changing a Limit", "alice", kind="recall", body="Tell the support.", **put)
    fact(db, "mine", "me", own=True, source="episode/1", **put)
    db.execute("INSERT INTO team_projects VALUES (?, 'core', 'aurora', 'aurora', '', '/src', 1)", (number,))
    db.close()
    return "aurora.db"


def muted(path: str) -> list[Any]:
    db = sqlite3.connect(path)
    try:
        return [row[0] for row in db.execute("SELECT author FROM team_members WHERE muted")]
    finally:
        db.close()


@pytest.mark.parametrize("size", [(80, 24), (160, 45)])
async def test_the_key_lists_what_others_did_and_mutes_and_hears_them(
    shared: str, size: tuple[int, int], cockpit: Any, at: Any, text: Any, settled: Any, until: Any, harmless: Any
) -> None:
    async with cockpit(shared, size) as pilot:
        await at(pilot, "episodes")
        await pilot.press("C")
        await settled(pilot)
        shown = text(pilot)
        assert "Team core ─ episodes" in shown and "alice        " in shown and "Avatars are cut to squares" in shown
        assert "[red]x[/red]" in shown and "mine" not in shown
        harmless(shown)
        await pilot.press("tab")
        await settled(pilot)
        assert "Team core ─ decisions" in text(pilot) and "superseded Limits live in one file" in text(pilot)
        await pilot.press("ctrl+x")
        await until(pilot, "bob is muted", "no decisions of others yet")
        assert muted(shared) == ["bob"]
        await pilot.press("tab", "tab", "tab")
        await until(pilot, "Team core ─ members", "muted")
        await pilot.press(*"bob", "ctrl+x")
        await until(pilot, "bob is heard again")
        assert muted(shared) == []
        await pilot.press("escape")
        await settled(pilot)
        assert "Team core" not in text(pilot)


async def test_learnings_open_it_at_learnings_and_nobody_mutes_themselves(
    shared: str, cockpit: Any, at: Any, text: Any, settled: Any, until: Any
) -> None:
    async with cockpit(shared, (100, 30)) as pilot:
        await at(pilot, "learnings")
        await pilot.press("C")
        await settled(pilot)
        assert "Team core ─ learnings" in text(pilot) and "Run make avatars first" in text(pilot)
        await pilot.press("shift+tab", "shift+tab", "shift+tab", *"me", "ctrl+x")
        await until(pilot, "that is you")
    assert muted(shared) == []


async def test_a_cockpit_that_only_reads_mutes_nobody(shared: str, cockpit: Any, at: Any, until: Any) -> None:
    async with cockpit(shared, (100, 30), read_only=True) as pilot:
        await at(pilot, "episodes")
        await pilot.press("C")
        await until(pilot, "Avatars are cut")
        await pilot.press("ctrl+x")
        await until(pilot, "read-only: changes are refused")
    assert muted(shared) == []


@pytest.mark.parametrize(
    ("key", "value", "said"),
    [("", "", "core: 1 project shared with 2 others"), ("paused", "1", "2 others; paused "),
     ("failing", json.dumps({"since": 1, "times": 3, "why": "no route \x1b[31m"}), "no pass goes well, first ")],
)  # fmt: skip
async def test_health_says_how_sharing_stands(
    shared: str, key: str, value: str, said: str, cockpit: Any, at: Any, text: Any, harmless: Any
) -> None:
    db = sqlite3.connect(shared)
    if key:
        db.execute("INSERT INTO team_state VALUES (?, ?)", (key, value))
    db.commit()
    db.close()
    async with cockpit(shared, (160, 45)) as pilot:
        await at(pilot, "health")
        assert said in text(pilot)
        harmless(text(pilot))


async def test_without_a_team_it_says_how_one_is_joined(
    make_db: Any, cockpit: Any, at: Any, text: Any, settled: Any
) -> None:
    async with cockpit(make_db("story"), (100, 30)) as pilot:
        await at(pilot, "health")
        assert "shared with" not in text(pilot)
        await at(pilot, "context")
        await pilot.press("C")
        await settled(pilot)
        assert "belongs to no team" in text(pilot)
        await pilot.press("shift+tab", "shift+tab")
        await settled(pilot)
        assert "belongs to no team" in text(pilot)
