"""The pictures in screenshots/ are those that the cockpit draws now."""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator
from pathlib import Path

import pytest

from nmem_tui import gallery

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "screenshots"
HOW = "make them anew with `python -m nmem_tui.gallery`"


@pytest.fixture(scope="module")
def demo() -> Iterator[str]:
    """The demo, recorded to where the pictures are taken."""
    with gallery.recorded() as path:
        yield path


@pytest.mark.parametrize("theme", ["dark", "light"])
@pytest.mark.parametrize("shot", gallery.SHOTS, ids=lambda shot: shot.name)
async def test_a_picture_is_current(shot: gallery.Shot, theme: str, demo: str) -> None:
    if theme not in shot.themes:
        pytest.skip("taken in one theme only")
    path = str(Path(demo).with_name("nothing.db")) if shot.empty else demo
    for name, svg in (await gallery.take(shot, theme, path)).items():
        assert (FOLDER / f"{name}.svg").read_text("utf-8") == svg, f"screenshots/{name}.svg is not current: {HOW}"
        assert (FOLDER / f"{name}.png").read_bytes().startswith(b"\x89PNG"), f"screenshots/{name}.png is missing: {HOW}"


def test_every_screen_has_its_picture_in_both_sizes_and_themes() -> None:
    screens = ("now", "episodes", "stance", "learnings", "context", "search", "tasks", "health")
    wanted = {f"{name}{light}{narrow}" for name in screens for light in ("", "-light") for narrow in ("", "-narrow")}
    assert wanted <= {file.stem for file in FOLDER.glob("*.svg")}
    assert {file.stem for file in FOLDER.glob("*.svg")} == {file.stem for file in FOLDER.glob("*.png")}


def test_a_picture_of_pixels_has_the_shape_of_its_drawing() -> None:
    for file in FOLDER.glob("*.svg"):
        box = re.search(r'viewBox="0 0 ([\d.]+) ([\d.]+)"', file.read_text("utf-8"))
        assert box
        width, height = struct.unpack(">II", file.with_suffix(".png").read_bytes()[16:24])
        assert abs(width / height - float(box[1]) / float(box[2])) < 0.01, f"{file.stem}.png is not current: {HOW}"


def test_the_readme_shows_pictures_that_are_there() -> None:
    shown = re.findall(r"\]\((screenshots/[\w-]+\.\w+)\)", (ROOT / "README.md").read_text("utf-8"))
    assert shown
    assert all((ROOT / name).is_file() for name in shown)
