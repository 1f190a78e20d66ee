"""The real `nmem tui` in a real pseudo-terminal: of hostile text no byte reaches the terminal as control.

What it prints is read by a small terminal of our own (vt.py); what it may print was measured with harmless text.
"""

from __future__ import annotations

import fcntl
import os
import pty
import select
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from nmem.search import refresh
from tests.nmem_tui.vt import Screen

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not hasattr(os, "login_tty"), reason="there are no pseudo-terminals here"),
]
QUIET_S = 0.25
"""A screen that has printed nothing for so long is done."""
ALLOWED = {
    "CSI H", "CSI m", "CSI ?1049h", "CSI ?1049l", "CSI ?25l", "CSI ?25h",
    "CSI ?1000h", "CSI ?1003h", "CSI ?1015h", "CSI ?1006h", "CSI ?1000l", "CSI ?1003l", "CSI ?1015l", "CSI ?1006l",
    "CSI ?1004h", "CSI ?1004l", "CSI ?2004h", "CSI ?2004l", "CSI ?2026$p", "CSI ?2048$p", "CSI ?2026h", "CSI ?2026l",
    "CSI >25u", "CSI <u", "CSI ?7l", "CSI ?7h", "OSC '22;default'", "OSC '22;pointer'", "OSC '22;text'",
}  # fmt: skip
"""Every sequence that the cockpit prints with harmless text: cursor, colours, modes that are put back."""
PLAIN = [
    ("now", "1"), ("now up", "kkkk"), ("now top", "g"), ("now bottom", "G"), ("now follows", "f"),
    ("episodes", "2"), ("episodes down", "jj"), ("episodes story", "\r"), ("story down", "JJJ"), ("story back", "\x1b"),
    ("stance", "3"), ("stance shifts", "jj"), ("stance sessions", "v"), ("stance back", "v"),
    ("learnings", "4"), ("learnings down", "jj"), ("learnings open", "\r"), ("learnings map", "h"), ("lists", "sS"),
    ("context", "5"), ("context down", "jjj"), ("context next", "v"), ("context past", "h"), ("context back", "h"),
    ("search", "6"), ("search foo", "foo"), ("search hits", "\r"), ("search down", "jj"), ("search filters", "f"),
    ("search back", "f"),
    ("tasks", "7"), ("tasks down", "jj"), ("tasks output", "o"), ("tasks back", "o"),
    ("health", "8"), ("health hooks", "v"), ("health redactions", "v"), ("health storage", "v"), ("backups", "v"),
]  # fmt: skip
"""Screens without anything over them: their boxes stand straight."""
COVERED = [
    ("row", "1\r"), ("row down", "JJJJ"), ("row closed", "\x1b"), ("labels", "L"), ("labels closed", "\x1b"),
    ("sessions", "s"), ("sessions closed", "\x1b"), ("pinned", "p"), ("undone", "u"),
    ("help", "?"), ("help closed", "\x1b"), ("palette", ":"), ("palette typed", "pin"), ("palette closed", "\x1b\x1b"),
    ("filter", "/[/x]"), ("filter closed", "\x1b\x1b"), ("review", "r"), ("review later", "j"), ("review over", "\x1b"),
    ("story of now", "w"), ("story purge", "2x"), ("purge closed", "\x1b\x1b"), ("rename", "2R"),
    ("rename closed", "\x1b"), ("merge", "m"), ("merge closed", "\x1b"), ("resume", "e"), ("resume closed", "\x1b"),
    ("link", "l"), ("link closed", "\x1b"), ("accept", "4a"), ("accept closed", "\x1b"), ("dispatch", "d"),
    ("dispatch closed", "\x1b\x1b"), ("models", "3m"), ("models closed", "\x1b"), ("asked", "5a"),
    ("asked text", "foo\r"),
    ("asked closed", "\x1b"), ("excluded", "x"), ("manual", "6\x1bm"), ("manual closed", "\x1b\x1b"), ("edit", "7Ge"),
    ("edit closed", "\x1b\x1b"), ("new", "n"), ("new closed", "\x1b\x1b"), ("sweep", "8s"), ("sweep closed", "\x1b"),
]  # fmt: skip
"""Dialogs, toasts and boxes that are typed into."""


class Terminal:
    """The cockpit on a terminal of one size; `screen` is what a person sees."""

    def __init__(self, folder: Path, columns: int, rows: int) -> None:
        self.screen = Screen(columns, rows)
        self._ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        env = {**os.environ, "TERM": "xterm-256color", "HOME": str(folder), "COLORTERM": "truecolor"}
        env |= {"NMEM_DB": str(folder / "aurora.db"), "NMEM_CONFIG": str(folder / "config.toml")}
        env = {name: value for name, value in env.items() if name not in ("COLUMNS", "LINES")}  # this terminal's own
        words = [sys.executable, "-m", "nmem", "tui", "--db", str(folder / "aurora.db")]
        take = partial(os.login_tty, theirs)
        self.process = subprocess.Popen(words, env=env, cwd=folder, preexec_fn=take)  # noqa: PLW1509 -- no threads here
        os.close(theirs)

    def until_quiet(self, first: float = 3.0) -> None:
        """Take in what is printed, until nothing comes for a while and no thread is at work, however slow it is."""
        wait = first
        while (comes := bool(select.select([self._ours], [], [], wait)[0])) or self._works():
            wait = QUIET_S
            if not comes:
                continue
            try:
                data = os.read(self._ours, 1 << 16)
            except OSError:  # as a terminal ends
                return
            if not data:
                return
            self.screen.feed(data)

    def _works(self) -> bool:
        """Whether one of its threads has the processor, or waits for it or for a disk; not known without /proc."""
        for stat in Path(f"/proc/{self.process.pid}/task").glob("*/stat"):
            with suppress(OSError):  # it is over
                if stat.read_text().rpartition(")")[2].split()[0] in "RD":
                    return True
        return False

    def type(self, keys: str) -> None:
        """Type keys one after the other, as a person does; escape stands alone."""
        for key in keys:
            os.write(self._ours, key.encode())
            self.until_quiet(1.0 if key != "\x1b" else 1.5)

    def leave(self) -> int:
        """Press q; the exit code."""
        os.write(self._ours, b"q")
        until = time.monotonic() + 120
        while self.process.poll() is None and time.monotonic() < until:
            self.until_quiet(0.2)
        return self.process.wait(1)

    def close(self) -> None:
        """Whatever happened, nothing stays behind."""
        self.process.kill()
        self.process.wait()
        os.close(self._ours)


def seed(load: Any, folder: Path, *, harmless: bool) -> None:
    """A database with everything that screens show, every text of it spoiled."""
    seeds, spoil = load("cockpit_seed"), load("hostile_seed")
    db = seeds.database(folder / "aurora.db")
    seeds.story(db)
    units = seeds.history(db)
    load("learnings_seed").fill(db, seeds, units)
    load("tasks_seed").fill(db, seeds)
    load("context_seed").fill(db, seeds, units)
    load("context_seed").told(db, seeds)
    load("health_seed").fill(db, seeds)
    seeds.label(db)
    spoil.spoil(db, harmless=harmless)
    spoil.lengthen(db, harmless=harmless)
    refresh.refresh(db)
    if not harmless:
        spoil.rename(db, spoil.KINDS["csi"] + spoil.KINDS["osc"])
    db.close()
    log = spoil.HARMLESS if harmless else spoil.EVERYTHING
    (folder / "nmem.log").write_text(f"2025-10-09T08:00:00 {log}\n", "utf-8")


@pytest.fixture
def terminal(load: Any, tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Terminal]:
    """The cockpit on a spoiled database; parameters: columns, rows, whether its text is harmless (for `ALLOWED`)."""
    columns, rows, harmless = request.param
    seed(load, tmp_path, harmless=harmless)
    made = Terminal(tmp_path, columns, rows)
    yield made
    made.close()


def troubles(terminal: Terminal, name: str, *, straight: bool) -> list[str]:
    """What is on the way to this state, or stands in it, that should not."""
    screen = terminal.screen
    assert terminal.process.poll() is None, (name, screen.text())
    found = [f"prints {each}" for each in sorted(screen.sequences - ALLOWED)] + screen.wrong[:5]
    found += list(screen.crooked()) if straight else []
    screen.sequences &= ALLOWED
    screen.wrong.clear()
    return [f"{name}: {each}" for each in found]


@pytest.mark.parametrize(
    ("terminal", "states"),
    [
        pytest.param((160, 45, False), PLAIN, id="screens-160x45"),
        pytest.param((80, 24, False), COVERED, id="dialogs-80x24"),
    ],
    indirect=["terminal"],
)
def test_no_byte_of_hostile_text_reaches_the_terminal_as_control(
    states: list[tuple[str, str]], terminal: Terminal
) -> None:
    terminal.until_quiet(20)
    found = []
    for name, keys in states:
        terminal.type(keys)
        found += troubles(terminal, name, straight=states is PLAIN)
    assert found == [], "\n".join(found)
    assert terminal.leave() == 0
    assert "CSI ?1049l" in terminal.screen.sequences
