"""A purge reaches every byte of every file, and an undo puts every row back as it was."""

from __future__ import annotations

import sqlite3
import time
from contextlib import closing
from pathlib import Path

import pytest

from capture.storage import store
from nmem import tables
from nmem.purge import run, trash
from nmem.purge.selection import Selection
from nmem.undo import undo
from tests.nmem.purge.conftest import TOKEN, Dump, dumped, holding, settled

NOW = time.time_ns() // 1_000_000


def undone(db_path: str, now: int = NOW) -> str:
    with closing(store.connect(db_path, timeout=5)) as db:
        tables.ensure(db)
        return undo(db, now)


def recounted(db_path: str) -> None:
    """The vocabulary counts upwards as texts come in; counted anew it is a function of the rows."""
    with closing(store.connect(db_path, timeout=5)) as db:
        db.execute("UPDATE search_state SET done = 1 WHERE source = 'stale'")
    settled(db_path)


def differences(before: Dump, after: Dump) -> dict[str, object]:
    return {
        name: (set(map(repr, before[name])) ^ set(map(repr, after.get(name, [])))) for name in before
        if before[name] != after.get(name)
    }  # fmt: skip


def test_the_token_is_everywhere_before(planted: str) -> None:
    assert {"nmem.db", "nmem.log", "spool/torn/1.json", "tasks/1-1/prompt"} <= {*holding(planted)}


def test_a_text_is_nowhere_afterwards(planted: str) -> None:
    done = run.purge(planted, Selection(texts=(TOKEN.lower(),)), NOW, window=0)
    assert (done.left, done.clean) == ((), True)
    assert holding(planted) == []
    settled(planted)
    assert holding(planted) == []
    with closing(sqlite3.connect(planted)) as db:
        assert db.execute("PRAGMA foreign_key_check").fetchall() == []
        assert db.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        assert db.execute("SELECT count(*) FROM sessions").fetchone() == (3,)
        assert db.execute("SELECT content FROM prompts WHERE content LIKE '%readme of%'").fetchall()
    dumped(planted)


def test_inside_the_window_no_file_holds_it_either(planted: str) -> None:
    run.purge(planted, Selection(texts=(TOKEN,)), NOW)
    assert holding(planted) == []
    assert [one.stat().st_mode & 0o777 for one in trash.folder(planted).iterdir()] == [0o600, 0o600]


@pytest.mark.parametrize("settle_between", [False, True])
def test_an_undo_restores_every_row(planted: str, settle_between: bool) -> None:
    recounted(planted)
    before = dumped(planted)
    files = {
        name: Path(planted).parent.joinpath(name).read_bytes() for name in ("spool/torn/1.json", "tasks/1-1/prompt")
    }
    run.purge(planted, Selection(texts=(TOKEN,)), NOW)
    if settle_between:
        settled(planted)
    undone(planted)
    settled(planted)
    assert differences(before, dumped(planted)) == {}
    assert {name: Path(planted).parent.joinpath(name).read_bytes() for name in files} == files


def test_backups_stay_unless_they_are_asked_for(planted: str) -> None:
    folder = Path(planted).parent / "backups"
    folder.mkdir()
    with closing(sqlite3.connect(planted)) as db, closing(sqlite3.connect(folder / "nmem-20260101-120000.db")) as other:
        db.backup(other)
    (folder / "nmem-20260103-120000.db.age").write_bytes(b"age-encryption.org/v1 sealed")
    (folder / "nmem-20260104-120000.db").write_bytes(b"SQLite format 3, nothing of it")
    (folder / "of a person.txt").write_text("stays", "utf-8")
    run.purge(planted, Selection(texts=(TOKEN,)), NOW)
    assert holding(planted) == ["backups/nmem-20260101-120000.db"]
    undone(planted)
    done = run.purge(planted, Selection(texts=(TOKEN,)), NOW, backups=True)
    assert len(done.backups) == 2
    assert holding(planted) == []
    assert sorted(path.name for path in folder.iterdir()) == ["nmem-20260104-120000.db", "of a person.txt"]
