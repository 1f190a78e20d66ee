"""What selecting context costs a hook: `python benchmarks/context_cost.py [--rows N] [--runs N] [--keep FOLDER]`.

A project of 20,000 episodes (60,000 turns over 7,000 files, words as unequal as real ones) beside a million
observations. Each case is a process of its own, `python -I -S`, over the installed, compiled package; `open` opens
the database, reads the prompt's words and imports what the hook has by then. Ratios are to `python -I -S -c pass` of
the same round, medians over rounds; what selecting adds is the difference.
"""

from __future__ import annotations

import argparse
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from sqlite3 import Connection

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))
from benchmarks.grown import NEWEST  # noqa: E402
from benchmarks.hook_cost import database, installed  # noqa: E402
from capture.storage import store  # noqa: E402
from nmem import tables  # noqa: E402
from nmem.context.fold import Folder, Past, Turn  # noqa: E402

TURNS, FILES, WORDS = 60_000, 7_000, 120_000
PER_EPISODE, PER_SESSION = 3, 9
LIMIT = 1.2
"""What selecting at a prompt may add, in bare interpreters."""
_CASE = """
import gc; gc.disable()
import os, sys
for name in ("capture", "nmem"):
    package = type(sys)(name); package.__path__ = [sys.argv[1] + "/" + name]; sys.modules[name] = package
from capture.compiled import install; install()
import _sqlite3
import capture.event, capture.jsonio, capture.clients.said
from nmem.episodes.text import tokens
case, budget, prompt = sys.argv[3], int(sys.argv[4]), open(sys.argv[5], encoding="utf-8").read()
db = _sqlite3.connect(sys.argv[2], isolation_level=None)
db.execute("SELECT 1 FROM sessions LIMIT 1").fetchall()
tokens(prompt)
text = ""
if case != "open":
    from nmem.context.present import read
    from nmem.context.candidates import select
    from nmem.context.compose import compose
    present = read(db, "session-4000", 1760000000000, prompt if case == "prompt" else "")
    text = compose(select(db, present, budget), present)
os.write(1, str(len(text)).encode())
os._exit(0)
"""


def vocabulary(dice: random.Random) -> list[str]:
    """Words that look like a project's."""
    parts = [a + b for a in "bcdfghklmnprstvw" for b in "aeiou"]
    return ["".join(dice.choices(parts, k=dice.randrange(2, 5))) for _ in range(WORDS)]


def said(dice: random.Random, words: list[str], count: int) -> str:
    """Some words, few of them often; as in any text, one in five is short."""
    short = ("to", "in", "of", "a")
    return " ".join(short[at % 4] if at % 5 == 4 else words[int(WORDS * dice.random() ** 4)] for at in range(count))


def turns(db: Connection, dice: random.Random, words: list[str]) -> Iterator[Turn]:
    """Turns of the prompts that are there, with words and files of a project that large."""
    rows = db.execute("SELECT id, session_id FROM prompts ORDER BY at, id LIMIT ?", (TURNS,)).fetchall()
    for at, (number, _) in enumerate(rows):
        turn = Turn(f"s{at // PER_SESSION}", number, at, said(dice, words, dice.choice((8, 30, 90))), at)
        turn.said.append(said(dice, words, 120))
        turn.edited = [_file(dice, words) for _ in range(dice.randrange(4))]
        turn.read = [_file(dice, words) for _ in range(dice.randrange(5))]
        yield turn


def _file(dice: random.Random, words: list[str]) -> str:
    number = int(FILES * dice.random() ** 2)
    return f"src/{words[number % 97]}/{words[number]}_{words[number * 3]}.py"


def add(path: Path) -> None:
    """Put the candidates and episodes of a large project into a grown database, unless they are there."""
    db = store.connect(str(path), timeout=10)
    tables.ensure(db)
    if not db.execute("SELECT 1 FROM context_turns LIMIT 1").fetchone():
        dice = random.Random(11)
        words = vocabulary(dice)
        db.execute("PRAGMA foreign_keys=OFF")
        db.execute("BEGIN")
        folder = Folder(db, 1, "work")
        branches = [said(dice, words, 2).replace(" ", "-") for _ in range(300)]
        for at, turn in enumerate(turns(db, dice, words)):
            folder.turn(turn, Past(turn.session_id, branches[at // PER_SESSION % 300], at, [], waiting=False))
            if at % PER_EPISODE == 0:
                _episode(db, at // PER_EPISODE + 1, turn, said(dice, words, 20))
            db.execute(
                "INSERT INTO unit_prompts (prompt_id, unit_id, label, decided_by) VALUES (?, ?, 'new', 'first')",
                (turn.prompt_id, at // PER_EPISODE + 1),
            )
        folder.close()
        db.execute("COMMIT")
    db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    db.close()


def _episode(db: Connection, number: int, turn: Turn, text: str) -> None:
    session = db.execute("SELECT session_id FROM prompts WHERE id = ?", (turn.prompt_id,)).fetchone()[0]
    db.execute(
        "INSERT INTO work_units (id, session_id, first_prompt_id, last_prompt_id, started_at, last_at, state, intent,"
        " summary, learned, completed, next_steps, outcomes)"
        " VALUES (?, ?, ?, ?, ?, ?, 'closed', ?, ?, ?, ?, ?, '{\"tests\":\"passed\",\"committed\":1}')",
        (number, session, turn.prompt_id, turn.prompt_id, NEWEST - 1, NEWEST - 1, text, text + ".", f'["{text}"]',
         f'["{text}"]', f'["{text}"]'),
    )  # fmt: skip


def measured(package: Path, path: Path, folder: Path, runs: int) -> dict[str, tuple[float, float]]:
    """Case -> (median ratio to the bare interpreter, median milliseconds)."""
    dice = random.Random(5)
    words = vocabulary(random.Random(11))
    short, long = folder / "short.txt", folder / "long.txt"
    short.write_text(said(dice, words, 12) + f" {_file(dice, words)}", "utf-8")
    long.write_text(said(dice, words, 500) + f" {_file(dice, words)}", "utf-8")
    script = folder / "case.py"
    script.write_text(_CASE, "utf-8")

    def command(case: str, budget: int, prompt: Path) -> list[str]:
        return [sys.executable, "-I", "-S", str(script), str(package), str(path), case, str(budget), str(prompt)]

    cases = {
        "bare": [sys.executable, "-I", "-S", "-c", "pass"],
        "open": command("open", 0, short), "open, 4 KB": command("open", 0, long),
        "start": command("start", 1500, short),
        "prompt": command("prompt", 400, short), "prompt, 4 KB": command("prompt", 400, long),
    }  # fmt: skip
    times: dict[str, list[float]] = {name: [] for name in cases}
    for number in range(runs + 3):
        for name in dice.sample(list(cases), len(cases)):
            before = time.perf_counter()
            done = subprocess.run(cases[name], check=True, capture_output=True)
            if number >= 3:
                times[name].append(time.perf_counter() - before)
            if name.startswith("prompt"):
                assert int(done.stdout) > 0, "something is selected"
    return {
        name: (
            statistics.median(each / bare for each, bare in zip(times[name], times["bare"], strict=True)),
            statistics.median(times[name]) * 1000,
        )
        for name in cases
    }


def main() -> None:
    """Print the ratios; exit code 1 when selecting at a prompt adds more than it may."""
    parser = argparse.ArgumentParser(description="What selecting context costs a hook.")
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--runs", type=int, default=30)
    parser.add_argument("--keep", type=Path, help="Where the database is made, or found.")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        path = database((given.keep or folder) / f"grown-{given.rows}.db", given.rows)
        add(path)
        package = installed(folder / "package").parent.parent
        found = measured(package, path, folder, given.runs)
    for name, (ratio, ms) in found.items():
        print(f"{name:14s} {ratio:5.2f} x  {ms:6.1f} ms")
    added = {
        "start": found["start"][0] - found["open"][0],
        "prompt": found["prompt"][0] - found["open"][0],
        "prompt, 4 KB": found["prompt, 4 KB"][0] - found["open, 4 KB"][0],
    }
    print("selecting adds " + ", ".join(f"{name} {ratio:.2f}" for name, ratio in added.items()))
    sys.exit(max(added.values()) > LIMIT)


if __name__ == "__main__":
    main()
