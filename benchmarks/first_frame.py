"""How long `nmem tui` takes to its first frame, as a ratio to a bare Textual app in the same run.

Both start through a pseudo-terminal of 120x40, turn about; measured from the spawn to the first frame that holds a
marker word. Run it from an installed wheel with compiled bytecode; the budget is a median ratio of 2.2. Where others
work on the machine, the ratio of processor times is the steadier one.

    python benchmarks/first_frame.py [--runs 20] [--db PATH]
"""

from __future__ import annotations

import argparse
import fcntl
import json
import os
import pty
import select
import signal
import statistics
import struct
import sys
import tempfile
import termios
import time
from collections.abc import Mapping
from pathlib import Path

BARE = """
from textual.app import App
from textual.widgets import Static
class Bare(App):
    def compose(self):
        yield Static("BARE-READY")
Bare().run()
"""


def first_frame(argv: list[str], marker: bytes, limit: float = 20.0) -> tuple[float, float]:
    """Milliseconds from the spawn of `argv` to the marker on its terminal, and of processor time until then."""
    started = time.perf_counter()
    pid, fd = pty.fork()
    if pid == 0:
        os.environ.update(TERM="xterm-256color", COLORTERM="truecolor", TEXTUAL_ANIMATIONS="none")
        os.chdir(tempfile.gettempdir())
        os.execvp(argv[0], argv)
    fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 120, 0, 0))
    seen = b""
    try:
        while marker not in seen:
            left = limit - (time.perf_counter() - started)
            if left <= 0 or not select.select([fd], [], [], left)[0]:
                raise SystemExit(f"{argv}: no {marker!r} within {limit} s: {seen[-300:]!r}")
            seen += os.read(fd, 65_536)
        return 1000 * (time.perf_counter() - started), 1000 * time.clock_gettime((~pid << 3) | 2)
    finally:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        os.close(fd)


Times = list[tuple[float, float]]
"""Of each run the milliseconds of the clock and of processor time."""


def compared(programs: Mapping[str, tuple[list[str], bytes]], runs: int) -> dict[str, Times]:
    """Start the bare app and each program (arguments, marker) turn about; the first run of each is not counted."""
    every = {"bare": ([sys.executable, "-c", BARE], b"BARE-READY"), **programs}
    times: dict[str, Times] = {name: [] for name in every}
    for number in range(runs + 1):
        for name, (argv, marker) in every.items():
            took = first_frame(argv, marker)
            if number:
                times[name].append(took)
    return times


def with_data(path: str) -> tuple[list[str], bytes]:
    """The cockpit over a database, until it shows what is in it."""
    os.environ["NMEM_DB"] = path
    return [sys.executable, "-m", "nmem", "tui"], b"Stream"


def ratio(times: Times, bare: Times, at: int = 0) -> float:
    """The quotient of the medians: of the clock (0) or of processor time (1)."""
    return statistics.median(each[at] for each in times) / statistics.median(each[at] for each in bare)


def main() -> None:
    """Print the medians and their ratio."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--db", default="")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    db = options.db or str(Path(tempfile.mkdtemp()) / "none.db")
    ours_argv, marker = with_data(db)
    marker = marker if options.db else b"nmem init"
    times = compared({"first": (ours_argv, b"palette"), "full": (ours_argv, marker)}, options.runs)
    figures: dict[str, float] = {"runs": options.runs}
    for at, unit in enumerate(("ms", "cpu_ms")):
        mine, first, whole = (statistics.median(each[at] for each in times[of]) for of in ("bare", "first", "full"))
        figures |= {
            f"bare_{unit}": round(mine),
            f"first_frame_{unit}": round(first),
            f"with_data_{unit}": round(whole),
            f"ratio_{unit}": round(first / mine, 2),
            f"ratio_with_data_{unit}": round(whole / mine, 2),
        }
    print(json.dumps(figures) if options.json else "\n".join(f"{name:16} {value}" for name, value in figures.items()))


if __name__ == "__main__":
    main()
