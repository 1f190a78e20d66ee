"""The cheap figures, as ratios that hold on a busy machine too: what a change must not break unnoticed.

Two small memories, six times apart. A hook costs so many bare interpreters, turn about; reads and searches grow no more
than the limits say, in processor time beside a control. The limits are wide: `python -m benchmarks` has the budgets.
"""

from __future__ import annotations

import os
import sqlite3
import statistics
import sys
import tempfile
from contextlib import closing
from pathlib import Path

from benchmarks import hook_cost, reads, search
from benchmarks.figures import ROOT, Run, commit, machine, markdown, number
from benchmarks.lived import live
from benchmarks.sizes import Say, weighed

SMALL, LARGE = 2_000, 12_000
ROUNDS, HOOKS = 20, 9
HOOK, GREW, BYTES = 4.5, 3.0, 900.0
"""Bare interpreters of a tool call's hook; times from small to large; bytes an observation with its indexes."""
LIMITS = {"hook PostToolUse": HOOK, "read stream": GREW, "read current": GREW, "read context": GREW,
          "search p50": GREW, "bytes": BYTES}  # fmt: skip


def measured(say: Say) -> Run:
    """The figures at both sizes, in a folder that is thrown away."""
    run = Run(commit=commit(), machine=machine())
    with tempfile.TemporaryDirectory() as name:
        paths = {size: Path(name) / f"lived-{size}.db" for size in (SMALL, LARGE)}
        for size, path in paths.items():
            say(f"making {path.name}")
            live(str(path), size)
        run.add("bytes", LARGE, weighed(paths[LARGE])[0])
        for kind, by_size in reads.compared(paths, ROUNDS).items():
            for size, (took, ratio) in by_size.items():
                run.add(kind, size, took, took / ratio)
        _searches(run, paths)
        run.add("hook PostToolUse", LARGE, _hook(paths[LARGE]))
    return run


def _searches(run: Run, paths: dict[int, Path]) -> None:
    with closing(sqlite3.connect(paths[LARGE])) as db:
        now = int(db.execute("SELECT max(last_at) FROM sessions").fetchone()[0])
    named = {str(size): path for size, path in paths.items()}
    for name, (times, _) in search.compared(named, search.lived()[:12], 2, now).items():
        run.add("search p50", int(name), statistics.median(times))


def _hook(path: Path) -> float:
    """The checkout's own hook, not an installed one: compiled by its first run."""
    words = [sys.executable, "-I", "-S", str(ROOT / "nmem" / "entry.py"), "claude", "PostToolUse", "--db", str(path)]
    before, os.environ["NMEM_SKIP_SETTLE"] = os.environ.get("NMEM_SKIP_SETTLE"), "1"
    try:
        pairs = []
        for turn in range(HOOKS + 2):
            floor = hook_cost.run(hook_cost.BARE, b"")
            pairs.append(hook_cost.run(words, hook_cost.payload(turn, 4)) / floor)
    finally:
        if before is None:
            del os.environ["NMEM_SKIP_SETTLE"]
        else:
            os.environ["NMEM_SKIP_SETTLE"] = before
    return statistics.median(pairs[2:])


def held(run: Run) -> dict[str, tuple[float, float]]:
    """Figure and limit by key: growth where there are two sizes, the value where there is one."""
    found: dict[str, tuple[float, float]] = {}
    for key, limit in LIMITS.items():
        grown = run.growth(key)
        value = next(iter(run.figures[key].values())).value
        found[key] = (value if grown is None else grown, limit)
    return found


def missed(run: Run) -> list[str]:
    """The keys of what is over its limit."""
    return [key for key, (value, limit) in held(run).items() if value > limit]


def says(run: Run) -> str:
    """A table of figures and limits."""
    what = {one.key: one.what for one in run.measured()}
    rows = [
        [
            f"{what[key]}{', growth' if len(run.figures[key]) > 1 else ''}",
            f"{'**!** ' * (value > limit)}{number(value)}",
            number(limit),
        ]
        for key, (value, limit) in held(run).items()
    ]
    return markdown(["gate", "measured", "limit"], rows, 2)
