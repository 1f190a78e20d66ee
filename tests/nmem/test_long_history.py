"""A long real history becomes episodes, stories and learnings at a rate and within a memory nobody notices."""

from __future__ import annotations

import shutil
import time
import tracemalloc
from contextlib import closing
from dataclasses import dataclass
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
from nmem.learn import commands, read, refresh
from nmem.learn.learning import FAILED_COMMAND, OCCURRENCE, OPEN, RECURRING_ERROR, RESOLVED
from nmem.purge import history as history_rules
from nmem.settle import settle
from tests.nmem.real_history import transcripts

pytestmark = pytest.mark.slow
PER_SECOND = 100
"""Prompts a second of processor time: half of what a quiet machine does, for beside others a processor does half."""
MEMORY = 24 << 20
NOW = 1_790_000_000_000


@dataclass(frozen=True)
class History:
    """Real sessions as they were imported."""

    path: str
    sessions: int
    prompts: int


@pytest.fixture(scope="module")
def imported(tmp_path_factory: pytest.TempPathFactory) -> History:
    """All of them in one database, of which each test takes a copy; skipped where there are none."""
    folder, shared = tmp_path_factory.mktemp("long"), Path(__file__).resolve().parents[3] / "shared"
    if not shared.is_dir():
        pytest.skip("../shared is absent: no real material to test on")
    count, path = transcripts(shared, folder / "history"), str(folder / "data" / "nmem.db")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOME", str(folder))
        patch.setenv("NMEM_DB", path)
        with closing(store.connect(path, timeout=5, autocheckpoint=1000)) as db:
            tables.ensure(db)
            history_rules.begin(db, NOW)
            report = Importer(db, workers=0).run(find([folder / "history"], "claude"))
    return History(path, count, report.prompts)


@pytest.fixture
def history(imported: History, db_path: str) -> History:
    """A copy where the test's database is."""
    Path(db_path).parent.mkdir(mode=0o700)
    shutil.copy(imported.path, db_path)
    return imported


def test_many_sessions_are_cut_and_told(history: History, db_path: str) -> None:
    count = history.sessions
    with closing(store.connect(db_path, timeout=5, autocheckpoint=1000)) as db:
        sessions = [row[0] for row in db.execute("SELECT id FROM sessions ORDER BY started_at")]
        assert len(sessions) == count >= 100
        begun = time.process_time()
        teller = Teller(db)
        detect.sessions(db, sessions, db_path)
        detect.close_overdue(db, int(time.time() * 1000), db_path)
        storytelling.tell_all(teller, narrations.untold(db))
        for session_id in narrations.unsummarised(db):
            summary.summarise(db, session_id)
        took = time.process_time() - begun
        storytelling.renew(db, told={unit_id for (unit_id,) in db.execute("SELECT id FROM work_units")})
        assert history.prompts / took >= PER_SECOND
        told = db.execute("SELECT count(*), sum(narrator = 'extractive'), sum(summary = '') FROM work_units").fetchone()
        assert told[0] == told[1] == teller.extractive > count
        assert told[2] == 0
        assert not narrations.untold(db)
        assert db.execute("SELECT count(*) FROM session_summaries").fetchone() == (count,)
        _memory_stays_flat(teller)
    _later_sessions_are_told_better_than_newest_first(db_path, count)


def _memory_stays_flat(teller: Teller) -> None:
    """The heaviest episodes told again: no more is held than one of them takes."""
    heavy = [row[0] for row in teller.db.execute("SELECT id FROM work_units ORDER BY obs_count DESC LIMIT 5")]
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
    assert found["hit_rate"] >= (0.54 if count == 351 else 0.39)
    assert found["hit_rate"] > 1.2 * found["baseline"]["hit_rate"]
    assert found["precision"] >= 0.29
    assert found["precision"] >= 2.5 * found["baseline"]["precision"]
    assert found["tokens"] <= found["baseline"]["tokens"]


def test_they_are_read_for_patterns_in_seconds_and_nothing_of_looking_is_one(history: History, db_path: str) -> None:
    with closing(store.connect(db_path, timeout=10)) as db:
        begun = time.process_time()
        done = refresh.refresh(db, NOW)
        assert time.process_time() - begun < 30
        assert done.sessions > 0.75 * history.sessions
        found = read.learnings(db, NOW, states=(OPEN, RESOLVED))
        assert len(found) >= 10
        for one in found:
            if one.kind not in (FAILED_COMMAND, RECURRING_ERROR):
                continue
            met = [each for each in read.evidence(db, one.id, 200) if each.role == OCCURRENCE]
            assert len({each.session_id for each in met}) == one.sessions
            for each in met:
                assert each.outcome == "failed"
                assert each.command
                is_file = each.command.startswith(("Read ", "Edit ", "Write ", "Grep ", "Glob "))
                assert is_file or not commands.only_looks(each.command) or "cd" in each.excerpt
        assert refresh.refresh(db, NOW).sessions == 0
