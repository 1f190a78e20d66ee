"""A database of any size, made quickly: `python benchmarks/grown.py PATH [OBSERVATIONS]`.

The rows are invented, with the lengths and the mixture of real ones; the text index is built once at the end.
"""

from __future__ import annotations

import random
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from sqlite3 import Connection

from capture.storage import store

NEWEST = 1_760_000_000_000
"""The time of the newest row, in milliseconds."""
PER_SESSION = 200
PER_PROMPT = 12
EACH = 9000
"""Milliseconds from one row to the next."""
_TYPES = ("command", "file_read", "file_read", "file_edit", "search", "test", "file_write", "git_other")
_TEXT = """parser socket retry cache index token window render layout query cursor signal worker thread buffer stream
header config schema migrate deploy review failing passes timeout lock commit branch rebase widget palette colour frame
budget ledger invoice payment refund locale summary digest archive backup restore export import filter sorter"""
_WORDS = _TEXT.split()


def _words(dice: random.Random, count: int) -> str:
    return " ".join(dice.choices(_WORDS, k=count))


def _observations(total: int, dice: random.Random, each: int) -> Iterator[tuple[object, ...]]:
    for number in range(total):
        session, seq = divmod(number, PER_SESSION)
        kind = dice.choice(_TYPES)
        path = f"src/{dice.choice(_WORDS)}/{dice.choice(_WORDS)}.py" if kind.startswith("file") else None
        yield (f"session-{session}", number // PER_PROMPT + 1, NEWEST - (total - number) * each, seq + 1, kind, "Bash",
               f"toolu_{number:024d}", path, path or _words(dice, 30), "ok", f"toolu_{number:024d}")  # fmt: skip


def _parents(db: Connection, total: int, dice: random.Random, step: int) -> None:
    db.execute("INSERT INTO projects VALUES (1, 'example.org/team/work', 'work', '/home/u/work', NULL, 0)")
    start = NEWEST - total * step
    each = PER_SESSION * step
    db.executemany(
        "INSERT INTO sessions (id, client, project_id, cwd, started_at, last_at, seq)"
        " VALUES (?, 'claude', 1, '/home/u/work', ?, ?, ?)",
        (
            (f"session-{n}", start + n * each, start + (n + 1) * each, PER_SESSION)
            for n in range(total // PER_SESSION + 1)
        ),
    )
    db.executemany(
        "INSERT INTO prompts VALUES (?, ?, ?, 'user', 'prompt', ?, NULL, NULL, ?)",
        (
            (
                n + 1,
                f"session-{n * PER_PROMPT // PER_SESSION}",
                start + n * PER_PROMPT * step,
                _words(dice, 25),
                f"p{n}",
            )
            for n in range(total // PER_PROMPT + 1)
        ),
    )


def grow(path: str, total: int = 1_000_000, each: int = EACH) -> None:
    """Make a database with `total` observations at `path`, one every `each` milliseconds."""
    dice = random.Random(7)
    db = store.connect(path, autocheckpoint=4000)
    triggers = db.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'").fetchall()
    db.execute("PRAGMA foreign_keys=OFF")
    db.execute("PRAGMA synchronous=OFF")
    with store.transaction(db):
        for name, _ in triggers:
            db.execute(f"DROP TRIGGER {name}")
        _parents(db, total, dice, each)
        db.executemany(
            "INSERT INTO observations (session_id, prompt_id, at, seq, obs_type, tool_name, tool_use_id, file_path,"
            " content, outcome, dedup_key) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            _observations(total, dice, each),
        )
        for index in ("observations_fts", "prompts_fts"):
            db.execute(f"INSERT INTO {index}({index}) VALUES ('rebuild')")
        for _, sql in triggers:
            db.execute(sql)
    db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    db.close()


if __name__ == "__main__":
    before = time.perf_counter()
    grow(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 1_000_000)
    print(f"{Path(sys.argv[1]).stat().st_size / 1e6:.0f} MB in {time.perf_counter() - before:.0f} s")
