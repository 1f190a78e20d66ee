"""The pictures in screenshots/ are those that the cockpit draws now."""

from __future__ import annotations

import asyncio
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest
from textual.color import Color

from nmem.demo import remove
from tests.nmem_tui import gallery, moving

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "screenshots"
LARGEST, MOVING, MOST = 1_500_000, 300_000, 10
"""Bytes of all pictures together and of the one that moves; how many there may be."""


@pytest.fixture(scope="session")
def kept(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """The demo's folder as it was recorded, and where it lay: its paths stand in the database."""
    return [tmp_path_factory.mktemp("recorded") / "demo"]


@pytest.fixture
def demo(kept: list[Path], monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The demo, recorded at the time of the pictures: once, and copied from then on."""
    if len(kept) == 1:
        with gallery.recorded() as path:
            shutil.copytree(Path(path).parent, kept[0])
            kept.append(Path(path))
    path = str(kept[1])
    shutil.copytree(kept[0], kept[1].parent)
    monkeypatch.setenv("NMEM_DB", path)  # as the player has it: caches lie beside the demo
    yield path
    remove(path)


@pytest.mark.parametrize("shot", gallery.SHOTS, ids=lambda shot: shot.name)
async def test_a_picture_is_current(shot: gallery.Shot, demo: str) -> None:
    drawn = (FOLDER / f"{shot.name}.svg").read_text("utf-8")
    current = await gallery.take(shot, demo) == drawn  # a diff of two pictures tells nobody anything
    assert current, f"screenshots/{shot.name}.svg is outdated: run `python -m tests.nmem_tui.gallery`"


async def test_the_picture_that_moves_is_current_and_needs_nothing(demo: str) -> None:
    drawn = (FOLDER / f"{gallery.MOVING}.svg").read_text("utf-8")
    current = await gallery.tour(demo) == drawn
    assert current, f"screenshots/{gallery.MOVING}.svg is outdated: run `python -m tests.nmem_tui.gallery`"
    assert len(drawn.encode()) < MOVING
    assert re.findall(r"<script|@import|url\(|href|@font-face|<image", drawn) == []
    assert drawn.count('<g class="f ') == drawn.count("animation-delay") == len(moving.STEPS)
    ET.fromstring(drawn)


async def test_a_screen_that_only_changes_its_colours_is_not_still(make_db: Any, cockpit: Any, settled: Any) -> None:
    async def lit() -> None:
        for step in range(40):
            pilot.app.screen.query_one("#frame").styles.border = ("round", Color(5 * step, 0, 0))
            await asyncio.sleep(0.01)

    async with cockpit(make_db("story")) as pilot:
        going_on = asyncio.create_task(lit())
        await settled(pilot)
        assert going_on.done()


def test_readme_and_docs_show_every_picture() -> None:
    pages = [ROOT / "README.md", *(ROOT / "docs").glob("*.md")]
    shown = {name for page in pages for name in re.findall(r"screenshots/([\w.-]+)", page.read_text("utf-8"))}
    assert (
        shown
        == {file.name for file in FOLDER.iterdir()}
        == {f"{gallery.MOVING}.svg", *(f"{shot.name}.svg" for shot in gallery.SHOTS)}
    )
    assert len(shown) <= MOST
    assert sum(file.stat().st_size for file in FOLDER.iterdir()) < LARGEST
