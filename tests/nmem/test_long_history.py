"""A long real history becomes episodes and stories at a rate and within a memory that a person does not notice."""

from __future__ import annotations

import time
import tracemalloc
from contextlib import closing
from pathlib import Path

import pytest

from capture import paths
from capture.storage import store
from nmem import tables
from nmem.episodes import detect, narrations, storytelling, summary
from nmem.episodes.storytelling import Teller
from nmem.evaluate import context
from nmem.importing.discover import find
from nmem.importing.importer import Importer
from nmem.settle import settle
from tests.nmem.real_history import transcripts

pytestmark = pytest.mark.slow
PER_SECOND = 100
"""Prompts a second of processor time: half of what a quiet machine does, for beside others a processor does half."""
MEMORY = 24 << 20


def test_many_sessions_are_cut_and_told(shared: Path, tmp_path: Path, db_path: str) -> None:
    count = transcripts(shared, tmp_path / "history")
    with closing(store.connect(db_path, timeout=5, autocheckpoint=1000)) as db:
        report = Importer(db, workers=0).run(find([tmp_path / "history"], "claude"))
        tables.ensure(db)
        sessions = [row[0] for row in db.execute("SELECT id FROM sessions ORDER BY started_at")]
        assert len(sessions) == count >= 150
        begun = time.process_time()
        teller = Teller(db)
        detect.sessions(db, sessions, db_path)
        detect.close_overdue(db, int(time.time() * 1000), db_path)
        storytelling.tell_all(teller, narrations.untold(db))
        for session_id in narrations.unsummarised(db):
            summary.summarise(db, session_id)
        took = time.process_time() - begun
        assert report.prompts / took >= PER_SECOND
        told = db.execute("SELECT count(*), sum(narrator = 'extractive'), sum(summary = '') FROM work_units").fetchone()
        assert told[0] == told[1] == teller.extractive > count
        assert told[2] == 0
        assert not narrations.untold(db)
        assert db.execute("SELECT count(*) FROM session_summaries").fetchone() == (count,)
        _memory_stays_flat(teller)
    _later_sessions_are_told_better_than_newest_first(db_path, count)


def _memory_stays_flat(teller: Teller) -> None:
    """The heaviest episodes told again: no more is held than one of them takes."""
    heavy = [row[0] for row in teller.db.execute("SELECT id FROM work_units ORDER BY obs_count DESC LIMIT 25")]
    tracemalloc.start()
    try:
        for unit_id in heavy:
            teller.extract(unit_id, force=True)
        assert tracemalloc.get_traced_memory()[1] < MEMORY
    finally:
        tracemalloc.stop()


def _later_sessions_are_told_better_than_newest_first(path: str, count: int) -> None:
    """Within the baseline's tokens, more is hit, far more precisely."""
    config = Path(paths.config())
    config.parent.mkdir(parents=True, exist_ok=True)
    config.write_text("[retention]\nenabled = false\n")  # all of it is old
    assert settle(path, models=False) is not None
    found = context.evaluate(path)
    assert found["sessions"] > 0.75 * count
    assert found["hit_rate"] >= (0.54 if count == 351 else 0.40)
    assert found["hit_rate"] > 1.2 * found["baseline"]["hit_rate"]
    assert found["precision"] >= 0.3
    assert found["precision"] >= 2.5 * found["baseline"]["precision"]
    assert found["tokens"] <= found["baseline"]["tokens"]
