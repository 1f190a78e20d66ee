"""Calls made by hand, and sessions with scores: as stored by the write path, the scores put in afterwards."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from sqlite3 import Connection, Row
from typing import Any

import pytest

from nmem import database
from nmem.stance.model import Call

START = 1_760_000_000_000
MINUTE = 60_000

Score = float | None


def calls(phase: Sequence[Score], scope: Sequence[Score] = (), **more: Any) -> list[Call]:
    """Calls a minute apart with these scores; a missing scope is +1."""
    wide = [*scope, *([1.0] * (len(phase) - len(scope)))]
    return [call(number, p, s, **more) for number, (p, s) in enumerate(zip(phase, wide, strict=True), start=1)]


def call(seq: int, phase: Score = None, scope: Score = None, obs_type: str = "command", path: str = "",
         content: str = "make", outcome: str = "ok", prompt: int | None = 1, at: int | None = None,
         novelty: Score = None, friction: Score = None, locus: Score = None) -> Call:  # fmt: skip
    """One call; its time is as many minutes after the start as its number says."""
    when = START + seq * MINUTE if at is None else at
    return Call(seq, seq, when, prompt, obs_type, path, content, outcome, phase, scope, locus, novelty, friction)


def score(db: Connection, session_id: str, seq: int, phase: Score, scope: Score = None, locus: Score = None,
          novelty: Score = None, friction: Score = None) -> None:  # fmt: skip
    """Give a stored observation its scores."""
    db.execute(
        "UPDATE observations SET phase = ?, scope = ?, locus = ?, novelty = ?, friction = ?, label_model = 'abc'"
        " WHERE session_id = ? AND seq = ?",
        (phase, scope, locus, novelty, friction, session_id, seq),
    )


def unit(db: Connection, session_id: str, *prompts: int, **columns: Any) -> int:
    """An episode of some prompts."""
    first = db.execute("SELECT at, content FROM prompts WHERE id = ?", (prompts[0],)).fetchone()
    last = db.execute("SELECT max(at) FROM observations WHERE prompt_id = ?", (prompts[-1],)).fetchone()
    row = {"session_id": session_id, "first_prompt_id": prompts[0], "last_prompt_id": prompts[-1],
           "started_at": first[0], "last_at": last[0] or first[0], "intent": first[1], **columns}  # fmt: skip
    made = db.execute(f"INSERT INTO work_units ({', '.join(row)}) VALUES ({', '.join('?' * len(row))})",
                      [*row.values()]).lastrowid  # fmt: skip
    for prompt in prompts:
        db.execute("INSERT INTO unit_prompts (prompt_id, unit_id, label, decided_by) VALUES (?, ?, 'new', 'online')",
                   (prompt, made))  # fmt: skip
    return int(made or 0)


@pytest.fixture
def open_db(db_path: str) -> Iterator[Callable[[], Connection]]:
    """Opens the database as screens and commands do."""
    made: list[Connection] = []

    def go() -> Connection:
        made.append(database.reader(db_path))
        assert made[-1].row_factory is Row
        return made[-1]

    yield go
    for each in made:
        each.close()
