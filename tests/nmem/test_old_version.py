"""A memory that an nmem of before the seventeenth migration made and settled is the same one after the upgrade."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from capture import paths
from capture.storage import schema as facts
from nmem import tables
from nmem.settle import settle
from nmem.store import schema as meaning
from tests.nmem.command_line import run

Contents = dict[str, list[dict[str, object]]]

VERSION = 16
ROWS = Path(__file__).with_name("version_16.sql").read_text("utf-8")
KEPT = (
    "projects", "project_folders", "sessions", "prompts", "observations", "merged_keys", "gone_ids", "corrections",
    "context_choices", "episode_links", "tasks", "task_events", "purges", "purged_keys", "session_threads",
    "unit_prompts",
)  # fmt: skip
"""Tables of which settling changes nothing here: what clients told, and what a person said."""
RENEWED = {"threads": {"compacted_at"}}
"""Columns that a migration clears, so that settling makes anew what hangs on them."""
GONE = {"skills"}


def contents(db: sqlite3.Connection) -> Contents:
    """Every row of every table that the fixture has rows of."""
    names = sorted({line.split()[2] for line in ROWS.splitlines() if line.startswith("INSERT")} - GONE)
    db.row_factory = sqlite3.Row
    return {name: [dict(row) for row in db.execute(f"SELECT * FROM {name} ORDER BY 1, 2")] for name in names}


@pytest.fixture
def old(db_path: str) -> tuple[str, Contents]:
    """The database as it was, and its rows."""
    paths.make(paths.folder(db_path))
    db = sqlite3.connect(db_path)
    Path(db_path).chmod(0o600)
    facts.migrate(db)
    for text in meaning.MIGRATIONS[:VERSION]:
        for statement in facts.statements(text):
            db.execute(statement)
    db.execute("CREATE TABLE nmem_schema (version INTEGER NOT NULL)")
    db.execute("INSERT INTO nmem_schema VALUES (?)", (VERSION,))
    db.executescript(ROWS.replace("INSERT INTO", "INSERT OR REPLACE INTO"))
    rows = contents(db)
    assert {name: len(found) for name, found in rows.items()} == {
        name: ROWS.count(f"INSERT INTO {name} VALUES") for name in rows
    }
    db.commit()
    db.close()
    return db_path, rows


def lacking(before: Contents, db: sqlite3.Connection, names: set[str]) -> list[tuple[str, dict[str, object]]]:
    """Rows of before that are not there as they were, columns of later versions aside."""
    after = contents(db)
    found = []
    for name in sorted(names):
        own = {key for row in after[name] for key in row} - RENEWED.get(name, set())
        there = [{key: row.get(key) for key in own & set(before[name][0])} for row in after[name]]
        found += [(name, row) for row in before[name]
                  if {key: value for key, value in row.items() if key in own} not in there]  # fmt: skip
    return found


def test_the_upgrade_keeps_every_row_and_every_text(old: tuple[str, Contents]) -> None:
    path, before = old
    assert run("status").returncode == 0
    with closing(sqlite3.connect(path)) as db:
        assert tables.version(db) == tables.VERSION
        assert lacking(before, db, set(before)) == []
        assert db.execute("PRAGMA foreign_key_check").fetchall() == []


def test_settling_afterwards_keeps_what_was_told_and_what_a_person_said(old: tuple[str, Contents]) -> None:
    path, before = old
    done = settle(path)
    assert done is not None
    assert done.failed == []
    with closing(sqlite3.connect(path)) as db:
        assert lacking(before, db, set(KEPT) & set(before)) == []
        assert db.execute("SELECT count(*) FROM work_units").fetchone()[0] == len(before["work_units"])
        assert db.execute("PRAGMA integrity_check").fetchone()[0] == "ok"
    assert "Cart totals by the cent" in run("episodes").stdout
    assert [line.split()[0] for line in run("task").stdout.splitlines() if "flaky" in line]
    assert "round half up" in run("search", "half", "up").stdout
    assert run("undo", "--dry-run").returncode == 0
