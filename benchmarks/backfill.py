"""How fast history is labelled, and how long a hook would wait meanwhile: `python benchmarks/backfill.py [--rows N]`.

Makes a database of a million observations (or copies the one of --db), labels all of it in processes as the command
does, and beside it writes a row every 20 ms with a hook's patience.
"""

from __future__ import annotations

import argparse
import os
import resource
import shutil
import sqlite3
import tempfile
import threading
import time
from contextlib import closing
from pathlib import Path
from typing import Self

from capture.storage import store
from nmem import tables
from nmem.labels.backfill import Report, Wanted, backfill

PATIENCE = 0.25
"""Seconds that a hook waits for the lock."""
LEAST = 20_000
"""Rows a second that are asked for."""


class Beside:
    """A hook that writes all the time."""

    def __init__(self, path: str) -> None:
        self.path, self.waits, self.lost = path, list[float](), 0
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._write)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()

    def _write(self) -> None:
        with closing(store.connect(self.path, timeout=PATIENCE)) as db:
            while not self._over.wait(0.02):
                begun = time.perf_counter()
                try:
                    with store.transaction(db):
                        store.count(db, "beside")
                except sqlite3.OperationalError:
                    self.lost += 1
                self.waits.append(time.perf_counter() - begun)


def label(path: str, *, everything: bool) -> tuple[Report, Beside]:
    """Label a database with a hook beside it."""
    with closing(store.connect(path, timeout=10)) as db:
        tables.ensure(db)
        with Beside(path) as beside:
            return backfill(db, path, 0, Wanted(everything=everything)), beside


def main() -> None:
    """Measure and print; fail below the rate that is asked for, or when a hook would have given up."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--db", type=Path, help="a database to copy; by default one is made")
    parser.add_argument("--check", action="store_true", help="exit 1 below the rate, or when a hook gave up")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "nmem.db")
        if given.db:
            shutil.copy(given.db, path)
        else:
            from benchmarks.grown import grow

            grow(path, given.rows)
        report, beside = label(path, everything=bool(given.db))
        rate = report.labelled / report.seconds if report.seconds else 0.0
        used = sum(resource.getrusage(who).ru_utime for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
        waits = [wait * 1000 for wait in sorted(beside.waits) or [0.0]]
        print(f"{report.labelled:,} rows in {report.seconds:.1f} s: {rate:,.0f}/s on {os.cpu_count()} cores")
        print(f"processor time {used:.1f} s; load {os.getloadavg()[0]:.1f}")
        print(f"locked for at most {report.longest_ms:.1f} ms")
        print(f"a hook beside it waited {waits[len(waits) // 2]:.1f} ms (median), {waits[-1]:.1f} ms (most)")
        print(f"and gave up {beside.lost} of {len(waits)} times")
    if given.check and (rate < LEAST or beside.lost):
        raise SystemExit(1)


if __name__ == "__main__":
    main()
