"""Text that a foreign program stored and that is no UTF-8 is shown as far as it can be read."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import Any


async def test_a_session_with_a_garbled_prompt_is_shown(make_db: Any, cockpit: Any, text: Any, settled: Any) -> None:
    path = make_db("story")
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        db.execute("UPDATE prompts SET content = CAST(? AS TEXT) WHERE source = 'user'", (b"lamp \xff is dark",))
    async with cockpit(path, (160, 45)) as pilot:
        shown = text(pilot)
        assert "lamp \ufffd is dark" in shown
        for key in "2r":
            await pilot.press(key)
            await settled(pilot)
            assert "OperationalError" not in text(pilot)
