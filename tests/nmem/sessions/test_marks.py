"""`nmem sessions`: states, filters and order; a person's names, tags and archive, each taken back by `nmem undo`."""

from __future__ import annotations

import json
from contextlib import closing
from typing import Any

import pytest
from click.testing import CliRunner

from nmem.commands.main import nmem
from nmem.database import reader
from nmem.errors import NmemError
from nmem.read import sessions
from nmem.sessions import marks
from nmem.settle import settle
from nmem.undo import undo
from nmem_tui.operations.commands import tag_session
from tests.nmem.command_line import run as command_line
from tests.nmem.conftest import MINUTE, Recorded

SECRET = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
HOUR = 60 * MINUTE


@pytest.fixture
def recorded(record: Recorded, db_path: str) -> Recorded:
    """One session that failed its test, and one that ended well an hour later; both said that they ended."""
    return record.once("sessions", lambda: _record(record, db_path))


def _record(record: Recorded, db_path: str) -> None:
    record.coupon("failing-1")
    record.begin("passing-2").user("Rename the invoice module to billing").edit("src/billing.py").test("ok")
    record.agent("Renamed.").user("commit it").agent("Committed.")
    record.db.execute("UPDATE sessions SET state = 'ended'")
    settle(db_path, models=False)


def run(*args: str) -> Any:
    return CliRunner().invoke(nmem, ["sessions", *args])


def said(*args: str) -> str:
    result = run(*args)
    assert result.exit_code == 0, (result.output, result.exception)
    return str(result.output)


def states(db_path: str, now: int) -> dict[str, str]:
    with closing(reader(db_path)) as db:
        return {one.id: one.state for one in sessions.sessions(db, now)}


def listed(*args: str) -> list[str]:
    return [one["id"] for one in json.loads(said("--json", *args))["sessions"]]


def test_a_session_that_ended_is_done_or_failed_by_its_last_test(recorded: Recorded) -> None:
    assert listed("--state", "failed") == ["failing-1"]
    assert listed("--state", "done") == ["passing-2"]
    row = said("--state", "failed").splitlines()[2].split("\t")
    assert row[:4] == ["failed", "failing-", "claude", "shop"]
    assert row[5] == "2", "prompts of the person"


@pytest.mark.parametrize(
    ("state", "origin", "quiet", "expected"),
    [
        ("working", "hook", MINUTE, "working"),
        ("working", "hook", HOUR, "waiting"),
        ("idle", "hook", MINUTE, "waiting"),
        ("idle", "hook", 23 * HOUR, "waiting"),
        ("idle", "hook", 25 * HOUR, "done"),
        ("idle", "import", MINUTE, "waiting"),
        ("idle", "import", HOUR, "done"),
        ("ended", "hook", 0, "done"),
    ],
)
def test_an_open_session_works_or_waits_and_is_over_after_a_while(
    recorded: Recorded, db_path: str, state: str, origin: str, quiet: int, expected: str
) -> None:
    recorded.db.execute("UPDATE sessions SET state = ?, origin = ? WHERE id = 'passing-2'", (state, origin))
    assert states(db_path, recorded.at + quiet)["passing-2"] == expected


@pytest.mark.parametrize(
    ("task", "expected"), [("needs-input", "waiting"), ("failed", "failed"), ("timed-out", "failed")]
)
def test_the_task_that_a_session_was_run_for_tells_its_state(
    recorded: Recorded, db_path: str, task: str, expected: str
) -> None:
    recorded.db.execute(
        "INSERT INTO tasks (created_at, changed_at, prompt, project, cwd, state, session_id)"
        " VALUES (1, 1, 'x', 'shop', '/src/shop', ?, 'passing-2')", (task,)
    )  # fmt: skip
    assert states(db_path, recorded.at + HOUR)["passing-2"] == expected


def test_the_list_is_sorted_as_asked_and_narrowed(recorded: Recorded) -> None:
    recorded.begin("third-3").user("hello").user("and more").user("and more")
    recorded.db.execute("UPDATE sessions SET client = 'codex', state = 'ended' WHERE id = 'third-3'")
    assert listed() == ["third-3", "passing-2", "failing-1"]
    assert listed("--sort", "prompts")[0] == "third-3"
    assert listed("--sort", "state")[-1] == "failing-1"
    assert listed("--client", "codex") == ["third-3"]
    assert listed("--project", "shop", "--limit", "1") == ["third-3"]
    assert "1 of 3 sessions" in said("--limit", "1")
    assert said("--client", "gemini").startswith("no session like that")


def test_tags_are_listed_by_and_taken_back(recorded: Recorded) -> None:
    assert "#infra #release" in said("tag", "passing", "Release", "#infra")
    assert listed("--tag", "release", "--tag", "infra") == ["passing-2"]
    assert "#infra #release" in said()
    assert "#infra" in said("untag", "passing-2", "release")
    assert listed("--tag", "release") == []
    assert undo(recorded.db, 1) == "session passing- untagged #infra"
    assert listed("--tag", "release") == ["passing-2"]
    undo(recorded.db, 1)
    assert listed("--tag", "infra") == []
    assert recorded.db.execute("SELECT count(*) FROM session_marks").fetchone()[0] == 0


def test_tags_come_and_go_as_one_change(recorded: Recorded, db_path: str) -> None:
    marks.retag(recorded.db, "failing-1", ["release", "draft"], (), 1)
    tag_session("failing-1", "!draft release")(recorded.db, 2)
    assert marks.of(recorded.db, "failing-1").tags == ("release",)
    tag_session("failing-1", "!release infra")(recorded.db, 3)
    assert marks.of(recorded.db, "failing-1").tags == ("infra",)
    many = " ".join(f"t{n}" for n in range(marks.MOST_TAGS + 1))
    with pytest.raises(NmemError, match="at most"):
        tag_session("failing-1", f"!infra {many}")(recorded.db, 4)
    assert marks.of(recorded.db, "failing-1").tags == ("infra",)
    undo(recorded.db, 5)
    assert marks.of(recorded.db, "failing-1").tags == ("release",)


@pytest.mark.parametrize("cells", [80, 140])
def test_a_terminal_gets_a_line_a_session_with_its_tags(
    recorded: Recorded, monkeypatch: pytest.MonkeyPatch, cells: int
) -> None:
    marks.retag(recorded.db, "failing-1", ["release"], (), 1)
    monkeypatch.setattr("nmem.commands.terminal.is_terminal", lambda: True)
    monkeypatch.setenv("COLUMNS", str(cells))
    lines = said().splitlines()
    assert [line.split()[:2] for line in lines[1:]] == [["done", "passing-"], ["failed", "failing-"]]
    wide = ["client", "project", "last", "prompts"]
    assert lines[0].split() == ["state", "id", *(wide if cells == 140 else ["last"]), "name"]  # all of one project
    assert lines[2].endswith(" #release")
    assert all(len(line) < cells for line in lines)
    assert cells == 80 or lines[2][lines[0].index("prompts")] == "2"


def test_a_name_of_ones_own_stands_in_the_list_without_secrets(recorded: Recorded) -> None:
    said("name", "failing", f"the coupon\n with {SECRET}")
    kept = marks.of(recorded.db, "failing-1").name
    assert kept == "the coupon with [REDACTED:github-token]"
    assert kept in said()
    assert "is called by its own title again" in said("name", "failing")
    assert kept not in said()


def test_archived_sessions_leave_the_list_and_come_back_together(recorded: Recorded) -> None:
    said("archive", "failing", "passing")
    assert listed() == []
    assert listed("--archived") == listed("--all") == ["passing-2", "failing-1"]
    assert undo(recorded.db, 1).startswith("2 at once")
    assert listed() == ["passing-2", "failing-1"]
    said("archive", "failing")
    said("unarchive", "failing")
    assert listed("--archived") == []


@pytest.mark.parametrize(
    ("args", "why"),
    [
        (("tag", "nobody", "x"), "there is no session nobody"),
        (("untag", "passing", "x"), "nothing changes"),
        (("unarchive", "passing"), "nothing changes"),
        (("tag", "passing", "#"), "a tag needs a word"),
        (("tag", "passing", *map(str, range(21))), "20 tags at most"),
    ],
)
def test_what_changes_nothing_is_said(recorded: Recorded, args: tuple[str, ...], why: str) -> None:
    result = run(*args)
    assert result.exit_code != 0
    assert why in str(result.exception)
    assert recorded.db.execute("SELECT count(*) FROM session_marks").fetchone()[0] == 0


def test_an_undo_does_not_take_away_a_later_change(recorded: Recorded) -> None:
    marks.rename(recorded.db, "failing-1", "first", 1)
    recorded.db.execute("UPDATE session_marks SET name = 'elsewhere'")
    assert "a later change replaced this one" in undo(recorded.db, 2)
    assert marks.of(recorded.db, "failing-1").name == "elsewhere"


def test_undo_says_what_a_session_is_afterwards(recorded: Recorded) -> None:
    said("archive", "failing")
    said("unarchive", "failing")
    assert command_line("undo").stdout == "undone: session failing- is archived again\n"
    assert command_line("undo").stdout == "undone: session failing- is listed again\n"


def test_of_many_that_are_not_settled_the_newest_get_titles_and_others_their_words(
    recorded: Recorded, db_path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sessions, "_MADE", 1)
    monkeypatch.setattr(sessions, "shown", lambda *_: "a title")
    with recorded.db as db:
        db.execute("UPDATE work_units SET title = NULL, agent_title = NULL, heading = NULL")
    with closing(reader(db_path)) as db:
        newest, older = sessions.sessions(db, recorded.at)
        (said,) = db.execute(
            "SELECT content FROM prompts WHERE session_id = ? ORDER BY at LIMIT 1", (older.id,)
        ).fetchone()
    assert (newest.name, older.name) == ("a title", said)
