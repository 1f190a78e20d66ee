"""The memory of a cockpit that somebody walks about in stays as it is once its screens stand.

A few minutes of walking by default, as fast as the cockpit answers; NMEM_WALK_KEYS=7200 are as many keys as a person
presses in an hour, two a second.
"""

from __future__ import annotations

import asyncio
import fcntl
import gc
import os
import pty
import random
import select
import signal
import struct
import sys
import termios
import time
from array import array
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from textual.widget import Widget

from nmem.read.stream import Slots
from nmem.read.views import StreamRow
from nmem_tui import idle
from nmem_tui.model.stream import Window

KEYS = (*"12345678jkgGvs", "\r", "\x1b", "\x1b[6~", "\x1b[5~", "?", "\x1b", "\t", "p")
"""Numbers, moves, what opens and closes; read-only, so that nothing changes but what is shown."""
PRESSED = int(os.environ.get("NMEM_WALK_KEYS", "250"))
_WARM = min(2_400, PRESSED * 6 // 10)
"""Keys after which nothing grows any more: as many as the cockpit answers in a minute."""
_BUDGET = 100e6
_GROWS = 8e6 if PRESSED < 2_000 else 4e6
"""Bytes that the heap may go up and down by; a short walk has not seen all that there is by then."""


class Walked:
    """The cockpit of a process of its own, on a terminal."""

    def __init__(self, db: Path) -> None:
        self.pid, self._fd = pty.fork()
        if not self.pid:
            os.environ.update(TERM="xterm-256color", COLORTERM="truecolor", NMEM_DB=str(db))
            words = [sys.executable, "-m", "nmem", "tui", "--read-only", "--db", str(db)]
            os.execv(sys.executable, words)
        fcntl.ioctl(self._fd, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 120, 0, 0))

    def read(self, seconds: float) -> bool:
        """Whether anything was printed within so long."""
        if not select.select([self._fd], [], [], seconds)[0]:
            return False
        return bool(os.read(self._fd, 1 << 20))

    def press(self, key: str) -> None:
        """Press it, and take what is printed until that pauses."""
        os.write(self._fd, key.encode())
        while self.read(0.02):
            pass

    def resident(self) -> int:
        """Bytes in memory."""
        return int(Path(f"/proc/{self.pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    def leave(self) -> None:
        """Close what is open, and leave: it still does what it is told, and found no fault."""
        for key in (*["\x1b"] * 4, "1", "q"):
            time.sleep(0.3)  # an escape and a key at once are another key
            self.press(key)
        with suppress(OSError):  # nobody writes any more
            while self.read(60):
                pass
        ended, tries = (0, 0), 600
        while not ended[0] and (tries := tries - 1):
            time.sleep(0.1)
            ended = os.waitpid(self.pid, os.WNOHANG)
        self.pid = 0 if ended[0] else self.pid
        assert ended[0], "it does not leave"
        assert os.waitstatus_to_exitcode(ended[1]) == 0

    def end(self) -> None:
        """Kill it, if it was not left."""
        if self.pid:
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
        os.close(self._fd)


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="the system does not tell how much memory is used")
def test_it_is_flat_once_its_screens_stand_and_below_100_mb(whole: Any, here: Path) -> None:
    chance, told = random.Random(5), list[int]()
    one = Walked(here / "aurora.db")
    try:
        while not one.read(120):
            pass
        for number in range(PRESSED):
            one.press(chance.choice(KEYS))
            told.append(one.resident())
            if number % 100 == 99 and (out := os.environ.get("NMEM_WALK_TOLD")):
                Path(out).write_text("".join(f"{size / 1e6:.1f}\n" for size in told))
        one.leave()
    finally:
        one.end()
    warm, after = max(told[:_WARM]), told[_WARM:]
    assert max(after) < _BUDGET
    late = sorted(after[-len(after) // 4 :])
    assert late[len(late) // 2] < warm + _GROWS, f"{warm / 1e6:.1f} MB, then {late[len(late) // 2] / 1e6:.1f}"


def test_of_a_long_session_about_a_thousand_rows_are_in_memory() -> None:
    window, keys = Window(), range(4_000)
    window.older(Slots(array("q", keys), array("q", keys)), complete=True)
    for key in keys:
        window.fill({key: StreamRow(key, key, "bash", "ls")}, ())
    assert sum(window.row(place) is not None for place in keys) <= 1_024
    assert window.wanted(0, 40), "what was put away is read again"


async def test_widgets_that_are_gone_are_in_nobody_s_cache(whole: Any, cockpit: Any, settled: Any) -> None:
    async with cockpit("aurora.db", (100, 30)) as pilot:
        before = _kept(pilot)  # what tests before this one left in the same process
        for _ in range(5):
            await pilot.press("question_mark")
            await settled(pilot)
            await pilot.press("escape")
            await settled(pilot)
        assert _kept(pilot) < before + 40


def _kept(pilot: Any) -> int:
    """Strips in the caches of widgets that no app has any more, once all garbage is collected."""
    gc.unfreeze()
    idle._collect()
    gc.unfreeze()
    known = pilot.app._registry
    styled = {id(widget._styles_cache) for widget in known if isinstance(widget, Widget)}
    kept = [each for each in gc.get_objects() if type(each).__name__ == "StylesCache" and id(each) not in styled]
    return sum(len(each._cache) for each in kept)


@pytest.mark.parametrize(("set_to", "rest"), [({"_LONG": 0.0, "_WHOLE": 0.0}, 0.0),
                                              ({"_WORTH": 0.0, "_WHOLE_AT_REST": 0.0}, 1e6)])  # fmt: skip
async def test_what_was_open_at_a_sweep_is_collected_later(
    set_to: dict[str, float], rest: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in {**set_to, "_LOOK_S": 0.001, "_REST": rest}.items():
        monkeypatch.setattr(idle, name, value)
    swept: list[str] = []
    monkeypatch.setattr(idle, "_collect", lambda: swept.append("sweep"))
    monkeypatch.setattr(gc, "unfreeze", lambda: swept.append("unfreeze"))
    task = asyncio.create_task(idle.collect())
    while swept.count("sweep") < 2:
        await asyncio.sleep(0.01)
    task.cancel()
    with suppress(asyncio.CancelledError):
        await task
    assert swept[:2] == ["unfreeze", "sweep"]
