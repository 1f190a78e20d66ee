"""What the client calls a session is kept with the session that has the named message, whichever file says it."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from capture import settle
from capture.storage import store
from capture.transcript.cursor import LIVE, Cursor, save
from nmem.importing.discover import find
from nmem.importing.importer import Importer, Report

SECRET = "ghp_" + "A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8"[:36]


@pytest.fixture
def db(db_path: str) -> Iterator[sqlite3.Connection]:
    connection = store.connect(db_path)
    yield connection
    connection.close()


def session(name: str, day: int = 1) -> list[dict[str, object]]:
    base = {"sessionId": name, "cwd": "/home/dev/src/shop", "version": "2.0.67", "isSidechain": False}
    return [
        {**base, "type": "user", "uuid": f"{name}-asked", "timestamp": f"2026-03-0{day}T10:00:00.000Z",
         "message": {"role": "user", "content": f"Round the coupons of {name}"}},
        {**base, "type": "assistant", "uuid": f"{name}-said", "timestamp": f"2026-03-0{day}T10:01:00.000Z",
         "message": {"role": "assistant", "model": "claude-sonnet-4-5", "stop_reason": "end_turn",
                     "content": [{"type": "text", "text": f"Coupons of {name} are rounded."}]}},
    ]  # fmt: skip


def named(leaf: str, title: str) -> dict[str, object]:
    return {"type": "summary", "summary": title, "leafUuid": leaf}


def write(path: Path, records: list[dict[str, object]]) -> Path:
    path.write_text("".join(json.dumps(record) + "\n" for record in records), "utf-8")
    return path


def run(db: sqlite3.Connection, *paths: Path) -> Report:
    return Importer(db, 0).run(list(find(list(paths))))


def titles(db: sqlite3.Connection) -> list[tuple[str, str]]:
    rows = db.execute("SELECT session_id, content FROM prompts WHERE kind = 'title' AND source = 'agent' ORDER BY id")
    return [tuple(row) for row in rows]


def test_a_name_of_the_session_itself_is_kept_once(db: sqlite3.Connection, tmp_path: Path) -> None:
    given: dict[str, object] = {"type": "custom-title", "customTitle": "Coupons of the shop", "sessionId": "a"}
    write(tmp_path / "a.jsonl", [*session("a"), given, given])
    run(db, tmp_path)
    assert titles(db) == [("a", "Coupons of the shop")]


def test_a_title_goes_to_the_session_that_has_its_message(db: sqlite3.Connection, tmp_path: Path) -> None:
    write(tmp_path / "a.jsonl", [named("b-said", "Coupon rounding"), *session("a")])
    write(tmp_path / "b.jsonl", session("b", 2))

    report = run(db, tmp_path)

    assert titles(db) == [("b", "Coupon rounding")]
    assert "summary" not in report.skipped and not any("title" in kind for kind in report.skipped)
    at, last, state = db.execute(
        "SELECT p.at, s.last_at, s.state FROM prompts p JOIN sessions s ON s.id = p.session_id WHERE p.kind = 'title'"
    ).fetchone()
    assert (at, state) == (last, "ended"), "a title is no work: the session stays over"


def test_a_title_of_no_known_session_is_dropped_and_counted(db: sqlite3.Connection, tmp_path: Path) -> None:
    write(tmp_path / "a.jsonl", [named("nobody", "Coupon rounding"), *session("a")])

    assert run(db, tmp_path).skipped == {"title of no known session": 1}
    assert titles(db) == []


def test_a_title_does_not_bring_in_a_session_that_was_not_imported(db: sqlite3.Connection, tmp_path: Path) -> None:
    first = write(tmp_path / "a.jsonl", [named("b-said", "Coupon rounding"), *session("a")])
    write(tmp_path / "b.jsonl", session("b", 2))

    run(db, first)

    assert [row[0] for row in db.execute("SELECT id FROM sessions")] == ["a"]


def test_titles_are_stored_once_and_new_ones_when_the_file_grew(db: sqlite3.Connection, tmp_path: Path) -> None:
    path = write(tmp_path / "a.jsonl", [*session("a"), named("a-said", "Coupon rounding")])
    run(db, tmp_path)
    run(db, tmp_path)
    assert titles(db) == [("a", "Coupon rounding")]

    with path.open("a", encoding="utf-8") as file:
        file.write(json.dumps(named("a-said", "Coupons are rounded half up")) + "\n")
    run(db, tmp_path)

    assert titles(db) == [("a", "Coupon rounding"), ("a", "Coupons are rounded half up")]


def test_a_title_is_redacted(db: sqlite3.Connection, tmp_path: Path) -> None:
    write(tmp_path / "a.jsonl", [*session("a"), named("a-said", f"Push with {SECRET}")])

    run(db, tmp_path)

    assert SECRET not in titles(db)[0][1] and titles(db)[0][1].startswith("Push with ")


def test_a_message_of_a_subagent_is_nobody_s(db: sqlite3.Connection, tmp_path: Path) -> None:
    inner = {**session("a")[1], "uuid": "side", "isSidechain": True}
    write(tmp_path / "a.jsonl", [*session("a"), inner, named("side", "Warm up")])

    run(db, tmp_path)

    assert titles(db) == []


def test_settling_keeps_the_titles_of_files_that_hooks_read(
    db: sqlite3.Connection, db_path: str, tmp_path: Path
) -> None:
    path = write(tmp_path / "a.jsonl", session("a"))
    run(db, tmp_path)
    with store.transaction(db):
        save(db, Cursor(LIVE + str(path), "a", path.stat().st_size), 1)
    write(path, [*session("a"), named("a-said", "Coupon rounding")])

    settle.settle(db_path)
    settle.settle(db_path)

    assert titles(db) == [("a", "Coupon rounding")]
