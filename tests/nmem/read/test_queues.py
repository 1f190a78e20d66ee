"""What waits for a person's answer."""

from __future__ import annotations

import sqlite3
from pathlib import Path

from nmem.audit import review
from nmem.audit.store import unjudged
from nmem.episodes import units
from nmem.episodes.unit import Verdict
from nmem.queues import BOUNDARIES, MOST, QUEUES, REDACTIONS, queues
from nmem.read import episode_store, stories


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
    assert found.counts[REDACTIONS] == unjudged(db) == MOST + 5


def test_of_many_questions_on_boundaries_the_likeliest_of_the_newest_weeks_are_put(
    db: sqlite3.Connection, tmp_path: Path
) -> None:
    week, unit, many = 7 * 24 * 3_600_000, 0, 3 * episode_store.A_WEEK
    for number in range((episode_store.WEEKS + 2) * many):
        said = db.execute(
            "INSERT INTO prompts(session_id, at, source, kind, content, dedup_key)"
            " VALUES ('aa11', ?, 'user', 'prompt', 'and the lamp?', ?)",
            (10_000 + number // many * week + number, str(number)),
        ).lastrowid
        verdict = Verdict(units.CONT, units.REVISED, (number * 7 % many) / 100, "", offered=True)
        unit = unit or units.start(db, said or 0, Verdict(units.NEW, units.FIRST))
        if number:
            units.append(db, said or 0, unit, verdict)
    found = queues(db, str(tmp_path / "nmem.db"), 5_000)
    asked = [card for card in found.cards[BOUNDARIES] if isinstance(card, stories.Offer)]
    assert len(asked) == found.counts[BOUNDARIES] == episode_store.A_WEEK * episode_store.WEEKS
    assert min(each.at for each in asked) >= 2 * week
    assert sorted({each.score or 0.0 for each in asked}) == [
        score / 100 for score in range(many - episode_store.A_WEEK, many)
    ]
