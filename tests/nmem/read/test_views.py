"""What a session works on."""

from __future__ import annotations

import sqlite3

from nmem.read.store import hot_files


def test_a_file_of_a_worktree_is_counted_with_that_of_the_checkout(db: sqlite3.Connection) -> None:
    for seq, (kind, path) in enumerate(
        [("file_read", "src/a.py"), ("file_edit", "/p/.worktrees/1/src/a.py"), ("file_read", "b.py")], 10
    ):
        db.execute(
            "INSERT INTO observations(session_id, at, seq, obs_type, content, file_path, dedup_key)"
            " VALUES ('aa11', ?, ?, ?, '', ?, ?)",
            (1_000 + seq, seq, kind, path, f"x/{seq}"),
        )
    found = hot_files(db, "aa11")
    assert [(one.path, one.reads, one.edits) for one in found] == [("src/a.py", 1, 1), ("b.py", 1, 0)]
    assert len(hot_files(db, "aa11", limit=1)) == 1
