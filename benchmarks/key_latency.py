"""What a key costs the cockpit on a large database: from the key to the last byte of its frame, and its processor time.

The cockpit runs on a pseudo-terminal of 160x45 over PATH (see grown.py). Budget: 16 ms at the median. In the search box
the keys are those of a query, typed fast (no search is begun meanwhile) and slowly (a search follows every key).

    python benchmarks/key_latency.py PATH [--keys 60]
"""

from __future__ import annotations

import argparse
import json
import os
import select
import signal
import time

from feed_latency import cpu_seconds, read_until, spawn  # type: ignore[import-not-found]  # beside this file

TYPED = b"coupon rounding test fails " + b"\x7f" * 27
"""A query, and its keys taken back."""
SCREENS = {
    "now": (b"1", {"down": b"j", "up": b"k", "page": b"\x04", "top": b"g", "bottom": b"G"}),
    "episodes": (b"2", {"down": b"j", "up": b"k", "page": b"\x04", "top": b"g"}),
    "context": (b"5", {"down": b"j", "up": b"k", "view": b"v"}),
    "health": (b"8", {"down": b"j", "up": b"k"}),
    "box": (b"6", {"type": TYPED, "type slowly": TYPED}),
    "hits": (b"test\r", {"down": b"j", "up": b"k"}),
}
_SLOW_S = 0.25
"""Between two keys of somebody who types slowly."""
_QUIET_S = 0.03


def frame(fd: int, limit: float = 1.0) -> float:
    """The moment of the last byte before the terminal is quiet."""
    last, end = 0.0, time.perf_counter() + limit
    while time.perf_counter() < end:
        if not select.select([fd], [], [], _QUIET_S if last else limit)[0]:
            break
        os.read(fd, 65_536)
        last = time.perf_counter()
    return last


def measure(pid: int, fd: int, keys: bytes, count: int, rest: float = 0.0) -> dict[str, float]:
    """Median wall time to the end of the frame, and processor time a key, both in milliseconds."""
    waits, before = [], cpu_seconds(pid)
    for number in range(count):
        start = time.perf_counter()
        os.write(fd, keys[(at := number % len(keys)) : at + 1])
        if end := frame(fd):
            waits.append(1000 * (end - start))
        if rest:
            read_until(fd, b"\0never", rest)
    waits.sort()
    cpu = 1000 * (cpu_seconds(pid) - before) / count
    return {"p50_ms": round(waits[len(waits) // 2], 1) if waits else 0.0, "cpu_ms": round(cpu, 1), "frames": len(waits)}


def main() -> None:
    """Print a line for each screen and key."""
    parser = argparse.ArgumentParser()
    parser.add_argument("path")
    parser.add_argument("--keys", type=int, default=60)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    pid, fd = spawn(options.path)
    found = {}
    try:
        read_until(fd, b"\0never", 5)
        for screen, (number, keys) in SCREENS.items():
            os.write(fd, number)
            read_until(fd, b"\0never", 2)
            for name, key in keys.items():
                rest = _SLOW_S if "slowly" in name else 0.0
                found[f"{screen} {name}"] = measure(pid, fd, key, options.keys, rest)
    finally:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
    if options.json:
        print(json.dumps(found))
        return
    for name, figures in found.items():
        print(f"{name:20} " + "  ".join(f"{key} {value:>6}" for key, value in figures.items()))


if __name__ == "__main__":
    main()
