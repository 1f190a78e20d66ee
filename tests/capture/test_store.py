"""What becomes of batches: rows, once each, in the right turn and session."""

from __future__ import annotations

import sqlite3
import stat
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from capture.event import Batch, Observation, Project, Prompt
from capture.seal import Sealed, seal
from capture.storage import schema, store
from capture.storage.rows import write, write_many

NOW = 1_760_000_000_000
SECOND = 1_000


@pytest.fixture
def db(db_path: str) -> Iterator[sqlite3.Connection]:
    connection = store.connect(db_path)
    yield connection
    connection.close()


def batch(at: int = NOW, session_id: str = "s", *parts: Prompt | Observation, **session: object) -> Sealed:
    made = Batch("claude", session_id, at, "/srv/work")
    made.project = Project("example.org/team/work", "work", "/srv/work")
    made.session = dict(session)
    made.prompts = [part for part in parts if isinstance(part, Prompt)]
    made.observations = [part for part in parts if isinstance(part, Observation)]
    return seal(made)


def said(at: int, content: str, turn: str = "", key: str = "", source: str = "user") -> Prompt:
    return Prompt(at, source, "prompt", content, dedup_key=key or f"p{content}.{turn or at}", native_id=turn)


def did(at: int, key: str, obs_type: str = "command", path: str | None = None, **fields: Any) -> Observation:
    made = Observation(at, obs_type, fields.pop("content", path or "make"), dedup_key=key)
    made.file_path = path
    made.outcome = "ok"
    for name, value in fields.items():
        setattr(made, name, value)
    return made


def one(db: sqlite3.Connection, sql: str, *values: object) -> Any:
    row = db.execute(sql, values).fetchone()
    return row[0] if row and len(row) == 1 else row


def test_a_new_database_is_for_its_owner_only(db_path: str, db: sqlite3.Connection) -> None:
    assert stat.S_IMODE(Path(db_path).stat().st_mode) == 0o600
    assert stat.S_IMODE(Path(db_path).parent.stat().st_mode) == 0o700
    assert one(db, "PRAGMA journal_mode") == "wal"
    assert one(db, "PRAGMA foreign_keys") == 1
    assert one(db, "PRAGMA user_version") == store.VERSION == len(schema.MIGRATIONS)


def test_a_newer_database_is_left_alone(db_path: str, db: sqlite3.Connection) -> None:
    db.execute("PRAGMA user_version = 99")
    with pytest.raises(schema.NewerDatabase):
        store.connect(db_path)
    assert one(db, "PRAGMA user_version") == 99


def test_a_row_has_all_that_was_observed(db: sqlite3.Connection) -> None:
    seen = did(NOW, "k", "test", "tests/a.py", exit_code=1, outcome="failed", duration_ms=12, lines_added=3,
               lines_removed=0, agent_id="a1", tool_name="Bash", tool_use_id="toolu",
               metadata={"n": [1, "ü"]})  # fmt: skip
    written = write(db, batch(NOW, "s", seen))
    assert (written.stored, written.merged, written.duplicates) == (1, 0, 0)
    assert one(
        db,
        "SELECT session_id, at, seq, obs_type, file_path, outcome, exit_code, duration_ms, lines_added, lines_removed,"
        " agent_id, tool_name, tool_use_id, metadata FROM observations",
    ) == ("s", NOW, 1, "test", "tests/a.py", "failed", 1, 12, 3, 0, "a1", "Bash", "toolu", '{"n":[1,"ü"]}')
    assert one(db, "SELECT key, name, root FROM projects") == ("example.org/team/work", "work", "/srv/work")
    assert one(db, "SELECT folder, root FROM project_folders") == ("/srv/work", "/srv/work")
    assert one(db, "SELECT rowid FROM observations_fts WHERE observations_fts MATCH 'tests'") == 1


def test_what_is_told_twice_is_stored_once(db: sqlite3.Connection) -> None:
    for _ in range(2):
        written = write(db, batch(NOW, "s", said(NOW, "hello", "t1"), did(NOW, "k")))
    assert (written.stored, written.duplicates) == (0, 2)
    write(db, batch(NOW, "other", did(NOW, "k")))
    assert one(db, "SELECT count(*), max(seq) FROM observations") == (2, 1)
    assert one(db, "SELECT count(*) FROM prompts") == 1


def test_the_same_words_of_two_turns_are_two_prompts_however_fast_they_are_typed(db: sqlite3.Connection) -> None:
    for after, turn in ((0, "t1"), (3, "t2"), (4, "t2"), (5, "")):
        write(db, batch(NOW, "s", said(NOW + after * SECOND, "continue", turn)))
    assert db.execute("SELECT at - ?, native_id FROM prompts ORDER BY at", (NOW,)).fetchall() == [
        (0, "t1"), (3 * SECOND, "t2"),
    ]  # fmt: skip


def closing(at: int, turn: str = "", content: str = "Done.") -> Prompt:
    return Prompt(at, "agent", "closing", content, dedup_key=f"cab12.{turn or at}", native_id=turn)


def test_each_turn_keeps_its_closing_though_the_words_are_the_same(db: sqlite3.Connection) -> None:
    for after, turn in ((1, "t1"), (2, "t2"), (3, "t2"), (4, "")):
        write(db, batch(NOW, "s", closing(NOW + after, turn)))
    assert db.execute("SELECT native_id FROM prompts ORDER BY at").fetchall() == [("t1",), ("t2",)]


def test_without_turns_the_prompt_between_tells_two_closings_apart(db: sqlite3.Connection) -> None:
    parts = [said(NOW, "go"), closing(NOW + 5 * SECOND), said(NOW + 20 * SECOND, "on"), closing(NOW + 25 * SECOND)]
    write(db, batch(NOW, "s", *parts))
    written = write(db, batch(NOW, "s", closing(NOW + 19 * SECOND), closing(NOW + 21 * SECOND, "t2")))
    assert (written.stored, written.duplicates) == (0, 2)
    assert one(db, "SELECT count(*) FROM prompts WHERE kind = 'closing'") == 2


def test_a_late_call_is_put_into_its_turn_and_before_the_next_prompt(db: sqlite3.Connection) -> None:
    """A hook that nobody waits for may come after the next prompt's and after the work that follows it."""
    write(db, batch(NOW, "s", said(NOW, "first", "t1"), did(NOW + 1, "a", turn_id="t1")))
    write(db, batch(NOW, "s", said(NOW + 10, "second", "t2"), did(NOW + 12, "c", turn_id="t2")))
    write(db, batch(NOW, "s", did(NOW + 14, "b", turn_id="t1"), did(NOW + 15, "inner", turn_id="t1", agent_id="i")))
    write(db, batch(NOW, "s", did(NOW + 16, "d", turn_id="t2")))
    rows = "SELECT o.dedup_key, o.at - ?, p.content FROM observations o JOIN prompts p ON p.id = prompt_id ORDER BY seq"
    in_order = [("a", 1, "first"), ("b", 9, "first"), ("c", 12, "second"), ("inner", 15, "first"), ("d", 16, "second")]
    assert db.execute(rows, (NOW,)).fetchall() == in_order
    assert one(db, "SELECT count(DISTINCT seq), max(seq), (SELECT seq FROM sessions) FROM observations") == (5, 5, 5)


def test_a_prompt_typed_during_a_turn_does_not_push_its_work_back(db: sqlite3.Connection) -> None:
    write(db, batch(NOW, "s", said(NOW, "first", "t1"), said(NOW + 5, "and this", "t1")))
    write(db, batch(NOW, "s", did(NOW + 9, "a", turn_id="t1")))
    assert one(db, "SELECT at - ?, prompt_id FROM observations", NOW) == (9, 2)


# what has no id: hooks tell h, transcripts tell t; numbers are seconds


@pytest.mark.parametrize(
    ("told", "rows"),
    [
        ("h0 t1", 1), ("t1 h0", 1), ("t0 h9", 1), ("h0 t1 t1 h0", 1),  # one call, told by both and again
        ("h0 h5", 2), ("t0 t5", 2), ("t0 t1", 2),  # one reporter tells of two calls
        ("h0 h1", 1),  # registered twice
        ("h0 h5 t0 t5", 2), ("t0 t5 h1 h6", 2), ("h4 h9 t0 t5", 2), ("t0 t5 h1 h6 t0 t5 h1 h6", 2),
        ("h5 h0 t1 t6", 2),  # hooks that overtake each other
        ("h0 t0 t5", 2), ("h0 t0 t5 h6", 2), ("t0 h20", 2),
    ],
)  # fmt: skip
@pytest.mark.parametrize("kind", ["command", "file_read"])
def test_equal_calls_without_an_id_are_counted_once_each(
    db: sqlite3.Connection, told: str, rows: int, kind: str
) -> None:
    for each in told.split():
        key = f"xab12.{NOW + int(each[1:]) * SECOND}{'t' if each[0] == 't' else ''}"
        write(db, batch(NOW, "s", did(NOW + int(each[1:]) * SECOND, key, kind, content="ls")))
    assert one(db, "SELECT sum(1 + repeats) FROM observations") == rows


@pytest.mark.parametrize(
    ("told", "rows"),
    [("resume 9.9 resume 10.1", 1), ("resume 9 resume 14", 2), ("resume 9 startup 9", 2), ("compact 9 compact 40t", 1),
     ("compact 40t compact 9 compact 40t", 1)],
)  # fmt: skip
def test_a_start_reported_twice_is_one_and_two_starts_are_two(db: sqlite3.Connection, told: str, rows: int) -> None:
    words = told.split()
    for source, after in zip(words[::2], words[1::2], strict=True):
        at = NOW + int(float(after.rstrip("t")) * SECOND)
        key = f"s:{source}.{at}{'t' if after.endswith('t') else ''}"
        write(db, batch(NOW, "s", did(at, key, "session_start", content=source)))
    assert one(db, "SELECT count(*) FROM observations") == rows


def test_the_same_words_within_ten_seconds_are_one_prompt(db: sqlite3.Connection) -> None:
    write(db, batch(NOW, "s", said(NOW, "go", "t1", key="pab12.t1")))
    write(db, batch(NOW, "s", said(NOW + 9 * SECOND, "go", key="pab12.880000")))
    write(db, batch(NOW, "s", said(NOW + 9 * SECOND, "stop", key="pab1.880000")))
    write(db, batch(NOW, "s", said(NOW + 11 * SECOND, "go", key="pab12.880001")))
    assert [row[0] for row in db.execute("SELECT at - ? FROM prompts ORDER BY at", (NOW,))] == [0, 9000, 11000]


def test_work_belongs_to_the_newest_prompt_before_it(db: sqlite3.Connection) -> None:
    write(db, batch(NOW, "s", did(NOW - 5, "k0")))
    write(db, batch(NOW, "s", said(NOW, "first")))
    write(db, batch(NOW, "s", Prompt(NOW + 1, "agent", "thinking", "hm", dedup_key="t1")))
    write(db, batch(NOW + 2, "s", did(NOW + 2, "k1")))
    write(db, batch(NOW + 3, "s", said(NOW + 3, "second")))
    write(db, batch(NOW + 4, "s", did(NOW + 4, "k2"), did(NOW + 1, "k3")))
    turns = "SELECT o.dedup_key, p.content FROM observations o LEFT JOIN prompts p ON p.id = prompt_id ORDER BY o.id"
    assert dict(db.execute(turns)) == {"k0": None, "k1": "first", "k2": "second", "k3": "first"}


def test_a_turns_id_wins_over_the_time(db: sqlite3.Connection) -> None:
    write(db, batch(NOW, "s", said(NOW, "first", "t1"), said(NOW + 5, "typed meanwhile", "t1")))
    write(db, batch(NOW, "s", said(NOW + 10, "second", "t2")))
    for at, key, turn in ((3, "a", "t1"), (20, "b", "t1"), (20, "c", "t2"), (8, "d", "t2"), (20, "e", "unknown")):
        write(db, batch(NOW, "s", did(NOW + at, key, turn_id=turn)))
    turns = "SELECT o.dedup_key, p.content FROM observations o JOIN prompts p ON p.id = prompt_id"
    assert dict(db.execute(turns)) == {
        "a": "first", "b": "typed meanwhile", "c": "second", "d": "second", "e": "second",
    }  # fmt: skip


def test_a_prompt_that_arrives_late_gets_the_work_it_asked_for(db: sqlite3.Connection) -> None:
    write(db, batch(NOW, "s", said(NOW, "first"), did(NOW + 1, "a"), did(NOW + 20, "b"), did(NOW + 40, "c")))
    write(db, batch(NOW + 50, "s", said(NOW + 30, "third")))
    write(db, batch(NOW + 50, "s", said(NOW + 10, "second")))
    turns = "SELECT o.dedup_key, p.content FROM observations o JOIN prompts p ON p.id = prompt_id"
    assert dict(db.execute(turns)) == {"a": "first", "b": "second", "c": "third"}


def read(at: int, key: str, path: str = "a.py", **fields: Any) -> Observation:
    return did(NOW + at * SECOND, key, "file_read", path, **fields)


def test_the_same_read_within_five_minutes_is_counted_on_the_first(db: sqlite3.Connection) -> None:
    for at, key in ((0, "a"), (100, "b"), (300, "c")):
        written = write(db, batch(NOW + at * SECOND, "s", read(at, key)))
    assert (written.stored, written.merged) == (0, 1)
    assert one(db, "SELECT count(*), repeats, last_at - at FROM observations") == (1, 2, 300 * SECOND)
    write(db, batch(NOW, "s", read(301, "d")))
    assert one(db, "SELECT count(*) FROM observations") == 2


def test_a_merged_read_told_again_is_not_counted_again(db: sqlite3.Connection) -> None:
    for key in ("a", "b", "b", "a", "b"):
        written = write(db, batch(NOW, "s", read(1, key)))
    assert written.duplicates == 1
    assert one(db, "SELECT count(*), repeats FROM observations") == (1, 1)


@pytest.mark.parametrize(
    "other",
    [
        {"path": "b.py"}, {"outcome": "failed"}, {"outcome": "unknown"}, {"agent_id": "a"}, {"metadata": {"offset": 9}},
        {"content": "x"},
    ],
)  # fmt: skip
def test_another_read_is_another_row(db: sqlite3.Connection, other: dict[str, Any]) -> None:
    write(db, batch(NOW, "s", read(0, "a")))
    second = read(1, "b", other.pop("path", "a.py"), **other)
    assert write(db, batch(NOW, "s", second)).stored == 1


@pytest.mark.parametrize("kind", ["file_edit", "file_write"])
def test_a_read_after_a_change_of_the_file_is_another_row(db: sqlite3.Connection, kind: str) -> None:
    write(db, batch(NOW, "s", read(0, "a"), read(0, "b", "b.py"), did(NOW + 5, "edit", kind, "a.py")))
    assert write(db, batch(NOW, "s", read(9, "c"))).stored == 1
    assert write(db, batch(NOW, "s", read(9, "d", "b.py"))).merged == 1


def test_the_same_search_merges_until_something_was_changed(db: sqlite3.Connection) -> None:
    search = {"obs_type": "search", "content": "budget in src"}
    assert write(db, batch(NOW, "s", did(NOW, "a", **search))).stored == 1
    assert write(db, batch(NOW, "s", did(NOW + 1, "b", **search))).merged == 1
    write(db, batch(NOW, "s", did(NOW + 2, "edit", "file_edit", "src/a.py")))
    assert write(db, batch(NOW, "s", did(NOW + 3, "c", **search))).stored == 1


@pytest.mark.parametrize("kind", ["file_edit", "file_write", "command", "test", "git_commit", "web_fetch"])
def test_what_changes_or_runs_something_never_merges(db: sqlite3.Connection, kind: str) -> None:
    written = write(db, batch(NOW, "s", *(did(NOW + n, f"k{n}", kind, "a.py") for n in range(3))))
    assert written.stored == 3


def test_reads_of_two_sessions_stay_apart(db: sqlite3.Connection) -> None:
    write(db, batch(NOW, "s", read(0, "a")))
    assert write(db, batch(NOW, "other", read(1, "b"))).stored == 1


def test_silence_never_overwrites_and_newer_words_do(db: sqlite3.Connection) -> None:
    write(db, batch(NOW, "s", model="one", branch="main", source="startup"))
    write(db, batch(NOW + 9, "s", model="two", branch=None))
    write(db, batch(NOW + 3, "s", model="old", client_version="2.1", started_at=NOW - 50))
    assert one(db, "SELECT model, branch, source, client_version, started_at, last_at FROM sessions") == (
        "two", "main", "startup", "2.1", NOW - 50, NOW + 9,
    )  # fmt: skip


def state(db: sqlite3.Connection) -> Any:
    return one(db, "SELECT state, ended_at, end_reason FROM sessions")


def test_an_end_of_which_nothing_is_known_makes_no_session(db: sqlite3.Connection, tmp_path: Path) -> None:
    write(db, batch(NOW, "nobody", state="ended", ended_at=NOW, transcript_path=str(tmp_path / "none.jsonl")))
    assert one(db, "SELECT count(*) FROM sessions") == 0
    written = tmp_path / "some.jsonl"
    written.write_text("{}\n")
    write(db, batch(NOW, "missed", state="ended", ended_at=NOW, transcript_path=str(written)))
    write(db, batch(NOW, "known", state="idle"))
    write(db, batch(NOW + SECOND, "known", state="ended", ended_at=NOW + SECOND))
    assert db.execute("SELECT id, state FROM sessions ORDER BY id").fetchall() == [
        ("known", "ended"),
        ("missed", "ended"),
    ]


def test_a_session_works_idles_ends_and_goes_on(db: sqlite3.Connection) -> None:
    write(db, batch(NOW, "s", state="idle", source="startup"))
    assert state(db) == ("idle", None, None)
    write(db, batch(NOW + 1, "s", said(NOW + 1, "go"), state="working"))
    assert state(db)[0] == "working"
    write(db, batch(NOW + 2, "s", state="idle"))
    assert state(db)[0] == "idle"
    write(db, batch(NOW + 3, "s", ended_at=NOW + 3, end_reason="exit"))
    assert state(db) == ("ended", NOW + 3, "exit")
    write(db, batch(NOW + 9, "s", context_tokens=5))
    assert state(db) == ("ended", NOW + 3, "exit")
    write(db, batch(NOW + 10, "s", did(NOW + 10, "k")))
    assert state(db) == ("working", None, None)


def test_what_comes_late_does_not_reopen_a_session(db: sqlite3.Connection) -> None:
    write(db, batch(NOW + 3, "s", ended_at=NOW + 3, end_reason="exit"))
    write(db, batch(NOW + 2, "s", did(NOW + 2, "k"), state="working"))
    assert state(db) == ("ended", NOW + 3, "exit")


def test_a_turn_that_ended_while_its_hook_could_not_write_is_over_though_something_was_noted_since(
    db: sqlite3.Connection,
) -> None:
    write(db, batch(NOW, "s", said(NOW, "go"), did(NOW + 1, "k"), state="working"))
    write(db, batch(NOW + 9, "s", context_tokens=5))
    write(db, batch(NOW + 2, "s", state="idle"))
    assert state(db) == ("idle", None, None)


def test_a_turns_end_that_comes_late_ends_no_later_turn(db: sqlite3.Connection) -> None:
    write(db, batch(NOW + 9, "s", said(NOW + 9, "go on"), state="working"))
    write(db, batch(NOW + 2, "s", state="idle"))
    assert state(db)[0] == "working"
    write(db, batch(NOW + 19, "s", state="idle"))
    write(db, batch(NOW + 29, "s", did(NOW + 29, "k"), state="working"))
    write(db, batch(NOW + 20, "s", state="idle"))
    assert state(db)[0] == "working"


def test_a_clock_that_goes_back_loses_nothing(db: sqlite3.Connection) -> None:
    write(db, batch(NOW, "s", said(NOW, "go", "t1"), did(NOW, "a")))
    write(db, batch(NOW - 99_000, "s", did(NOW - 99_000, "b", turn_id="t1")))
    assert db.execute("SELECT dedup_key, seq, prompt_id FROM observations ORDER BY seq").fetchall() == [
        ("a", 1, 1), ("b", 2, 1),
    ]  # fmt: skip
    assert one(db, "SELECT started_at, last_at FROM sessions") == (NOW - 99_000, NOW)


def test_what_happens_after_a_clock_was_put_right_is_the_newest(db: sqlite3.Connection) -> None:
    """A session that went on an hour ahead ends when it ends, and is listed where it belongs."""
    ahead = NOW + 3_600_000
    run = store.Run("claude", "PostToolUse", NOW, 10, 0)
    write(db, batch(ahead, "s", said(ahead, "go", "t1"), did(ahead, "a"), ended_at=ahead), run)
    write(db, batch(NOW, "s", did(NOW, "b", turn_id="t1")), run)
    assert state(db) == ("working", None, None)
    write(db, batch(NOW + 5, "s", ended_at=NOW + 5, end_reason="exit"), run)
    assert state(db) == ("ended", NOW + 5, "exit")
    assert one(db, "SELECT last_at FROM sessions") == NOW + 5
    assert db.execute("SELECT dedup_key, prompt_id FROM observations ORDER BY seq").fetchall() == [("a", 1), ("b", 1)]


def test_a_session_that_moves_stays_in_its_project(db: sqlite3.Connection) -> None:
    write(db, batch(NOW, "s", cwd="/srv/work"))
    moved = batch(NOW + 1, "s", cwd="/srv/work/deep")
    moved.batch.cwd = "/srv/work/deep"
    write(db, moved)
    assert one(db, "SELECT cwd, project_id FROM sessions") == ("/srv/work/deep", 1)
    assert one(db, "SELECT project_id FROM project_folders WHERE folder = '/srv/work/deep'") == 1


def test_a_batch_without_project_is_resolved_from_its_folder(db: sqlite3.Connection, tmp_path: Path) -> None:
    made = Batch("claude", "s", NOW, str(tmp_path))
    write(db, seal(made))
    again = Batch("claude", "s2", NOW, str(tmp_path))
    write(db, seal(again))
    assert db.execute("SELECT key FROM projects").fetchall() == [(str(tmp_path),)]


def test_secrets_and_unknown_fields_are_counted_once(db: sqlite3.Connection) -> None:
    for _ in range(2):
        told = batch(NOW, "s", did(NOW, "k"), client_version="2.1", native_event="PostToolUse")
        told.batch.redactions, told.batch.drift = {"jwt": 2}, ("novel",)
        write(db, told)
    assert one(db, "SELECT day, kind, count FROM redactions") == ("2025-10-09", "jwt", 2)
    assert one(db, "SELECT * FROM payload_drift") == ("claude", "PostToolUse", "novel", "2.1", NOW)


def test_runs_are_recorded_and_bounded(db: sqlite3.Connection, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store, "HOOK_RUNS", 300)
    for number in range(700):
        store.dropped(db, store.Run("claude", "Stop", NOW + number, 10, time.perf_counter_ns()))
    assert 300 <= one(db, "SELECT count(*) FROM hook_runs") <= 300 + 256
    assert one(db, "SELECT max(at) FROM hook_runs") == NOW + 699
    run = store.Run("claude", "PostToolUse", NOW, 10, time.perf_counter_ns())
    run.session_id = "s"
    write(db, batch(NOW, "s", did(NOW, "k")), run)
    write(db, batch(NOW, "s", did(NOW, "k")), run)
    newest = db.execute("SELECT result, session_id FROM hook_runs ORDER BY id DESC LIMIT 2").fetchall()
    assert newest == [("duplicate", "s"), ("stored", "s")]
    assert one(db, "SELECT min(wall_us) >= 0 AND min(cpu_us) > 0 FROM hook_runs") == 1


def test_a_failing_batch_leaves_nothing_of_its_transaction(db: sqlite3.Connection) -> None:
    broken = batch(NOW, "s", did(NOW, "k2"))
    broken.batch.observations[0].outcome = "excellent"
    with pytest.raises(sqlite3.IntegrityError):
        write_many(db, [batch(NOW, "s", did(NOW, "k1")), broken])
    assert one(db, "SELECT count(*) FROM sessions") == 0
    assert not db.in_transaction


def test_many_batches_are_one_fast_transaction(db: sqlite3.Connection) -> None:
    many = [
        batch(NOW + n, f"s{n // 100}", *([said(NOW + n, f"q{n}")] if n % 10 == 0 else []), did(NOW + n, f"k{n}"))
        for n in range(2000)
    ]
    before = time.process_time()
    written = write_many(db, iter(many))
    assert time.process_time() - before < 20  # a tenth of a second on a machine of its own
    assert written.stored == 2200
    assert one(db, "SELECT count(*), min(seq), sum(seq) FROM sessions") == (20, 100, 2000)
    assert one(db, "SELECT count(*) FROM observations WHERE prompt_id IS NULL") == 0


ALL, LAST = "Let me look. The limit was 60; it is 3600 now.", "The limit was 60; it is 3600 now."


@pytest.mark.parametrize("told", [(ALL, LAST), (LAST, ALL), (LAST, ALL, LAST)])
def test_a_closing_in_all_words_of_the_turn_and_in_its_last_is_one(
    db: sqlite3.Connection, told: tuple[str, ...]
) -> None:
    write(db, batch(NOW, "s", said(NOW, "go")))
    for number, words in enumerate(told):
        part = Prompt(NOW + SECOND + number, "agent", "closing", words, dedup_key=f"c{len(words)}.{NOW + number}")
        write(db, batch(NOW + SECOND, "s", part))
    assert one(db, "SELECT content FROM prompts WHERE source = 'agent'") == LAST
    assert one(db, "SELECT count(*) FROM prompts WHERE source = 'agent'") == 1


def test_a_resume_right_after_another_is_its_own_when_somebody_spoke_in_between(db: sqlite3.Connection) -> None:
    def resumed(at: int) -> Observation:
        return did(at, f"s:resume.{at}", "session_resume", content="resume")

    write(db, batch(NOW, "s", resumed(NOW)))
    write(db, batch(NOW, "s", resumed(NOW + 20)))
    assert one(db, "SELECT count(*) FROM observations") == 1
    write(db, batch(NOW, "s", said(NOW + 300, "go")))
    write(db, batch(NOW, "s", resumed(NOW + 800)))
    assert one(db, "SELECT count(*) FROM observations") == 2
