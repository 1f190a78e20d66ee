"""How fast a history that was never settled is settled, and what one more turn costs.

    python benchmarks/settle_history.py history FOLDER [CLIENT]     the sessions of a folder of transcripts
    python benchmarks/settle_history.py rows [OBSERVATIONS [SECONDS]]   invented ones (benchmarks/grown.py)
    python benchmarks/settle_history.py turn DATABASE TURNS          a new session settled after each turn, in a copy

The first two take what an import left out of a database of their own and settle it as `nmem settle` does: sessions a
second until the last one is told, of the clock and of all processors together, and what each step took. The third
prints milliseconds of processor time, and those of a run that finds nothing to do. No language model is asked.
"""

from __future__ import annotations

import os
import random
import resource
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from sqlite3 import Connection

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))
from benchmarks.grown import grow, words  # noqa: E402
from capture.labels.model import current  # noqa: E402
from capture.storage import store  # noqa: E402
from nmem import settle, tables  # noqa: E402
from nmem.episodes import annotate, online  # noqa: E402
from nmem.importing.discover import find  # noqa: E402
from nmem.importing.importer import Importer  # noqa: E402
from nmem.themes import keep as themes  # noqa: E402

_BARE = ("UPDATE observations SET phase = NULL, scope = NULL, locus = NULL, novelty = NULL, friction = NULL,"
         " label_model = NULL")  # fmt: skip
_SESSION, _CALLS = "one more", 8
_LARGEST = "SELECT project_id FROM sessions GROUP BY project_id ORDER BY count(*) DESC LIMIT 1"
_EVERYDAY = ("the", "to", "and", "a", "of", "is", "in", "that", "it", "for", "with", "not")


def history(path: str, folder: str, client: str = "claude") -> None:
    """Settle what a folder of transcripts holds."""
    with closing(store.connect(path, timeout=5, autocheckpoint=1000)) as db:
        found = Importer(db, workers=0).run(find([Path(folder)], client))
        tables.ensure(db)
        with store.transaction(db):
            db.execute(_BARE)
    print(f"{found.sessions} sessions, {found.prompts} prompts, {found.observations} observations")
    _settle(path, settle.SECONDS)


def rows(path: str, total: str = "1000000", seconds: str = "900") -> None:
    """Settle invented sessions of 200 observations, for so many seconds at most."""
    grow(path, int(total))
    _settle(path, float(seconds))


def _settle(path: str, seconds: float) -> None:
    steps: dict[str, list[float]] = {}
    for name in ("_labels", "_find", "_episodes", "_stories", "_sessions", "_waiting", "_learn", "all"):
        _time(name, steps)
    done: dict[str, list[tuple[int, int, float, float]]] = {}
    begun, spent = time.perf_counter(), _spent()
    settle.settle(
        path, seconds, models=False,
        step=lambda some, of, what: done.setdefault(what, []).append(
            (some, of, time.perf_counter() - begun, _spent() - spent)
        ),
    )  # fmt: skip
    for name, (clock, spent_here, times) in steps.items():
        print(f"{name.strip('_'):10} {clock:8.2f} s, {spent_here:8.2f} s of this process, {times:.0f} times")
    for what, steps_of in done.items():
        for some, of, clock, spent_so_far in steps_of[:1] + steps_of[-1:]:
            rate = f"{some / clock:.1f} sessions/s, {some / max(spent_so_far, 0.001):.1f} a second of this process"
            print(f"{some} of {of} sessions {what} after {clock:.1f} s: {rate}")
    helpers = resource.getrusage(resource.RUSAGE_CHILDREN)
    print(f"processes beside it: {helpers.ru_utime + helpers.ru_stime:.1f} s; peak {_peak()} MB")


def _time(name: str, steps: dict[str, list[float]]) -> None:
    real: Callable[..., None] | None = getattr(settle._Run, name, None)
    if real is None:
        return

    def timed(run: settle._Run, *some: object) -> None:
        clock, spent = time.perf_counter(), time.process_time()
        try:
            real(run, *some)
        finally:
            kept = steps.setdefault(name, [0.0, 0.0, 0])
            kept[0] += time.perf_counter() - clock
            kept[1] += time.process_time() - spent
            kept[2] += 1

    timed.__name__ = name
    setattr(settle._Run, name, timed)


def _spent() -> float:
    return time.process_time()


def _peak() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024


def turn(path: str, database: str, turns: str = "20") -> None:
    """What settling after each turn of a new session costs a settled database."""
    shutil.copy(database, path)
    with closing(store.connect(path, timeout=5, autocheckpoint=1000)) as db:
        dice, name = random.Random(1), _model(path)
        project = db.execute(_LARGEST).fetchone()[0]
        at = int(time.time() * 1000)
        db.execute("INSERT INTO sessions (id, client, project_id, cwd, started_at, last_at)"
                   " VALUES (?, 'claude', ?, '/w', ?, ?)", (_SESSION, project, at, at))  # fmt: skip
        for _ in range(3):
            settle.settle(path, models=False)
        themes.keep(db)
        busy, idle = [], []
        for _ in range(int(turns)):
            at = _turn(db, path, name, dice, at)
            busy.append(_measured(path, at))
            idle.append(_measured(path, at))
    none = statistics.median(idle)
    print(f"{turns} turns: each costs {statistics.mean(busy) - none:.1f} ms (mean; median"
          f" {statistics.median(busy) - none:.1f}, {max(busy) - none:.1f} at most);"
          f" a run with nothing to do {none:.1f} ms")  # fmt: skip


def _sentences(dice: random.Random, count: int) -> str:
    """So many words as people write them: every other one is an everyday one, a sentence has about twelve."""
    out = []
    for at in range(count):
        out.append(dice.choice(_EVERYDAY) if at % 2 else words(dice, 1))
        out[-1] += "." if at % 12 == 11 else ""
    return " ".join(out)


def _measured(path: str, now: int) -> float:
    begun = time.process_time()
    settle.settle(path, models=False, clock=lambda: now)
    return 1000 * (time.process_time() - begun)


def _model(path: str) -> str:
    model = current(path)
    assert model is not None
    return model.name


def _turn(db: Connection, path: str, model: str, dice: random.Random, at: int) -> int:
    """A prompt, its calls and a closing text, stored and placed as hooks do it; when the next one may come (ms)."""
    seq = db.execute("SELECT seq FROM sessions WHERE id = ?", (_SESSION,)).fetchone()[0]
    said = "INSERT INTO prompts (session_id, at, source, kind, content, dedup_key) VALUES (?, ?, ?, ?, ?, ?)"
    with store.transaction(db):
        prompt = db.execute(said, (_SESSION, at, "user", "prompt", _sentences(dice, 20), f"p{at}")).lastrowid
        for _ in range(_CALLS):
            at, seq = at + 3000, seq + 1
            db.execute(
                "INSERT INTO observations (session_id, prompt_id, at, seq, obs_type, tool_name, content, outcome,"
                " dedup_key, phase, scope, locus, novelty, friction, label_model)"
                " VALUES (?, ?, ?, ?, ?, 'Bash', ?, 'ok', ?, .5, .5, -.5, -.5, -.5, ?)",
                (_SESSION, prompt, at, seq, dice.choice(("command", "test")), f"pytest tests/{words(dice, 1)}",
                 f"o{seq}", model),
            )  # fmt: skip
        at += 2000
        db.execute(said, (_SESSION, at, "agent", "closing", _sentences(dice, 60), f"c{at}"))
        db.execute("UPDATE sessions SET seq = ?, last_at = ?, state = 'waiting' WHERE id = ?", (seq, at, _SESSION))
    online.arrived(db, _SESSION, path)
    online.ended(db, _SESSION, path)
    annotate.update_newest(db, _SESSION)
    return at + 5000


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as home:
        file = str(Path(home) / "nmem.db")
        os.environ["NMEM_DB"] = file
        done: dict[str, Callable[..., None]] = {"history": history, "rows": rows, "turn": turn}
        done[sys.argv[1]](file, *sys.argv[2:])
