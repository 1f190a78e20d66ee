"""What a screen reads is of one moment, whatever is committed meanwhile."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import Any


async def test_a_commit_in_the_middle_of_a_read_is_not_half_in_it(make_db: Any, cockpit: Any, settled: Any) -> None:
    path = make_db("story")
    count = "SELECT count(*) FROM prompts WHERE content = 'gone'"
    found: list[tuple[int, int]] = []

    def work(db: sqlite3.Connection) -> tuple[int, int]:
        before = int(db.execute(count).fetchone()[0])
        with closing(sqlite3.connect(path, isolation_level=None)) as other:
            other.execute("UPDATE prompts SET content = 'gone' WHERE source = 'user'")
        return before, int(db.execute(count).fetchone()[0])

    async with cockpit(path, (80, 24)) as pilot:
        reads = pilot.app.screen.reads
        for _ in range(2):
            reads.ask("moment", work, found.append)
            await settled(pilot)
    assert found[0] == (0, 0)
    assert found[1][0] == found[1][1] > 0
