"""Fifty commits a second for a minute on a large memory: how long frames take, and whether a row is missed.

    python benchmarks/burst.py PATH [--seconds 60] [--rate 50] [--idle 60] [--check]

PATH (see lived.py) is copied. A process of its own commits the rows through the store, as hooks do, into the session
that the screen Now follows. In the cockpit, on a real pseudo-terminal of 160x45, every frame and every turn of the
event loop is timed: `wall` as it passed, `cpu` as the thread was on a processor. At the end the rows that the stream
knows are compared with those that were written; then nothing happens for a while, and the processor time is taken.
"""

from __future__ import annotations

import argparse
import json
import os
import pty
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))
from benchmarks.feed_latency import commit, cpu_seconds, read_until  # noqa: E402
from benchmarks.key_latency import Cockpit  # noqa: E402

FRAME_MS, IDLE_PERCENT, RSS_MB = 50.0, 1.0, 120.0
_TIMED = """
import asyncio.events, json, signal, sys, time
from textual.screen import Screen
times = {"frame": [], "turn": []}
def timed(owner, name, kind):
    plain = getattr(owner, name)
    def run(*given, **named):
        at, cpu = time.perf_counter(), time.thread_time()
        try:
            return plain(*given, **named)
        finally:
            times[kind].append((1000 * (time.perf_counter() - at), 1000 * (time.thread_time() - cpu)))
    setattr(owner, name, run)
timed(Screen, "_compositor_refresh", "frame")
timed(asyncio.events.Handle, "_run", "turn")
from nmem_tui.app import Cockpit
app = Cockpit(sys.argv[1])
def tell(*_):
    window = app.view().stream.window
    with open(sys.argv[2] + ".new", "w") as file:
        json.dump({"keys": list(window.slots.key), "unseen": app.view().stream.unseen, "times": times}, file)
    import os
    os.replace(sys.argv[2] + ".new", sys.argv[2])
def start(*_):
    for kind in times.values():
        kind.clear()
signal.signal(signal.SIGUSR1, tell)
signal.signal(signal.SIGUSR2, start)
app.run()
"""


def spawn(path: str, told: str) -> tuple[int, int]:
    """The cockpit, timed, on a terminal of its own."""
    pid, fd = pty.fork()
    if pid == 0:
        os.environ.update(TERM="xterm-256color", COLORTERM="truecolor")
        os.execv(sys.executable, [sys.executable, "-c", _TIMED, path, told])
    return pid, fd


def write(path: str, rate: float, seconds: float) -> None:
    """Commit so many rows a second, each on a connection of its own, as hooks do."""
    begun = time.perf_counter()
    for number in range(int(rate * seconds)):
        commit(path, f"burst{number:06d}", number + 1_000_000)
        time.sleep(max(0.0, begun + (number + 1) / rate - time.perf_counter()))
    print(time.perf_counter() - begun)


def told_by(cockpit: Cockpit, told: Path) -> dict[str, list[object]]:
    """What the cockpit knows and how long it took."""
    told.unlink(missing_ok=True)
    os.kill(cockpit.pid, signal.SIGUSR1)
    while not told.exists():
        read_until(cockpit.fd, b"\0never", 0.1)
    found: dict[str, list[object]] = json.loads(told.read_text())
    return found


def main() -> None:
    """Print the figures; exit code 1 with --check where one is over its limit."""
    parser = argparse.ArgumentParser()
    parser.add_argument("path")
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--rate", type=float, default=50)
    parser.add_argument("--idle", type=float, default=60)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--write", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.write:
        write(options.path, options.rate, options.seconds)
        return
    with tempfile.TemporaryDirectory(dir=Path(options.path).parent) as folder:
        figures = measured(shutil.copy(options.path, f"{folder}/nmem.db"), Path(folder, "told"), options)
    print("\n".join(f"{name:16} {value}" for name, value in figures.items()))
    print(f"load {' '.join(f'{each:.1f}' for each in os.getloadavg())}", file=sys.stderr)
    over = figures["frame_cpu_max"] > FRAME_MS or figures["turn_cpu_max"] > FRAME_MS or figures["missed"]
    sys.exit(bool(options.check and (over or figures["idle_percent"] > IDLE_PERCENT or figures["rss_mb"] > RSS_MB)))


def measured(path: str, told: Path, options: argparse.Namespace) -> dict[str, float]:
    """All figures."""
    commit(path, f"first{random.randrange(10**6)}", 999_999)
    cockpit = Cockpit(path, (160, 45), lambda given: spawn(given, str(told)))
    try:
        os.kill(cockpit.pid, signal.SIGUSR2)
        argv = [
            sys.executable,
            __file__,
            path,
            "--write",
            "--seconds",
            str(options.seconds),
            "--rate",
            str(options.rate),
        ]
        before = cpu_seconds(cockpit.pid)
        with subprocess.Popen(argv, stdout=subprocess.PIPE, text=True) as writer:
            while writer.poll() is None:
                read_until(cockpit.fd, b"\0never", 0.2)
            took = float(writer.stdout.read()) if writer.stdout else 0.0
        busy = (cpu_seconds(cockpit.pid) - before) / took
        cockpit.rest(50)
        found = told_by(cockpit, told)
        read_until(cockpit.fd, b"\0never", 5)
        before = cpu_seconds(cockpit.pid)
        read_until(cockpit.fd, b"\0never", options.idle)
        idle = (cpu_seconds(cockpit.pid) - before) / options.idle
        memory = cockpit.memory()
    finally:
        cockpit.close()
    db = sqlite3.connect(path)
    rows = db.execute("SELECT id FROM observations WHERE session_id = 'bench'").fetchall()
    known = set(found["keys"])
    missed = sum(2 * number + 1 not in known for (number,) in rows)
    figures = {"rows": len(rows), "missed": missed, "a_second": round(options.rate * options.seconds / took, 1)}
    for kind, times in found["times"].items():  # type: ignore[attr-defined]
        for at, name in enumerate(("wall", "cpu")):
            values = sorted(each[at] for each in times)
            figures[f"{kind}_{name}_p50"] = round(values[len(values) // 2], 1)
            figures[f"{kind}_{name}_p99"] = round(values[int(0.99 * len(values))], 1)
            figures[f"{kind}_{name}_max"] = round(values[-1], 1)
        figures[f"{kind}s"] = len(times)
    figures.update(busy_percent=round(100 * busy, 1), idle_percent=round(100 * idle, 2), rss_mb=round(memory, 1))
    return figures


if __name__ == "__main__":
    main()
