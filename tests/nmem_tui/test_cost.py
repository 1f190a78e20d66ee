"""The dialog Cost: the screenful of `nmem cost`, by other rows and since another time, in 80 and 160 columns."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

DAY = 86_400_000


@pytest.fixture
def spent(make_db: Any, seeds: Any, here: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A story whose answers are known, over some weeks; one of the models has no price, and a name to be wary of."""
    monkeypatch.setenv("NMEM_CONFIG", str(here / "config.toml"))
    path: str = make_db("story")
    with closing(sqlite3.connect(path)) as db:
        session = db.execute("SELECT id FROM sessions ORDER BY last_at DESC").fetchone()[0]
        for number in range(40):
            model = ("claude-opus-4-6", "gpt-5.5", "home\x1b[2J[bold]made")[number % 3]
            db.execute("INSERT INTO model_usage VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                       (number, session, seeds.NOW - number * DAY // 2, model, number % 5 == 0, 900 + number,
                        1_000 * number, 90_000 * number, 4_000, 100))  # fmt: skip
        db.commit()
    return path


async def test_each_view_is_as_accepted(spent: str, looks: Any, settled: Any) -> None:
    def by(key: str) -> Any:
        async def arrive(pilot: Any) -> None:
            await pilot.press(key)
            await settled(pilot)

        return arrive

    await looks(spent, "cost-day", by("dollar_sign"), {"cost-model": by("v")})


async def test_rows_and_time_are_turned_and_the_key_works_from_now_and_health(
    spent: str, cockpit: Any, until: Any, settled: Any, harmless: Any
) -> None:
    async with cockpit(spent, (160, 45)) as pilot:
        await pilot.press("dollar_sign")
        await until(pilot, "Cost ─ by day", "40 answers in 1 session", "subagents:")
        await pilot.press("l", "l")
        await until(pilot, "since 7 days ago", "15 answers")
        await pilot.press("v", "v")
        await until(pilot, "Cost ─ by project", "since 7 days ago", "15 answers")
        await pilot.press("V")
        harmless(await until(pilot, "Cost ─ by model", "claude-opus-4-6", "unpriced", "[bold]made"))
        await pilot.press("escape", "8")
        await settled(pilot)
        await pilot.press("dollar_sign")
        await until(pilot, "Cost ─ by day")
        await pilot.press("dollar_sign")
        await until(pilot, "Findings", gone="Cost ─")


async def test_transcripts_are_read_on_and_wrong_prices_are_said_in_place(
    spent: str, cockpit: Any, until: Any, here: Path
) -> None:
    usage = {"input_tokens": 0, "output_tokens": 4_000_000}
    record = {"type": "assistant", "timestamp": "2026-01-01T00:00:00.000Z", "requestId": "r",
              "message": {"id": "m", "model": "claude-opus-4-6", "usage": usage}}  # fmt: skip
    (here / "late.jsonl").write_text(json.dumps(record) + "\n")
    with closing(sqlite3.connect(spent)) as db:
        db.execute("UPDATE sessions SET client = 'claude', transcript_path = ?", (str(here / "late.jsonl"),))
        db.commit()
    async with cockpit(spent, (80, 24)) as pilot:
        await pilot.press("dollar_sign")
        await until(pilot, "41 answers")
        await pilot.press("escape")
        (here / "prices.json").write_text("{")
        await pilot.press("dollar_sign")
        await until(pilot, "is no JSON", "Expecting property name")


async def test_where_nothing_is_recorded_it_says_so(make_db: Any, cockpit: Any, until: Any) -> None:
    async with cockpit(make_db("empty"), (80, 24)) as pilot:
        await pilot.press("dollar_sign")
        await until(pilot, "nothing is recorded yet")


async def test_imported_transcripts_without_usage_are_counted(make_db: Any, cockpit: Any, until: Any) -> None:
    path: str = make_db("story")
    with closing(sqlite3.connect(path)) as db:
        db.execute("DELETE FROM model_usage")
        db.execute("UPDATE sessions SET origin = 'import'")
        db.execute("INSERT INTO usage_places SELECT id, id, 1, '', NULL FROM sessions LIMIT 2")
        db.commit()
    async with cockpit(path, (80, 24)) as pilot:
        await pilot.press("dollar_sign")
        await until(pilot, "no usage: the 2 imported transcripts hold none")
