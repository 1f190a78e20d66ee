"""A field that goes missing, changes its type or is new is told once, with the version and what it means for rows."""

from __future__ import annotations

from collections.abc import Callable
from sqlite3 import Connection
from typing import Any

import pytest

from nmem.audit import NOTE, OK, WRONG, drift
from tests.conftest import NOW

Feed = Callable[..., None]


def call(number: int, **more: Any) -> dict[str, Any]:
    return {
        "session_id": f"s{number % 3}", "transcript_path": "/t.jsonl", "cwd": "/src/shop", "tool_name": "Bash",
        "hook_event_name": "PostToolUse", "tool_use_id": f"toolu_{number}", "tool_input": {"command": "make"},
        "tool_response": {"stdout": "done", "stderr": "", "interrupted": False}, **more,
    }  # fmt: skip


def without(given: dict[str, Any], name: str) -> dict[str, Any]:
    return {key: value for key, value in given.items() if key != name}


def fed(feed: Feed, change: Callable[[dict[str, Any]], dict[str, Any]], before: int = 20, after: int = 6) -> None:
    for number in range(before):
        feed(call(number), "2.1.9")
    for number in range(after):
        given = change(call(1000 + number))
        feed({**given, "session_id": f"n{number % 2}"} if "session_id" in given else given, "2.1.10")


def seen(db: Connection) -> list[tuple[str, str, str, str, str]]:
    return [(one.kind, one.place, one.field, one.version, one.severity) for one in drift.changes(db)]


def test_nothing_changed_is_nothing_said(feed: Feed, db: Connection) -> None:
    fed(feed, lambda one: one)
    assert seen(db) == []
    (finding,) = drift.findings(db, NOW)
    assert (finding.severity, finding.evidence) == (OK, "all fields and types of 26 payloads are known")


def test_a_field_that_is_gone(feed: Feed, db: Connection) -> None:
    fed(feed, lambda one: without(one, "tool_use_id"))
    assert seen(db) == [("missing", "PostToolUse", "tool_use_id", "2.1.10", WRONG)]
    (finding,) = drift.findings(db, NOW)
    assert "Claude Code 2.1.10" in finding.evidence and "6 of 6 payloads" in finding.evidence and finding.mend


def test_a_field_of_a_response_that_is_gone(feed: Feed, db: Connection) -> None:
    fed(feed, lambda one: {**one, "tool_response": {"stderr": "", "interrupted": False}})
    assert seen(db) == [("missing", "PostToolUse(Bash)", "tool_response.stdout", "2.1.10", WRONG)]


def test_a_field_of_another_type(feed: Feed, db: Connection) -> None:
    fed(feed, lambda one: {**one, "tool_use_id": 7})
    assert seen(db) == [("retyped", "PostToolUse", "tool_use_id", "2.1.10", WRONG)]
    assert "as number" in str(drift.changes(db)[0]) and "was text" in str(drift.changes(db)[0])


def test_an_unknown_field(feed: Feed, db: Connection) -> None:
    fed(feed, lambda one: {**one, "colour": "red"})
    assert seen(db) == [("new", "PostToolUse", "colour", "2.1.10", NOTE)]


def test_without_a_session_no_row_is_made_and_it_shows(feed: Feed, db: Connection) -> None:
    fed(feed, lambda one: without(one, "session_id"))
    assert ("missing", "PostToolUse", "session_id") in [one[:3] for one in seen(db)]
    assert drift.findings(db, NOW)[0].severity == WRONG


def test_needed_fields_are_missed_in_the_first_version_too(feed: Feed, db: Connection) -> None:
    fed(feed, lambda one: without(one, "tool_input"), before=0)
    assert seen(db) == [("missing", "PostToolUse", "tool_input", "2.1.10", WRONG)]


@pytest.mark.parametrize("after", [1, 2])
def test_a_field_that_is_absent_once_or_twice_is_chance(feed: Feed, db: Connection, after: int) -> None:
    fed(feed, lambda one: without(one, "permission_mode"), after=after)
    assert seen(db) == []


def test_a_field_that_comes_only_sometimes_is_not_missed(feed: Feed, db: Connection) -> None:
    for number in range(40):
        feed(call(number, **({"agent_id": "a"} if number % 3 else {})), "2.1.9")
    for number in range(20):
        feed(call(1000 + number), "2.1.10")
    assert seen(db) == []


def test_versions_are_ordered_by_number_and_learned_late(feed: Feed, db: Connection) -> None:
    """Payloads before the session's version is known count to it: it is the session's."""
    for number in range(20):
        feed(call(number), "2.1.9")
    for number in range(6):
        feed({**without(call(100 + number), "tool_use_id"), "session_id": "n"}, "")
    db.execute("UPDATE sessions SET client_version = '2.1.10' WHERE id = 'n'")
    assert seen(db) == [("missing", "PostToolUse", "tool_use_id", "2.1.10", WRONG)]


def test_what_one_project_sends_is_its_own_wrapper(feed: Feed, db: Connection) -> None:
    for number in range(10):
        feed({**call(number), "session_id": "a"}, "2.1.9", project="shop")
        feed({**call(500 + number, logger="mine"), "session_id": "b"}, "2.1.9", project="mill")
    assert [(one[0], one[2], one[4]) for one in seen(db)] == [("own", "logger", OK)]


def test_no_name_of_a_field_is_stored_as_it_came(feed: Feed, db: Connection) -> None:
    feed(call(1, **{"sk-ant-api03-" + "a1B2" * 24: 1}), "2.1.9")
    fields = db.execute("SELECT fields FROM payload_shapes").fetchone()[0]
    assert "sk-ant" not in fields and " +" in fields


def test_a_session_that_goes_takes_its_shapes_along(feed: Feed, db: Connection) -> None:
    feed(call(1), "2.1.9")
    db.execute("DELETE FROM observations")
    db.execute("DELETE FROM sessions")
    assert db.execute("SELECT count(*) FROM session_shapes").fetchone()[0] == 0
