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
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC
from pathlib import Path
from unittest.mock import patch

from textual.pilot import Pilot
from textual.timer import Timer

from nmem.demo import history
from nmem.demo.player import Player, remove, temporary
from nmem_tui.app import Cockpit

AT = 1_773_313_440_000
"""The moment at which all pictures are taken."""
_BACKGROUND = ("feed", "watch", "demo")
_PATIENCE_S = 120.0
_SOON_S = 0.2
"""A timer that waits no longer than this is waited for: a story is read once the cursor rests."""
_FRAME_S, _ALIKE = 0.02, 2
"""Somewhat longer than a screen waits before it is drawn; so often in a row has a frame to be as the one before it."""
_FONT = "DejaVu Sans Mono"
_BRAILLE = re.compile(
    r'<text ([^>]*?)x="([\d.]+)"([^>]*?)textLength="([\d.]+)"([^>]*)>([^<]*[\u2801-\u28ff][^<]*)</text>'
)
_FOLDER = re.compile(r"/tmp/nmem-demo-\w{8}")  # noqa: S108 - not written to
"""The demo's folder is another each time; what stands for it is as long."""


NARROW, WIDE = (80, 24), (160, 45)


@dataclass(frozen=True, slots=True)
class Shot:
    """What is opened for a picture: its name, the keys pressed before, and the sizes and themes it is taken in."""

    name: str
    keys: tuple[str, ...] = ()
    sizes: tuple[tuple[int, int], ...] = (WIDE, NARROW)
    themes: tuple[str, ...] = ("dark", "light")
    empty: bool = False


SHOTS = (
    Shot("now"),
    Shot("episodes", ("2", "j", "j", "j")),
    Shot("stance", ("3", "j")),
    Shot("learnings", ("4", "j")),
    Shot("context", ("5", "a", *"clock", "full_stop", *"py", "enter", "j")),
    Shot("search", ("6", *"import", "enter", "j", "j")),
    Shot("tasks", ("7", "j")),
    Shot("health", ("8",)),
    Shot("story", ("2", "j", "j", "enter"), (NARROW,), ("dark",)),
    Shot("labels", ("k", "L"), ((100, 30),), ("dark",)),
    Shot("review", ("r",), (NARROW,), ("dark",)),
    Shot("purge", ("2", "j", "j", "x"), (NARROW,), ("dark",)),
    Shot("help", ("question_mark",), (NARROW,), ("dark",)),
    Shot("empty", (), (NARROW,), ("dark",), empty=True),
)
"""Every screen in both sizes and themes; below them what opens over a screen, once."""


def _record(path: str) -> None:
    """Earlier sessions and the demo's first stretch, at a fixed time: the pictures are the same each time."""
    player = Player(path, clock=lambda: AT)
    player.prepare()
    history.record(path, AT)
    history.tasks(path, AT)
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


async def take(shot: Shot, theme: str, path: str) -> dict[str, str]:
    """The pictures of one theme as SVG, by the names of their files; taken from one opening, the first size first."""
    app = Cockpit(path, theme=theme, watch=False, clock=lambda: AT, zone=UTC)
    app.posed = True
    made: dict[str, str] = {}
    # how long a search took is another time each time, and nmem lies elsewhere on each machine
    with (
        patch("nmem.search.clock.Clock.spent", lambda _clock: 0.001),
        patch("nmem.context.ask._program", lambda: "nmem"),
    ):
        async with app.run_test(size=shot.sizes[0]) as pilot:
            await still(pilot)
            for key in shot.keys:
                await pilot.press(key)
                await still(pilot)
            for size in shot.sizes:
                await pilot.resize_terminal(*size)
                await still(pilot)
                made[_name(shot, theme, size)] = tidy(app.export_screenshot(title="nmem tui"))
    return made


def _name(shot: Shot, theme: str, size: tuple[int, int]) -> str:
    """now, now-light, now-narrow, now-light-narrow; what is taken once has its name alone."""
    light = "-light" if theme == "light" else ""
    return shot.name + light + ("-narrow" if size == NARROW and len(shot.sizes) > 1 else "")


async def still(pilot: Pilot[None]) -> None:
    """Wait until the store was looked at, every read is done, and nothing on the screen changes any more."""
    app = pilot.app
    assert isinstance(app, Cockpit)
    await pilot.pause(0)  # what was pressed has arrived
    if app.feed.looked:
        app.feed.poll()  # what was written a moment ago is seen now, not at its next look
    end, alike, now = time.monotonic() + _PATIENCE_S, 0, [""]
    while alike < _ALIKE:  # a scroll bar is drawn one refresh after what it scrolls
        await pilot.pause(_FRAME_S)
        waits = under_way(app)
        if time.monotonic() > end:
            raise TimeoutError(f"the screen is not still after {_PATIENCE_S:.0f} s: {', '.join(waits) or 'it changes'}")
        before, now = now, [] if waits else screen_text(pilot)
        alike = alike + 1 if now and now == before else 0


def under_way(app: Cockpit) -> list[str]:
    """What will still change the screen: reads, a look at the store, and what is done once the cursor rests."""
    waits = reading(app) + ([] if app.feed.looked else ["the feed"])
    pumps = [app, *app.screen.walk_children(with_self=True)]
    return waits + [timer.name for pump in pumps for timer in pump._timers if _about_to_go_off(timer)]


def reading(app: Cockpit) -> list[str]:
    """The reads that are under way, by their topics."""
    return [each.group for each in app.workers if each.is_running and each.group not in _BACKGROUND]


def _about_to_go_off(timer: Timer) -> bool:
    """Whether it goes off once, and soon."""
    return timer._repeat == 0 and timer._interval <= _SOON_S and timer._task is not None and not timer._task.done()


def screen_text(pilot: Pilot[None]) -> list[str]:
    """What stands on the screen, line by line."""
    strips = pilot.app.screen._compositor.render_strips()
    return ["".join(segment.text for segment in strip).rstrip() for strip in strips]


@contextmanager
def recorded() -> Iterator[str]:
    """A database of the demo for as long as pictures are taken."""
    path = temporary()
    try:
        _record(path)
        yield path
    finally:
        remove(path)


def pictures(path: str, shots: Iterable[Shot] = SHOTS) -> Iterator[tuple[str, str]]:
    """All pictures, each as its name and its SVG."""
    nowhere = str(Path(path).with_name("nothing.db"))
    for shot in shots:
        for theme in shot.themes:
            yield from asyncio.run(take(shot, theme, nowhere if shot.empty else path)).items()


def main(folder: Path) -> None:
    """Write all pictures; those of before that none is called any more go."""
    folder.mkdir(parents=True, exist_ok=True)
    written = set()
    with recorded() as path:
        for name, svg in pictures(path):
            file = folder / f"{name}.svg"
            file.write_text(svg, "utf-8")
            written.add(name)
            if shutil.which("rsvg-convert"):
                subprocess.run(["rsvg-convert", file, "-o", file.with_suffix(".png")], check=True)
    for old in folder.glob("*.svg"):
        if old.stem not in written:
            old.unlink()
            old.with_suffix(".png").unlink(missing_ok=True)


if __name__ == "__main__":
    asked = argparse.ArgumentParser(prog="python -m nmem_tui.gallery", description="Make the project's screenshots.")
    asked.add_argument("folder", nargs="?", default="screenshots", type=Path, help="where to; default: screenshots")
    main(asked.parse_args().folder)
