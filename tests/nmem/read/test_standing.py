"""Where a session stands."""

from __future__ import annotations

import sqlite3

from nmem.read.standing import row_id, standing


def test_the_newest_rows_oldest_first_and_whether_there_are_more(db: sqlite3.Connection) -> None:
    found = standing(db, "aa22", 5_000, 2)
    assert found is not None
    assert found.view.session.id == "aa22"
    assert [row.text for row in found.rows] == ["make 1", "make 2"]
    assert found.more
    assert [row_id(row) for row in found.rows] == ["obs/5", "obs/6"]
    every = standing(db, "aa22", 5_000, 3)
    assert every is not None
    assert (len(every.rows), every.more) == (3, False)


def test_no_such_session(db: sqlite3.Connection) -> None:
    assert standing(db, "zz", 5_000, 2) is None
