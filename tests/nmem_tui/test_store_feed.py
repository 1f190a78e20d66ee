"""The cockpit's watch over its file: deleted, begun anew, damaged, each is told once."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest

from capture.storage import store
from nmem import tables
from nmem_tui.messages import FileChanged, StoreChanged, StoreGone
from nmem_tui.store.feed import Feed


def begun(path: Path) -> None:
    with closing(store.connect(str(path))) as db:
        tables.ensure(db)
        db.execute("INSERT INTO counters VALUES ('drained', 1)")
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()


def test_a_deleted_database_is_noticed_and_so_is_the_next_one(tmp_path: Path) -> None:
    path = tmp_path / "nmem.db"
    begun(path)
    told: list[StoreChanged | StoreGone | FileChanged] = []
    feed = Feed(str(path), told.append)
    feed.every = 3.0  # each poll looks at the file, too
    feed.poll()
    assert isinstance(told.pop(), StoreChanged)
    for ending in ("", "-wal", "-shm"):
        Path(f"{path}{ending}").unlink(missing_ok=True)
    feed.poll()
    feed.poll()
    feed.poll()
    gone = told.pop()
    assert isinstance(gone, StoreGone)
    assert not told, "told once"
    begun(path)
    feed.poll()
    assert isinstance(told.pop(), StoreChanged)
    feed.close()


def test_a_damaged_database_is_told(tmp_path: Path) -> None:
    path = tmp_path / "nmem.db"
    path.write_bytes(b"no database" * 1000)
    told: list[StoreChanged | StoreGone | FileChanged] = []
    feed = Feed(str(path), told.append)
    feed.poll()
    feed.poll()
    assert [type(each) for each in told] == [StoreGone]
    assert "cannot read the database" in str(told[0].reason if isinstance(told[0], StoreGone) else "")


def test_whatever_goes_wrong_is_told_and_tried_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "nmem.db"
    begun(path)
    told: list[StoreChanged | StoreGone | FileChanged] = []
    feed = Feed(str(path), told.append)
    with monkeypatch.context() as broken:
        broken.setattr(feed, "_open", lambda: Path(tmp_path / "gone").stat())
        feed.poll()
        feed.poll()
    assert [type(each) for each in told] == [StoreGone]
    assert "FileNotFoundError" in str(told[0])
    feed.poll()
    assert isinstance(told[-1], StoreChanged)
    feed.close()


def test_a_deleted_database_is_said_with_the_time_and_another_one_is_read(tmp_path: Path) -> None:
    path = tmp_path / "nmem.db"
    begun(path)
    told: list[StoreChanged | StoreGone | FileChanged] = []
    feed = Feed(str(path), told.append, lambda: "13:20")
    feed.poll()
    for ending in ("", "-wal", "-shm"):
        Path(f"{path}{ending}").unlink(missing_ok=True)
    feed.check()
    feed.poll()
    gone = told.pop()
    assert isinstance(gone, StoreGone)
    assert gone.reason.startswith("the database was deleted at 13:20: this view is old")
    assert "nmem restore" in gone.reason
    begun(path)
    feed.poll()
    assert not feed.deleted
    assert [type(each) for each in told] == [StoreChanged, FileChanged, StoreChanged]
    begun(tmp_path / "other.db")
    (tmp_path / "other.db").replace(path)
    feed.check()
    feed.poll()
    assert [type(each) for each in told[3:]] == [FileChanged, StoreChanged]
    feed.close()
