"""Tables of meaning of every earlier version become those of this one, and no row is lost on the way."""

from __future__ import annotations

import sqlite3
from contextlib import closing

import pytest
from click.testing import CliRunner

from capture.storage import store
from capture.storage.schema import statements
from nmem import tables, upgrade
from nmem.commands.status import command as status
from nmem.doctor.checks import storage
from nmem.errors import NmemError
from nmem.store import schema

ROWS = (
    "INSERT INTO projects VALUES (1, 'k', 'name', '/srv/name', NULL, 1)",
    "INSERT INTO sessions (id, client, project_id, cwd, started_at, last_at) VALUES ('s', 'claude', 1, '/srv', 1, 9)",
    "INSERT INTO prompts VALUES (1, 's', 2, 'user', 'prompt', 'fix the login', NULL, NULL, 'p1')",
)
MEANING = (
    "INSERT INTO threads (id, project_id, title, created_at, last_at) VALUES (1, 1, 't', 1, 9)",
    """INSERT INTO work_units (id, session_id, thread_id, first_prompt_id, last_prompt_id, started_at, last_at, intent)
       VALUES (1, 's', 1, 1, 1, 2, 9, 'fix the login')""",
    "INSERT INTO unit_prompts (prompt_id, unit_id, label, decided_by) VALUES (1, 1, 'new', 'first')",
    "INSERT INTO skills VALUES (1, 1, 'edit, test', 'changing *.py', '[]', '[1]', 2, 9)",
)
LEARNED = (
    """INSERT INTO learnings (id, project_id, kind, key, title, first_at, last_at, sessions, occurrences)
       VALUES (1, 1, 'failed_command', 'go vet', 'go vet fails', 2, 9, 1, 1)""",
)
GONE, DROPPED = "skills", 26
"""A table that a later version drops, and that version: its rows were derived, `learnings` holds what replaced them."""
BY_VERSION = ((), MEANING, LEARNED)


def at_version(path: str, version: int) -> sqlite3.Connection:
    """A database with rows, whose tables of meaning have seen the first `version` migrations."""
    db: sqlite3.Connection = store.connect(path)
    for row in ROWS:
        db.execute(row)
    if version:
        db.execute("CREATE TABLE nmem_schema (version INTEGER NOT NULL)")
        db.execute("INSERT INTO nmem_schema VALUES (?)", (version,))
    for number in range(version):
        for statement in statements(schema.MIGRATIONS[number]):
            db.execute(statement)
    for rows in BY_VERSION[: version + 1]:
        for row in rows:
            if version < DROPPED or f"INTO {GONE} " not in row:
                db.execute(row)
    return db


def contents(db: sqlite3.Connection) -> dict[str, list[tuple[object, ...]]]:
    """Every row of every table that is one of its own."""
    names = [
        name
        for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")
        if "_fts" not in name and not name.startswith("sqlite_") and name != "nmem_schema"
    ]
    return {name: db.execute(f"SELECT * FROM {name} ORDER BY 1").fetchall() for name in names}


@pytest.mark.parametrize("version", range(tables.VERSION))
def test_every_earlier_version_becomes_this_one(tmp_path_factory: pytest.TempPathFactory, version: int) -> None:
    folder = tmp_path_factory.mktemp("migrations")
    old = at_version(str(folder / "old" / "nmem.db"), version)
    before = contents(old)
    tables.ensure(old)
    after = contents(old)
    before.pop(GONE, None)
    for name, rows in before.items():
        columns = len(rows[0]) if rows else 0  # what a later version adds stands behind them
        assert set(rows) <= {row[:columns] for row in after[name]}
    fresh = store.connect(str(folder / "fresh" / "nmem.db"))
    tables.ensure(fresh)
    shape = "SELECT type, name, tbl_name, sql FROM sqlite_master ORDER BY type, name"
    assert old.execute(shape).fetchall() == fresh.execute(shape).fetchall()
    assert tables.version(old) == tables.VERSION
    assert old.execute("PRAGMA foreign_key_check").fetchall() == []
    old.close()
    fresh.close()


def test_what_opens_it_first_after_an_upgrade_brings_it_up_to_date(db_path: str) -> None:
    at_version(db_path, 3).close()
    assert [each.mend for each in storage.database() if each.check == "database"] == ["nmem settle"]
    assert CliRunner().invoke(status).exit_code == 0
    assert not any(each.mend for each in storage.database() if each.check == "database")


def test_one_that_somebody_else_holds_is_left_and_both_are_said(db_path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(upgrade, "_WAIT", 0.05)
    at_version(db_path, 3).close()
    with closing(sqlite3.connect(db_path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(NmemError, match=r"older nmem.*another program is writing"):
            upgrade.reader(db_path)
        other.execute("ROLLBACK")
    upgrade.reader(db_path).close()


def test_threads_that_name_skills_of_before_are_condensed_anew(tmp_path: object) -> None:
    with closing(at_version(f"{tmp_path}/nmem.db", 25)) as db:
        db.execute("UPDATE threads SET compacted_at = 5, macro = 'Works in: src' || char(10) || 'Skill: edit, test'")
        db.execute("INSERT INTO threads (id, project_id, created_at, last_at, compacted_at, macro)"
                   " VALUES (2, 1, 1, 9, 5, 'Works in: src')")  # fmt: skip
        tables.ensure(db)
        assert db.execute("SELECT id, compacted_at FROM threads ORDER BY id").fetchall() == [(1, None), (2, 5)]
