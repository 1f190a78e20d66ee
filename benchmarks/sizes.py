"""Every figure at several sizes of memory, in one run: `python -m benchmarks`.

The databases are made by benchmarks/lived.py and kept in a folder; what is measured runs on copies of them. Nothing of
the person's own is read: a home of its own, the product installed into a folder of its own, compiled.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path

from benchmarks import first_frame, hook_cost, key_latency, reads, search
from benchmarks.figures import Run, commit, machine
from benchmarks.lived import live
from capture.storage import store
from nmem import tables
from nmem.retrieval import index

SIZES = (10_000, 100_000, 1_000_000, 3_000_000)
SCREENS = ("now", "episodes", "learnings", "search", "sessions")
"""Where keys are pressed: each has a long list over what grows."""
KEYS = {"key cursor": "every cursor", "key page": "every page", "key end": "every end", "key switch": "every switch",
        "key filter": "every filter"}  # fmt: skip
Say = Callable[[str], None]


def database(folder: Path, size: int, say: Say) -> Path:
    """The database of this size, made where it is not there."""
    path = folder / f"lived-{size}.db"
    if not path.exists():
        say(f"making {path.name}")
        unfinished = path.with_suffix(".part")
        for each in folder.glob(f"{unfinished.name}*"):
            each.unlink()
        live(str(unfinished), size)
        unfinished.replace(path)
    return path


@contextmanager
def apart(folder: Path) -> Iterator[Path]:
    """A folder beside the databases, a home in it, the product installed in it; the environment is put back after."""
    kept = dict(os.environ)
    with tempfile.TemporaryDirectory(dir=folder, prefix="run-", ignore_cleanup_errors=True) as name:
        place = Path(name)
        (place / "home").mkdir()
        entry = hook_cost.installed(place / "product")
        os.environ.update(
            HOME=str(place / "home"), PYTHONPATH=str(place / "product"), NMEM_SKIP_SETTLE="1", TEXTUAL_ANIMATIONS="none"
        )
        for word in ("NMEM_DB", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME", "XDG_STATE_HOME"):
            os.environ.pop(word, None)
        try:
            yield entry
        finally:
            os.environ.clear()
            os.environ.update(kept)


def weighed(path: Path) -> tuple[float, float]:
    """Bytes of an observation with all its indexes, and of the whole file a row.

    Indexes are those of the table and its full-text index; the rest of a file is prompts, episodes and what else.
    """
    with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as db:
        count = db.execute("SELECT count(*) FROM observations").fetchone()[0]
        own = db.execute(
            "SELECT sum(pgsize) FROM dbstat WHERE aggregate = 1 AND name IN (SELECT name FROM sqlite_master"
            " WHERE tbl_name = 'observations' OR name LIKE 'observations\\_fts%' ESCAPE '\\')"
        ).fetchone()[0]
    return own / count, path.stat().st_size / count


def copied(path: Path, folder: Path) -> Path:
    """A copy that may be written to, with the tables of today."""
    target = folder / path.name
    shutil.copy(path, target)
    with closing(store.connect(str(target), timeout=10)) as db:
        tables.ensure(db)
        index.keep(db)  # nothing to do but for a database that an earlier version made
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    return target


def measured(folder: Path, sizes: tuple[int, ...], runs: int, say: Say) -> Run:
    """Everything, at every size."""
    folder.mkdir(parents=True, exist_ok=True)
    made = {size: database(folder, size, say) for size in sizes}
    run = Run(commit=commit(), machine=machine())
    with apart(folder) as entry:
        place = entry.parents[2]
        paths = {}
        for size, path in made.items():
            say(f"copying {path.name}")
            paths[size] = copied(path, place)
            own, everything = weighed(path)
            run.add("bytes", size, own)
            run.add("bytes of all", size, everything)
        for part in (_reads, _searches, _frames, _keys):
            begun = time.perf_counter()
            part(run, paths, runs)
            say(f"{part.__name__.strip('_')}: {time.perf_counter() - begun:.0f} s")
        for size, path in paths.items():
            begun = time.perf_counter()
            _hooks(run, entry, size, path, runs)
            say(f"hooks at {size:,}: {time.perf_counter() - begun:.0f} s")
    load = " ".join(f"{each:.1f}" for each in os.getloadavg())
    run.remarks.append(f"Medians of {runs} or more, each beside a control in the same round; load at the end {load}.")
    return run


def _reads(run: Run, paths: Mapping[int, Path], runs: int) -> None:
    for kind, by_size in reads.compared(paths, runs).items():
        for size, (took, ratio) in by_size.items():
            run.add(kind, size, took, took / ratio)


def _searches(run: Run, paths: Mapping[int, Path], runs: int) -> None:
    with closing(sqlite3.connect(max(paths.items())[1])) as db:
        now = int(db.execute("SELECT max(last_at) FROM sessions").fetchone()[0])
    texts = search.lived()
    rounds = max(1, -(-3 * runs // len(texts)))
    named = {str(size): path for size, path in paths.items()}
    for name, (times, cut) in search.compared(named, texts, rounds, now).items():
        run.add("search p50", int(name), search.within(times, 0.5))
        run.add("search p95", int(name), search.within(times, 0.95))
        if cut:
            run.remarks.append(f"At {int(name):,} the time of {cut} of {len(times)} searches was over.")


def _frames(run: Run, paths: Mapping[int, Path], runs: int) -> None:
    programs = {str(size): first_frame.with_data(str(path)) for size, path in paths.items()}
    times = first_frame.compared(programs, runs)
    for size in paths:
        run.add("first frame", size, first_frame.ratio(times[str(size)], times["bare"]))


def _keys(run: Run, paths: Mapping[int, Path], runs: int) -> None:
    """Each kind of key is pressed on several screens: a fifth of the runs on each is enough, two at the least."""
    named = {str(size): str(path) for size, path in paths.items()}
    found = key_latency.compared(named, max(2, runs // len(SCREENS)), screens=SCREENS)
    for name, (rows, memory) in found.items():
        every = key_latency.kinds(rows)
        for key, kind in KEYS.items():
            run.add(key, int(name), statistics.median(every[kind].frame))
        run.add("memory", int(name), memory)


def _hooks(run: Run, entry: Path, size: int, path: Path, runs: int) -> None:
    for event, found in hook_cost.every(entry, path, runs).items():
        run.add(f"hook {event}", size, found["ratio"])
        if found.get("told", runs) < runs:
            run.remarks.append(f"At {size:,} {found['told']} of {runs} hooks of {event} told something in time.")


def say(text: str) -> None:
    """Progress, apart from the figures."""
    print(text, file=sys.stderr, flush=True)
