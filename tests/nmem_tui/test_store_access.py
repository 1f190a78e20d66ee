"""Changes of the database: one after the other in the order asked for, and nothing that waits holds up a read."""

from __future__ import annotations

import asyncio
import sqlite3
import threading
from pathlib import Path
from typing import Any

from nmem_tui.store.access import Writes


async def test_changes_keep_their_order_and_take_no_thread_from_reads(tmp_path: Path) -> None:
    told: list[str] = []
    go = threading.Event()
    writes = Writes(lambda message: told.append(getattr(message, "text", "")))

    def waits(_db: sqlite3.Connection, _now: int) -> str:
        assert go.wait(120)
        return "first"

    path = str(tmp_path / "nmem.db")
    going = [writes.begin(path, waits, 0)]
    going += [writes.begin(path, lambda _db, now: str(now), number) for number in range(40)]
    try:
        async with asyncio.timeout(100):
            assert await asyncio.to_thread(lambda: "read") == "read"
        assert not told
    finally:
        go.set()
    await asyncio.gather(*(each() for each in going))
    assert told == ["first", *map(str, range(40))]


async def test_a_change_that_fails_is_told_and_the_next_one_is_made(tmp_path: Path) -> None:
    told: list[Any] = []
    writes = Writes(told.append)

    def fails(_db: sqlite3.Connection, _now: int) -> str:
        raise TypeError("no such thing")

    path = str(tmp_path / "nmem.db")
    await asyncio.gather(writes.begin(path, fails, 0)(), writes.begin(path, lambda _db, _now: "done", 0)())
    assert [(each.text, each.failed) for each in told] == [
        ("not changed: TypeError: no such thing", True), ("done", False),
    ]  # fmt: skip
