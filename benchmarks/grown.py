"""A database of any size, made quickly: `python benchmarks/grown.py PATH [OBSERVATIONS]`.

The rows are invented, with the lengths and the mixture of real ones; the text index is built once at the end.
"""

from __future__ import annotations

import random
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
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


def words(dice: random.Random, count: int) -> str:
    """So many of them."""
    return " ".join(dice.choices(_WORDS, k=count))


@dataclass(frozen=True)
class Shape:
    """How many there are of what, and when."""

    total: int = 1_000_000
    each: int = EACH
    newest: int = NEWEST
    per_session: int = PER_SESSION
    per_prompt: int = PER_PROMPT


def _observations(shape: Shape, dice: random.Random) -> Iterator[tuple[object, ...]]:
    for number in range(shape.total):
        session, seq = divmod(number, shape.per_session)
        kind = dice.choice(_TYPES)
        path = f"src/{dice.choice(_WORDS)}/{dice.choice(_WORDS)}.py" if kind.startswith("file") else None
        at = shape.newest - (shape.total - number) * shape.each
        yield (f"session-{session}", number // shape.per_prompt + 1, at, seq + 1, kind, "Bash",
               f"toolu_{number:024d}", path, path or words(dice, 30), "ok", f"toolu_{number:024d}")  # fmt: skip


def _parents(db: Connection, shape: Shape, dice: random.Random) -> None:
    db.execute("INSERT INTO projects VALUES (1, 'example.org/team/work', 'work', '/home/u/work', NULL, 0)")
    start = shape.newest - shape.total * shape.each
    each = shape.per_session * shape.each
    db.executemany(
        "INSERT INTO sessions (id, client, project_id, cwd, started_at, last_at, seq)"
        " VALUES (?, 'claude', 1, '/home/u/work', ?, ?, ?)",
        (
            (f"session-{n}", start + n * each, start + (n + 1) * each, shape.per_session)
            for n in range(shape.total // shape.per_session + 1)
        ),
    )
    db.executemany(
        "INSERT INTO prompts VALUES (?, ?, ?, 'user', 'prompt', ?, NULL, NULL, ?)",
        (
            (
                n + 1,
                f"session-{n * shape.per_prompt // shape.per_session}",
                start + n * shape.per_prompt * shape.each,
                words(dice, 25),
                f"p{n}",
            )
            for n in range(shape.total // shape.per_prompt + 1)
        ),
    )


def grow(path: str, total: int = 1_000_000, each: int = EACH) -> None:
    """Make a database with `total` observations at `path`, one every `each` milliseconds."""
    shaped(path, Shape(total, each))


def shaped(path: str, shape: Shape) -> None:
    """Make a database of this shape."""
    dice = random.Random(7)
    db = store.connect(path, autocheckpoint=4000)
    triggers = db.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'").fetchall()
    db.execute("PRAGMA foreign_keys=OFF")
    db.execute("PRAGMA synchronous=OFF")
    with store.transaction(db):
        for name, _ in triggers:
            db.execute(f"DROP TRIGGER {name}")
        _parents(db, shape, dice)
        db.executemany(
            "INSERT INTO observations (session_id, prompt_id, at, seq, obs_type, tool_name, tool_use_id, file_path,"
            " content, outcome, dedup_key) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            _observations(shape, dice),
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
