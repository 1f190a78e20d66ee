"""A migration that is killed, wherever: what it did not finish is as it was, the next one goes on, no row is lost."""

from __future__ import annotations

import random
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from capture.storage import schema as base
from capture.storage import store
from capture.storage.schema import statements
from nmem import tables
from nmem.store import schema
from tests.nmem.test_migrations import ROWS, contents

ROOT = Path(__file__).resolve().parents[2]
CHILD = """
import os, signal, sqlite3, sys

class Killed(sqlite3.Connection):
    left = int(sys.argv[2])
    def execute(self, *given):
        Killed.left -= 1
        if Killed.left < 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return super().execute(*given)

from capture.storage import schema
from nmem import tables
db = sqlite3.connect(sys.argv[1], factory=Killed, isolation_level=None, timeout=120)
schema.migrate(db)
tables.ensure(db)
"""
STEPS = sum(len(statements(script)) + 4 for script in (*base.MIGRATIONS[1:], *schema.MIGRATIONS))
"""Statements of all migrations, with those that begin and end each of them, about."""


def first_version(path: str) -> None:
    """A database as the first nmem made it, with rows."""
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        db.execute("PRAGMA journal_mode = WAL")
        for statement in statements(base.MIGRATIONS[0]):
            db.execute(statement)
        db.execute("PRAGMA user_version = 1")
        for row in ROWS:
            db.execute(row)
        for number in range(200):
            db.execute(
                "INSERT INTO observations (session_id, prompt_id, at, seq, obs_type, content, dedup_key)"
                " VALUES ('s', 1, ?, ?, 'command', ?, ?)",
                (number, number, f"make target {number}", f"o{number}"),
            )


def migrate(path: str, steps: int) -> int:
    """Migrate in another process that dies at a statement; how it ended."""
    done = subprocess.run([sys.executable, "-c", CHILD, path, str(steps)], cwd=ROOT, timeout=300, capture_output=True)
    assert done.returncode in (0, -signal.SIGKILL), done.stderr
    return done.returncode


def held(path: str) -> dict[str, list[tuple[object, ...]]]:
    with closing(sqlite3.connect(path)) as db:
        assert db.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        return contents(db)


def finished(path: str) -> list[tuple[object, ...]]:
    """What the next process makes of it: the shape of the whole."""
    with closing(store.connect(path, timeout=120)) as db:
        tables.ensure(db)
        assert tables.version(db) == tables.VERSION
        assert db.execute("PRAGMA foreign_key_check").fetchall() == []
        shape = "SELECT type, name, tbl_name, sql FROM sqlite_master ORDER BY type, name"
        return list(db.execute(shape).fetchall())


@pytest.fixture(scope="module")
def shape(tmp_path_factory: pytest.TempPathFactory) -> list[tuple[object, ...]]:
    """What a new database looks like."""
    return finished(str(tmp_path_factory.mktemp("fresh") / "nmem.db"))


@pytest.mark.parametrize("seed", range(8))
def test_killed_at_random_points_in_a_row(tmp_path: Path, seed: int, shape: list[tuple[object, ...]]) -> None:
    path = str(tmp_path / "nmem.db")
    first_version(path)
    before = held(path)
    dice = random.Random(seed)
    killed = 0
    for _ in range(4):
        killed += migrate(path, dice.randrange(1, STEPS)) != 0
        after = held(path)
        assert {name: after[name] for name in before} == before
    assert killed
    assert finished(path) == shape
    after = held(path)
    assert {name: after[name] for name in before} == before
    with closing(sqlite3.connect(path)) as db:
        found = db.execute("SELECT count(*) FROM observations_fts WHERE observations_fts MATCH 'target'").fetchone()
        assert found == (200,)


def test_the_last_statement_is_reached(tmp_path: Path) -> None:
    """The points above lie within the migrations, not behind them."""
    path = str(tmp_path / "nmem.db")
    first_version(path)
    assert migrate(path, STEPS // 2) != 0
    assert migrate(path, 10 * STEPS) == 0
