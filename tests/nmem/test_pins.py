"""Pins and markers: kept, first in a search, told to sessions, and taken back one by one."""

from __future__ import annotations

import json
import sys
from typing import Any

import pytest
from click.testing import CliRunner

from capture.event import Batch, Prompt
from capture.seal import seal
from capture.storage import store
from nmem.commands import main
from nmem.commands.main import nmem
from nmem.context.pinned import choices
from nmem.errors import NmemError
from nmem.marks import mark
from nmem.search.search import search
from nmem.settle import settle
from tests.nmem.conftest import Recorded

SECRET = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"


@pytest.fixture
def recorded(record: Recorded, db_path: str) -> Recorded:
    """A settled session: an episode, a thread; and a learning."""
    record.coupon()
    settle(db_path, models=False)
    record.db.execute(
        "INSERT INTO learnings (id, project_id, kind, key, title, first_at, last_at, sessions, occurrences)"
        " VALUES (2, 1, 'failed_command', 'go vet', 'go vet fails', 2, 9, 1, 1)"
    )
    return record


def run(*args: str) -> Any:
    return CliRunner().invoke(nmem, args)


def said(*args: str) -> str:
    result = run(*args)
    assert result.exit_code == 0, (result.output, result.exception)
    return str(result.output)


def pinned(record: Recorded) -> list[str]:
    found = search(record.db, "is:pinned", record.at, seconds=30)
    assert all(hit.pinned for hit in found.hits)
    return sorted(hit.id for hit in found.hits)


@pytest.mark.parametrize("id_", ["obs/1", "prompt/1", "episode/1", "learning/2"])
def test_what_is_pinned_is_found_as_such_until_it_is_taken_back(recorded: Recorded, id_: str) -> None:
    assert said("pin", id_) == f"{id_} is pinned (`nmem undo` takes it back)\n"
    assert pinned(recorded) == [id_]
    said("undo")
    assert pinned(recorded) == []
    said("pin", id_)
    said("unpin", id_)
    assert pinned(recorded) == []
    said("undo")
    assert pinned(recorded) == [id_]
    assert id_.replace("episode/", "episode ") in said("undo", "--list")


def test_a_thread_is_pinned_and_unpinned(recorded: Recorded) -> None:
    flag = "SELECT pinned FROM threads WHERE id = 1"
    said("pin", "thread/1")
    assert recorded.db.execute(flag).fetchone()[0] == 1
    assert said("undo") == "taken back: thread/1 pinned\n"
    assert recorded.db.execute(flag).fetchone()[0] == 0


def test_a_choice_made_for_the_context_comes_back_and_a_later_one_stays(recorded: Recorded) -> None:
    recorded.db.execute("INSERT INTO context_choices VALUES (1, 'prompt/1', 'exclude', 5)")
    said("pin", "prompt/1")
    assert choices(recorded.db, 1) == {"prompt/1": "pin"}
    said("undo")
    assert choices(recorded.db, 1) == {"prompt/1": "exclude"}
    said("pin", "prompt/1")
    recorded.db.execute("UPDATE context_choices SET choice = 'include'")
    assert "something else was chosen since" in said("undo")
    assert choices(recorded.db, 1) == {"prompt/1": "include"}


def test_what_was_forgotten_meanwhile_is_not_brought_back(recorded: Recorded) -> None:
    said("pin", "learning/2")
    recorded.db.execute("DELETE FROM learnings")
    assert said("undo") == "taken back: learning/2 pinned (it is gone)\n"


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (("pin", "obs/999"), "there is no obs/999"),
        (("pin", "session/coupon"), "a session cannot be pinned"),
        (("pin", "12"), "12 is no id: obs/12, prompt/5"),
        (("unpin", "obs/1"), "obs/1 is not pinned"),
        (("mark", "  "), "a marker says something"),
        (("mark", "x", "--session", "nope"), "there is no session/nope"),
    ],
)
def test_what_cannot_be_done_is_one_line(
    recorded: Recorded, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], args: Any, words: str
) -> None:
    monkeypatch.setattr(sys, "argv", ["nmem", *args])
    with pytest.raises(SystemExit) as stop:
        main.main()
    error = capsys.readouterr().err
    assert stop.value.code
    assert words in error
    assert error.count("\n") == 1
    assert pinned(recorded) == []


def test_a_mark_is_redacted_found_and_taken_back(recorded: Recorded) -> None:
    text = f"Decided: coupons round half up {SECRET} 🚀"
    made = json.loads(said("mark", "--kind", "decision", "--session", "coupon", "--json", *text.split()))
    assert SECRET not in made["text"]
    assert (made["kind"], made["session_id"]) == ("decision", "coupon")
    found = search(recorded.db, "coupons round half", recorded.at, seconds=30)
    first = next(hit for hit in found.hits if hit.kind != "episode")
    assert (first.id, first.kind) == (made["id"], "marker"), "a marker comes first beneath its episode"
    assert said("undo").startswith(f"taken back: marked {made['id']}, a decision: Decided: coupons round")
    assert made["id"] not in {hit.id for hit in search(recorded.db, "type:marker", recorded.at, seconds=30).hits}
    with pytest.raises(NmemError, match="nothing to undo"):
        nmem.main(["undo"], standalone_mode=False)


def test_what_an_agent_marks_is_not_a_persons_to_undo(recorded: Recorded, db_path: str) -> None:
    mark(db_path, "an agent says so", session_id="coupon")
    assert "there is nothing to undo" in str(run("undo").exception)


def sound(record: Recorded) -> None:
    for index in ("search_unspaced_fts", "search_outputs_fts"):
        record.db.execute(f"INSERT INTO {index}({index}, rank) VALUES ('integrity-check', 1)")


def test_a_mark_after_an_undone_one_is_another_and_is_found(recorded: Recorded, db_path: str) -> None:
    terms = "SELECT term, n FROM search_terms ORDER BY term"
    before = recorded.db.execute(terms).fetchall()
    first = json.loads(said("mark", "--session", "coupon", "--json", "登录失败 zanzibar"))["id"]
    settle(db_path, models=False)
    said("undo")
    assert recorded.db.execute(terms).fetchall() == before, "its words went with it"
    assert not recorded.db.execute("SELECT done FROM search_state WHERE source = 'stale'").fetchone()[0]
    second = json.loads(said("mark", "--session", "coupon", "--json", "结账页面坏了"))["id"]
    assert first != second, "an id is for good"
    settle(db_path, models=False)
    assert [hit.id for hit in search(recorded.db, "页面", recorded.at, seconds=30).hits] == [second]
    said("undo")
    sound(recorded)


def test_a_deleted_prompts_pin_is_no_other_prompts(recorded: Recorded) -> None:
    newest = recorded.db.execute("SELECT max(id) FROM prompts").fetchone()[0]
    said("pin", f"prompt/{newest}")
    recorded.db.execute("UPDATE observations SET prompt_id = NULL")
    recorded.db.execute("PRAGMA foreign_keys=OFF")
    recorded.db.execute("DELETE FROM prompts WHERE id = ?", (newest,))
    batch = Batch("claude", "coupon", recorded.at, "/src/shop")
    batch.prompts = [Prompt(recorded.at, "user", "prompt", "my private remark", dedup_key="p-private")]
    store.write(recorded.db, seal(batch))
    assert recorded.db.execute("SELECT max(id) FROM prompts").fetchone()[0] == newest + 1
    assert pinned(recorded) == []
    assert said("undo") == f"taken back: prompt/{newest} pinned (it is gone)\n"


def test_a_broken_index_is_no_reason_not_to_undo(recorded: Recorded, db_path: str) -> None:
    made = json.loads(said("mark", "--session", "coupon", "--json", "登录失败 zanzibar"))["id"].partition("/")[2]
    settle(db_path, models=False)
    key = int(made) * 2 + 1
    recorded.db.execute(
        "INSERT INTO search_unspaced_fts(search_unspaced_fts, rowid, text) VALUES ('delete', ?, '登录失败 zanzibar  ')",
        (key,),
    )
    recorded.db.execute("INSERT INTO search_unspaced_fts_docsize VALUES (?, x'05')", (key,))
    recorded.db.execute("UPDATE search_unspaced_fts_data SET block = zeroblob(3) WHERE id >= 137438953473")
    assert said("undo").startswith(f"taken back: marked obs/{made}")
    assert recorded.db.execute("SELECT count(*) FROM observations WHERE id = ?", (made,)).fetchone() == (0,)
    settle(db_path, models=False)
    sound(recorded)


def test_what_cannot_be_taken_back_stands_in_nobodys_way(recorded: Recorded) -> None:
    said("pin", "obs/1")
    recorded.db.execute(
        "INSERT INTO corrections (at, kind, target, payload, before) VALUES (9, 'pin', 'nonsense/x', '{}', '{}')"
    )
    assert "could not be taken back and stays as it is" in said("undo")
    assert pinned(recorded) == ["obs/1"]
    assert said("undo") == "taken back: obs/1 pinned\n"
    assert pinned(recorded) == []
