"""Copies in the clear: gone when the process that made them is, found by a purge, and never passed over in silence."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from click.testing import CliRunner

from nmem.commands.main import nmem
from nmem.doctor.checks import storage
from nmem.doctor.examine import fix_database
from nmem.purge import files, run
from nmem.purge.selection import Selection
from nmem.settle import settle
from tests.nmem.conftest import Recorded
from tests.nmem.purge.conftest import holding

WORD = "quokkabird99"


@pytest.fixture
def said(record: Recorded, db_path: str) -> str:
    record.begin("s1").user(f"please say {WORD}")
    return db_path


@pytest.fixture(scope="module")
def dead() -> Iterator[int]:
    """The number of a process that was."""
    with subprocess.Popen([sys.executable, "-c", ""]) as process:
        process.wait()
    yield process.pid


def copied(db_path: str, name: str) -> Path:
    path = Path(db_path).parent / name
    path.parent.mkdir(parents=True, exist_ok=True)
    with closing(sqlite3.connect(db_path)) as db, closing(sqlite3.connect(path)) as other:
        db.backup(other)
    return path


LEFT = ("audit-{}-x1y2.db", ".nmem-scratch-{}-x1/copy.db", ".nmem.db.{}.tmp", "backups/.nmem-1.db.{}.tmp",
        "backups/.nmem-scratch-{}-x1/copy.db")  # fmt: skip


@pytest.mark.parametrize("by", ["settle", "doctor", "purge"])
def test_what_a_killed_process_left_goes(said: str, dead: int, by: str) -> None:
    mine, theirs = ([copied(said, name.format(number)) for name in LEFT] for number in (os.getpid(), dead))
    assert len(mine) == len(theirs) == 5
    wrong = " ".join(finding.evidence for finding in storage.copies() if finding.severity == "wrong")
    assert all(name.format(dead).removesuffix("/copy.db") in wrong for name in LEFT), wrong
    if by == "settle":
        assert settle(said, 600, models=False) is not None
    elif by == "doctor":
        assert any("killed process" in line for line in fix_database(said))
    else:
        done = run.purge(said, Selection(texts=(WORD,)), 1, window=0)
        assert all(any(str(path) in one for one in (*done.left, *done.stays)) for path in mine)
    assert [path.exists() for path in mine + theirs] == [True] * 5 + [False] * 5
    assert storage.copies() == []


def test_without_a_number_its_age_tells(said: str) -> None:
    old, new = copied(said, "audit-abc.db"), copied(said, "audit-abd.db")
    os.utime(old, (1, 1))
    assert files.clear(said) == [old.name]
    assert new.exists()


def test_backups_of_any_name_are_found(said: str) -> None:
    names = ("backups/damaged-20260101-120000.db", "backups/mine.db", "backups/of somebody")
    paths = sorted(str(copied(said, name)) for name in names)
    done = run.purge(said, Selection(texts=(WORD,)), 1, window=0)
    assert sorted(done.stays) == paths
    done = run.purge(said, Selection(texts=(WORD,)), 2, window=0, backups=True)
    assert sorted(done.backups) == paths
    assert holding(said, (WORD,)) == []


def test_a_copy_of_a_persons_own_is_named(said: str) -> None:
    path = copied(said, "before the big change.db")
    done = CliRunner().invoke(nmem, ["purge", "--text", WORD, "--now", "--backups", "--yes"])
    assert done.exit_code == 1
    assert f"copies remain in: {path}" in str(done.exception)
    assert path.exists()


@pytest.mark.parametrize("option", ["--id", "--session", "--project", "--file", "--text", "--regex", "--before"])
@pytest.mark.parametrize("value", ["", "  "])
def test_an_empty_selector_is_a_mistake(said: str, option: str, value: str) -> None:
    done = CliRunner().invoke(nmem, ["purge", option, value, "--yes"])
    assert done.exit_code == 2
    assert f"{option} is empty" in done.output
