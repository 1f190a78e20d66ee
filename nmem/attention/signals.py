"""Calls a person: bell and notices as bytes for a terminal, the desktop's notice as a program with its arguments.

Texts are one printable line, cut, without what ends a sequence. Nothing is raised: whoever cannot be called is not.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterable, Mapping
from html import escape

from nmem.attention.config import BELL, DESKTOP, OSC9, OSC777
from nmem.text import fit, printable

_CELLS = 120
_PATIENCE_S = 5.0
_PTS = range(136, 144)
"""The device numbers (major) of pseudo terminals on Linux."""
_PLAIN = frozenset(("", "dumb", "linux"))
"""Terminals that print what they do not understand."""
_SCRIPT = ("on run argv", "display notification (item 1 of argv) with title (item 2 of argv)", "end run")


def line(text: str, cells: int = _CELLS) -> str:
    """A text as it may stand in a sequence or a notice: one printable line, without what divides fields."""
    return fit(printable(" ".join(text.split())).replace(";", ","), cells)


def sequence(how: Iterable[str], title: str, text: str, environ: Mapping[str, str]) -> str:
    """What to write to the terminal for these ways; empty where none of them is its matter."""
    ways = tuple(how)
    out = "\a" if BELL in ways else ""
    if environ.get("TERM", "") in _PLAIN:
        return out
    if OSC9 in ways:
        out += _through(f"\x1b]9;{line(f'{title}: {text}')}\a", environ)
    if OSC777 in ways:
        out += _through(f"\x1b]777;notify;{line(title)};{line(text)}\a", environ)
    return out


KEEP_TITLE, GIVE_TITLE_BACK = "\x1b[22;2t", "\x1b[23;2t"
"""The terminal keeps the name that its window has, and gives it back; one that cannot ignores both."""


def titled(text: str) -> str:
    """The sequence that names the terminal's window."""
    return f"\x1b]2;{line(text)}\a"


def able(how: Iterable[str], environ: Mapping[str, str], *, terminal: bool) -> bool:
    """Whether any of these ways can reach a person, with a terminal to write to or without."""
    ways = tuple(how)
    return bool((terminal and sequence(ways, "", "", environ)) or (DESKTOP in ways and program("", "", environ)))


def _through(plain: str, environ: Mapping[str, str]) -> str:
    """As tmux hands it on to the terminal, where it is allowed to (`set -g allow-passthrough on`)."""
    if not environ.get("TMUX"):
        return plain
    inner = plain.replace("\x1b", "\x1b\x1b")
    return f"\x1bPtmux;{inner}\x1b\\"


def program(title: str, text: str, environ: Mapping[str, str], platform: str = sys.platform) -> list[str]:
    """The desktop's program with its arguments; empty where there is none."""
    title, text = line(title), line(text)
    path = environ.get("PATH")
    if platform == "darwin" and (found := shutil.which("osascript", path=path)):
        return [found, *(word for each in _SCRIPT for word in ("-e", each)), "--", text, title]
    if found := shutil.which("notify-send", path=path):
        return [found, "--app-name=nmem", "--", title, escape(text, quote=False)]  # a text there may hold markup
    return []


def desktop(title: str, text: str, environ: Mapping[str, str], platform: str = sys.platform) -> bool:
    """Whether the desktop took a notice; waits for its program, so never call it where somebody waits."""
    words = program(title, text, environ, platform)
    if not words:
        return False
    try:
        done = subprocess.run(
            words, env=dict(environ), check=False, timeout=_PATIENCE_S, stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
    except (OSError, subprocess.SubprocessError, ValueError):
        return False
    return done.returncode == 0


def call(how: Iterable[str], title: str, text: str, environ: Mapping[str, str], terminal: str) -> tuple[str, ...]:
    """Call a person in these ways, the terminal by its path (empty: none); the ways that worked."""
    ways = tuple(how)
    done = [each for each in ways if each != DESKTOP and (one := sequence([each], title, text, environ))
            and write(terminal, one)]  # fmt: skip
    if DESKTOP in ways and desktop(title, text, environ):
        done.append(DESKTOP)
    return tuple(done)


def write(terminal: str, text: str) -> bool:
    """Write to a terminal without ever waiting for it, nor becoming its own."""
    if not terminal:
        return False
    try:
        handle = os.open(terminal, os.O_WRONLY | os.O_NOCTTY | os.O_NONBLOCK)
    except OSError:
        return False
    try:
        return os.isatty(handle) and os.write(handle, text.encode("utf-8", "replace")) > 0
    except OSError:
        return False
    finally:
        os.close(handle)


def terminal_of(pid: int) -> str:
    """The terminal that a process belongs to, or one of those that started it; empty where there is none."""
    for _ in range(16):
        found = _stat(pid) if pid > 1 else None
        if found is None:
            break
        pid, device = found
        if device and os.major(device) in _PTS:
            return f"/dev/pts/{(os.major(device) - _PTS[0]) * 256 + os.minor(device)}"
    return "/dev/tty" if _has_own() else ""


def _stat(pid: int) -> tuple[int, int] | None:
    """Who started a process, and the number of its terminal, where the system says so."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:  # noqa: PTH123 - a process that is mostly gone soon
            fields = file.read().rpartition(b")")[2].split()
        return int(fields[1]), int(fields[4])
    except (OSError, IndexError, ValueError):
        return None


def _has_own() -> bool:
    try:
        os.close(os.open("/dev/tty", os.O_WRONLY | os.O_NOCTTY))
    except OSError:
        return False
    return True
