"""Identifies processes by pid and start time, so that a reused pid is not mistaken; finds their descendants."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import time
from collections.abc import Iterable, Sequence
from pathlib import Path

_PROC = Path("/proc")
_SUBREAPER = 36
"""prctl's number for it."""


def me() -> str:
    """This process."""
    return name(os.getpid())


def name(pid: int) -> str:
    """`pid@birth`, as it is kept in the database."""
    return f"{pid}@{_birth(pid)}"


def pid(process: str) -> int:
    """The number in a name; 0 when there is none."""
    number = process.partition("@")[0]
    return int(number) if number.isdecimal() else 0


def alive(process: str) -> bool:
    """Whether the very process that was named is still there."""
    number, birth = pid(process), process.partition("@")[2]
    return bool(number and birth) and _birth(number) == birth


def below(root: int) -> list[int]:
    """The processes that this one has started, and those that these have, the deepest last."""
    children: dict[int, list[int]] = {}
    for child, parent in _parents():
        children.setdefault(parent, []).append(child)
    out, waiting = list[int](), [root]
    while waiting:
        found = children.get(waiting.pop(), [])
        out += found
        waiting += found
    return out


def send(numbers: Iterable[int], sent: signal.Signals) -> None:
    """A signal to each of these processes that is still there."""
    for number in numbers:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(number, sent)


def end(root: int, grace: float, itself: bool = True) -> None:
    """Ask a process and all below it to end; kill what is left after `grace` seconds."""
    family = [*([root] if itself else []), *below(root)]
    named = [(number, name(number)) for number in family]
    send(family, signal.SIGTERM)
    send(family, signal.SIGCONT)
    until = time.monotonic() + grace
    while time.monotonic() < until and any(alive(known) for _, known in named):
        time.sleep(0.05)
    send((number for number, known in named if alive(known)), signal.SIGKILL)
    send(below(root), signal.SIGKILL)


def adopt() -> None:
    """What the children of this process leave behind becomes its own child, where the system knows that: Linux."""
    import ctypes  # on use: few commands run a client

    with contextlib.suppress(OSError, AttributeError, TypeError):
        ctypes.CDLL(None).prctl(_SUBREAPER, 1, 0, 0, 0)


def _birth(number: int) -> str:
    """When a process began, in whatever unit the system tells it; empty for none and for one that has ended."""
    try:
        stat = (_PROC / str(number) / "stat").read_text("utf-8", "replace")
    except OSError:
        return "" if (_PROC / "self").exists() else _told(number)
    fields = stat.rpartition(")")[2].split()
    return "" if fields[0] in "ZX" else f"{_boot()}{fields[19]}"


def _boot() -> str:
    """A few letters of this start of the machine: births are counted from it."""
    try:
        return (_PROC / "sys/kernel/random/boot_id").read_text()[:8] + "."
    except OSError:
        return ""


def _told(number: int) -> str:
    """Where there is no /proc."""
    words = ["ps", "-o", "stat=,lstart=", "-p", str(number)]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    state, _, birth = done.stdout.strip().partition(" ")
    return "" if state.startswith("Z") else birth.strip().replace(" ", "_")


def _parents() -> list[tuple[int, int]]:
    """(process, its parent) of all."""
    if not (_PROC / "self").exists():
        words = ["ps", "-axo", "pid=,ppid="]
        done = subprocess.run(words, capture_output=True, text=True, check=False)
        rows = (line.split() for line in done.stdout.splitlines())
        return [(int(row[0]), int(row[1])) for row in rows if len(row) == 2]
    out = []
    for entry in _PROC.iterdir():
        if entry.name.isdecimal():
            with contextlib.suppress(OSError, IndexError, ValueError):
                stat = (entry / "stat").read_text("utf-8", "replace")
                out.append((int(entry.name), int(stat.rpartition(")")[2].split()[1])))
    return out


_STARTED: list[subprocess.Popen[bytes]] = []
"""So that those that have ended are noticed, and are no zombies for long."""


def open_process(words: Sequence[str]) -> None:
    """Start it; nothing of this process's terminal is left to it. Raises OSError."""
    tidy()
    nowhere = subprocess.DEVNULL
    _STARTED.append(
        subprocess.Popen(words, stdin=nowhere, stdout=nowhere, stderr=nowhere, start_new_session=True, cwd="/")
    )


def tidy() -> None:
    """Take note of those that have ended."""
    _STARTED[:] = [each for each in _STARTED if each.poll() is None]
