"""The dialog Ledger: what each compaction of the session dropped, kept, and what was given back."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import Any

import pytest

from nmem_tui.model import ledger
from nmem_tui.model.line import length, plain

MINUTE = 60_000


@pytest.fixture
def compacted(make_db: Any, seeds: Any) -> str:
    """The live session was compacted twice: with a summary, and with one that is not on record yet."""
    path: str = make_db("story")
    with closing(sqlite3.connect(path)) as db:
        at = seeds.NOW + MINUTE
        ask = seeds.say(db, at, "Move the limit into settings")
        for number, name in enumerate(("src/aurora/settings.py", "src/aurora/deep/er/and/deeper/limits_of_uploads.py")):
            seeds.do(db, at + number * 1000, "file_edit", "- a\n+ b", file_path=name, prompt_id=ask)
        seeds.do(db, at + 3000, "file_read", "x", file_path="NEWS.md", prompt_id=ask)
        seeds.do(db, at + 4000, "question", "Which unit? -> Megabytes, never \x1b[2J[bold]bytes", prompt_id=ask)
        seeds.do(db, at + 5000, "build", "make image", outcome="failed", prompt_id=ask)
        seeds.do(db, at + 6000, "lint", "ruff check src", prompt_id=ask)
        seeds.do(db, at + 7000, "session_compact", "compact")
        seeds.say(db, at + 7000, "1. Changed settings.py for the limit.\n2. `make image` fails.", "summary", "agent")
        told = db.execute(
            "INSERT INTO injections (at, session_id, event, client, text, tokens, withheld, reason)"
            " VALUES (?, ?, 'compact', 'claude', 'x', 9, 0, '')", (at + 7000, seeds.SESSION),
        ).lastrowid  # fmt: skip
        lint = db.execute("SELECT id FROM observations WHERE content = 'ruff check src' ORDER BY id DESC").fetchone()
        db.execute("INSERT INTO injection_items (injection_id, position, item, kind, score, reason, text, files,"
                   " tokens) VALUES (?, 0, ?, 'passed', 0.5, '', 'x', '[]', 3)", (told, f"obs/{lint[0]}"))  # fmt: skip
        seeds.do(db, at + MINUTE, "lint", "ruff check src", prompt_id=ask)
        seeds.do(db, at + 2 * MINUTE, "file_read", "x", file_path="src/aurora/deep/er/and/deeper/limits_of_uploads.py")
        seeds.do(db, at + 90 * MINUTE, "session_compact", "compact")
        db.commit()
    return path


async def test_the_ledger_is_as_accepted(compacted: str, looks: Any, settled: Any) -> None:
    async def arrive(pilot: Any) -> None:
        await pilot.press("5", "L", "left_square_bracket")
        await settled(pilot)

    await looks(compacted, "ledger-two", arrive)


async def test_compactions_are_turned_and_each_thing_says_what_became_of_it(
    compacted: str, cockpit: Any, until: Any, harmless: Any
) -> None:
    async with cockpit(compacted, (80, 24)) as pilot:
        await pilot.press("5")
        await until(pilot, "L ledger")
        await pilot.press("L")
        await until(pilot, "compaction 2 of 2", "No summary of the client is on record yet")
        await pilot.press("left_square_bracket")
        harmless(await until(pilot, "compaction 1 of 2", "given back"))
        rows = ["".join(part.text for part in strip) for strip in pilot.app.screen._compositor.render_strips()]
        for words in (("! asked for", "limits_of_uploads.py", "needed"), ("● given back", "ruff check src", "told"),
                      ("✗ dropped", "Which unit?"), ("✓ kept", "make image", "fails")):  # fmt: skip
            assert any(all(word in row for word in words) for row in rows), words
        await pilot.press("L")
        await until(pilot, "Told at the start", gone="Ledger ─")


@pytest.mark.parametrize("cells", [74, 140])
def test_without_a_compaction_it_says_when_it_fills(cells: int) -> None:
    rows = ledger.lines((), 0, cells, None)
    assert all(length(row) <= cells for row in rows)
    said = " ".join(plain([row]) for row in rows)
    assert "This session was not compacted yet." in said and "fills when the client compacts" in said
