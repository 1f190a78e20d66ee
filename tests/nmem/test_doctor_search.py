"""Doctor counts what the text indexes hold against what was recorded."""

from __future__ import annotations

import sqlite3

from capture.storage import store
from nmem import doctor
from nmem.doctor.checks import OK, WRONG, Finding, storage


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
    assert "the text index of prompts filled" in doctor.fix(str(db_path))
    assert search().severity == OK
