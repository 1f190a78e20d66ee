"""Thirty questions on real conversations: is the deciding quote found, and is nothing invented?

`questions.jsonl`: the question, the task whose decision answers it, and the turns of the deciding conversation that
say it; no task: nothing was decided about it. Every third was put aside before anything was tuned.
`NMEM_TEST_SESSIONS=1000` plays all conversations.
"""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from datetime import datetime
from functools import partial
from pathlib import Path
from sqlite3 import Connection
from typing import Any

import pytest

from nmem.ask.answer import Quote, answer
from nmem.evaluate import told
from nmem.settle import settle

NOW = 1_777_000_000_000
QUESTIONS = [json.loads(line) for line in Path(__file__).with_name("questions.jsonl").read_text("utf-8").splitlines()]
OTHERS = int(os.environ.get("NMEM_TEST_SESSIONS", "8"))
"""Conversations beside those that decide something."""


@pytest.fixture(scope="module")
def real() -> Path:
    """The folder of the conversations and the tasks."""
    folder = Path(__file__).resolve().parents[4] / "shared" / "data" / "decisions"
    if not folder.is_dir():
        pytest.skip("../shared is absent: no real material to test on")
    return folder


@pytest.fixture(scope="module")
def tasks(real: Path) -> dict[str, Any]:
    lines = (real / "tasks.jsonl").read_text("utf-8").splitlines()
    return {one["id"]: one for one in map(json.loads, lines)}


@pytest.fixture(scope="module")
def talks(real: Path) -> dict[str, Path]:
    return {file.name: file for file in (real / "transcripts").rglob("*.jsonl")}


@pytest.fixture(scope="module")
def db(
    tasks: dict[str, Any], talks: dict[str, Path], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Connection]:  # fmt: skip
    """The conversations that decide something and some others, settled without a model."""
    folder = tmp_path_factory.mktemp("talks")
    deciding = [name for task in tasks.values() for name in (*task["sessions"], *task["superseded"])]
    for name in (*deciding, *sorted(talks.keys() - set(deciding))[:OTHERS]):
        (folder / name).symlink_to(talks[name])
    with (
        told.imported(folder, partial(settle, models=False)) as path,
        closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as opened,
    ):
        yield opened


def turns(db: Connection, file: Path) -> list[str]:
    """The rows that a transcript's turns became, in order; empty where one became none."""
    out = []
    for line in file.read_text("utf-8").splitlines():
        record = json.loads(line)
        if record.get("message"):
            at = int(datetime.fromisoformat(record["timestamp"]).timestamp() * 1000)
            row = db.execute(
                "SELECT id FROM prompts WHERE session_id = ? AND at = ? AND (source = 'user') = ?",
                (file.stem, at, record["message"]["role"] == "user"),
            ).fetchone()
            out.append(f"prompt/{row[0]}" if row else "")
    return out


def rows(db: Connection, quote: Quote) -> set[str]:
    """The turns whose words stand in a quote."""
    if quote.kind != "decision":
        return {quote.id}
    found = db.execute(
        "SELECT prompt_id, asked_id, restated_id FROM said_decisions WHERE id = ?", (quote.id.partition("/")[2],)
    ).fetchone()
    return {f"prompt/{row}" for row, text in zip(found, (quote.text, quote.asked, quote.restated), strict=True) if text}


def ranks(db: Connection, tasks: dict[str, Any], talks: dict[str, Path]) -> list[int]:
    """By question with an answer: the place of the first quote that says what decides it; 0 for none."""
    out = []
    for one in QUESTIONS:
        if one["task"]:
            said = turns(db, talks[tasks[one["task"]]["sessions"][0]])
            deciding = {said[place] for place in one["turns"]} - {""}
            quotes = answer(db, one["question"], NOW).quotes
            places = (place for place, quote in enumerate(quotes, 1) if deciding & rows(db, quote))
            out.append(next(places, 0))
    return out


def test_the_deciding_quote_is_among_the_first(
    db: Connection, tasks: dict[str, Any], talks: dict[str, Path]
) -> None:  # fmt: skip
    found = ranks(db, tasks, talks)
    first, three = (sum(0 < one <= most for one in found) for most in (1, 3))
    assert (first >= 15, three >= 19) == (True, True), f"first {first}, among three {three} of {len(found)}"


def test_what_was_never_decided_is_not_answered(db: Connection) -> None:
    invented = [one["question"] for one in QUESTIONS if not one["task"] and answer(db, one["question"], NOW).quotes]
    assert not invented


def test_a_superseded_decision_stands_behind_the_one_that_holds(db: Connection) -> None:
    quotes = answer(db, "what is the ceiling of the retry backoff?", NOW).quotes
    assert [bool(one.superseded) for one in quotes] == sorted(bool(one.superseded) for one in quotes)
    assert any(one.superseded for one in quotes)
