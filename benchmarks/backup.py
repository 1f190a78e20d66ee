"""What it costs to keep a long history, put it back, and carry it to another machine: seconds, bytes, peak memory.

    python benchmarks/backup.py [OBSERVATIONS]

While the backup is taken another process commits a row every 20 ms; the longest of these commits is printed. No
language model is asked, nothing is settled.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import closing
from pathlib import Path

from benchmarks.searched import grow
from capture.storage import store
from nmem import tables

NMEM = [sys.executable, "-m", "nmem"]
EVERY = 0.02


def run(what: str, *words: str, db: Path) -> None:
    """Run a command and print what it took."""
    env = {**os.environ, "NMEM_DB": str(db), "NMEM_SKIP_SETTLE": "1", "NMEM_BACKUP_PASSPHRASE": "not a secret"}
    begun = time.perf_counter()
    process = subprocess.Popen([*NMEM, *words], env=env, stdout=subprocess.PIPE, text=True)
    assert process.stdout
    said = process.stdout.read().strip().splitlines()
    _, status, usage = os.wait4(process.pid, 0)
    took = time.perf_counter() - begun
    print(f"{what:42} {took:7.1f} s {usage.ru_maxrss / 1024:6.0f} MB  {said[0][:100] if said else status}", flush=True)


class Writer(threading.Thread):
    """Commits a row now and then, as hooks do; remembers the longest."""

    def __init__(self, path: Path) -> None:
        super().__init__(daemon=True)
        self.path, self.stop, self.waits = path, threading.Event(), [0.0]

    def run(self) -> None:
        with closing(store.connect(str(self.path), timeout=30.0)) as db:
            while not self.stop.wait(EVERY):
                begun = time.perf_counter()
                with store.transaction(db):
                    store.count(db, "written meanwhile")
                self.waits.append(time.perf_counter() - begun)


def during(what: str, *words: str, db: Path) -> None:
    """Run a command beside a writer."""
    writer = Writer(db)
    writer.start()
    run(what, *words, db=db)
    writer.stop.set()
    writer.join()
    waits = sorted(writer.waits)
    p50, p99, longest = (1000 * waits[int(part * (len(waits) - 1))] for part in (0.5, 0.99, 1))
    said = f"{len(waits)}, p50 {p50:.1f} ms, p99 {p99:.1f} ms, longest {longest:.0f} ms"
    print(f"{'  commits meanwhile':42} {said}", flush=True)


def main(total: int) -> None:
    """Measure a history of so many observations."""
    with tempfile.TemporaryDirectory() as name:
        home = Path(name)
        db = home / "one" / "nmem.db"
        with closing(store.connect(str(db))) as new:
            tables.ensure(new)
        grow(str(db), total)
        print(f"{total:,} observations, {db.stat().st_size / 1e6:,.0f} MB", flush=True)
        during("backup", "backup", str(home / "b.db"), db=db)
        run("backup by passphrase", "backup", str(home / "b.age"), "--passphrase", db=db)
        during("restore", "restore", str(home / "b.db"), "--yes", db=db)
        run("export of lines", "export", str(home / "x.jsonl"), db=db)
        run("export of tables", "export", str(home / "x.db"), db=db)
        run("import of tables, new machine", "import", "--from-export", str(home / "x.db"), db=home / "two" / "nmem.db")
        run("the same again", "import", "--from-export", str(home / "x.db"), db=home / "two" / "nmem.db")
        run(
            "import of lines, new machine",
            "import",
            "--from-export",
            str(home / "x.jsonl"),
            db=home / "three" / "nmem.db",
        )


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000)
