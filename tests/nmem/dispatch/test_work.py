"""A task's end says what was done: refused or empty work is no success, whatever the exit code says."""

from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING

import pytest

from capture.storage import store
from nmem.dispatch import ending, queue
from nmem.dispatch.task import Outcome, Task
from nmem.dispatch.worktrees import Changes

if TYPE_CHECKING:
    from tests.nmem.dispatch.conftest import Place

REFUSED = '{"refused": "user"}'
Call = tuple[str, str, str, str, str | None]
"""obs_type, tool, what, outcome, metadata"""
WRITE: Call = ("file_write", "Write", "app.py", "ok", None)
NO_WRITE: Call = ("file_write", "Write", "app.py", "unknown", REFUSED)
READ: Call = ("file_read", "Read", "app.py", "ok", None)
TEST: Call = ("test", "Bash", "pytest -q", "ok", None)
FAILING: Call = ("test", "Bash", "pytest -q", "failed", None)
NO_TEST: Call = ("test", "Bash", "pytest -q", "unknown", REFUSED)
COMMAND: Call = ("command", "Bash", "sed -i s/1/2/ app.py", "ok", None)
COMMIT: Call = ("git_commit", "Bash", "git commit -m x", "ok", None)


def ended(place: Place, calls: list[Call], code: int = 0, **values: object) -> Task:
    """A task whose session made these calls, and whose client ended by itself."""
    number = place.add("fix it", **values)
    with queue.writing(place.db_path) as db:
        queue.claim(db, "me", 1, 9)
    db = store.connect(place.db_path)
    _record(db, number, calls)
    ending.finish(db, place.db_path, number, 1, Outcome("failed" if code else "succeeded", code, at=2), 2)
    db.close()
    return place.task(number)


def _record(db: sqlite3.Connection, number: int, calls: list[Call]) -> None:
    db.execute("INSERT OR IGNORE INTO projects VALUES (1, 'shop', 'shop', '/src/shop', NULL, 0)")
    db.execute(
        "INSERT INTO sessions (id, client, project_id, cwd, started_at, last_at) VALUES ('s', 'claude', 1, '/', 1, 1)"
    )
    db.execute("UPDATE tasks SET session_id = 's' WHERE id = ?", (number,))
    for at, (kind, tool, what, outcome, metadata) in enumerate(calls, 1):
        path = what if kind.startswith("file_") else None
        db.execute(
            "INSERT INTO observations (session_id, at, seq, obs_type, tool_name, file_path, content, outcome, metadata,"
            " dedup_key) VALUES ('s', ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (at, at, kind, tool, path, what, outcome, metadata, f"o{at}"),
        )


@pytest.mark.parametrize(
    ("calls", "state", "reason"),
    [
        ([WRITE, TEST], "succeeded", "1 file changed; its last test passed"),
        ([WRITE, COMMIT, FAILING], "succeeded", "1 commit; 1 file changed; its last test failed"),
        ([READ], "failed", "it changed nothing"),
        ([], "failed", "it changed nothing"),
        ([READ, NO_WRITE, NO_TEST], "failed", "it changed nothing; its client refused Write app.py, Bash pytest -q"),
        ([WRITE, NO_TEST], "failed", "1 file changed; its client refused Bash pytest -q"),
        ([NO_WRITE, WRITE, TEST], "succeeded", "1 file changed; its last test passed"),
        ([("web_fetch", "WebFetch", "a.org", "unknown", REFUSED), WRITE], "succeeded", "1 file changed"),
        ([("file_write", "Write", "b.py", "unknown", '{"refused": "sibling"}'), WRITE], "succeeded", "1 file changed"),
        ([COMMAND], "succeeded", ""),  # what a command changes is in no record of files
    ],
)
def test_what_the_session_did_is_said_and_counts(place: Place, calls: list[Call], state: str, reason: str) -> None:
    one = ended(place, calls)
    assert (one.state, one.exit_code, one.reason) == (state, 0, reason)


def test_a_person_who_stayed_judges_for_themselves(place: Place) -> None:
    assert ended(place, [READ], interactive=True).state == "succeeded"


def test_a_client_that_failed_says_what_it_did_all_the_same(place: Place) -> None:
    one = ended(place, [WRITE], code=3)
    assert (one.state, one.exit_code, one.reason) == ("failed", 3, "1 file changed")


@pytest.mark.parametrize(("calls", "state"), [([NO_WRITE], "failed"), ([READ], "queued")])
def test_refused_work_is_not_tried_again_and_empty_work_is(place: Place, calls: list[Call], state: str) -> None:
    assert ended(place, calls, retries=2).state == state


def test_a_worktree_tells_what_no_hook_has_stored(place: Place) -> None:
    worked, idle, silent = (place.add(what, worktree=True) for what in ("write=new.py", "nothing", "write=a exit=2"))
    place.run()
    assert (place.task(worked).state, place.task(worked).reason) == ("succeeded", "1 file changed")
    assert (place.task(idle).state, place.task(idle).reason) == ("failed", "it changed nothing")
    assert (place.task(silent).state, place.task(silent).reason) == ("failed", "1 file changed")
    shown = place.command("list").stdout
    assert "it changed nothing" in shown and "1 file changed" in shown


def test_nothing_known_is_nothing_said(place: Place) -> None:
    number = place.add("nothing")
    place.run()
    assert (place.task(number).state, place.task(number).reason) == ("succeeded", "")


def test_a_worktree_whose_state_is_unknown_is_kept() -> None:
    assert Changes(known=False).some and not Changes().some
