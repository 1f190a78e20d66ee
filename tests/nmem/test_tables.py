"""The tables of meaning come once, whole, and never over those of a newer nmem."""

from __future__ import annotations

import sqlite3
import threading

import pytest

from capture.storage import store
from capture.storage.schema import NewerDatabase
from nmem import database, tables
from nmem.errors import NmemError
from nmem.store import schema


def test_the_version_is_the_number_of_migrations() -> None:
    assert len(schema.MIGRATIONS) == tables.VERSION


def test_tables_and_views_are_made_once(db_path: str) -> None:
    db = store.connect(db_path)
    assert tables.version(db) == 0
    tables.ensure(db)
    before = db.execute("SELECT * FROM sqlite_master ORDER BY name").fetchall()
    tables.ensure(db)
    assert db.execute("SELECT * FROM sqlite_master ORDER BY name").fetchall() == before
    for view in ("user_intent_stream", "prompt_signals", "turn_outcomes"):
        assert db.execute(f"SELECT * FROM {view}").fetchall() == []
    db.close()


def test_prompts_are_counted_in_words_with_the_pause_before_them(db_path: str) -> None:
    db = store.connect(db_path)
    tables.ensure(db)
    db.execute("INSERT INTO projects (id, key, name, root, created_at) VALUES (1, 'k', 'n', '/n', 1)")
    db.execute(
        "INSERT INTO sessions (id, project_id, client, cwd, started_at, last_at) VALUES ('s', 1, 'claude', '/n', 1, 1)"
    )
    for at, text in ((1_000, "fix  the\n\n tests "), (8_500, "yes"), (9_000, " \n"), (12_000, "push\tit now")):
        db.execute(
            "INSERT INTO prompts (session_id, at, source, kind, content, dedup_key)"
            " VALUES ('s', ?, 'user', 'prompt', ?, ?)",
            (at, text, str(at)),
        )
    found = db.execute("SELECT word_count, gap_ms, gap_seconds FROM user_intent_stream ORDER BY at").fetchall()
    assert found == [(3, None, None), (1, 7_500, 7), (0, 500, 0), (3, 3_000, 3)]
    db.close()


def test_several_processes_may_do_it_at_once(db_path: str) -> None:
    store.connect(db_path).close()
    failed: list[Exception] = []

    def work() -> None:
        try:
            db = store.connect(db_path, timeout=120)
            tables.ensure(db)
            db.close()
        except Exception as error:  # noqa: BLE001 - the thread's boundary
            failed.append(error)

    threads = [threading.Thread(target=work) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failed
    assert sqlite3.connect(db_path).execute("SELECT version FROM nmem_schema").fetchall() == [(tables.VERSION,)]


def test_a_reader_says_which_side_is_older(db_path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    db = store.connect(db_path)
    database.reader(db_path).close()  # facts without meaning yet
    tables.ensure(db)
    database.reader(db_path).close()
    db.execute("UPDATE nmem_schema SET version = 99")
    db.execute("ALTER TABLE work_units RENAME COLUMN narrator TO narrated_by")
    with pytest.raises(NmemError, match=r"version 99.*upgrade nmem"):
        database.reader(db_path)
    db.execute(f"UPDATE nmem_schema SET version = {tables.VERSION}")
    monkeypatch.setattr(tables, "VERSION", tables.VERSION + 1)
    with pytest.raises(NmemError, match=r"older nmem.*`nmem settle`"):
        database.reader(db_path)
    db.execute("PRAGMA user_version = 99")
    with pytest.raises(NmemError, match=r"version 99.*upgrade nmem"):
        database.reader(db_path)
    db.close()


def test_those_of_a_newer_nmem_are_left_alone(db_path: str) -> None:
    db = store.connect(db_path)
    tables.ensure(db)
    db.execute("UPDATE nmem_schema SET version = 99")
    with pytest.raises(NewerDatabase):
        tables.ensure(db)
    db.close()
