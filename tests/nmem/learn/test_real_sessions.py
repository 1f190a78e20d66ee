"""A year of real sessions of several projects, where the material is there."""

from __future__ import annotations

import time
from contextlib import closing
from pathlib import Path

import pytest

from capture.storage import store as base
from nmem import tables
from nmem.importing.discover import find
from nmem.importing.importer import Importer
from nmem.learn import commands, read, refresh
from nmem.learn.learning import FAILED_COMMAND, OCCURRENCE, OPEN, RECURRING_ERROR, RESOLVED
from tests.nmem.real_history import transcripts

NOW = 1_790_000_000_000


@pytest.mark.slow
def test_they_are_read_in_seconds_and_nothing_of_looking_is_a_pattern(shared: Path, tmp_path: Path) -> None:
    count = transcripts(shared, tmp_path / "history")
    with closing(base.connect(str(tmp_path / "n.db"), timeout=10)) as db:
        tables.ensure(db)
        Importer(db).run(list(find([tmp_path / "history"])))
        begun = time.process_time()
        done = refresh.refresh(db, NOW)
        assert time.process_time() - begun < 30
        assert done.sessions > 0.75 * count
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
