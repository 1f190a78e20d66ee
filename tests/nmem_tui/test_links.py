"""Deep links: each leads to its place, and one that names nothing says so in a line."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from nmem.commands.main import nmem
from nmem.errors import NmemError
from nmem_tui.model import locations


@pytest.fixture
def made(here: Path, load: Any, written: Any) -> dict[str, int]:
    """A database with something on every screen; ids by name."""
    found: dict[str, int] = written("links", lambda: load("whole_seed").database(load, str(here / "aurora.db")))
    return found


def ask(sql: str, *values: object) -> Any:
    db = sqlite3.connect("aurora.db")
    row = db.execute(sql, values).fetchone()
    db.close()
    return row[0]


async def test_an_episode_s_story(made: dict[str, int], cockpit: Any, until: Any) -> None:
    where = locations.parse(f"episode/{made['flaky']}", "aurora.db")
    async with cockpit("aurora.db", (160, 45), link=where) as pilot:
        await until(pilot, f"Story ─ episode {made['flaky']}", "Flaky thumbnails test")
        assert pilot.app.screen.id_here() == f"episode/{made['flaky']}"


async def test_a_learning(made: dict[str, int], cockpit: Any, until: Any) -> None:
    number = ask("SELECT max(id) FROM learnings")
    async with cockpit("aurora.db", (160, 45), link=locations.parse(f"learning/{number}", "aurora.db")) as pilot:
        await until(pilot, f"Learning {number}")
        assert pilot.app.screen.id_here() == f"learning/{number}"


async def test_a_task(made: dict[str, int], cockpit: Any, until: Any) -> None:
    number = ask("SELECT max(id) FROM tasks")
    async with cockpit("aurora.db", (160, 45), link=locations.parse(f"task/{number}", "aurora.db")) as pilot:
        await until(pilot, f"Task {number} ─")
        assert pilot.app.screen.id_here() == f"task/{number}"


@pytest.mark.parametrize("form", ["call", "obs", "prompt"])
async def test_a_row_of_a_stream(form: str, made: dict[str, int], cockpit: Any, until: Any) -> None:
    """Of another session than the newest, and not its last row."""
    table = "prompts" if form == "prompt" else "observations"
    number = ask(f"SELECT min(id) FROM {table} WHERE session_id = 'work-2'")
    where = locations.parse(f"{form}/{number}", "aurora.db")
    assert where.session == "work-2"
    async with cockpit("aurora.db", (160, 45), link=where) as pilot:
        await until(pilot, "Stream ─ row 1" if form == "prompt" else "Stream ─ row 2")
        assert pilot.app.screen.id_here() == f"{'prompt' if form == 'prompt' else 'obs'}/{number}"


async def test_a_session_by_the_beginning_of_its_id(made: dict[str, int], cockpit: Any, until: Any) -> None:
    async with cockpit("aurora.db", (160, 45), link=locations.parse("session/work-3", "aurora.db")) as pilot:
        await until(pilot, "The cache is never emptied")


@pytest.mark.parametrize("screen", locations.SCREENS)
async def test_every_screen_by_its_name(screen: str, made: dict[str, int], cockpit: Any) -> None:
    async with cockpit("aurora.db", (60, 15), link=locations.parse(screen, "aurora.db")) as pilot:
        assert screen == pilot.app.current_mode == pilot.app.screen.CONTEXT


@pytest.mark.parametrize("typed", ["?q=avatar type:test", "?avatar type:test"])
async def test_a_query(typed: str, made: dict[str, int], cockpit: Any, until: Any) -> None:
    async with cockpit("aurora.db", (160, 45), link=locations.parse(typed, "aurora.db")) as pilot:
        await until(pilot, "Hits for “avatar type:test”")


NOT_THERE = [
    ("episode/9999", "there is no episode/9999: they are episode/1 to episode/"),
    ("learning/9999", "there is no learning/9999"), ("task/9999", "there is no task/9999: `nmem task` lists them"),
    ("call/99999", "there is no obs/99999"), ("session/zzz", "there is no session/zzz: the newest are session/"),
    ("session/work", "session/work matches several sessions"), ("task/x", "task/x is not an id"),
    ("episode/-1", "episode/-1 is not an id"), ("task/" + "9" * 30, "is not an id"), ("episode/", "is not an id"),
    ("nowhere", "nowhere is not a place in the cockpit"), ("file/x", "file/x is not a place in the cockpit"),
    ("\x1b[31mx", "is not a place in the cockpit"),
]  # fmt: skip


def test_what_is_not_there_is_said_in_a_line(made: dict[str, int], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("nmem_tui.launch.terminal", lambda: True)
    monkeypatch.setattr("nmem_tui.app.Cockpit.run", lambda _self: pytest.fail("it was opened"))
    for typed, said in NOT_THERE:
        with pytest.raises(NmemError) as raised:
            locations.parse(typed, "aurora.db")
        told = str(raised.value)
        assert said in told
        assert "\n" not in told
        assert "\x1b" not in told
        done = CliRunner().invoke(nmem, ["tui", "--db", "aurora.db", typed])
        assert (done.exit_code, str(done.exception)) == (1, told)


def test_a_link_opens_through_the_command(made: dict[str, int], monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[Any] = []
    monkeypatch.setattr("nmem_tui.launch.terminal", lambda: True)

    def keep(app: Any) -> None:
        opened.append(app)

    monkeypatch.setattr("nmem_tui.app.Cockpit.run", keep)
    for typed in ("", "task/4", f"episode/{made['flaky']}", "call/3", "context", "?q=a b"):
        done = CliRunner().invoke(nmem, ["tui", "--db", "aurora.db", "--read-only", typed])
        assert done.exit_code == 0, done.output
    assert [app.DEFAULT_MODE for app in opened] == ["now", "tasks", "episodes", "now", "context", "search"]
    assert opened[1].wanted_task == 4
    assert opened[3].wanted_row is not None
    assert opened[5].wanted_query == "a b"
    assert all(app.read_only for app in opened)
