"""Makes the project's screenshots from the running app: `python -m tests.nmem_tui.gallery [FOLDER]`.

The demo's session is played to its end into a temporary database, and each screen is written as an SVG file.
"""

from __future__ import annotations

import argparse
import asyncio
import html
import os
import re
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import UTC
from pathlib import Path
from unittest.mock import patch

from textual.pilot import Pilot
from textual.strip import Strip
from textual.timer import Timer

from capture.storage import store
from nmem.context import config
from nmem.demo import remove, temporary
from nmem.demo.player import Player, record, tasks
from nmem_tui.app import Cockpit
from tests.nmem_tui import moving

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
_FOLDER = re.compile(r"/tmp/nmem-demo-\w{8}")
"""The demo's folder is another each time; what stands for it is as long."""


NARROW, WIDE = (80, 24), (160, 45)


@dataclass(frozen=True, slots=True)
class Shot:
    """One picture: its file's name, the keys pressed before, the size and the theme."""

    name: str
    keys: tuple[str, ...] = ()
    size: tuple[int, int] = WIDE
    theme: str = "dark"


SHOTS = (
    Shot("now"),
    Shot("episodes", ("2", "j", "j", "j"), NARROW),
    Shot("stance", ("3", "j")),
    Shot("learnings", ("4", "j"), NARROW),
    Shot("context", ("5", "a", *"clock", "full_stop", *"py", "enter", "j"), WIDE, "light"),
    Shot("search", ("6", *"import", "enter", "j", "j")),
    Shot("health", ("8",), NARROW),
    Shot("story", ("2", "j", "j", "enter"), NARROW),
)
"""The pictures that README and docs show, beside the one that moves."""
MOVING, MOVING_SIZE = "tour", (100, 30)


def _record(path: str) -> None:
    """Earlier sessions and the demo's first stretch, at a fixed time: the pictures are the same each time."""
    player = Player(path, clock=lambda: AT)
    with patch.dict(config.DEFAULTS, deadline_ms=600_000.0):  # a busy machine tells as much as another
        player.prepare()
        record(path, AT)
        tasks(path, AT)
        player.opening()
    with closing(store.connect(path)) as db:  # a transcript's state is noted with the time at which it is read
        db.execute("UPDATE sessions SET last_at = ? WHERE last_at > ?", (AT, AT))


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
    """One picture as SVG."""
    app = Cockpit(path, theme=shot.theme, watch=False, clock=lambda: AT, zone=UTC)
    app.posed = True
    # The time of a search differs at each run, and the path of nmem on each machine.
    with (
        patch("nmem.search.clock.Clock.spent", lambda _clock: 0.001),
        patch("nmem.search.clock.Clock.over", lambda _clock: False),  # a busy machine searches to the end, too
        patch("nmem.context.ask._program", lambda: "nmem"),
    ):
        async with app.run_test(size=shot.size) as pilot:
            await still(pilot)
            for key in shot.keys:
                await pilot.press(key)
                await still(pilot)
            return tidy(app.export_screenshot(title="nmem tui"))


async def tour(path: str) -> str:
    """The picture that moves, as SVG."""
    return moving.composed([await take(Shot("", step.keys, MOVING_SIZE), path) for step in moving.STEPS])


async def still(pilot: Pilot[None]) -> None:
    """Wait until the store was looked at, every read is done, and nothing on the screen changes any more."""
    app = pilot.app
    assert isinstance(app, Cockpit)
    await pilot.pause(0)  # what was pressed has arrived
    if app.feed.looked:
        app.feed.poll()  # what was written a moment ago is seen now, not at its next look
    end, alike = time.monotonic() + _PATIENCE_S, 0
    now: list[Strip] = []
    while alike < _ALIKE:  # a scroll bar is drawn one refresh after what it scrolls
        await pilot.pause(_FRAME_S)
        waits = under_way(app)
        if time.monotonic() > end:
            raise TimeoutError(f"the screen is not still after {_PATIENCE_S:.0f} s: {', '.join(waits) or 'it changes'}")
        before, now = now, [] if waits else app.screen._compositor.render_strips()  # a frame's colour changes as well
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


def main(folder: Path) -> None:
    """Write all pictures and delete those that no shot has."""
    folder.mkdir(parents=True, exist_ok=True)
    os.environ["NMEM_SKIP_SETTLE"] = "1"  # no picture depends on how far settling came in the background
    for shot in SHOTS:
        with recorded() as path:
            (folder / f"{shot.name}.svg").write_text(asyncio.run(take(shot, path)), "utf-8")
    with recorded() as path:
        (folder / f"{MOVING}.svg").write_text(asyncio.run(tour(path)), "utf-8")
    for old in folder.iterdir():
        if old.suffix != ".svg" or old.stem not in {MOVING, *(shot.name for shot in SHOTS)}:
            old.unlink()


if __name__ == "__main__":
    asked = argparse.ArgumentParser(description="Make the project's screenshots.")
    asked.add_argument("folder", nargs="?", default="screenshots", type=Path, help="where to; default: screenshots")
    main(asked.parse_args().folder)
