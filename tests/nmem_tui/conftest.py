"""The cockpit in a test: fixed clock, zone, size and theme; no files are watched; snapshots are SVG with a text twin.

`NMEM_UPDATE_SNAPSHOTS=1 pytest tests/nmem_tui` accepts what the screens show now.
"""

from __future__ import annotations

import importlib.util
import os
import re
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from datetime import UTC
from pathlib import Path
from typing import Any

import pytest
import textual
from textual.pilot import Pilot

from nmem_tui.app import Cockpit

HERE = Path(__file__).parent
BACKGROUND = ("feed", "watch", "demo")
Open = Callable[..., AbstractAsyncContextManager[Pilot[None]]]


@pytest.fixture(scope="session")
def seeds() -> Any:
    """The module that writes test databases."""
    spec = importlib.util.spec_from_file_location("cockpit_seed", HERE / "cockpit_seed.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder to work in, so that no path of this machine is on a screen; file sizes are fixed as well."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("nmem.read.health._size", lambda path: 98_304 if path.endswith("-wal") else 1_331_200)
    return tmp_path


@pytest.fixture
def make_db(here: Path, seeds: Any) -> Callable[[str], str]:
    """A database of one kind: empty (no file), story, hostile, long (many calls in one session)."""

    def make(kind: str) -> str:
        if kind != "empty":
            db = seeds.database("aurora.db")
            getattr(seeds, kind)(db)
            if kind == "story":
                seeds.history(db)
            if kind != "long":
                seeds.label(db)
            db.close()
        return "aurora.db"

    return make


async def settle(pilot: Pilot[None]) -> None:
    """Wait until the store was looked at and every read is done."""
    app = pilot.app
    await pilot.pause(0.1)  # a story is read once the cursor rests
    for _ in range(200):
        await pilot.pause(0.01)
        assert isinstance(app, Cockpit)
        if app.feed.looked and not any(w.is_running for w in app.workers if w.group not in BACKGROUND):
            break
    before: list[str] = []
    while (now := screen_text(pilot)) != before:  # a scroll bar is drawn one refresh after what it scrolls
        before = now
        await pilot.pause(0.04)


@pytest.fixture
def cockpit(seeds: Any) -> Open:
    """Opens the cockpit on a database and waits until it shows it."""

    @asynccontextmanager
    async def run(
        db: str, size: tuple[int, int] = (80, 24), theme: str = "dark", **options: Any
    ) -> AsyncIterator[Pilot[None]]:
        app = Cockpit(db, theme=theme, watch=False, clock=lambda: int(seeds.NOW), zone=UTC, **options)
        async with app.run_test(size=size, notifications=True) as pilot:
            await settle(pilot)
            yield pilot

    return run


def screen_text(pilot: Pilot[None]) -> list[str]:
    """What stands on the screen, line by line."""
    strips = pilot.app.screen._compositor.render_strips()
    return ["".join(segment.text for segment in strip).rstrip() for strip in strips]


@pytest.fixture
def text() -> Callable[[Pilot[None]], str]:
    """The screen as text."""
    return lambda pilot: "\n".join(screen_text(pilot))


@pytest.fixture
def snapshot() -> Callable[[Pilot[None], str], None]:
    """Compares the screen with what was accepted: the SVG, and the text that a review reads."""

    def compare(pilot: Pilot[None], name: str) -> None:
        svg = re.sub(r"terminal-\d+-", "terminal-", pilot.app.export_screenshot())
        for ending, now in (("svg", svg), ("txt", "\n".join(screen_text(pilot)) + "\n")):
            accepted = HERE / "snapshots" / f"{name}.{ending}"
            if os.environ.get("NMEM_UPDATE_SNAPSHOTS"):
                assert textual.__version__ == "8.2.8", "snapshots are made with the pinned version"
                accepted.parent.mkdir(exist_ok=True)
                accepted.write_text(now, "utf-8")
            elif not accepted.exists() or accepted.read_text("utf-8") != now:
                (HERE / "snapshots" / f"{name}.actual.{ending}").write_text(now, "utf-8")
                pytest.fail(f"{name} is not as accepted: compare snapshots/{name}.{ending} with {name}.actual.{ending}")

    return compare


@pytest.fixture
def settled() -> Callable[[Pilot[None]], Any]:
    """Waits until every read is done."""
    return settle
