"""How full a window is, by whose word, and when it will be compacted."""

from __future__ import annotations

import json
import sqlite3
from itertools import accumulate

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from capture import statusline
from capture.statusline import Told
from capture.storage import store
from capture.storage.rows import write
from capture.storage.store import note
from capture.transcript.reading import window as size_of
from nmem import database
from nmem.commands.status import command as status
from nmem.read import views
from nmem.read.views import ContextWindow, forecast, threshold

MINUTE = 60_000
NOW = 1_760_000_000_000


@pytest.fixture
def db(db_path: str) -> sqlite3.Connection:
    made: sqlite3.Connection = store.connect(db_path)
    made.execute("INSERT INTO projects VALUES (1, 'k', 'aurora', '/r', NULL, 1)")
    made.execute(
        "INSERT INTO sessions (id, client, project_id, cwd, started_at, last_at, model, context_tokens, context_window,"
        " context_at, state) VALUES ('s', 'claude', 1, '/r', ?, ?, 'claude-sonnet-4-5', 60000, 200000, ?, 'idle')",
        (NOW - 60 * MINUTE, NOW, NOW),
    )
    return made


def told(db: sqlite3.Connection, at: int, tokens: int | None, size: int, model: str = "claude-sonnet-4-5") -> None:
    now = Told("s")
    now.model, now.window_size, now.tokens, now.cost_usd = model, size, tokens, 1.25
    assert statusline.keep(db, now, at)


def ask(db: sqlite3.Connection, at: int) -> None:
    db.execute(
        "INSERT INTO prompts (session_id, at, source, kind, content, dedup_key)"
        " VALUES ('s', ?1, 'user', 'prompt', 'go on', ?1)",
        (at,),
    )


def turns(db: sqlite3.Connection, *tokens: int, every: int = 3 * MINUTE) -> None:
    """A prompt and a reading for each turn, the last of them now."""
    for number, count in enumerate(tokens):
        at = NOW - (len(tokens) - 1 - number) * every
        ask(db, at - every // 2)
        note(db, "s", at, count)


def seen(db: sqlite3.Connection, db_path: str) -> ContextWindow:
    reader = database.reader(db_path)
    try:
        found = views.window(reader, "s")
    finally:
        reader.close()
    assert found is not None
    return found


def test_the_transcript_s_word_counts_where_there_is_no_status_line(db: sqlite3.Connection, db_path: str) -> None:
    found = seen(db, db_path)
    assert (found.tokens, found.size, found.source, found.cost_usd) == (60_000, 200_000, "transcript", None)
    assert (found.compacts_at, found.share) == (167_000, 0.3)


def test_the_status_line_knows_size_and_cost_better(db: sqlite3.Connection, db_path: str) -> None:
    told(db, NOW + 1000, 61_000, 1_000_000)
    found = seen(db, db_path)
    assert (found.tokens, found.size, found.source, found.cost_usd) == (61_000, 1_000_000, "status line", 1.25)
    db.execute("UPDATE sessions SET context_tokens = 75000, context_at = ?", (NOW + 9000,))
    found = seen(db, db_path)
    assert (found.tokens, found.size, found.source) == (75_000, 1_000_000, "transcript")


def test_a_size_that_was_told_of_the_model_elsewhere_is_known(db: sqlite3.Connection, db_path: str) -> None:
    told(db, NOW - 9000, None, 500_000, "claude-new-9")
    db.execute("UPDATE sessions SET model = 'claude-new-9', context_window = NULL")
    db.execute(
        "INSERT INTO sessions (id, client, project_id, cwd, started_at, last_at) VALUES ('t','claude',1,'/r',1,1)"
    )
    db.execute("UPDATE status_lines SET session_id = 't'")
    assert seen(db, db_path).size == 500_000


def test_a_size_that_nobody_told_is_unknown(db: sqlite3.Connection, db_path: str) -> None:
    assert (size_of("claude-sonnet-4-5"), size_of("claude-opus-5-5"), size_of("claude-new-9", 90_000)) == (
        200_000, 1_000_000, None,
    )  # fmt: skip
    db.execute("UPDATE sessions SET model = 'claude-new-9', context_window = NULL")
    found = seen(db, db_path)
    assert (found.tokens, found.size, found.share, found.compacts_at) == (60_000, None, None, None)
    assert "60,000 of an unknown window" in CliRunner().invoke(status, []).output


@pytest.mark.parametrize("kind", ["session_compact", "session_clear"])
def test_what_was_counted_before_a_compaction_is_gone(kind: str, db: sqlite3.Connection, db_path: str) -> None:
    db.execute(
        "INSERT INTO observations (session_id, at, seq, obs_type, content, dedup_key) VALUES ('s', ?, 1, ?, 'x', 'o')",
        (NOW + 5, kind),
    )
    found = seen(db, db_path)
    assert (found.tokens, found.compacted, found.forecast) == (None, True, None)
    assert "just compacted" in CliRunner().invoke(status, []).output


def test_one_reading_a_turn_and_one_more_when_it_shrank(db: sqlite3.Connection) -> None:
    ask(db, 10)
    for at, tokens in ((20, 100), (30, 150), (40, 150), (35, 999)):
        note(db, "s", at, tokens)
    ask(db, 50)
    for at, tokens in ((60, 180), (70, 40), (80, 60)):
        note(db, "s", at, tokens)
    assert db.execute("SELECT at, tokens FROM context_readings").fetchall() == [(40, 150), (60, 180), (80, 60)]


def test_what_a_transcript_tells_becomes_a_reading(db: sqlite3.Connection) -> None:
    from capture.event import Batch
    from capture.seal import seal

    for at, tokens in ((NOW + 10, 70_000), (NOW + 20, 70_000), (NOW + 30, 80_000)):
        batch = Batch("claude", "s", at, "/r")
        batch.session = {"context_tokens": tokens, "context_at": at}
        write(db, seal(batch))
        ask(db, at + 1)
    assert db.execute("SELECT tokens FROM context_readings").fetchall() == [(70_000,), (70_000,), (80_000,)]


def test_the_forecast_follows_the_usual_turn(db: sqlite3.Connection, db_path: str) -> None:
    turns(db, 10_000, 14_000, 18_000, 40_000, 44_000, 48_000, 52_000, 60_000)
    found = seen(db, db_path).forecast
    assert found is not None
    assert (found.growth, found.turns, found.minutes, found.of) == (4000, 27, 81, 7)
    line = next(line for line in CliRunner().invoke(status, []).output.splitlines() if "compacts in" in line)
    assert "60,000 of 200,000 (30%)\tcompacts in about 27 turns, 81 min" in line
    data = json.loads(CliRunner().invoke(status, ["--json"]).output)["windows"]
    assert data[0]["forecast"] == {"turns": 27, "minutes": 81, "growth": 4000, "of": 7}


@pytest.mark.parametrize(
    ("tokens", "why"),
    [
        ((10, 20, 30, 60_000), "three turns are too few"),
        ((90_000, 99_000, 120_000, 150_000, 20_000, 40_000, 60_000), "only what follows the compaction counts"),
        ((60_000, 60_000, 60_000, 60_000, 60_000, 60_000), "nothing grows"),
        ((59_990, 59_992, 59_994, 59_996, 59_998, 60_000), "too far to say"),
    ],
)
def test_it_says_nothing_where_it_cannot(
    tokens: tuple[int, ...], why: str, db: sqlite3.Connection, db_path: str
) -> None:
    turns(db, *tokens)
    assert seen(db, db_path).forecast is None, why


def test_turns_far_apart_give_no_minutes(db: sqlite3.Connection, db_path: str) -> None:
    turns(db, 20_000, 30_000, 40_000, 50_000, 60_000, every=45 * MINUTE)
    found = seen(db, db_path).forecast
    assert found is not None and (found.turns, found.minutes) == (11, None)


def test_each_client_compacts_where_it_does() -> None:
    assert threshold("claude", 200_000) == 167_000
    assert threshold("codex", 258_400) == 244_800
    assert threshold("gemini", 1_048_576) == 524_288
    assert (threshold("opencode", 200_000), threshold("claude", None), threshold("claude", 20_000)) == (
        None,
        None,
        None,
    )


@given(
    st.lists(st.tuples(st.integers(0, 10**8), st.integers(-(10**6), 10**6)), max_size=30),
    st.integers(0, 10**7),
    st.none() | st.integers(-5, 10**7),
)
def test_a_forecast_is_sane_whatever_was_read(
    steps: list[tuple[int, int]], tokens: int, compacts_at: int | None
) -> None:
    times = list(accumulate(one for one, _ in steps))
    found = forecast([(at, two) for at, (_, two) in zip(times, steps, strict=True)], tokens, compacts_at)
    if found:
        assert 1 <= found.turns <= views.FARTHEST and found.of >= views.FEWEST
        assert found.growth >= 0 and (found.minutes is None or found.minutes >= 0)
        assert compacts_at is not None and tokens < compacts_at
