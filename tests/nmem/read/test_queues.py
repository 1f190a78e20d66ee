"""What waits for a person's answer."""

from __future__ import annotations

import sqlite3
from pathlib import Path

from nmem.audit import review
from nmem.audit.store import unjudged
from nmem.episodes import units
from nmem.episodes.unit import Verdict
from nmem.queues import BOUNDARIES, DRAWN, LABELS, LEARNINGS, LINKS, MOST, QUEUES, REDACTIONS, queues, waiting
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


def _link(db: sqlite3.Connection, at: int, score: float, certainty: str = "uncertain", by: str | None = None) -> int:
    """A decision on two threads, of which the later one began then."""
    threads = [
        db.execute("INSERT INTO threads(project_id, created_at, last_at) VALUES (1, ?, ?)", (at, at)).lastrowid
        for _ in range(2)
    ]
    made = db.execute(
        "INSERT INTO episode_links(at, earlier_thread_id, later_thread_id, algorithmic_score, components, decision,"
        " certainty, outcome, outcome_by) VALUES (?, ?, ?, ?, '{}', 'link', ?, ?, ?)",
        (at, *threads, score, certainty, by and "correct", by),
    )
    return made.lastrowid or 0


def test_of_many_doubtful_links_the_likeliest_of_the_newest_weeks_are_put_and_all_that_are_named(
    db: sqlite3.Connection, tmp_path: Path
) -> None:
    week, each, path = 7 * 24 * 3_600_000, episode_store.A_WEEK, str(tmp_path / "nmem.db")
    made: dict[tuple[int, int], int] = {}
    for weeks in range(episode_store.WEEKS + 2):
        for number in range(each + 3):
            made[weeks, number] = _link(
                db, week * (9 + weeks) + number, number / 100, by="files" if number % 2 else None
            )
        _link(db, week * (9 + weeks), 0.9, by="person")
        _link(db, week * (9 + weeks), 0.9, "likely")
    found = queues(db, path, 5_000)
    asked = {card.id for card in found.cards[LINKS] if isinstance(card, episode_store.Link)}
    likeliest = {made[weeks, number] for weeks, number in made if weeks >= 2 and number >= 3}
    assert asked == likeliest
    assert len(asked) == found.counts[LINKS] == waiting(db, path, 5_000) == each * episode_store.WEEKS
    named = queues(db, path, 5_000, links=[made[0, 0], made[5, 0]])
    assert {getattr(card, "id", 0) for card in named.cards[LINKS]} == {made[0, 0], made[5, 0]}


def _learning(db: sqlite3.Connection, key: str, kind: str, state: str, until: int | None = None) -> None:
    db.execute(
        "INSERT INTO learnings(project_id, kind, key, title, first_at, last_at, sessions, occurrences, state, state_at,"
        " state_by, snoozed_until) VALUES (1, ?, ?, 'make fails', 1, 2, 2, 2, ?, 2, 'nmem', ?)",
        (kind, key, state, until),
    )


def test_the_screen_counts_as_many_questions_as_the_review_puts(db: sqlite3.Connection, tmp_path: Path) -> None:
    path, now = str(tmp_path / "nmem.db"), 5_000
    _learning(db, "a", "failed_command", "open")
    _learning(db, "b", "failed_command", "snoozed", now)
    _learning(db, "c", "failed_command", "snoozed", now + 1)
    _learning(db, "d", "failed_command", "dismissed")
    _learning(db, "e", "skill", "open")
    db.execute("UPDATE observations SET label_model = 'rules' WHERE id IN (1, 2, 3)")
    db.execute("UPDATE observations SET label_model = 'rules+novelty' WHERE id = 3")
    found = queues(db, path, now)
    assert (found.counts[LEARNINGS], found.counts[LABELS]) == (2, 2)
    assert waiting(db, path, now) == sum(found.counts.values())
    db.execute("UPDATE observations SET label_model = 'rules'")
    db.execute("UPDATE observations SET phase = 1, scope = 1, locus = 1, novelty = 1, friction = 1 WHERE id = 1")
    assert waiting(db, path, now) == sum(queues(db, path, now).counts.values()) == 10
    assert queues(db, path, now).counts[LABELS] == 8 < DRAWN


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
