"""Corrections that were asked for at once are taken back at once; what stands between and beside them stays."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from capture.storage import store
from nmem import tables
from nmem.context import pins, review_store
from nmem.errors import NmemError
from nmem.store import corrections as log
from nmem.undo import undo

NOW = 1_760_000_000_000


@pytest.fixture
def db(tmp_path: Path) -> sqlite3.Connection:
    """Four threads that can be pinned."""
    made: sqlite3.Connection = store.connect(str(tmp_path / "nmem.db"))
    tables.ensure(made)
    made.execute("INSERT INTO projects VALUES (1, 'example.org/x', 'x', '/x', NULL, 0)")
    for number in range(1, 5):
        made.execute(
            "INSERT INTO threads(id, project_id, title, created_at, last_at) VALUES (?, 1, ?, ?, ?)",
            (number, f"thread {number}", NOW, NOW),
        )
    return made


def test_what_was_asked_for_at_once_is_taken_back_at_once(db: sqlite3.Connection) -> None:
    pins.pin(db, "thread", 1, True, NOW)
    with log.together():
        for number in (2, 3, 4):
            pins.pin(db, "thread", number, True, NOW)
        with pytest.raises(NmemError):
            pins.pin(db, "thread", 99, True, NOW)
    assert review_store.pinned(db, "thread", [1, 2, 3, 4, 99]) == {1, 2, 3, 4}
    assert undo(db, NOW).startswith("3 at once: thread/4 pinned")
    assert review_store.pinned(db, "thread", [1, 2, 3, 4]) == {1}
    assert undo(db, NOW) == "thread/1 pinned"
    with pytest.raises(NmemError, match="nothing to undo"):
        undo(db, NOW)


def test_two_times_together_are_two(db: sqlite3.Connection) -> None:
    for numbers in ((1, 2), (3, 4)):
        with log.together():
            for number in numbers:
                pins.pin(db, "thread", number, True, NOW)
    undo(db, NOW)
    assert review_store.pinned(db, "thread", [1, 2, 3, 4]) == {1, 2}
    pins.pin(db, "thread", 3, True, NOW)
    assert undo(db, NOW) == "thread/3 pinned"
