"""A sweep of a year of history while hooks work: `python benchmarks/sweep.py [--rows N] [--kills N]`.

Makes or reuses the year (benchmarks/year.py), copies it, and measures: a dry run; a sweep alone; a sweep with hooks
beside it, what these took against the same hooks with nobody else, and whether anything went to the spool. `--kills`:
the sweep is killed with -9 at so many random points and started again, until nothing is left to do.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import signal
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from contextlib import closing
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))
from benchmarks.grown import NEWEST  # noqa: E402
from benchmarks.hook_cost import installed, payload, run  # noqa: E402
from benchmarks.year import year  # noqa: E402

LIMIT = 60.0
"""Seconds that a sweep may take."""
_SWEEP = """
import json, resource, sys
sys.path.insert(0, sys.argv[3])
from capture.storage import store
from nmem.retention import sweep
from nmem.retention.policy import Policy
db = store.connect(sys.argv[1], timeout=10, autocheckpoint=1000)
done = sweep.sweep(db, Policy(), int(sys.argv[2]), dry=len(sys.argv) > 4)
used = resource.getrusage(resource.RUSAGE_SELF)
print(json.dumps({"forgotten": done.count, "seconds": done.seconds, "cpu": round(used.ru_utime + used.ru_stime, 1),
                  "longest_lock_ms": done.longest_ms, "skipped": dict(done.skipped), "done": done.done}))
"""


def sweeper(path: Path, *more: str) -> subprocess.Popen[str]:
    """A process that sweeps."""
    words = [sys.executable, "-c", _SWEEP, str(path), str(NEWEST), str(ROOT), *more]
    return subprocess.Popen(words, stdout=subprocess.PIPE, text=True)


def told(process: subprocess.Popen[str]) -> dict[str, object]:
    """What it did."""
    said, _ = process.communicate()
    if process.returncode:
        raise SystemExit(f"the sweep ended with {process.returncode}")
    return dict(json.loads(said))


def fresh(year_db: Path, path: Path) -> Path:
    """A copy of the year."""
    for name in ("", "-wal", "-shm"):
        Path(f"{path}{name}").unlink(missing_ok=True)
    shutil.copy(year_db, path)
    os.sync()
    return path


def hooks(entry: Path, path: Path, beside: subprocess.Popen[str] | None, seconds: float) -> dict[str, float]:
    """Hooks one after the other, a tenth of a second apart, for as long as the sweep runs."""
    words = [sys.executable, "-I", "-S", str(entry), "claude", "PostToolUse", "--db", str(path)]
    took, end, number = [], time.monotonic() + seconds, 0
    while time.monotonic() < end and (beside is None or beside.poll() is None):
        took.append(run(words, payload(number, 4)) * 1000)
        number += 1
        time.sleep(0.1)
    took.sort()
    spooled = len(list((path.parent / "spool").glob("*"))) if (path.parent / "spool").is_dir() else 0
    return {"runs": len(took), "p50_ms": round(statistics.median(took), 1),
            "p95_ms": round(took[int(len(took) * 0.95)], 1), "max_ms": round(took[-1], 1),
            "spooled": spooled}  # fmt: skip


def stored(path: Path) -> dict[str, int]:
    """What there is, and what is told of it."""
    with closing(sqlite3.connect(path)) as db:
        return {
            "there": db.execute("SELECT count(*) FROM observations").fetchone()[0],
            "swept": int(db.execute("SELECT total(observations) FROM swept_sessions").fetchone()[0]),
            "counted": int(db.execute("SELECT total(count) FROM sweep_counts").fetchone()[0]),
        }


def killed(path: Path, times: int, within: float) -> dict[str, object]:
    """Kill the sweep at random points and start it again; in the end nothing may be missing or counted twice."""
    dice = random.Random(3)
    before = stored(path)
    for _ in range(times):
        process = sweeper(path)
        time.sleep(dice.uniform(0.2, within))
        process.send_signal(signal.SIGKILL)
        process.communicate()
        now = stored(path)
        if now["there"] + now["swept"] != before["there"] + before["swept"]:
            raise SystemExit(f"lost: {before} became {now}")
    last = told(sweeper(path))
    again = told(sweeper(path))
    with closing(sqlite3.connect(path)) as db:
        broken = db.execute("PRAGMA foreign_key_check").fetchall()
        whole = db.execute("PRAGMA quick_check(1)").fetchone()[0]
    return {"kills": times, "last": last, "left": again["forgotten"], "foreign_keys": len(broken), "check": whole,
            **stored(path)}  # fmt: skip


def main() -> None:
    """Measure and print; with --check exit 1 where a limit is exceeded."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--db", type=Path, default=Path(tempfile.gettempdir()) / "nmem-bench" / "year.db")
    parser.add_argument("--kills", type=int, default=0)
    parser.add_argument("--alone", action="store_true", help="only the sweep with nobody else")
    parser.add_argument("--check", action="store_true")
    given = parser.parse_args()
    os.environ["NMEM_SKIP_SETTLE"] = "1"
    given.db.parent.mkdir(exist_ok=True)
    if not given.db.exists():
        year(str(given.db), given.rows)
    with tempfile.TemporaryDirectory(dir=given.db.parent) as folder:
        work = Path(folder) / "work.db"
        fresh(given.db, work)
        print(json.dumps({"dry": told(sweeper(work, "dry"))}), flush=True)
        alone = told(sweeper(work))
        print(json.dumps({"alone": alone}), flush=True)
        failed = float(str(alone["seconds"])) > LIMIT
        if given.kills:
            fresh(given.db, work)
            print(json.dumps({"killed": killed(work, given.kills, 4.0)}), flush=True)
        if not given.alone:
            entry = installed(Path(folder) / "installed")
            fresh(given.db, work)
            run([sys.executable, "-I", "-S", str(entry), "claude", "PostToolUse", "--db", str(work)], payload(-1, 4))
            print(json.dumps({"hooks alone": hooks(entry, work, None, 15)}), flush=True)
            process = sweeper(work)
            print(json.dumps({"hooks beside": hooks(entry, work, process, 600)}), flush=True)
            print(json.dumps({"beside hooks": told(process)}), flush=True)
    print(f"limits held: {not failed}")
    if failed and given.check:
        raise SystemExit(1)


if __name__ == "__main__":
    main()
