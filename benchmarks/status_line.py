"""What nmem costs a status line: `python benchmarks/status_line.py [--runs N] [--check]`.

Installs the wheel into a temporary folder (compiled) and alternates a bare interpreter, a status line of the person's
own, and the same line beside nmem. The first figure is how much later the line is there, in bare interpreters; the
second what the process apart costs in processor time, in the same unit, while nobody waits for it.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))
from benchmarks.hook_cost import installed  # noqa: E402
from capture.install import status_line  # noqa: E402
from capture.storage import store  # noqa: E402

LIMIT = 3.0
"""Bare interpreters by which a line may be later."""
OWN = "cat >/dev/null; printf '\\033[32mmain\\033[0m 34%%\\n'"


def payload(number: int) -> bytes:
    """A status line's input of the usual size, with figures that are new."""
    usage = {"input_tokens": 900 + number, "cache_creation_input_tokens": 20, "cache_read_input_tokens": 40_000}
    return json.dumps({
        "session_id": "bench", "transcript_path": "/home/u/.claude/projects/x/bench.jsonl", "cwd": "/home/u/x",
        "model": {"id": "claude-opus-5-5", "display_name": "Opus 5.5"}, "version": "2.1.330", "padding": "x" * 1500,
        "cost": {"total_cost_usd": number / 100, "total_duration_ms": 1000 * number},
        "context_window": {"context_window_size": 1_000_000, "current_usage": usage},
    }).encode()  # fmt: skip


def seconds(words: list[str], given: bytes) -> float:
    """Until the process has ended and its output is closed, as the client waits for it."""
    before = time.perf_counter()
    subprocess.run(words, input=given, capture_output=True, check=True)
    return time.perf_counter() - before


def apart(db: str, number: int) -> float:
    """Processor seconds of storing one reading, interpreter start included."""
    words = [sys.executable, "-I", "-S"]
    load = f"import os, sys; sys.path.insert(0, {str(ROOT)!r}); from capture.statusline import store"
    code = f"{load}; store(os.read(0, 9999), {db!r})"
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([*words, "-c", code], input=payload(number), check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def database(path: str) -> None:
    """A database that knows the session."""
    db = store.connect(path)
    db.execute("INSERT INTO projects VALUES (1, 'k', 'n', '/r', NULL, 1)")
    db.execute(
        "INSERT INTO sessions (id, client, project_id, cwd, started_at, last_at)"
        " VALUES ('bench', 'claude', 1, '/r', 1, 1)"
    )
    db.close()


def main() -> None:
    """Measure, print, and fail when the limit is exceeded."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=40)
    parser.add_argument("--check", action="store_true", help="exit 1 when the line is later than allowed")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        entry = installed(Path(folder) / "installed")
        db = os.path.join(folder, "nmem.db")  # noqa: PTH118 - a command's word
        database(db)
        beside = status_line.wrapped(OWN, db).replace(
            str(Path(status_line.file())), str(entry.with_name("statusline.py"))
        )
        bare, later, own = [], [], []
        seconds(["sh", "-c", beside], payload(0))
        for number in range(1, given.runs + 1):
            bare.append(seconds([sys.executable, "-I", "-S", "-c", "pass"], b""))
            own.append(seconds(["sh", "-c", OWN], payload(number)))
            later.append(seconds(["sh", "-c", beside], payload(number)) - own[-1])
            time.sleep(0.15)  # the process apart of one line is not to disturb the next: updates are 300 ms apart
        cpu = [apart(db, number) for number in range(given.runs + 1, given.runs + 11)]
        floor = statistics.median(bare)
        with sqlite3.connect(db) as read:
            last = read.execute("SELECT count(*), max(tokens) FROM status_lines").fetchone()
    ratio = statistics.median(later) / floor
    print(json.dumps({
        "bare_ms": round(floor * 1000, 1), "own_ms": round(statistics.median(own) * 1000, 1),
        "later_ms": round(statistics.median(later) * 1000, 1), "ratio": round(ratio, 2), "limit": LIMIT,
        "p95_ratio": round(sorted(later)[int(len(later) * 0.95)] / floor, 2),
        "apart_cpu_ratio": round(statistics.median(cpu) / floor, 2), "stored": last,
    }))  # fmt: skip
    if given.check and ratio > LIMIT:
        raise SystemExit(1)


if __name__ == "__main__":
    main()
