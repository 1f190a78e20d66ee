"""`nmem show file PATH` and `nmem show obs/12`: who touched a file, with what outcome; one call in full."""

from __future__ import annotations

import json
import sys
from typing import Any

import pytest
from click.testing import CliRunner

from nmem import database
from nmem.commands import main
from nmem.commands.main import nmem
from nmem.marks import mark
from nmem.read.file_history import History, beside, history
from nmem.settle import settle
from tests.nmem.conftest import Recorded

FILE = "src/invoice.py"


@pytest.fixture
def recorded(record: Recorded, db_path: str) -> Recorded:
    """Three sessions of the shop that touch one file, once from another checkout; and a blog with such a file."""
    return record.once("file history", lambda: _record(record, db_path))


def _record(record: Recorded, db_path: str) -> None:
    record.coupon()
    record.begin("later").user("Round the invoice total half up").edit("/copy/shop/src/invoice.py").test("ok")
    record.act("file_read", "", "lib/src/invoice.py")
    record.begin("read").user("explain the invoice to me").act("file_read", "", FILE)
    record.db.execute("INSERT INTO project_folders VALUES ('/copy/shop', 1, '/copy/shop')")
    record.db.execute("INSERT INTO projects VALUES (2, 'blog', 'blog', '/src/blog', NULL, 0)")
    record.begin("blog").user("an invoice for the blog").edit(FILE)
    record.db.execute("UPDATE sessions SET project_id = 2 WHERE id = 'blog'")
    mark(db_path, "Rounding is half up, as the tax office has it", "decision", session_id="later", at=record.at)
    mark(db_path, "just a note", session_id="later", at=record.at)
    settle(db_path, models=False)


def read(record: Recorded, path: str, project: int | None = 1, **how: Any) -> History:
    db = database.reader(str(record.db.execute("PRAGMA database_list").fetchone()[2]))
    try:
        return history(db, path, project, **how)
    finally:
        db.close()


def run(*args: str) -> Any:
    result = CliRunner().invoke(nmem, ["show", *args])
    assert result.exit_code == 0, (result.output, result.exception)
    return result.output


def test_every_checkout_of_the_project_counts_and_nothing_else(recorded: Recorded) -> None:
    found = read(recorded, FILE)
    assert set(found.names) == {FILE, "/copy/shop/src/invoice.py"}
    assert [one.session_id for one in found.touches] == ["read", "later", "coupon"]
    assert [(one.reads, one.edits) for one in found.touches] == [(1, 0), (0, 1), (0, 2)]
    assert all(one.episode is not None and one.episode.id == one.unit_id for one in found.touches)
    assert found.touches[2].episode and found.touches[2].episode.outcome.tests == "failed"


def test_decisions_of_the_episode_stand_beside_it(recorded: Recorded) -> None:
    decided = {one.session_id: [each.text for each in one.decisions] for one in read(recorded, FILE).touches}
    assert decided == {"read": [], "later": ["Rounding is half up, as the tax office has it"], "coupon": []}


def test_pages_follow_each_other(recorded: Recorded) -> None:
    whole = read(recorded, FILE).touches
    first = read(recorded, FILE, limit=2)
    assert first.more and first.touches == whole[:2]
    last = first.touches[-1]
    second = read(recorded, FILE, limit=2, before=(last.last_at, last.newest))
    assert not second.more and second.touches == whole[2:]
    assert first.total == second.total == len(whole)


def test_a_name_alone_is_every_file_that_ends_so(recorded: Recorded) -> None:
    found = read(recorded, "invoice.py", None)
    assert set(found.names) == {FILE, "/copy/shop/src/invoice.py", "lib/src/invoice.py"}
    assert {one.project for one in found.touches} == {"shop", "blog"}
    assert read(recorded, "voice.py", None).total == 0
    assert read(recorded, "", None).total == 0
    assert read(recorded, "/nowhere/invoice.py", None).total == 0


def test_paths_are_taken_from_the_folder_one_stands_in() -> None:
    assert beside("../src/a.py", "/r/shop/docs", "/r/shop") == "src/a.py"
    assert beside("/r/shop/src/a.py", "/", "/r/shop") == "src/a.py"
    assert beside("/r/shopping/a.py", "/r/shop", "/r/shop") == "/r/shopping/a.py"


def test_a_person_reads_who_what_and_how_it_ended(recorded: Recorded) -> None:
    output = run("file", FILE)
    assert output.startswith(f"# file/{FILE}\n")
    assert "1x changed" in output
    assert "tests fail" in output
    assert "decided\tRounding is half up" in output
    assert output == run(f"file/{FILE}")
    told = json.loads(run("file", FILE, "--json"))
    assert told["touches"][0]["session_id"] == "blog", "all projects, where the folder's has none"


def test_the_history_of_a_file_can_be_asked_of_one_project(
    recorded: Recorded, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    shop = json.loads(run("file", FILE, "--project", "shop", "--json"))
    assert [one["session_id"] for one in shop["touches"]] == ["read", "later", "coupon"]
    assert json.loads(run("file", "/copy/shop/src/invoice.py", "--project", "shop", "--json")) == shop
    assert "lib/src/invoice.py" in run("file", "lib/src/invoice.py", "--project", "shop")
    for args, words in (
        (("file", "lib/src/invoice.py", "--project", "blog"), "nothing is recorded of lib/src/invoice.py in blog"),
        (("file", FILE, "--project", "nowhere"), "nowhere"),
        (("obs/1", "--project", "shop"), "shop is not expected"),
    ):
        monkeypatch.setattr(sys, "argv", ["nmem", "show", *args])
        with pytest.raises(SystemExit):
            main.main()
        assert words in capsys.readouterr().err


def test_one_observation_in_full(recorded: Recorded) -> None:
    output = run("obs/1")
    assert "pytest tests/test_invoice.py" in output
    assert "E AssertionError: expected 12, got 24" in output
    told = json.loads(run("obs/1", "--json"))
    assert (told["id"], told["outcome"], told["session_id"]) == ("obs/1", "failed", "coupon")
    number = recorded.db.execute("SELECT max(id) FROM observations WHERE obs_type = 'marker'").fetchone()[0]
    assert "marker, a note" in run(f"obs/{number}")


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (("obs/999",), "there is no obs/999"),
        (("file", "nope.rs"), "nothing is recorded of nope.rs"),
        (("file/",), "file/ cannot be shown"),
        (("obs/1", "obs/2"), "obs/2 is not expected"),
        (("obs/x",), "obs/x cannot be shown"),
    ],
)
def test_what_is_not_there_is_one_line(
    recorded: Recorded, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], args: Any, words: str
) -> None:
    monkeypatch.setattr(sys, "argv", ["nmem", "show", *args])
    with pytest.raises(SystemExit):
        main.main()
    error = capsys.readouterr().err
    assert words in error
    assert error.count("\n") == 1
