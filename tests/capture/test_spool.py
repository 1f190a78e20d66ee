"""Batches that wait for a database that could not be written."""

from __future__ import annotations

import json
import os
import sqlite3
import stat
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from capture import paths, settle
from capture.event import Batch, Observation, Project
from capture.seal import Sealed, seal
from capture.storage import spool, store
from capture.storage.rows import write

NOW = 1_760_000_000_000
Rows = Callable[[str], list[Any]]


@pytest.fixture(autouse=True)
def own_temp(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    temp = tmp_path / "temp"
    temp.mkdir()
    monkeypatch.setenv("TMPDIR", str(temp))
    return temp


def batch(key: str, content: str = "make") -> Sealed:
    made = Batch("claude", "s", NOW, "/srv/work")
    made.project = Project("/srv/work", "work", "/srv/work")
    made.observations.append(Observation(NOW, "command", content, dedup_key=key))
    return seal(made)


def test_what_waits_is_stored_once_by_the_next(db_path: str, rows: Rows) -> None:
    assert all(spool.put(db_path, batch(f"k{n}", f"make ü {n}")) for n in range(3))
    assert spool.waiting(db_path) == 3
    db = store.connect(db_path)
    assert spool.drain(db, db_path) == 3
    assert spool.drain(db, db_path) == 0
    db.close()
    assert rows("SELECT content FROM observations") == ["make ü 0", "make ü 1", "make ü 2"]
    assert rows("SELECT name, value FROM counters ORDER BY name") == [("drained", 3)]
    assert spool.waiting(db_path) == 0


def test_however_slow_a_machine_is_some_of_what_waits_is_stored(db_path: str) -> None:
    for number in range(30):
        spool.put(db_path, batch(f"k{number}"))
    db = store.connect(db_path)
    assert spool.drain(db, db_path, most=25, seconds=1e-9) == 20
    assert spool.waiting(db_path) == 10
    db.close()


def test_the_spool_is_for_its_owner_only(db_path: str) -> None:
    spool.put(db_path, batch("k"))
    folder = Path(spool.folders(db_path)[0])
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert [stat.S_IMODE(file.stat().st_mode) for file in folder.iterdir()] == [0o600]


def test_a_bounded_drain_leaves_the_rest(db_path: str) -> None:
    for number in range(30):
        spool.put(db_path, batch(f"k{number}"))
    db = store.connect(db_path)
    assert spool.drain(db, db_path, most=20) == 20
    assert spool.waiting(db_path) == 10
    assert spool.drain(db, db_path, most=20) == 10
    db.close()


@pytest.mark.parametrize("torn", [b"", b'{"client": "cl', b"\xff\xfe", b"[]", b"{}", b'{"client": 1}', b"null"])
def test_a_torn_file_is_set_aside_and_blocks_nobody(db_path: str, rows: Rows, torn: bytes) -> None:
    spool.put(db_path, batch("k"))
    folder = Path(spool.folders(db_path)[0])
    (folder / "0-torn.json").write_bytes(torn)
    db = store.connect(db_path)
    assert spool.drain(db, db_path) == 1
    db.close()
    assert rows("SELECT dedup_key FROM observations") == ["k"]
    assert [file.name for file in (folder / "torn").iterdir()] == ["0-torn.json"]
    assert spool.waiting(db_path) == 0


def test_a_batch_that_the_tables_refuse_is_set_aside(db_path: str, rows: Rows) -> None:
    refused = batch("bad")
    refused.batch.observations[0].outcome = "excellent"
    spool.put(db_path, refused)
    spool.put(db_path, batch("good"))
    db = store.connect(db_path)
    spool.drain(db, db_path)
    db.close()
    assert rows("SELECT dedup_key FROM observations") == ["good"]
    assert spool.waiting(db_path) == 0


def test_files_of_killed_hooks_are_removed_when_old(db_path: str) -> None:
    spool.put(db_path, batch("k"))
    folder = Path(spool.folders(db_path)[0])
    old, new = folder / ".1.json.tmp", folder / ".2.json.tmp"
    old.touch()
    new.touch()
    os.utime(old, (time.time() - 7200, time.time() - 7200))
    db = store.connect(db_path)
    spool.drain(db, db_path)
    db.close()
    assert not old.exists()
    assert new.exists()


def test_the_temporary_folder_is_the_last_resort(db_path: str, rows: Rows, own_temp: Path) -> None:
    data = Path(db_path).parent
    data.mkdir(parents=True)
    (data / "spool").write_text("a file where the folder should be")
    assert spool.put(db_path, batch("k"))
    last = Path(spool.folders(db_path)[1])
    assert own_temp in last.parents
    assert stat.S_IMODE(last.stat().st_mode) == 0o700
    db = store.connect(db_path)
    assert spool.drain(db, db_path) == 1
    db.close()
    assert rows("SELECT dedup_key FROM observations") == ["k"]


def test_a_folder_that_others_may_write_is_no_last_resort(db_path: str) -> None:
    data = Path(db_path).parent
    data.mkdir(parents=True)
    (data / "spool").write_text("a file")
    last = Path(spool.folders(db_path)[1])
    last.mkdir(parents=True)
    last.chmod(0o777)
    (last / "0-planted.json").write_text(json.dumps(batch("planted").to_dict()))
    assert not spool.put(db_path, batch("k"))
    db = store.connect(db_path)
    assert spool.drain(db, db_path) == 0
    db.close()


def test_counts_kept_aside_reach_the_database(db_path: str, rows: Rows) -> None:
    for name in ("lost", "errors", "lost"):
        spool.tally(db_path, name)
    db = store.connect(db_path)
    spool.drain(db, db_path)
    spool.drain(db, db_path)
    db.close()
    assert rows("SELECT name, value FROM counters ORDER BY name") == [("errors", 1), ("lost", 2)]


def test_counts_that_met_a_busy_database_are_added_up_by_the_next(db_path: str, rows: Rows) -> None:
    holder = store.connect(db_path)
    spool.tally(db_path, "lost")
    holder.execute("BEGIN IMMEDIATE")
    for _ in range(3):
        db = store.connect(db_path, timeout=0.02)
        with pytest.raises(sqlite3.OperationalError):
            spool.drain(db, db_path)
        db.close()
        spool.tally(db_path, "lost")
    assert paths.waits(paths.spool(db_path))
    holder.execute("ROLLBACK")
    Path(paths.spool(db_path), "counts.77").write_text("errors\nlost\n")  # of a process that was killed
    spool.drain(holder, db_path)
    holder.close()
    assert rows("SELECT name, value FROM counters ORDER BY name") == [("errors", 1), ("lost", 5)]
    assert not paths.waits(paths.spool(db_path)), "else each hook looks again, for ever"
    assert list(Path(paths.spool(db_path)).iterdir()) == []


def test_counts_that_the_database_refuses_are_kept(db_path: str) -> None:
    db = store.connect(db_path)
    spool.tally(db_path, "lost")
    spool.tally(db_path, "errors")
    db.execute(
        "CREATE TRIGGER full BEFORE INSERT ON counters WHEN new.name = 'lost' BEGIN SELECT RAISE(FAIL, 'full'); END"
    )
    with pytest.raises(sqlite3.Error):
        spool.drain(db, db_path)
    assert db.execute("SELECT * FROM counters").fetchall() == []
    db.execute("DROP TRIGGER full")
    spool.drain(db, db_path)
    assert db.execute("SELECT name, value FROM counters ORDER BY name").fetchall() == [("errors", 1), ("lost", 1)]
    db.close()


def test_counts_are_added_up_once_however_many_do_it(db_path: str, rows: Rows) -> None:
    store.connect(db_path).close()
    for _ in range(200):
        spool.tally(db_path, "lost")

    def work() -> None:
        db = store.connect(db_path, timeout=120)
        for _ in range(20):
            spool.drain(db, db_path)
            spool.tally(db_path, "lost")
        db.close()

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    db = store.connect(db_path)
    spool.drain(db, db_path)
    db.close()
    assert rows("SELECT value FROM counters") == [280]


def test_who_looks_for_what_waits_agrees_with_who_brings_it_in(db_path: str) -> None:
    folder = Path(paths.spool(db_path))
    folder.mkdir(parents=True, mode=0o700)
    (folder / "torn").mkdir()
    (folder / ".1-2.json.5.tmp").write_text("half a file of a process that was killed")
    assert (paths.waits(str(folder)), spool.waiting(db_path)) == (False, 0)
    spool.put(db_path, batch("k"))
    assert (paths.waits(str(folder)), spool.waiting(db_path)) == (True, 1)


def test_nothing_leaves_the_spool_while_the_database_is_locked(db_path: str) -> None:
    spool.put(db_path, batch("k"))
    holder = store.connect(db_path)
    holder.execute("BEGIN IMMEDIATE")
    db = store.connect(db_path, timeout=0.02)
    with pytest.raises(sqlite3.OperationalError):
        spool.drain(db, db_path)
    holder.execute("ROLLBACK")
    assert spool.waiting(db_path) == 1
    assert spool.drain(db, db_path) == 1
    db.close()
    holder.close()


def test_settling_stores_what_waits_and_folds_the_log(db_path: str, rows: Rows) -> None:
    db = store.connect(db_path)
    write(db, batch("a"))
    db.close()
    for number in range(120):
        spool.put(db_path, batch(f"k{number}"))
    assert settle.settle(db_path) == 120
    assert rows("SELECT count(*) FROM observations") == [121]
    wal = Path(db_path + "-wal")
    assert not wal.exists() or wal.stat().st_size == 0


def test_only_one_settles_at_a_time(db_path: str) -> None:
    fcntl = pytest.importorskip("fcntl")
    store.connect(db_path).close()
    lock = Path(db_path).parent / "settle.lock"
    with lock.open("w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        assert settle.settle(db_path) == -1
    assert settle.settle(db_path) == 0, "the lock of a process that is gone does not hold"


def test_a_lock_while_what_waits_is_stored_is_no_error_and_what_follows_still_happens(db_path: str) -> None:
    from capture import hook
    from capture.event import Event

    assert spool.put(db_path, batch("k"))
    db, other = store.connect(db_path, timeout=0.01), store.connect(db_path)
    told: list[str] = []

    def listener(_db: object, event: Event, _path: str) -> tuple[bool, str]:
        told.append(event.kind)
        return False, ""

    with store.transaction(other):
        hook._afterwards(db, db_path, Event("claude", "prompt", "s", NOW), listener)
    assert told == ["prompt"]
    assert spool.waiting(db_path) == 1
    hook._afterwards(db, db_path, None, None)
    assert spool.waiting(db_path) == 0
    db.close()
    other.close()
