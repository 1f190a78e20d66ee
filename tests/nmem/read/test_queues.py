"""What waits for a person's answer."""

from __future__ import annotations

import sqlite3
from pathlib import Path

from nmem.audit import review
from nmem.read.queues import MOST, QUEUES, REDACTIONS, queues


def test_a_database_without_nmem_s_tables_asks_nothing() -> None:
    found = queues(sqlite3.connect(":memory:"), ":memory:", 0)
    assert (found.cards, found.counts) == ({}, {})


def test_each_queue_is_there_and_what_is_not_read_is_counted(db: sqlite3.Connection, tmp_path: Path) -> None:
    for number in range(MOST + 5):
        db.execute(
            "INSERT INTO observations(session_id, at, seq, obs_type, content, dedup_key)"
            " VALUES ('aa11', 1, ?, 'command', ?, ?)",
            (100 + number, f"login [REDACTED:password] {number}", f"secret/{number}"),
        )
    review.draw(db, 5_000, MOST + 5, 1)
    found = queues(db, str(tmp_path / "nmem.db"), 5_000)
    assert set(found.cards) == set(found.counts) == set(QUEUES)
    assert len(found.cards[REDACTIONS]) == MOST
    assert found.counts[REDACTIONS] == review.waiting(db) == MOST + 5
