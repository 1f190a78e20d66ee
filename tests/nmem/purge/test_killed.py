"""A purge that is killed anywhere is whole or not begun; the next settling finishes it."""

from __future__ import annotations

import os
import random
import shutil
import sqlite3
import time
from contextlib import closing
from pathlib import Path

import pytest

from nmem.purge import run, trash
from nmem.purge.selection import Selection
from tests.nmem.killing import begun
from tests.nmem.purge.conftest import TOKEN, dumped, holding, settled


def _purge(path: str, window: int) -> None:
    os.environ["NMEM_DB"] = path
    run.purge(path, Selection(texts=(TOKEN,)), time.time_ns() // 1_000_000, window=window)


@pytest.mark.parametrize("window", [0, 60])
def test_killed_at_any_point(planted: str, tmp_path: Path, window: int) -> None:
    """As many moments as it takes, from before it begins to after it has ended."""
    source = Path(planted).parent
    before = dumped(planted)
    dice = random.Random(window)
    seen = set()
    whole = 0.0
    for number in range(5):
        folder = tmp_path / f"copy{number}" / "data"
        shutil.copytree(source, folder)
        path = str(folder / "nmem.db")
        process = begun(__name__, _purge, path, window)
        at = time.monotonic()
        if number:  # the first of them is let end, the second killed at once, before it has begun
            time.sleep(dice.uniform(0.0, whole) if number > 1 else 0.0)
            process.kill()
        process.join()
        whole = whole or time.monotonic() - at
        with closing(sqlite3.connect(path)) as db:
            assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)
            kept = db.execute("SELECT count(*) FROM purges").fetchone()[0]
        seen.add(kept)
        if not kept:
            assert dumped(path) == before
        settled(path)
        if kept:
            assert holding(path) == []
            assert trash.kept(path) == ({1} if window else set())
        else:
            assert trash.kept(path) == set()
            run.purge(path, Selection(texts=(TOKEN,)), 1, window=0)
            assert holding(path) == []
        shutil.rmtree(folder)
    assert seen == {0, 1}
