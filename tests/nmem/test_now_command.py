"""`nmem now`: the screen Now on the command line, for a person, a pipe and a program."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from nmem.commands import terminal
from nmem.commands.main import nmem
from tests.nmem.conftest import START, Recorded
from tests.nmem.stance.conftest import score, unit


@pytest.fixture
def told(record: Recorded, monkeypatch: pytest.MonkeyPatch) -> Recorded:
    """A session with an episode, calls that are labelled, a failure, and hostile text; an older one beside it."""
    monkeypatch.setattr(terminal, "now", lambda: START + 86_400_000)
    monkeypatch.setenv("TZ", "UTC")
    record.begin("77aa-old").user("look around").act("command", "ls")
    record.begin("4f2c-new").user("Add a coupon to the cart")
    first = record.prompt
    for number in range(1, 9):
        record.act("file_read", "", f"src/{number}.py")
        score(record.db, "4f2c-new", number, -0.9, 0.8, -1, -0.7, -0.9)
    record.test("failed").edit("src/\x1b]0;title\x07a.py").agent("\x1b[31mdone\u202e")
    unit(record.db, "4f2c-new", first)
    return record


def run(*args: str) -> Any:
    return CliRunner().invoke(nmem, ["now", *args])


def test_it_says_where_the_newest_session_stands(told: Recorded) -> None:
    said = run("--project", "shop").output
    assert said.startswith("# session/4f2c-new  shop  claude")
    assert "working on\tAdd a coupon to the cart" in said
    assert "8 look, 2 do, 1 failed" in said
    assert "## Failed" in said
    assert "## Stream, the newest" in said
    assert "\x1b" not in said
    assert "\u202e" not in said


def test_json_has_every_part_with_ids(told: Recorded) -> None:
    data = json.loads(run("4f2c", "--json", "--limit", "3").output)
    assert data["session"]["id"] == "session/4f2c-new"
    assert data["unit"]["id"].startswith("episode/")
    assert data["stance"]["count"] == 8
    assert "text" in data["next"]
    assert (len(data["stream"]), data["more"]) == (3, True)
    assert [row["id"].partition("/")[0] for row in data["stream"]] == ["obs", "obs", "prompt"]
    assert data["failures"][0]["obs_type"] == "test"


def test_the_stream_takes_the_cockpit_s_filter(told: Recorded) -> None:
    rows = json.loads(run("4f2c", "--json", "--filter", "is:failed").output)["stream"]
    assert [row["outcome"] for row in rows] == ["failed"]


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (["zzz"], "there is no session zzz"), (["--project", "nowhere"], "nothing is recorded of project nowhere"),
        (["4f2c", "--project", "shop"], "either SESSION or --project"),
    ],
)  # fmt: skip
def test_what_is_not_there_is_said(args: list[str], said: str, told: Recorded) -> None:
    done = run(*args)
    assert done.exit_code
    assert said in (done.output + str(done.exception))


def test_nothing_recorded_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NMEM_DB", str(tmp_path / "none.db"))
    assert "nothing is recorded yet" in str(run().exception)
