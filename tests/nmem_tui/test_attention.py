"""The cockpit calls for sessions that it does not show: once, for news only, and not in quiet hours."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, closing
from datetime import UTC
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot

from nmem.attention import waiting
from nmem_tui.app import Cockpit

NAME = "\x1b]2;nmem: {} waiting\a"
TITLE = "\x1b[22;2t" + NAME
BACK = "\x1b]2;nmem\a\x1b[23;2t"
CALL = "\a\x1b]9;nmem: aurora-api (claude) is done and waits for you\a"


class Desk:
    """A cockpit, and what it wrote to its terminal beside what it drew."""

    def __init__(self, app: Cockpit, pilot: Pilot[None], path: str) -> None:
        self.app, self.pilot, self.path = app, pilot, path
        self.wrote: list[str] = []

    def waits(self, name: str, asked: str, state: str = "idle") -> None:
        """Another session of the shown one's project waits."""
        now = self.app.clock()
        with closing(sqlite3.connect(self.path)) as db, db:
            project = db.execute("SELECT id FROM projects WHERE name = 'aurora-api'").fetchone()[0]
            db.execute(
                "INSERT INTO sessions (id, client, project_id, cwd, started_at, last_at, state)"
                " VALUES (?, 'claude', ?, '/src/aurora', ?, ?, ?)"
                " ON CONFLICT (id) DO UPDATE SET state = excluded.state, last_at = excluded.last_at",
                (name, project, now - 60_000, now - 1_000, state),
            )  # fmt: skip
            db.execute(
                "INSERT OR IGNORE INTO prompts (session_id, at, source, kind, content, dedup_key)"
                " VALUES (?, ?, 'user', 'prompt', ?, ?)", (name, now - 30_000, asked, f"{name}{asked}"),
            )  # fmt: skip

    async def told(self) -> list[str]:
        """What was written since the last look, once all that is known was read."""
        before = self.app.generation
        self.app.feed.poll()
        for _ in range(400):
            await self.pilot.pause(0.01)
            await asyncio.sleep(0.005)
            busy = [each for each in self.app.workers if each.group == "attention" and not each.is_finished]
            if self.app.generation > before and not busy:
                break
        await self.pilot.pause(0.05)
        out, self.wrote[:] = list(self.wrote), []
        return out


Open = Callable[..., Any]


@pytest.fixture
def desk(here: Path, make_db: Callable[[str], str], monkeypatch: pytest.MonkeyPatch, seeds: Any, settled: Any) -> Open:
    """Opens a cockpit with these settings, on a terminal that takes notices."""
    monkeypatch.setenv("NMEM_CONFIG", str(here / "config.toml"))
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.delenv("TMUX", raising=False)
    path = make_db("story")

    @asynccontextmanager
    async def run(text: str, at: int = 0) -> AsyncIterator[Desk]:
        (here / "config.toml").write_text(f"[attention]\n{text}\n", "utf-8")
        app = Cockpit(path, theme="dark", watch=False, clock=lambda: at or seeds.NOW, zone=UTC)
        async with app.run_test(size=(100, 30), notifications=True) as pilot:
            await settled(pilot)
            found = Desk(app, pilot, path)
            monkeypatch.setattr(app, "write_out", lambda text: found.wrote.append(text) if text else None)
            yield found

    return run


async def test_a_session_that_is_not_shown_calls_once(desk: Open) -> None:
    async with desk('how = ["bell", "osc9"]') as at:
        at.waits("other", "fix the cart")
        assert await at.told() == [TITLE.format(1), CALL]
        at.waits("other", "fix the cart")
        assert CALL not in await at.told()
        at.waits("other", "and the tests")
        assert CALL in await at.told()


async def test_what_a_hook_has_called_for_is_not_called_for_again(desk: Open) -> None:
    async with desk('how = "bell"') as at:
        at.waits("other", "fix the cart")
        with closing(sqlite3.connect(at.path)) as db:
            one = waiting.of(db, "other", at.app.clock())
        assert one
        assert waiting.claim(at.path, one)
        assert await at.told() == [TITLE.format(1)]


async def test_the_session_on_screen_calls_nobody(desk: Open) -> None:
    async with desk('how = "bell"') as at:
        assert at.app.session
        at.waits(at.app.session.id, "what is on screen")
        assert await at.told() == []


async def test_off_and_in_quiet_hours_it_is_silent(desk: Open) -> None:
    async with desk('how = "off"') as at:
        at.waits("other", "fix the cart")
        assert await at.told() == []
    async with desk('how = "bell"\nquiet = "00:00-23:59"') as at:
        at.waits("late", "fix the cart")
        told = await at.told()
        assert "\a" not in told
        assert told[-1].startswith("\x1b[22;2t\x1b]2;nmem: ")


async def test_the_title_is_its_own_again_when_nobody_waits(desk: Open) -> None:
    async with desk('how = "bell"') as at:
        at.waits("other", "fix the cart")
        assert await at.told()
        at.waits("other", "fix the cart", "working")
        assert await at.told() == [BACK]


async def test_the_window_is_called_as_before_when_the_cockpit_ends(desk: Open) -> None:
    async with desk('how = "bell"') as at:
        at.waits("other", "fix the cart")
        assert TITLE.format(1) in await at.told()
        at.waits("third", "fix the shop")
        assert NAME.format(2) in await at.told()
    assert at.wrote == [BACK]


@pytest.mark.parametrize(("web", "how", "name", "value"), [
    (True, "bell", "TERM", "xterm"), (False, "desktop", "PATH", ""), (False, "osc9", "TERM", "dumb"),
])  # fmt: skip
async def test_who_cannot_call_leaves_that_to_others_and_shows_the_line(
    desk: Open, monkeypatch: pytest.MonkeyPatch, web: bool, how: str, name: str, value: str
) -> None:
    async with desk(f'how = "{how}"') as at:
        monkeypatch.setattr(type(at.app), "is_web", property(lambda _: web))
        monkeypatch.setenv(name, value)
        at.waits("other", "fix the cart")
        await at.told()
        assert any("waits for you" in each.message for each in at.app._notifications)
        with closing(sqlite3.connect(at.path)) as db:
            one = waiting.of(db, "other", at.app.clock())
        assert one
        assert waiting.claim(at.path, one)
