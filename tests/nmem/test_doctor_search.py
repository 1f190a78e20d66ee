"""Doctor counts what the text indexes hold against what was recorded."""

from __future__ import annotations

import sqlite3

from capture.storage import store
from nmem.audit import OK, WRONG, Finding
from nmem.doctor import examine
from nmem.doctor.checks import storage


def search() -> Finding:
    return next(finding for finding in storage.database() if finding.check == "search")


def test_a_row_that_is_not_in_the_index_is_found(db_path: str) -> None:
    store.connect(db_path).close()
    with sqlite3.connect(db_path) as db:
        db.execute("INSERT INTO projects VALUES (1, 'k', 'n', '/', NULL, 1)")
        db.execute(
            "INSERT INTO sessions (id, client, project_id, cwd, started_at, last_at) VALUES ('s','claude',1,'/',1,1)"
        )
        db.execute(
            "INSERT INTO prompts (session_id, at, source, kind, content, dedup_key)"
            " VALUES ('s', 1, 'user', 'prompt', 'hello', 'k')"
        )
    assert search().severity == OK
    with sqlite3.connect(db_path) as db:
        db.execute("INSERT INTO prompts_fts(prompts_fts, rowid, content) VALUES ('delete', 1, 'hello')")
    found = search()
    assert found.severity == WRONG
    assert "1 of prompts" in found.evidence
    assert "the text index of prompts filled" in examine.fix(str(db_path))
    assert search().severity == OK


def test_an_index_that_an_earlier_version_declared_in_other_quotes_is_no_other(db_path: str) -> None:
    """Up to a certain version the option read content='prompts'."""
    store.connect(db_path).close()
    with sqlite3.connect(db_path) as db:
        db.execute("PRAGMA writable_schema = ON")
        for name in ("observations", "prompts"):
            db.execute(
                "UPDATE sqlite_master SET sql = replace(sql, ?, ?) WHERE name = ?",
                (f'content="{name}"', f"content='{name}'", f"{name}_fts"),
            )
    with sqlite3.connect(db_path) as db:
        declared = db.execute("SELECT sql FROM sqlite_master WHERE name = 'prompts_fts'").fetchone()[0]
        assert "content='prompts'" in declared
    test_a_row_that_is_not_in_the_index_is_found(db_path)


def test_what_cannot_be_filled_is_a_line_and_no_traceback(db_path: str) -> None:
    store.connect(db_path).close()
    with sqlite3.connect(db_path) as db:
        db.execute("DROP TABLE prompts_fts")
    assert any("could not be filled" in line for line in examine.fix(str(db_path)))
