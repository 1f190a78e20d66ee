"""What a key costs the cockpit on a large memory: its processor time, and the time to the end of its frame.

The cockpit runs on a real pseudo-terminal over PATH (see lived.py). For every key are measured, from the moment it is
written: `frame`, the time that the thread of the screen was on a processor until the first frame was out and that
thread slept again; `cpu`, the same until the terminal was quiet (frames that follow because a read was answered count
with it); `all`, that of the whole process, with the threads that read the database; `wall`, until the last byte.
Budget of `frame`: 16 ms at the median, 33 ms at the 95th percentile, of every key and of each kind of key over all
screens: cursor, page, ends of a list, switch, filter. Memory: 120 MB.

    python benchmarks/key_latency.py PATH [--runs 20] [--size 160x45] [--screen health] [--first] [--check]

With `--first`, each run is a new cockpit, in which every screen is visited once, by its number or by tab, and what is
under its cursor opened once: what a key costs that nobody has pressed before. Screens take turns at being the first.
"""

from __future__ import annotations

import argparse
import fcntl
import json
import os
import select
import signal
import struct
import sys
import termios
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))
from benchmarks.feed_latency import spawn  # noqa: E402

SCREENS = ("now", "episodes", "stance", "learnings", "context", "search", "tasks", "health", "sessions")
MOVES = {"j": b"j", "k": b"k", "ctrl+d": b"\x04", "ctrl+u": b"\x15", "G": b"G", "g": b"g", "tab": b"\t"}
KINDS = {
    "cursor": ("j", "k"), "page": ("ctrl+d", "ctrl+u"), "end": ("G", "g"), "switch": ("switch", "switch, first"),
    "filter": ("letter",), "first visit": ("first visit", "first tab"), "first enter": ("first enter",),
    "other": ("tab", "enter", "esc", "/", "esc of /"),
}  # fmt: skip
TYPED = b"parser"
SIZES = ((80, 24), (160, 45))
MEDIAN, HIGH = 16.0, 33.0
"""Milliseconds of processor time."""
ESCAPE = b"\x1b"
_DOUBT_S = 0.12
"""So long a lone escape may still begin a longer key."""
_LOOK_S = 0.01
_LOADED = 200
"""Looks in a row at which nothing came and no thread ran, after which the screens' code is surely loaded."""
_QUIET = 9
"""Looks in a row at which nothing came and no thread ran: longer than the feed sleeps, and than a switch waits."""


@dataclass
class Row:
    """What one key cost, run by run, in milliseconds."""

    frame: list[float] = field(default_factory=list)
    cpu: list[float] = field(default_factory=list)
    all: list[float] = field(default_factory=list)
    wall: list[float] = field(default_factory=list)

    def told(self) -> dict[str, float]:
        """Medians and 95th percentiles."""
        found: dict[str, float] = {"runs": len(self.cpu)}
        for name in ("frame", "cpu", "all", "wall"):
            values = sorted(getattr(self, name)) or [0.0]
            found[f"{name}_p50"] = round(values[len(values) // 2], 1)
            found[f"{name}_p95"] = round(values[min(len(values) - 1, int(0.95 * len(values)))], 1)
        return found


class Cockpit:
    """One running cockpit."""

    def __init__(
        self, path: str, size: tuple[int, int], start: Callable[[str], tuple[int, int]] | None = None
    ) -> None:  # fmt: skip
        self.pid: int
        self.fd: int
        self.pid, self.fd = (start or spawn)(path)
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", size[1], size[0], 0, 0))
        self.rows: dict[str, Row] = {}
        self.rest(150)

    def ui(self) -> float:
        """Milliseconds on a processor of the thread that draws."""
        return int(Path(f"/proc/{self.pid}/task/{self.pid}/schedstat").read_text().split()[0]) / 1e6

    def all(self) -> float:
        """Milliseconds on a processor of the process."""
        return 1000 * time.clock_gettime((~self.pid << 3) | 2)

    def rest(self, quiet: int = _QUIET, limit: float = 10.0) -> float:
        """Read until nothing comes any more and every thread sleeps; the moment of the last byte."""
        last = time.perf_counter()
        end, looks = last + limit, 0
        while time.perf_counter() < end and looks < quiet:
            looks += 1
            if select.select([self.fd], [], [], _LOOK_S)[0]:
                os.read(self.fd, 65_536)
                last, looks = time.perf_counter(), 0
            elif self.runs():
                looks = 0
        return last

    def runs(self) -> bool:
        """Whether a thread runs, or waits for a processor or a disk."""
        for task in Path(f"/proc/{self.pid}/task").iterdir():
            try:
                if task.joinpath("stat").read_text().rsplit(")", 1)[1].split()[0] != "S":
                    return True
            except OSError:
                continue
        return False

    def frame(self) -> float:
        """Wait for the first frame after a key, if one comes; the processor time of its thread up to then."""
        end = time.perf_counter() + _QUIET * _LOOK_S
        while not select.select([self.fd], [], [], _LOOK_S)[0]:
            if time.perf_counter() > end and not self.runs():
                return self.ui()
        os.read(self.fd, 65_536)
        while not self.sleeps():
            if select.select([self.fd], [], [], _LOOK_S / 10)[0]:
                os.read(self.fd, 65_536)
        return self.ui()

    def sleeps(self) -> bool:
        """Whether the thread that draws waits for something to do."""
        stat = Path(f"/proc/{self.pid}/task/{self.pid}/stat").read_text()
        return stat.rsplit(")", 1)[1].split()[0] == "S"

    def press(self, key: bytes, name: str = "") -> None:
        """Write a key and wait for what it shows; with a name, note what it cost."""
        ui, everything, at = self.ui(), self.all(), time.perf_counter()
        os.write(self.fd, key)
        if key == ESCAPE:
            time.sleep(_DOUBT_S)
        first = self.frame()
        last = self.rest()
        if name:
            row = self.rows.setdefault(name, Row())
            row.frame.append(first - ui)
            row.cpu.append(self.ui() - ui)
            row.all.append(self.all() - everything)
            row.wall.append(1000 * (last - at))

    def memory(self) -> float:
        """Megabytes in memory."""
        lines = Path(f"/proc/{self.pid}/status").read_text().splitlines()
        return next(int(line.split()[1]) / 1000 for line in lines if line.startswith("VmRSS"))

    def close(self) -> None:
        """End it."""
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)
        os.close(self.fd)


def screen(cockpit: Cockpit, name: str, runs: int) -> None:
    """Every key on one screen."""
    number = str(SCREENS.index(name) + 1).encode()
    other = b"8" if number != b"8" else b"1"
    cockpit.press(number, f"{name} switch, first")
    for _ in range(runs):
        cockpit.press(other)
        cockpit.press(number, f"{name} switch")
    if name == "search":
        cockpit.press(b"test\r")
    for key in ("j", "k", "ctrl+d", "ctrl+u", "G", "g"):
        for _ in range(runs):
            cockpit.press(MOVES[key] if key not in "Gg" else b"j")
            if key in "Gg":
                cockpit.press(b"g" if key == "G" else b"G")
                cockpit.press(MOVES[key], f"{name} {key}")
            else:
                cockpit.press(MOVES[key], f"{name} {key}")
    for _ in range(runs):
        cockpit.press(b"\t", f"{name} tab")
    cockpit.press(number)
    for _ in range(runs):
        cockpit.press(b"\r", f"{name} enter")
        cockpit.press(ESCAPE, f"{name} esc")
        cockpit.press(number)
    for _ in range(max(1, runs // len(TYPED))):
        cockpit.press(b"/", f"{name} /")
        for letter in TYPED:
            cockpit.press(bytes([letter]), f"{name} letter")
        cockpit.press(ESCAPE, f"{name} esc of /")
        cockpit.press(ESCAPE)
        cockpit.press(number)


def first(cockpit: Cockpit, turn: int) -> None:
    """Every screen for the first time; an odd turn goes there by tab."""
    cockpit.rest(_LOADED)
    by_tab, order = turn % 2, [*SCREENS[1:]]
    if not by_tab:
        cut = turn // 2 % len(order)
        order = order[cut:] + order[:cut]
    cockpit.press(b"\r", "now first enter")
    cockpit.press(ESCAPE)
    for name in order:
        number = str(SCREENS.index(name) + 1).encode()
        cockpit.press(b"\t" if by_tab else number, f"{name} first {'tab' if by_tab else 'visit'}")
        if name == "search":
            cockpit.press(b"test\r")
        cockpit.press(b"\r", f"{name} first enter")
        cockpit.press(ESCAPE)
        cockpit.press(number)
        if name == "search":
            cockpit.press(ESCAPE)


def kinds(rows: dict[str, Row]) -> dict[str, Row]:
    """All runs of one kind of key, over all screens."""
    found: dict[str, Row] = {}
    for name, row in rows.items():
        key = name.split(" ", 1)[1]
        if kind := next((kind for kind, keys in KINDS.items() if key in keys), ""):
            one = found.setdefault(f"every {kind}", Row())
            for part in ("frame", "cpu", "all", "wall"):
                getattr(one, part).extend(getattr(row, part))
    return found


def compared(
    paths: Mapping[str, str], runs: int, size: tuple[int, int] = SIZES[-1], screens: Sequence[str] = SCREENS
) -> dict[str, tuple[dict[str, Row], float]]:
    """Every key on every screen of a cockpit for each path, screen by screen in turn; its rows and megabytes."""
    cockpits: dict[str, Cockpit] = {}
    try:
        for name, path in paths.items():
            cockpits[name] = Cockpit(path, size)
        for each in screens:
            for cockpit in cockpits.values():
                screen(cockpit, each, runs)
        return {name: (cockpit.rows, cockpit.memory()) for name, cockpit in cockpits.items()}
    finally:
        for cockpit in cockpits.values():
            cockpit.close()


def visited(path: str, runs: int, size: tuple[int, int]) -> tuple[dict[str, Row], float]:
    """Every screen for the first time, in a new cockpit each run; its rows and megabytes."""
    rows: dict[str, Row] = {}
    memory = 0.0
    for turn in range(2 * runs):
        cockpit = Cockpit(path, size)
        cockpit.rows = rows
        try:
            first(cockpit, turn)
            memory = cockpit.memory()
        finally:
            cockpit.close()
    return rows, memory


def main() -> None:
    """Print a line for each screen and key; exit code 1 with --check where one is over the budget."""
    parser = argparse.ArgumentParser()
    parser.add_argument("path")
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--size", default="", choices=("", "80x24", "160x45"))
    parser.add_argument("--screen", default="", choices=("", *SCREENS))
    parser.add_argument("--first", action="store_true")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    sizes = [each for each in SIZES if options.size in ("", f"{each[0]}x{each[1]}")]
    found: dict[str, dict[str, float]] = {}
    for size in sizes:
        if options.first:
            rows, memory = visited(options.path, options.runs, size)
        else:
            screens = [options.screen] if options.screen else SCREENS
            rows, memory = compared({"": options.path}, options.runs, size, screens)[""]
        for name, row in [*rows.items(), *kinds(rows).items()]:
            found[f"{size[0]}x{size[1]} {name}"] = row.told()
        found[f"{size[0]}x{size[1]} memory"] = {"rss_mb": round(memory, 1)}
    print(json.dumps(found) if options.json else table(found))
    print(f"load {' '.join(f'{each:.1f}' for each in os.getloadavg())}", file=sys.stderr)
    sys.exit(options.check and any(over(figures) for figures in found.values()))


def over(figures: dict[str, float]) -> bool:
    """Whether a key costs more than it may."""
    return figures.get("frame_p50", 0) > MEDIAN or figures.get("frame_p95", 0) > HIGH or figures.get("rss_mb", 0) > 120


def table(found: dict[str, dict[str, float]]) -> str:
    """The figures, with a mark where they are over the budget."""
    return "\n".join(
        f"{'!' if over(figures) else ' '} {name:34} " + " ".join(f"{key} {value:>6}" for key, value in figures.items())
        for name, figures in found.items()
    )


if __name__ == "__main__":
    main()
