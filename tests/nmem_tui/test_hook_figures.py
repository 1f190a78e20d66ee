"""Health says of hooks what every other place says, against the limit, and why."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import Any

from nmem import tables
from nmem.read.health import keep_measured


async def test_hooks_are_judged_and_the_reason_stands_beside(
    make_db: Any, cockpit: Any, settled: Any, text: Any
) -> None:
    story_db = make_db("story")
    with closing(sqlite3.connect(story_db, isolation_level=None)) as db:
        tables.ensure(db)
        db.execute("DELETE FROM hook_runs")
        db.executemany(
            "INSERT INTO hook_runs (at, client, event, wall_us, cpu_us, bytes, result)"
            " VALUES (1, 'claude', ?, ?, 18000, 900, 'stored')",
            [("PostToolUse", 22_000)] * 40 + [("UserPromptSubmit", 31_000)] * 4,
        )
        keep_measured(db, 90.0, 14.0)
    async with cockpit(story_db, (80, 40)) as pilot:
        await pilot.press("8", "v")
        await settled(pilot)
        shown = " ".join(" ".join(text(pilot).replace("│", " ").split()).split())
        assert "the client waits 90 ms for each event that nmem doctor sends" in shown
        assert "6.4x a bare interpreter's 14 ms (above the limit 3x)" in shown
        assert "the newest 44 runs in sessions; inside: first line to commit" in shown
        assert "why: start-up takes longest" in shown
        assert "PostToolUse 22 ms 22 ms 40 runs" in shown
        assert "UserPromptSubmit 31 ms 31 ms 4 runs" in shown
