"""An id that a person may have noted names one row, for good: also when that row was the newest and is gone."""

from __future__ import annotations

import os
import re
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from capture.event import Batch, Observation, Prompt
from capture.seal import seal
from capture.storage import rows, schema, store

NOW = 1_760_000_000_000
ROOT = Path(__file__).parents[2]
TABLES = ("prompts", "observations")
_DIES = """
import os, sqlite3, sys
from capture.storage import schema
db = sqlite3.connect(sys.argv[1], isolation_level=None)
done = 0
def told(statement):
    global done
    done += 1
    if done > int(sys.argv[2]):
        os._exit(9)
db.set_trace_callback(told)
schema.migrate(db)
os._exit(0)
"""


@pytest.fixture
def db(db_path: str) -> Iterator[sqlite3.Connection]:
    with closing(store.connect(db_path)) as connection:
        yield connection


def write(db: sqlite3.Connection, number: int) -> None:
    """A prompt and a call of their own."""
    batch = Batch("claude", "s", NOW + number * 60_000, "/srv/work")
    batch.prompts = [Prompt(batch.at, "user", "prompt", f"do {number}", dedup_key=f"p{number}.{number}")]
    seen = Observation(batch.at + 1, "command", f"make {number}", dedup_key=f"k{number}")
    batch.observations = [seen]
    rows.write(db, seal(batch))


def newest(db: sqlite3.Connection) -> tuple[int, int]:
    return tuple(db.execute(f"SELECT max(id) FROM {table}").fetchone()[0] for table in TABLES)


def at_version(path: str, version: int, rows: int) -> None:
    """A database as it was at an earlier version, with rows as that version wrote them."""
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        db.execute("PRAGMA journal_mode=WAL")
        for script in schema.MIGRATIONS[:version]:
            for statement in schema.statements(script):
                db.execute(statement)
        db.execute(f"PRAGMA user_version = {version}")
        db.execute("INSERT INTO projects VALUES (1, 'k', 'work', '/srv/work', NULL, 1)")
        db.execute("INSERT INTO sessions (id, client, project_id, cwd, started_at, last_at)"
                   " VALUES ('s', 'claude', 1, '/srv/work', 1, 9)")  # fmt: skip
        for number in range(rows):
            old_write(db, number)


def old_write(db: sqlite3.Connection, number: int) -> None:
    """As versions before the fourth wrote: SQLite chose the id."""
    db.execute("INSERT INTO prompts (session_id, at, source, kind, content, dedup_key)"
               " VALUES ('s', ?, 'user', 'prompt', 'old', ?)", (number, f"old{number}"))  # fmt: skip
    db.execute("INSERT INTO observations (session_id, at, seq, obs_type, content, dedup_key)"
               " VALUES ('s', ?, ?, 'command', 'old', ?)", (number, number, f"old{number}"))  # fmt: skip


def test_the_id_of_a_deleted_newest_row_is_nobody_elses(db: sqlite3.Connection) -> None:
    for number in range(3):
        write(db, number)
    assert newest(db) == (3, 3)
    db.execute("DELETE FROM observations WHERE id = 3")
    db.execute("DELETE FROM prompts WHERE id = 3")
    write(db, 3)
    assert newest(db) == (4, 4)


def test_no_id_comes_back_when_everything_is_deleted(db: sqlite3.Connection) -> None:
    for number in range(3):
        write(db, number)
    db.execute("DELETE FROM observations")
    db.execute("DELETE FROM prompts")
    write(db, 3)
    assert newest(db) == (4, 4)


def test_older_rows_that_go_leave_no_further_gap(db: sqlite3.Connection) -> None:
    for number in range(3):
        write(db, number)
    db.execute("DELETE FROM observations WHERE id = 1")
    write(db, 3)
    assert newest(db) == (4, 4)


def test_a_row_that_is_put_back_finds_its_id_free(db: sqlite3.Connection) -> None:
    for number in range(3):
        write(db, number)
    row = db.execute("SELECT * FROM prompts WHERE id = 3").fetchone()
    db.execute("UPDATE observations SET prompt_id = NULL")
    db.execute("DELETE FROM prompts WHERE id = 3")
    write(db, 3)
    db.execute(f"INSERT INTO prompts VALUES ({','.join('?' * len(row))})", row)
    write(db, 4)
    assert [number for (number,) in db.execute("SELECT id FROM prompts ORDER BY id")] == [1, 2, 3, 4, 5]


def test_nobody_but_the_store_gives_ids() -> None:
    inserts = re.compile(r"INSERT[ A-Z]* INTO (prompts|observations)\b")
    found = {
        f"{path.relative_to(ROOT)}: {match}"
        for package in ("capture", "nmem")
        for path in (ROOT / package).rglob("*.py")
        for match in inserts.findall(path.read_text())
    }
    # what puts deleted rows back names their own ids, and is listed here by its author
    assert found == {"capture/storage/rows.py: prompts", "capture/storage/rows.py: observations"}


@pytest.mark.parametrize("version", range(1, store.VERSION))
def test_a_database_of_every_earlier_version_keeps_its_ids_from_now_on(db_path: str, version: int) -> None:
    at_version(db_path, version, 3)
    with closing(store.connect(db_path)) as db:
        assert newest(db) == (3, 3)
        db.execute("DELETE FROM observations WHERE id = 3")
        db.execute("DELETE FROM prompts WHERE id = 3")
        write(db, 9)
        assert newest(db) == (4, 4)
        assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        for table in TABLES:
            db.execute(f"INSERT INTO {table}_fts({table}_fts, rank) VALUES ('integrity-check', 1)")
        shape = "SELECT type, name, tbl_name, sql FROM sqlite_master ORDER BY type, name"
        with closing(store.connect(f"{db_path}.fresh")) as fresh:
            assert db.execute(shape).fetchall() == fresh.execute(shape).fetchall()


@pytest.mark.parametrize("statements", range(10))
def test_a_migration_that_is_killed_has_happened_wholly_or_not_at_all(db_path: str, statements: int) -> None:
    at_version(db_path, 3, 2)
    code = subprocess.run(
        [sys.executable, "-c", _DIES, db_path, str(statements)],
        check=False,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    ).returncode
    assert code == (0 if statements == 9 else 9), "of these nine statements each is the last one once"
    with closing(sqlite3.connect(db_path)) as db:
        version = db.execute("PRAGMA user_version").fetchone()[0]
        tables = [name for (name,) in db.execute("SELECT name FROM sqlite_master WHERE name LIKE '%gone%' ORDER BY 1")]
    assert (version, "gone_ids" in tables) in ((3, False), (4, True))
    with closing(store.connect(db_path)) as db:
        write(db, 9)
        assert newest(db) == (3, 3)
        assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)


def test_who_reads_and_writes_meanwhile_goes_on(db_path: str) -> None:
    at_version(db_path, 3, 5)
    with closing(sqlite3.connect(db_path, isolation_level=None)) as reader, closing(
        sqlite3.connect(db_path, isolation_level=None)
    ) as writer:  # fmt: skip
        reader.execute("BEGIN")
        rows = reader.execute("SELECT id FROM observations ORDER BY id")
        assert rows.fetchone() == (1,)
        old_write(writer, 5)  # its statements are prepared by the old schema now
        with closing(store.connect(db_path)):
            assert [number for (number,) in rows] == [2, 3, 4, 5]
            reader.execute("COMMIT")
            old_write(writer, 6)
            writer.execute("DELETE FROM prompts WHERE id = 7")
            writer.execute("DELETE FROM observations WHERE id = 7")
        with closing(store.connect(db_path)) as db:
            write(db, 9)
            assert newest(db) == (8, 8), "deleted by who still knew the old schema, and not given again"
        assert reader.execute("PRAGMA integrity_check").fetchone() == ("ok",)
