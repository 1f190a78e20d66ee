"""From a commit in the database to the row on the terminal, and what the cockpit costs while nothing happens.

The cockpit runs on a pseudo-terminal of 160x45 and watches a transcript, a folder of decisions and the config; this
process commits rows through the store, each with a word of its own, and waits until the word comes out of the terminal.
Budgets: 95th percentile 100 ms, idle under 1 % of a core.

    python benchmarks/feed_latency.py [--commits 100] [--idle 20]
"""

from __future__ import annotations

import argparse
import fcntl
import json
import os
import pty
import random
import select
import signal
import struct
import sys
import tempfile
import termios
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))
from capture.event import OK, Batch, Observation, Project  # noqa: E402
from capture.seal import seal  # noqa: E402
from capture.storage import rows, store  # noqa: E402


def commit(path: str, word: str, number: int) -> float:
    """Store one row; the moment of its commit."""
    db = store.connect(path)
    root = str(Path(path).with_name("project"))
    batch = Batch("claude", "bench", int(time.time() * 1000), root)
    batch.project = Project("bench", "bench", root, branch="main")
    batch.session["transcript_path"] = str(Path(path).with_name("transcript.jsonl"))
    row = Observation(batch.at, "command", f"echo {word}", dedup_key=f"k{number}")
    row.outcome = OK
    batch.observations.append(row)
    rows.write(db, seal(batch))
    at = time.perf_counter()
    db.close()
    return at


def spawn(path: str) -> tuple[int, int]:
    """The cockpit on a terminal of its own."""
    pid, fd = pty.fork()
    if pid == 0:
        os.environ.update(TERM="xterm-256color", COLORTERM="truecolor")
        os.chdir(tempfile.gettempdir())
        os.execv(sys.executable, [sys.executable, "-m", "nmem", "tui", "--db", path])
    fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack("HHHH", 45, 160, 0, 0))
    return pid, fd


def read_until(fd: int, word: bytes, limit: float) -> float | None:
    """The moment at which the word came out, or None."""
    seen, end = b"", time.perf_counter() + limit
    while (left := end - time.perf_counter()) > 0:
        if select.select([fd], [], [], left)[0]:
            seen += os.read(fd, 65_536)
            if word in seen:
                return time.perf_counter()
    return None


def cpu_seconds(pid: int) -> float:
    """User and system time of a process."""
    with Path(f"/proc/{pid}/stat").open() as file:
        fields = file.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def main() -> None:
    """Print percentiles and the idle share."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--commits", type=int, default=100)
    parser.add_argument("--idle", type=float, default=20)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    path = str(Path(tempfile.mkdtemp()) / "nmem.db")
    Path(path).with_name("project").joinpath("docs", "adr").mkdir(parents=True)
    Path(path).with_name("transcript.jsonl").touch()
    commit(path, "first", 0)
    pid, fd = spawn(path)
    try:
        read_until(fd, b"first", 20)
        read_until(fd, b"\0never", 4)
        waits = []
        for number in range(1, options.commits + 1):
            word = f"zq{number:04d}x"
            at = commit(path, word, number)
            shown = read_until(fd, word.encode(), 5)
            waits.append(1000 * (shown - at) if shown else 5000.0)
            read_until(fd, b"\0never", random.uniform(0.15, 0.45))
        read_until(fd, b"\0never", 5)
        before = cpu_seconds(pid)
        read_until(fd, b"\0never", options.idle)
        idle = (cpu_seconds(pid) - before) / options.idle
    finally:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
    waits.sort()
    figures = {
        "p50_ms": round(waits[len(waits) // 2]), "p95_ms": round(waits[int(0.95 * len(waits))]),
        "max_ms": round(waits[-1]), "idle_percent": round(100 * idle, 2), "commits": len(waits),
    }  # fmt: skip
    print(json.dumps(figures) if options.json else "\n".join(f"{name:14} {value}" for name, value in figures.items()))


if __name__ == "__main__":
    main()
