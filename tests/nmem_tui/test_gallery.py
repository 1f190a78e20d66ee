"""The pictures in screenshots/ are those that the cockpit draws now."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.nmem_tui import gallery

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "screenshots"
LARGEST = 1_500_000
"""Bytes of all pictures together."""


@pytest.fixture
def demo() -> Iterator[str]:
    """The demo, recorded at the time of the pictures."""
    with gallery.recorded() as path:
        yield path


@pytest.mark.parametrize("shot", gallery.SHOTS, ids=lambda shot: shot.name)
async def test_a_picture_is_current(shot: gallery.Shot, demo: str) -> None:
    drawn = (FOLDER / f"{shot.name}.svg").read_text("utf-8")
    current = await gallery.take(shot, demo) == drawn  # a diff of two pictures tells nobody anything
    assert current, f"screenshots/{shot.name}.svg is outdated: run `python -m tests.nmem_tui.gallery`"


def test_readme_and_docs_show_every_picture() -> None:
    pages = [ROOT / "README.md", *(ROOT / "docs").glob("*.md")]
    shown = {name for page in pages for name in re.findall(r"screenshots/([\w.-]+)", page.read_text("utf-8"))}
    assert shown == {file.name for file in FOLDER.iterdir()} == {f"{shot.name}.svg" for shot in gallery.SHOTS}
    assert sum(file.stat().st_size for file in FOLDER.iterdir()) < LARGEST
