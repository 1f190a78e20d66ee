"""What a hook costs, as ratios to the bare interpreter: `python benchmarks/hook_cost.py [--rows N] [--runs N]`.

`--event UserPromptSubmit` and `--event Stop` measure these in a session of 200 prompts with their episodes;
`--event FirstPrompt` and `--event SessionStart` in new sessions of a project of 20,000 episodes, told something;
`--event PostToolUseFailure` and `--event PreToolUse` in a project of 40 learnings, answered (`--silent`: not answered).

Installs the wheel into a temporary folder (compiled), makes or reuses a database of a million observations, and
alternates `python -I -S -c pass` with the registered command; figures are medians of the pairs' ratios. `--cpu` counts
processor time and not the clock: on a machine that others use, too, the clock tells of them.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import closing
from importlib.util import find_spec
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))
from capture.hook import WAL_LIMIT  # noqa: E402

LIMITS = {4: 3.0, 64: 6.0}
"""Kilobytes of payload -> the highest ratio allowed."""
TELLING = 4.0
"""The highest ratio of a hook that tells a session something."""
LONG_SESSION = 3.0
"""The highest ratio of a prompt or a turn's end in a session of 200 prompts."""
MEMORY = 25_000
"""Kilobytes that a hook may occupy at its peak."""
TOLD: list[int] = []
"""Bytes that each run printed."""
BY_CPU: list[bool] = []
"""Not empty: processor time is counted."""
BARE = [sys.executable, "-I", "-S", "-c", "pass"]
"""What ratios are to."""
PEAKS = 5
"""Runs in which it is measured."""
_LINE = "tests/parser/test_window.py::test_budget_{0} PASSED  [{0:3d}%] in src/layout/render.py, took 0.{0:03d} s\n"


def installed(folder: Path) -> Path:
    """Install the checkout into a folder, compiled and with its packs as `nmem init` does; return the entry file."""
    words = ["-m", "pip", "install", "-q", "--no-deps", "--compile", "--target", str(folder)]
    if find_spec("hatchling"):  # else pip fetches it, apart
        words.append("--no-build-isolation")
    subprocess.run([sys.executable, *words, str(ROOT)], check=True, stdout=subprocess.DEVNULL)
    packed = [sys.executable, "-c", "import nmem.packs as p; p.make() or exit('no packs')"]
    subprocess.run(packed, check=True, cwd=folder, env={**os.environ, "PYTHONPATH": str(folder)})
    return folder / "nmem" / "entry.py"


def payload(number: int, kilobytes: int, tool: str = "Bash") -> bytes:
    """A tool result of about this size, as Claude Code sends it."""
    lines: list[str] = []
    while sum(map(len, lines)) < kilobytes * 1024 - 700:
        lines.append(_LINE.format(len(lines) % 100))
    output = "".join(lines)
    given = {"command": f"python -m pytest -q tests/parser -k budget_{number}", "description": "Run the parser's tests"}
    response: dict[str, object] = {"stdout": output, "stderr": "", "interrupted": False, "isImage": False}
    if tool == "Read":
        given = {"file_path": f"{ROOT}/src/layout/render_{number}.py"}
        response = {"type": "text", "file": {"filePath": given["file_path"], "content": output, "numLines": len(lines)}}
    return json.dumps(
        {
            "session_id": "session-77", "transcript_path": "/home/u/.claude/projects/work/session-77.jsonl",
            "cwd": str(ROOT), "permission_mode": "default", "hook_event_name": "PostToolUse", "tool_name": tool,
            "tool_input": given, "tool_response": response, "tool_use_id": f"toolu_bench_{time.time_ns()}_{number}",
            "duration_ms": 812,
        }
    ).encode()  # fmt: skip


def run(words: list[str], given: bytes, *, tells: bool = False) -> float:
    """Seconds that one process took; it says nothing unless it `tells`."""
    before = time.perf_counter()
    child = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert child.stdin
    child.stdin.write(given)
    child.stdin.close()
    _, status, used = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    seconds = used.ru_utime + used.ru_stime if BY_CPU else time.perf_counter() - before
    assert child.stdout
    assert child.stderr
    said = child.stdout.read()
    noise = child.stderr.read() + (b"" if tells else said)
    child.stdout.close()
    child.stderr.close()
    TOLD.append(len(said))
    if child.returncode or noise:
        raise SystemExit(f"{words[-2:]} ended with {child.returncode}: {noise.decode()[:400]}")
    return seconds


def peak(words: list[str], given: bytes) -> int:
    """Peak memory of one process in kilobytes; a small one starts it, for a child inherits the peak of its parent."""
    watch = (
        "import os, sys; child = os.posix_spawn(sys.argv[1], sys.argv[1:], os.environ);"
        " print('\\n', os.wait4(child, 0)[2].ru_maxrss)"
    )
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", watch, *words], input=given, capture_output=True, check=True
    )
    return int(done.stdout.split()[-1])  # what the hook tells its session comes before


def fold(path: Path) -> None:
    """What the background does between two hooks of a session: keep the write-ahead log small."""
    log = Path(f"{path}-wal")
    if log.exists() and log.stat().st_size > WAL_LIMIT:
        with closing(sqlite3.connect(path)) as db:
            db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()


def compare(
    floor: list[str],
    words: list[str],
    given: list[bytes],
    before: Callable[[int], None] | None = None,
    *,
    tells: bool = False,
) -> dict[str, float]:
    """Alternate the two commands: the pairs' median ratio and 95th percentile, the ratio of the lowest, the memory.

    The last of the inputs are for the memory alone.
    """
    pairs, peaks, floors, hooks = [], [], [], []
    for number, one in enumerate(given):
        if before is not None:
            before(number)
        fold(Path(words[-1]))
        if number >= len(given) - PEAKS:
            peaks.append(peak(words, one))
            continue
        floors.append(run(floor, b""))
        hooks.append(run(words, one, tells=tells))
        pairs.append(hooks[-1] / floors[-1])
    pairs.sort()
    return {
        "ratio": round(statistics.median(pairs), 2), "p95": round(pairs[int(len(pairs) * 0.95)], 2),
        "lowest": round(min(hooks) / min(floors), 2), "floor_ms": round(statistics.median(floors) * 1000, 1),
        "hook_ms": round(statistics.median(hooks) * 1000, 1), "peak_kb": max(peaks),
    }  # fmt: skip


def database(path: Path, rows: int) -> Path:
    """The grown database, made if it is not there."""
    if not path.exists():
        subprocess.run([sys.executable, str(ROOT / "benchmarks/grown.py"), str(path), str(rows)], check=True,
                       env={**os.environ, "PYTHONPATH": str(ROOT)})  # fmt: skip
    return path


def prompt(number: int) -> bytes:
    """What a person says, as Claude Code sends it."""
    from benchmarks.long_session import SESSION, words

    dice = random.Random(time.time_ns())
    said = words(dice, (4, 15, 45)[number % 3])
    return json.dumps({"session_id": SESSION, "cwd": str(ROOT), "hook_event_name": "UserPromptSubmit",
                       "permission_mode": "default", "prompt": said}).encode()  # fmt: skip


def turn_end(number: int) -> bytes:
    """The end of a turn, with what the agent said last."""
    from benchmarks.long_session import SESSION, words

    said = words(random.Random(time.time_ns() + number), 80)
    return json.dumps({"session_id": SESSION, "cwd": str(ROOT), "hook_event_name": "Stop", "stop_hook_active": False,
                       "last_assistant_message": said}).encode()  # fmt: skip


def long_session(python: list[str], path: Path, event: str, runs: int) -> dict[str, float]:
    """The cost of an event in a long session; before each turn's end the turn is made, unmeasured."""
    from benchmarks.long_session import SESSION, add

    add(path)
    os.environ["NMEM_SKIP_SETTLE"] = "1"  # settling beside the hooks takes the second processor and the lock
    tail = ["--db", str(path)]

    def turn(number: int) -> None:
        run([*python, "claude", "UserPromptSubmit", *tail], prompt(number))
        for call in range(6):
            given = payload(1000 * number + call, 2, ("Bash", "Read")[call % 2]).replace(
                b"session-77", SESSION.encode()
            )
            run([*python, "claude", "PostToolUse", *tail], given)

    made, before = (prompt, None) if event == "UserPromptSubmit" else (turn_end, turn)
    run([*python, "claude", event, *tail], made(0))
    return compare(BARE, [*python, "claude", event, *tail],
                   [made(number) for number in range(runs + PEAKS)], before)  # fmt: skip


def checkout(folder: Path) -> Path:
    """A folder that looks like a checkout of a branch: a session that starts there goes on with what was done on it."""
    (folder / ".git").mkdir(parents=True, exist_ok=True)
    (folder / ".git" / "HEAD").write_text("ref: refs/heads/feature/parser\n")
    return folder


def beginning(python: list[str], path: Path, event: str, runs: int) -> dict[str, float]:
    """The cost of an event in sessions that have just begun, and how many are told something; each is a new one."""
    from benchmarks.context_cost import WORDS, add, said, vocabulary
    from capture.project import resolve
    from capture.storage import store
    from nmem.retrieval import index

    add(path)
    with closing(store.connect(str(path), timeout=10)) as db:
        folder = checkout(path.parent / "work")
        project = resolve(str(folder))
        db.execute("DELETE FROM project_folders WHERE folder = ?", (str(folder),))
        db.execute("UPDATE projects SET key = ?, root = ? WHERE id = 1", (project.key, project.root))
        db.execute("UPDATE sessions SET branch = ? WHERE project_id = 1", (project.branch,))
        paths = [row[0] for row in db.execute("SELECT path FROM context_files ORDER BY file LIMIT 2000")]
        goals = [row[0] for row in db.execute("SELECT intent FROM work_units WHERE outcomes != '' LIMIT 2000")]
        index.keep(db)
    for name in paths:  # a file that is gone is not told
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).touch()
    dice = random.Random(time.time_ns())
    mark, some = time.time_ns(), vocabulary(random.Random(11))
    assert len(some) == WORDS

    def made(number: int) -> bytes:
        given = {
            "session_id": f"new-{mark}-{number}",
            "cwd": str(folder),
            "hook_event_name": "UserPromptSubmit",
            "permission_mode": "default",
            "prompt": f"{dice.choice(goals)} {said(dice, some, (4, 30, 480)[number % 3])} {dice.choice(paths)}",
        }
        if event == "SessionStart":
            given = {**given, "hook_event_name": event, "source": "startup"}
        return json.dumps(given).encode()

    native = "SessionStart" if event == "SessionStart" else "UserPromptSubmit"
    words = [*python, "claude", native, "--db", str(path)]
    os.environ["NMEM_SKIP_SETTLE"] = "1"
    run(words, made(-1), tells=True)
    TOLD.clear()
    found = compare(BARE, words, [made(n) for n in range(runs + PEAKS)], tells=True)
    told = TOLD[1::2]
    forget(path, f"new-{mark}-*")
    return {**found, "told": sum(1 for size in told if size), "told_bytes": int(statistics.median(told))}


def learned(path: Path, folder: Path) -> None:
    """A project of 40 learnings that have a remedy, each met in a dozen places."""
    from capture.project import resolve
    from capture.storage import store
    from nmem import tables

    found = resolve(str(folder))
    remedy = {"kind": "spelling", "text": "`pnpm test` works", "files": [], "commands": ["pnpm test"],
              "observation_ids": [], "confidence": 0.75, "times": 3}  # fmt: skip
    with closing(store.connect(str(path), timeout=10)) as db:
        tables.ensure(db)
        with store.transaction(db):
            db.execute("DELETE FROM project_folders WHERE folder = ?", (str(folder),))
            db.execute("UPDATE projects SET key = ?, root = ? WHERE id = 1", (found.key, found.root))
            db.execute("DELETE FROM learnings WHERE project_id = 1 AND key LIKE '%bench%'")
            session = db.execute("SELECT id FROM sessions WHERE project_id = 1 LIMIT 1").fetchone()[0]
            for number in range(40):
                kind = ("failed_command", "recurring_error")[number % 2]
                key = f"npm run bench{number} | npm: bench" if number else "npm run bench | npm: missing script bench"
                row = (kind, key, json.dumps(remedy))
                made = db.execute(
                    "INSERT INTO learnings (project_id, kind, key, title, first_at, last_at, sessions, occurrences,"
                    " remedy) VALUES (1, ?, ?, '`npm run bench` fails', 1, 2, 3, 3, ?)", row,
                ).lastrowid  # fmt: skip
                word = "".join(chr(97 + int(digit)) for digit in str(number)) if number else "bench"
                for place in range(8):
                    said = f'npm ERR! Missing script: "{word}"' if not place else f"error: no {word} in place {place}"
                    db.execute(
                        "INSERT INTO learning_evidence (learning_id, role, session_id, at, excerpt)"
                        " VALUES (?, 'occurrence', ?, ?, ?)", (made, session, place, said),
                    )  # fmt: skip


def acting(python: list[str], path: Path, event: str, runs: int, *, silent: bool) -> dict[str, float]:
    """The cost of a call that fails, or is about to be made; each in a session of its own, answered unless `silent`."""
    from capture.storage import store

    folder = checkout(path.parent / "acts")
    learned(path, folder)
    mark = time.time_ns()
    now = mark // 1_000_000
    with closing(store.connect(str(path), timeout=10)) as db, store.transaction(db):
        for number in range(-1, runs + PEAKS):
            db.execute(
                "INSERT INTO sessions (id, client, project_id, cwd, started_at, last_at)"
                " VALUES (?, 'claude', 1, ?, ?, ?)", (f"new-{mark}-{number}", str(folder), now, now),
            )  # fmt: skip

    def made(number: int) -> bytes:
        script = "other" if silent else "bench"
        noise = "".join(_LINE.format(line % 100) for line in range(30))
        given: dict[str, object] = {
            "session_id": f"new-{mark}-{number}", "cwd": str(folder), "hook_event_name": event, "tool_name": "Bash",
            "tool_input": {"command": f"npm run {script}"}, "tool_use_id": f"toolu_{mark}_{number}",
        }  # fmt: skip
        if event == "PostToolUseFailure":
            given["error"] = f'Exit code 1\n{noise}npm ERR! Missing script: "{script}"'
        return json.dumps(given).encode()

    words = [*python, "claude", event, "--db", str(path)]
    run(words, made(-1), tells=True)
    TOLD.clear()
    found = compare(BARE, words, [made(n) for n in range(runs + PEAKS)], tells=True)
    told = sum(1 for size in TOLD[1::2] if size)
    forget(path, f"new-{mark}-*")
    return {**found, "told": told}


def every(entry: Path, path: Path, runs: int) -> dict[str, dict[str, float]]:
    """Every event on one database, which is written to: event -> what `compare` says.

    A database that has context (benchmarks/lived.py) keeps its own; another is given that of a large project.
    """
    python = [sys.executable, "-I", "-S", str(entry)]
    found: dict[str, dict[str, float]] = {}
    words = [*python, "claude", "PostToolUse", "--db", str(path)]
    for kilobytes, name in ((4, "PostToolUse"), (64, "PostToolUse 64 KB")):
        run(words, payload(-1, kilobytes))
        found[name] = compare(BARE, words, [payload(number, kilobytes) for number in range(runs + PEAKS)])
    for event in ("PreToolUse", "PostToolUseFailure"):
        found[event] = acting(python, path, event, runs, silent=False)
    for event in ("SessionStart", "FirstPrompt"):
        found[event] = beginning(python, path, event, runs)
    for event in ("UserPromptSubmit", "Stop"):
        found[event] = long_session(python, path, event, runs)
    return found


def forget(path: Path, sessions: str) -> None:
    """Take out the sessions that were made to measure: hundreds of them within minutes would be one line of work."""
    from capture.storage import store
    from nmem.episodes import units

    with closing(store.connect(str(path), timeout=10)) as db, store.transaction(db):
        db.execute("PRAGMA defer_foreign_keys=ON")
        for (session_id,) in db.execute("SELECT id FROM sessions WHERE id GLOB ?", (sessions,)).fetchall():
            units.forget_session(db, session_id)
        for table in ("session_threads", "observations", "prompts"):
            db.execute(f"DELETE FROM {table} WHERE session_id GLOB ?", (sessions,))
        db.execute("DELETE FROM sessions WHERE id GLOB ?", (sessions,))
        db.execute("UPDATE context_projects SET taken = known")  # what went was in no candidate


def main() -> None:
    """Measure, print and fail when a limit is exceeded."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--runs", type=int, default=30)
    parser.add_argument("--db", type=Path, default=Path(tempfile.gettempdir()) / "nmem-bench" / "grown.db")
    parser.add_argument("--entry", type=Path, help="the entry file of an installed nmem; by default it is installed")
    parser.add_argument(
        "--event",
        choices=["PostToolUse", "PostToolUseFailure", "PreToolUse", "UserPromptSubmit", "FirstPrompt", "SessionStart",
                 "Stop"],
        default="PostToolUse",
    )  # fmt: skip
    parser.add_argument("--silent", action="store_true", help="of a call: nothing is known of it")
    parser.add_argument("--cpu", action="store_true", help="count processor time")
    parser.add_argument("--check", action="store_true", help="exit 1 when a ratio or the memory is over its limit")
    given = parser.parse_args()
    BY_CPU.extend([True] * given.cpu)
    given.db.parent.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        entry = given.entry or installed(Path(folder))
        path = database(given.db, given.rows)
        words = [sys.executable, "-I", "-S", str(entry), "claude", "PostToolUse", "--db", str(path)]
        failed = False
        if given.event in ("PostToolUseFailure", "PreToolUse"):
            path = database(path.with_name(f"acts-{path.name}"), given.rows)
            found = acting(words[:-4], path, given.event, given.runs, silent=given.silent)
            limit = LIMITS[4] if given.silent else TELLING
            failed = found["ratio"] > limit or found["peak_kb"] > MEMORY
            print(json.dumps({"event": given.event, "silent": given.silent, "limit": limit, **found}), flush=True)
            LIMITS.clear()
        elif given.event != "PostToolUse":
            telling = given.event in ("FirstPrompt", "SessionStart")
            limit = TELLING if telling else LONG_SESSION
            if telling:  # a database of its own: its project is another
                path = database(path.with_name(f"told-{path.name}"), given.rows)
            found = (beginning if telling else long_session)(words[:-4], path, given.event, given.runs)
            failed = found["ratio"] > limit or found["peak_kb"] > MEMORY
            print(json.dumps({"event": given.event, "limit": limit, **found}), flush=True)
            LIMITS.clear()
        for kilobytes, limit in LIMITS.items():
            for tool in ("Bash", "Read"):
                run(words, payload(-1, kilobytes, tool))
                found = compare(BARE, words, [payload(n, kilobytes, tool) for n in range(given.runs + PEAKS)])
                failed |= found["ratio"] > limit or found["peak_kb"] > MEMORY
                print(json.dumps({"payload_kb": kilobytes, "tool": tool, "limit": limit, **found}), flush=True)
    print(f"limits held: {not failed}")
    if failed and given.check:
        raise SystemExit(1)


if __name__ == "__main__":
    main()
