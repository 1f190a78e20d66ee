"""A backup taken while others write is one moment of the source, row for row; restoring it loses nothing."""

from __future__ import annotations

import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import pytest

from nmem.backup.restore import restore
from nmem.backup.take import backup
from tests.nmem.backup import hammer
from tests.nmem.backup.conftest import ROOT, after, hammering, rows, whole, written


def test_a_backup_during_writes_is_the_source_at_one_commit(filled: str, tmp_path: Path) -> None:
    seen = []
    with hammering(filled, tmp_path / "hammer", 40) as done:
        for number in range(4):
            before = written(filled)
            made = backup(filled, str(tmp_path / f"backup{number}.db"))
            seen.append(written(made.path))
            assert before <= seen[-1] <= written(filled)
            until = time.monotonic() + 120
            while int(done.read_text()) <= seen[-1] and time.monotonic() < until:
                time.sleep(0.01)  # a busy machine may let the other process stand still
        assert int(done.read_text()) > seen[0]
    assert len(set(seen)) > 1, "nobody wrote meanwhile"
    for number in (0, 3):
        path = tmp_path / f"backup{number}.db"
        whole(path)
        assert rows(path) == rows(after(tmp_path / f"reference{number}.db", seen[number]))


def test_a_backup_does_not_hold_writers_up(filled: str, tmp_path: Path) -> None:
    """While the copy is taken, page by page, commits go through without waiting."""
    waits: list[float] = []
    number = 40

    def meanwhile(_done: int, _all: int) -> None:
        nonlocal number
        begun = time.perf_counter()
        hammer.write(db, number, number + 1)
        waits.append(time.perf_counter() - begun)
        number += 1

    from capture.storage import store

    with closing(store.connect(filled, timeout=0.25)) as db:
        made = backup(filled, str(tmp_path / "b.db"), progress=meanwhile)
    assert waits
    assert written(made.path) == 40 < written(filled) == number


def test_restoring_gives_the_backup_back_and_keeps_what_was_there(filled: str, tmp_path: Path) -> None:
    with hammering(filled, tmp_path / "hammer", 40):
        made = backup(filled, str(tmp_path / "b.db"))
    before = rows(filled)
    done = restore(filled, made.path)
    assert rows(filled) == rows(made.path) == rows(after(tmp_path / "reference.db", written(made.path)))
    assert rows(done.kept) == before
    whole(filled)
    again = restore(filled, done.kept)
    assert rows(filled) == before
    assert rows(again.kept) == rows(made.path)


def test_what_is_written_during_a_restore_is_in_one_of_the_two(filled: str, tmp_path: Path) -> None:
    """Every batch that was committed is in the database that was kept, or in the one that goes on."""
    made = backup(filled, str(tmp_path / "b.db"))
    with hammering(filled, tmp_path / "hammer", 40) as done:
        result = restore(filled, made.path)
        reached = int(done.read_text())
        until = time.monotonic() + 120
        while int(done.read_text()) < reached + 5 and time.monotonic() < until:
            time.sleep(0.01)
    committed = {f"p{number}" for number in range(int((tmp_path / "hammer" / "done").read_text()))}
    found = {key for path in (result.kept, filled) for key in [row[-1] for row in rows(path)["prompts"]]}
    assert committed <= found
    assert {f"p{number}" for number in range(40)} <= {row[-1] for row in rows(filled)["prompts"]}
    whole(filled)
    whole(result.kept)


def test_who_has_the_database_open_sees_the_old_rows_or_the_new_ones(filled: str, tmp_path: Path) -> None:
    """The file stays the same one: a cockpit's connection reads on, and a hook's writes arrive."""
    from capture.storage import store

    made = backup(filled, str(tmp_path / "b.db"))
    with (
        closing(store.connect(filled)) as hook,
        closing(sqlite3.connect(f"file:{filled}?mode=ro", uri=True)) as cockpit,
    ):
        hammer.write(hook, 40, 50)
        seen = {cockpit.execute("SELECT count(*) FROM prompts").fetchone()[0]}
        version = cockpit.execute("PRAGMA data_version").fetchone()
        inode = Path(filled).stat().st_ino

        def look(_done: int, _all: int) -> None:
            seen.add(cockpit.execute("SELECT count(*) FROM prompts").fetchone()[0])

        restore(filled, made.path, progress=look)
        look(0, 0)
        assert seen == {50, 40}
        assert cockpit.execute("PRAGMA data_version").fetchone() != version
        assert Path(filled).stat().st_ino == inode
        hammer.write(hook, 40, 41)
        assert cockpit.execute("SELECT count(*) FROM prompts").fetchone() == (41,)
    whole(filled)


def test_a_restore_that_is_broken_off_changes_nothing(filled: str, tmp_path: Path) -> None:
    made = backup(filled, str(tmp_path / "b.db"))
    with closing(sqlite3.connect(filled)) as db:
        db.execute("DELETE FROM observations")
        db.commit()
    before = rows(filled)

    def stop(done: int, _all: int) -> None:
        if done > 20:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        restore(filled, made.path, progress=stop)
    assert rows(filled) == before
    whole(filled)
    restore(filled, made.path)
    assert rows(filled) == rows(made.path)


KILLED = """
import os, signal, sys
from nmem.backup.restore import restore
def look(done, _):
    if done >= int(sys.argv[3]):
        os.kill(os.getpid(), signal.SIGKILL)
restore(sys.argv[1], sys.argv[2], progress=look)
"""


@pytest.mark.parametrize("pages", [1, 60, 120])
def test_a_restore_that_is_killed_leaves_the_old_rows_or_the_new_ones(filled: str, tmp_path: Path, pages: int) -> None:
    made = backup(filled, str(tmp_path / "b.db"))
    with closing(sqlite3.connect(filled)) as db:
        db.execute("DELETE FROM observations")
        db.commit()
    before = rows(filled)
    words = [sys.executable, "-c", KILLED, filled, made.path, str(pages)]
    done = subprocess.run(words, cwd=ROOT, timeout=300, capture_output=True)
    assert done.returncode == -signal.SIGKILL, done.stderr
    assert rows(filled) in (before, rows(made.path))
    whole(filled)
    restore(filled, made.path)
    assert rows(filled) == rows(made.path)
