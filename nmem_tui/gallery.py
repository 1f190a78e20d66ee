"""Makes the project's screenshots from the running app: `python -m nmem_tui.gallery [FOLDER]`.

The demo's session is played to its end into a temporary database; SVG files are written, and PNG files beside them
where `rsvg-convert` is installed.
"""

from __future__ import annotations

import argparse
import asyncio
import html
import re
import shutil
import subprocess
from dataclasses import dataclass
from datetime import UTC
from pathlib import Path

from nmem.demo.player import Player, remove, temporary
from nmem_tui import gallery_history
from nmem_tui.app import Cockpit

AT = 1_773_313_440_000
"""The moment at which all pictures are taken."""
_FONT = "DejaVu Sans Mono"
_BRAILLE = re.compile(
    r'<text ([^>]*?)x="([\d.]+)"([^>]*?)textLength="([\d.]+)"([^>]*)>([^<]*[\u2801-\u28ff][^<]*)</text>'
)
_FOLDER = re.compile(r"/tmp/nmem-demo-\w{8}")  # noqa: S108 - not written to
"""The demo's folder is another each time; what stands for it is as long."""


@dataclass(frozen=True, slots=True)
class Shot:
    """One picture: its name, the size and theme of the terminal, the keys pressed before."""

    name: str
    size: tuple[int, int] = (160, 45)
    theme: str = "dark"
    keys: tuple[str, ...] = ()
    empty: bool = False


SHOTS = (
    Shot("now"),
    Shot("now-light", theme="light", keys=("k", "k", "k", "k", "k", "enter")),
    Shot("now-narrow", (80, 24)),
    Shot("episodes", keys=("2", "j", "j", "j", "enter")),
    Shot("episodes-narrow", (80, 24), keys=("2",)),
    Shot("story-narrow", (80, 24), keys=("2", "j", "j", "enter")),
    Shot("stance", keys=("3", "j")),
    Shot("stance-light", theme="light", keys=("3",)),
    Shot("stance-narrow", (80, 24), keys=("3",)),
    Shot("learnings", keys=("4", "enter", "right_square_bracket")),
    Shot("learnings-light", theme="light", keys=("4", "P")),
    Shot("learnings-narrow", (80, 24), keys=("4",)),
    Shot("context", keys=("5", "a", *"clock", "full_stop", *"py", "enter", "j")),
    Shot("context-reset-narrow", (80, 24), keys=("5", "v", "v")),
    Shot("search", keys=("6", *"import", "enter", "j", "j")),
    Shot("search-narrow", (80, 24), keys=("6", *"test", "enter", "f", "l")),
    Shot("labels", (100, 30), keys=("k", "L")),
    Shot("review", (80, 24), keys=("r",)),
    Shot("health", keys=("8",)),
    Shot("help", (80, 24), keys=("question_mark",)),
    Shot("empty", (80, 24), empty=True),
)


def _record(path: str) -> None:
    """Earlier sessions and the demo's first stretch, at a fixed time: the pictures are the same each time."""
    player = Player(path, clock=lambda: AT)
    player.prepare()
    gallery_history.record(path, AT)
    player.opening()


def tidy(svg: str) -> str:
    """Stable ids, an installed font, and blanks that every converter keeps."""
    svg = re.sub(r"terminal-\d+-", "terminal-", svg).replace("Fira Code", _FONT)
    svg = _FOLDER.sub("/home/you/.data/nmem/db", svg)
    svg = _BRAILLE.sub(_each_in_its_cell, svg)
    return svg.replace("<svg ", '<svg xml:space="preserve" ', 1)


def _each_in_its_cell(found: re.Match[str]) -> str:
    """A text of braille patterns, a cell at a time: the font that has them need not be as wide as the others'."""
    head, x, rest, length, tail, text = found.groups()
    chars = html.unescape(text)
    cell = float(length) / max(1, len(chars))
    return "".join(
        f'<text {head}x="{float(x) + place * cell:.1f}"{rest}textLength="{cell:.1f}"{tail}>{html.escape(char)}</text>'
        for place, char in enumerate(chars)
        if char.strip()
    )


async def take(shot: Shot, path: str) -> str:
    """The picture as SVG."""
    app = Cockpit(path, theme=shot.theme, watch=False, clock=lambda: AT, zone=UTC)
    async with app.run_test(size=shot.size) as pilot:
        await pilot.pause(0.6)
        for key in shot.keys:
            await pilot.press(key)
            await pilot.pause(0.3)
        await pilot.pause(0.5)
        return tidy(app.export_screenshot(title="nmem tui"))


def main(folder: Path) -> None:
    """Write all pictures."""
    path = temporary()
    try:
        _record(path)
        folder.mkdir(parents=True, exist_ok=True)
        for shot in SHOTS:
            svg = folder / f"{shot.name}.svg"
            nowhere = str(Path(path).with_name("nothing.db"))
            svg.write_text(asyncio.run(take(shot, nowhere if shot.empty else path)), "utf-8")
            if shutil.which("rsvg-convert"):
                subprocess.run(["rsvg-convert", svg, "-o", svg.with_suffix(".png")], check=True)
    finally:
        remove(path)


if __name__ == "__main__":
    asked = argparse.ArgumentParser(prog="python -m nmem_tui.gallery", description="Make the project's screenshots.")
    asked.add_argument("folder", nargs="?", default="screenshots", type=Path, help="where to; default: screenshots")
    main(asked.parse_args().folder)
