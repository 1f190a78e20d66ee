"""Pins and markers: kept, first in a search, told to sessions, and taken back one by one."""

from __future__ import annotations

import json
import sys
from typing import Any

import pytest
from click.testing import CliRunner

from capture.event import Batch, Prompt
from capture.seal import seal
from capture.storage.rows import write
from nmem.commands import main
from nmem.commands.main import nmem
from nmem.context.store import choices
from nmem.errors import NmemError
from nmem.marks import mark
from nmem.search.search import search
from nmem.settle import settle
from tests.nmem.conftest import Recorded

SECRET = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"


@pytest.fixture
def recorded(record: Recorded, db_path: str) -> Recorded:
    """A settled session: an episode, a thread; and a learning."""
    return record.once("pins", lambda: _record(record, db_path))


def _record(record: Recorded, db_path: str) -> None:
    record.coupon()
    settle(db_path, models=False)
    record.db.execute(
        "INSERT INTO learnings (id, project_id, kind, key, title, first_at, last_at, sessions, occurrences)"
        " VALUES (2, 1, 'failed_command', 'go vet', 'go vet fails', 2, 9, 1, 1)"
    )


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
    assert said("undo") == "undone: thread/1 pinned\n"
    assert recorded.db.execute(flag).fetchone()[0] == 0


def test_a_choice_made_for_the_context_comes_back_and_a_later_one_stays(recorded: Recorded) -> None:
    recorded.db.execute("INSERT INTO context_choices VALUES (1, 'prompt/1', 'exclude', 5)")
    said("pin", "prompt/1")
    assert choices(recorded.db, 1) == {"prompt/1": "pin"}
    said("undo")
    assert choices(recorded.db, 1) == {"prompt/1": "exclude"}
    said("pin", "prompt/1")
    recorded.db.execute("UPDATE context_choices SET choice = 'include'")
    assert "a later choice replaced this one" in said("undo")
    assert choices(recorded.db, 1) == {"prompt/1": "include"}


def test_what_was_forgotten_meanwhile_is_not_brought_back(recorded: Recorded) -> None:
    said("pin", "learning/2")
    recorded.db.execute("DELETE FROM learnings")
    assert said("undo") == "undone: learning/2 pinned (it is gone)\n"


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (("pin", "obs/999"), "there is no obs/999"),
        (("pin", "session/coupon"), "a session cannot be pinned"),
        (("pin", "12"), "12 is not an id: obs/12, prompt/5"),
        (("unpin", "obs/1"), "obs/1 is not pinned"),
        (("mark", "  "), "the marker's text is empty"),
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
    assert said("undo").startswith(f"undone: marked {made['id']}, a decision: Decided: coupons round")
    assert made["id"] not in {hit.id for hit in search(recorded.db, "type:marker", recorded.at, seconds=30).hits}
    with pytest.raises(NmemError, match="nothing to undo"):
        nmem.main(["undo"], standalone_mode=False)


def test_what_an_agent_marks_is_not_a_persons_to_undo(recorded: Recorded, db_path: str) -> None:
    mark(db_path, "an agent says so", session_id="coupon")
    assert "nothing to undo" in str(run("undo").exception)


def sound(record: Recorded) -> None:
    for index in ("search_unspaced_fts", "search_outputs_fts"):
        record.db.execute(f"INSERT INTO {index}({index}, rank) VALUES ('integrity-check', 1)")


def test_a_mark_after_an_undone_one_is_another_and_is_found(recorded: Recorded, db_path: str) -> None:
    settle(db_path, models=False)
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
    write(recorded.db, seal(batch))
    assert recorded.db.execute("SELECT max(id) FROM prompts").fetchone()[0] == newest + 1
    assert pinned(recorded) == []
    assert said("undo") == f"undone: prompt/{newest} pinned (it is gone)\n"


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
    assert said("undo").startswith(f"undone: marked obs/{made}")
    assert recorded.db.execute("SELECT count(*) FROM observations WHERE id = ?", (made,)).fetchone() == (0,)
    settle(db_path, models=False)
    sound(recorded)


def test_what_cannot_be_taken_back_stands_in_nobodys_way(recorded: Recorded) -> None:
    said("pin", "obs/1")
    recorded.db.execute(
        "INSERT INTO corrections (at, kind, target, payload, before) VALUES (9, 'pin', 'nonsense/x', '{}', '{}')"
    )
    assert said("undo").startswith("not undone: ")
    assert pinned(recorded) == ["obs/1"]
    assert said("undo") == "undone: obs/1 pinned\n"
    assert pinned(recorded) == []


def told_elsewhere(record: Recorded) -> list[str]:
    """What a session of another project is told of pins, by id."""
    from nmem.context.pinned import pins as found
    from nmem.context.present import Present

    record.db.execute(
        "INSERT OR IGNORE INTO projects (key, name, root, created_at) VALUES ('bakery', 'bakery', '/src/bakery', 1)"
    )
    number = record.db.execute("SELECT id FROM projects WHERE key = 'bakery'").fetchone()[0]
    return [f"{item.id}: {item.text}" for item in found(record.db, Present(number, "", record.at), {})]


@pytest.mark.parametrize("id_", ["obs/1", "prompt/1", "episode/1", "thread/1", "learning/2"])
def test_a_pin_is_told_in_other_projects_where_the_person_says_so(recorded: Recorded, id_: str) -> None:
    said("pin", id_)
    assert told_elsewhere(recorded) == [], "a pin is of its own project"
    assert (
        said("pin", id_, "--everywhere") == f"{id_} is pinned, and told in every project (`nmem undo` takes it back)\n"
    )
    (one,) = told_elsewhere(recorded)
    assert id_ in one
    assert "Of project “shop”" in one
    assert run("pin", id_, "--everywhere").exit_code != 0, "it is so already"
    said("unpin", id_)
    assert told_elsewhere(recorded) == [], "what is not pinned is told nowhere"
    assert "still told in every project" in said("pin", id_)
    said("pin", id_, "--here")
    assert told_elsewhere(recorded) == []
    said("undo")
    assert len(told_elsewhere(recorded)) == 1


def test_pinning_everywhere_at_once_is_one_change(recorded: Recorded) -> None:
    said("pin", "episode/1", "--everywhere")
    assert pinned(recorded) == ["episode/1"]
    said("undo")
    assert pinned(recorded) == []
    assert told_elsewhere(recorded) == []
    assert recorded.db.execute("SELECT count(*) FROM pins_everywhere").fetchone()[0] == 0


def test_a_marker_for_every_project(recorded: Recorded, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("nmem.marks._session", lambda *_: ("s1", "claude", "/src/shop"))
    sessions = recorded.db.execute("SELECT id, client, cwd FROM sessions LIMIT 1").fetchone()
    monkeypatch.setattr("nmem.marks._session", lambda *_: tuple(sessions))
    assert "told in every project" in said("mark", "--everywhere", "never commit on a Friday")
    (one,) = told_elsewhere(recorded)
    assert "never commit on a Friday" in one
    said("undo")
    assert told_elsewhere(recorded) == []
    assert not recorded.db.execute("SELECT 1 FROM observations WHERE obs_type = 'marker'").fetchall()


def test_pins_of_other_projects_come_after_ones_own_and_keep_to_the_budget(recorded: Recorded) -> None:
    from nmem.context.compose import packed
    from nmem.context.items import PIN, Item
    from nmem.context.pinned import pins as found
    from nmem.context.present import Present

    said("pin", "episode/1", "--everywhere")
    told_elsewhere(recorded)
    number = recorded.db.execute("SELECT id FROM projects WHERE key = 'bakery'").fetchone()[0]
    (abroad,) = found(recorded.db, Present(number, "", recorded.at), {})
    own = Item("pin/obs/9", PIN, "x" * 4 * abroad.tokens, score=1.0)
    assert packed([abroad, own], own.tokens + 48 + 10) == [own]


def test_what_is_purged_is_told_nowhere_until_the_purge_is_undone(recorded: Recorded) -> None:
    said("pin", "obs/1", "--everywhere")
    said("purge", "--id", "obs/1", "--yes")
    assert recorded.db.execute("SELECT count(*) FROM pins_everywhere").fetchone()[0] == 0
    said("undo")
    assert [row[0] for row in recorded.db.execute("SELECT item FROM pins_everywhere")] == ["obs/1"]
    assert len(told_elsewhere(recorded)) == 1


def test_a_pin_for_every_project_goes_along_to_another_machine(
    recorded: Recorded, tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    said("pin", "obs/1", "--everywhere")
    file = tmp_path / "all.db"
    said("export", "--format", "sqlite", str(file))
    monkeypatch.setenv("NMEM_DB", str(tmp_path / "other" / "nmem.db"))
    said("import", "--from-export", str(file))
    import sqlite3
    from contextlib import closing

    with closing(sqlite3.connect(tmp_path / "other" / "nmem.db")) as db:
        rows = db.execute(
            "SELECT e.item, o.pinned FROM pins_everywhere e JOIN observations o ON 'obs/' || o.id = e.item"
        )
        assert [row[1] for row in rows] == [1]
