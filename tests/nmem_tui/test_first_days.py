"""What the cockpit shows before there is anything of one's own: the way to begin, and the demo."""

from __future__ import annotations

import json
import subprocess
import sys
from datetime import UTC
from pathlib import Path
from typing import Any

import pytest

from capture import paths
from nmem.demo.player import Player
from nmem_tui.app import Cockpit
from nmem_tui.model.actions import NUMBERED
from tests.nmem_tui.gallery import AT

COMMAND = "nmem init"
CALL = {"session_id": "s", "hook_event_name": "PostToolUse", "tool_name": "Bash", "tool_input": {"command": "pytest"},
        "tool_response": {"stdout": "1 passed"}}  # fmt: skip


@pytest.mark.parametrize("standing", ["now", "search"])
async def test_who_has_connected_a_client_is_not_told_to_connect_one(
    standing: str, here: Path, seeds: Any, until: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    missing = [True]
    monkeypatch.setattr("nmem.doctor.registrations.unconnected", lambda _folder: missing)
    monkeypatch.setattr("nmem_tui.app.Cockpit._watch_files", lambda _app: None)
    monkeypatch.setattr("nmem_tui.app._LOOK_S", 0.02)
    monkeypatch.setattr("nmem_tui.app.Cockpit._load_ahead", lambda _app: None)
    app = Cockpit("aurora.db", theme="dark", clock=lambda: int(seeds.NOW), zone=UTC)
    async with app.run_test(size=(80, 24)) as pilot:
        screens = ("now", "episodes", "stance", "learnings", "context", "search")
        for screen in (*screens, standing):
            app.visit(screen)
            await until(pilot, COMMAND)
        missing.clear()
        for screen in (standing, *screens):  # the one that stands says so by itself
            if screen != app.current_mode:
                app.visit(screen)
            assert "its next session is recorded" in await until(pilot, "connected", gone=COMMAND), screen


async def test_the_demo_leaves_no_screen_empty(
    here: Path, cockpit: Any, settled: Any, text: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NMEM_DB", "")
    demo = Player(str(here / "demo.db"), clock=lambda: AT)
    monkeypatch.setattr(Player, "_cut", lambda player: len(player._steps))  # all of it is past
    demo.run()
    async with cockpit("demo.db", (160, 45), read_only=True) as pilot:
        for screen in NUMBERED.split():
            pilot.app.visit(screen)
            await settled(pilot)
            assert not pilot.app.screen.has_class("-empty"), screen
            assert "tidewatch" in text(pilot) or screen in ("search", "health")


@pytest.mark.parametrize("read_only", [False, True])
async def test_a_database_that_a_hook_has_just_begun_is_shown_on_every_screen(
    read_only: bool, here: Path, cockpit: Any, until: Any, text: Any, settled: Any
) -> None:
    async with cockpit("aurora.db", (100, 30), read_only=read_only) as pilot:
        words = [sys.executable, "-I", "-S", paths.entry(), "claude", "PostToolUse", "--db", str(here / "aurora.db")]
        subprocess.run(words, input=json.dumps({**CALL, "cwd": str(here)}).encode(), check=True)
        pilot.app.feed.poll()
        if not read_only:
            await until(pilot, "claude", gone="Nothing is recorded yet")
        for screen in NUMBERED.split():
            pilot.app.visit(screen)
            await settled(pilot)
            assert not pilot.app.screen.has_class("-error") or (read_only and screen == "health"), screen
            assert "older nmem" not in text(pilot)


async def test_a_demo_that_has_not_begun_says_so(here: Path, seeds: Any, until: Any) -> None:
    app = Cockpit("aurora.db", theme="dark", clock=lambda: int(seeds.NOW), zone=UTC)
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, "Nothing is recorded yet")
        app.demo = True
        app.screen.tell_empty()  # type: ignore[attr-defined]
        await until(pilot, "The demo begins in a moment", gone="Nothing is recorded yet")
