"""A process that writes without a pause, and databases compared row for row."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from capture.storage import store
from nmem import tables
from tests.nmem.backup import hammer

ROOT = Path(__file__).resolve().parents[3]
Rows = dict[str, list[tuple[object, ...]]]


def rows(path: str | Path) -> Rows:
    """Every row of every table, but for what only a backup has and the inner tables of text indexes."""
    with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as db:
        found = db.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name").fetchall()
        names = [name for (name,) in found if "_fts" not in name and "search_parts" not in name
                 and not name.startswith(("sqlite_", "nmem_backup"))]  # fmt: skip
        return {name: sorted(db.execute(f"SELECT * FROM {name}").fetchall(), key=repr) for name in names}


def whole(path: str | Path) -> None:
    """Every page, and the text indexes beside their tables."""
    with closing(sqlite3.connect(path)) as db:
        assert db.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        assert db.execute("PRAGMA foreign_key_check").fetchall() == []
        for index in ("observations_fts", "prompts_fts"):
            db.execute(f"INSERT INTO {index}({index}, rank) VALUES ('integrity-check', 1)")
        db.rollback()


def written(path: str | Path) -> int:
    """How many batches of the hammer a database holds."""
    with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as db:
        return int(db.execute("SELECT count(*) FROM prompts").fetchone()[0])


def after(path: Path, number: int) -> Path:
    """A database made anew, in which the first `number` batches are written and nothing else happened."""
    with closing(store.connect(str(path), timeout=120)) as db:
        tables.ensure(db)
        hammer.write(db, 0, number)
    return path


@contextmanager
def hammering(path: str, folder: Path, first: int = 0) -> Iterator[Path]:
    """A process that writes until this is over; its file says how far it is."""
    folder.mkdir(exist_ok=True)
    for name in ("stop", "done"):
        (folder / name).unlink(missing_ok=True)
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    words = [sys.executable, "-m", "tests.nmem.backup.hammer", path, str(first), str(folder)]
    process = subprocess.Popen(words, cwd=ROOT, env=env, stderr=subprocess.PIPE, text=True)
    try:
        until = time.monotonic() + 120
        while not (folder / "done").exists():
            assert process.poll() is None, process.stderr and process.stderr.read()
            assert time.monotonic() < until
            time.sleep(0.01)
        yield folder / "done"
    finally:
        (folder / "stop").touch()
        _, said = process.communicate(timeout=300)
    assert process.returncode == 0, said


@pytest.fixture
def filled(db_path: str) -> str:
    """A database of forty batches."""
    after(Path(db_path), 40)
    return db_path
