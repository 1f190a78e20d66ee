"""An import can be stopped at any time, run again, and never stores a thing twice."""

from __future__ import annotations

import json
import os
import resource
import sqlite3
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from capture.event import TOOL_RESULT
from capture.storage import store
from capture.transcript.batches import batch
from nmem.importing.discover import find
from nmem.importing.importer import Importer, Report
from nmem.importing.stretches import SIZE
from tests.nmem import command_line
from tests.nmem.killing import killed


@pytest.fixture
def db(db_path: str) -> Iterator[sqlite3.Connection]:
    connection = store.connect(db_path)
    yield connection
    connection.close()


def exchange(session: str, number: int, text: str = "") -> list[dict[str, object]]:
    """A prompt, a command and its result, half a minute after the one before."""
    at = f"2026-02-{1 + number // 2880:02d}T{number // 120 % 24:02d}:{number // 2 % 60:02d}:{number % 2 * 30:02d}"
    base = {"sessionId": session, "cwd": f"/home/dev/src/{session}", "version": "2.1.330", "isSidechain": False}
    call = {
        "type": "tool_use",
        "id": f"{session}-t{number}",
        "name": "Bash",
        "input": {"command": f"make part{number}"},
    }
    answer = {"type": "tool_result", "tool_use_id": call["id"], "content": text or "built"}
    rows: list[dict[str, object]] = [
        {"type": "user", "promptId": f"p{number}", "message": {"role": "user", "content": f"Build part {number}"}},
        {"type": "assistant", "message": {"role": "assistant", "id": f"m{number}", "content": [call]}},
        {"type": "user", "promptId": f"p{number}", "message": {"role": "user", "content": [answer]},
         "toolUseResult": {"stdout": text or "built"}},
    ]  # fmt: skip
    return [
        {**base, **row, "uuid": f"{session}-{number}-{place}", "timestamp": f"{at}.{place}00Z"}
        for place, row in enumerate(rows)
    ]


def write(path: Path, session: str, exchanges: range, copied: list[dict[str, object]] | None = None) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    rows = [*(copied or []), *(row for number in exchanges for row in exchange(session, number))]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return path


def age(*paths: Path) -> None:
    """Nobody has written to these for an hour."""
    for path in paths:
        os.utime(path, (time.time() - 3600,) * 2)


def stored(db: sqlite3.Connection) -> tuple[int, int]:
    row = db.execute("SELECT (SELECT count(*) FROM prompts), (SELECT count(*) FROM observations)").fetchone()
    return row[0], row[1]


def run(db: sqlite3.Connection, *paths: Path, workers: int | None = None) -> Report:
    return Importer(db, workers).run(find(list(paths)))


@pytest.mark.parametrize("workers", [0, 2])
def test_a_second_import_stores_nothing(db: sqlite3.Connection, tmp_path: Path, workers: int) -> None:
    for name in ("one", "two", "three"):
        age(write(tmp_path / f"{name}.jsonl", name, range(5)))
    first = run(db, tmp_path, workers=workers)
    assert (first.sessions, first.prompts, first.observations, first.records) == (3, 15, 15, 45)
    second = run(db, tmp_path, workers=workers)
    assert (second.records, second.unchanged, second.duplicates) == (0, 3, 0)
    assert stored(db) == (15, 15)


def test_a_session_that_grew_is_read_on(db: sqlite3.Connection, tmp_path: Path) -> None:
    file = write(tmp_path / "one.jsonl", "one", range(2))
    run(db, file)
    write(file, "one", range(3))
    assert run(db, file).records == 3
    assert stored(db) == (3, 3)


def test_a_lost_place_costs_time_but_no_duplicates(db: sqlite3.Connection, tmp_path: Path) -> None:
    file = write(tmp_path / "one.jsonl", "one", range(4))
    run(db, file)
    db.execute("DELETE FROM transcript_cursors")
    assert run(db, file).duplicates == 8
    assert stored(db) == (4, 4)


def test_what_a_fork_copied_counts_once(db: sqlite3.Connection, tmp_path: Path) -> None:
    parent = write(tmp_path / "p" / "one.jsonl", "one", range(3))
    copied = [{**row, "sessionId": "two"} for number in range(3) for row in exchange("one", number)]
    fork = write(tmp_path / "p" / "two.jsonl", "two", range(10, 12), copied)
    report = run(db, tmp_path)
    assert report.copied == 9
    assert stored(db) == (5, 5)
    assert db.execute("SELECT session_id, count(*) FROM observations GROUP BY 1 ORDER BY 1").fetchall() == [
        ("one", 3),
        ("two", 2),
    ]
    write(parent, "one", range(4))
    write(fork, "two", range(10, 13), copied)
    assert run(db, tmp_path).copied == 0
    assert stored(db) == (7, 7)


def test_a_fork_that_comes_later_is_recognised(db: sqlite3.Connection, tmp_path: Path) -> None:
    write(tmp_path / "one.jsonl", "one", range(3))
    run(db, tmp_path)
    copied = [{**row, "sessionId": "two"} for number in range(3) for row in exchange("one", number)]
    write(tmp_path / "two.jsonl", "two", range(10, 11), copied)
    assert run(db, tmp_path).copied == 9
    assert stored(db) == (4, 4)


def test_unreadable_lines_and_unknown_records_are_counted_and_passed_over(
    db: sqlite3.Connection, tmp_path: Path
) -> None:
    file = tmp_path / "one.jsonl"
    good = "".join(json.dumps(row) + "\n" for row in exchange("one", 1))
    file.write_bytes(good.encode() + b'\xff\xfe{broken\n[1]\n{"type": "brand-new", "sessionId": "one"}\n\n')
    report = run(db, file)
    assert (report.unreadable, report.skipped, report.observations) == (2, {"brand-new": 1}, 1)


def test_a_last_line_without_a_newline_counts_once_nobody_writes(db: sqlite3.Connection, tmp_path: Path) -> None:
    file = write(tmp_path / "one.jsonl", "one", range(1))
    file.write_bytes(file.read_bytes().rstrip(b"\n"))
    assert run(db, file).observations == 0
    age(file)
    assert run(db, file).observations == 1


def test_a_session_s_project_is_its_folder_even_when_it_is_gone(db: sqlite3.Connection, tmp_path: Path) -> None:
    age(write(tmp_path / "one.jsonl", "one", range(1)))
    run(db, tmp_path)
    assert db.execute("SELECT key, name FROM projects").fetchall() == [("/home/dev/src/one", "one")]
    assert db.execute("SELECT state, origin, client_version FROM sessions").fetchone() == ("ended", "import", "2.1.330")


def test_the_work_right_after_a_compaction_is_kept(db: sqlite3.Connection, tmp_path: Path) -> None:
    compacted = {"type": "system", "subtype": "compact_boundary", "sessionId": "one", "cwd": "/home/dev/src/one",
                 "timestamp": "2026-02-01T00:00:01.000Z", "uuid": "c1"}  # fmt: skip
    rows = [*exchange("one", 0), compacted, *exchange("one", 1), *exchange("one", 2)]
    file = tmp_path / "one.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    run(db, file)
    kinds = [kind for (kind,) in db.execute("SELECT obs_type FROM observations ORDER BY at")]
    assert sorted(kinds) == ["command", "command", "command", "session_compact"]


def test_every_observation_belongs_to_the_prompt_of_its_turn(db: sqlite3.Connection, tmp_path: Path) -> None:
    write(tmp_path / "one.jsonl", "one", range(6))
    run(db, tmp_path)
    rows = db.execute("SELECT p.content, o.content FROM observations o JOIN prompts p ON p.id = o.prompt_id").fetchall()
    assert [(said.split()[-1], done.rpartition("part")[2]) for said, done in rows] == [
        (str(n), str(n)) for n in range(6)
    ]


@pytest.mark.slow
def test_an_import_that_is_killed_goes_on_where_it_was(tmp_path: Path, db_path: str) -> None:
    for name in ("one", "two", "three", "four"):
        age(write(tmp_path / "t" / f"{name}.jsonl", name, range(400)))
    store.connect(db_path).close()
    words, modules = ["import", "--json", str(tmp_path / "t")], "nmem.commands.import_ nmem.importing.importer"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("NMEM_DB", str(tmp_path / "other" / "nmem.db"))
        _, whole = killed(modules, words, None)
    ended = [killed(modules, words, whole * number / 10)[0] for number in range(5)]
    done = json.loads(command_line.run(*words).stdout)
    db = sqlite3.connect(db_path)
    try:
        assert stored(db) == (1600, 1600)
        assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    finally:
        db.close()
    assert ended[0]
    assert done["failed"] == []


@pytest.mark.slow
def test_memory_does_not_grow_with_the_file(db: sqlite3.Connection, tmp_path: Path) -> None:
    file = tmp_path / "big.jsonl"
    with file.open("w", encoding="utf-8") as out:
        for number in range(2 * SIZE):
            for row in exchange("big", number, "x" * 20_000):
                out.write(json.dumps(row) + "\n")
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    run(db, file, workers=0)
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    assert file.stat().st_size > 75_000_000
    assert grown < 60, f"{grown:.0f} MB"


def close(file: Path, at: str) -> None:
    """Append the agent's last text of a session."""
    said = {**exchange("one", 1)[1], "uuid": "one-said", "timestamp": at}
    said["message"] = {"role": "assistant", "id": "said", "content": [{"type": "text", "text": "Both parts build."}]}
    with file.open("a", encoding="utf-8") as out:
        out.write(json.dumps(said) + "\n")


def test_the_closing_text_of_a_transcript_that_was_just_copied_is_taken_in(
    db: sqlite3.Connection, tmp_path: Path
) -> None:
    file = write(tmp_path / "one.jsonl", "one", range(2))
    close(file, "2026-02-01T00:00:40.000Z")
    run(db, file)
    assert db.execute("SELECT count(*) FROM prompts WHERE content = 'Both parts build.'").fetchone() == (1,)


def test_the_closing_text_of_a_session_that_just_paused_is_taken_in_once(
    db: sqlite3.Connection, tmp_path: Path
) -> None:
    file = write(tmp_path / "one.jsonl", "one", range(2))
    close(file, time.strftime("%Y-%m-%dT%H:%M:%S.000Z", time.gmtime()))
    os.utime(file, (time.time() + 600,) * 2)  # it has just paused, however long a busy machine takes
    closings = "SELECT count(*) FROM prompts WHERE kind = 'closing' AND content = 'Both parts build.'"
    run(db, file)
    assert db.execute(closings).fetchone() == (0,), "it may still go on with a call"
    os.utime(file, (time.time() - 60,) * 2)
    run(db, file)
    assert db.execute(closings).fetchone() == (1,)
    with file.open("a", encoding="utf-8") as out:
        out.write("".join(json.dumps(row) + "\n" for row in exchange("one", 2)))
    age(file)
    run(db, file)
    assert db.execute(closings).fetchone() == (1,)
    assert stored(db)[1] == 3


def test_a_record_that_nobody_foresaw_is_left_out_and_counted(
    db: sqlite3.Connection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = write(tmp_path / "one.jsonl", "one", range(3))
    left = [True]

    def broken(*given: Any) -> Any:
        if given[0].kind == TOOL_RESULT and left and left.pop():
            raise RecursionError
        return batch(*given)

    monkeypatch.setattr("nmem.importing.stretches.batch", broken)
    report = run(db, file)
    assert (report.unreadable, report.failed, stored(db)) == (1, [], (3, 2))
