"""What a compaction dropped is told first after it, and again once a prompt, an edit or a command comes to it."""

from __future__ import annotations

import json
from contextlib import closing
from time import localtime, strftime
from typing import TYPE_CHECKING

import pytest

from nmem.context import ask, dropped, giveback
from nmem.context.dropped import Thing
from nmem.context.items import BESIDE, Item
from nmem.context.present import Present
from nmem.mcp.server import answered
from nmem.read import compactions
from tests.nmem.command_line import run
from tests.nmem.context.conftest import Played

if TYPE_CHECKING:
    from collections.abc import Iterable

    from nmem.context.session_store import Call

SUMMARY = """<analysis>what matters</analysis>
<summary>
1. Primary Request: reports lose their last row.
2. Files: `shop/export.py`, table_4.py, table_5.py, table_6.py, table_7.py, table_8.py and table_9.py were changed.
3. Errors: `make docs` still fails.
</summary>"""

OTHER = Item("beside/x", BESIDE, "Another session edits.", score=1.0)


def work(played: Played) -> None:
    """A long session: a decision, many files, checks that pass and commands that fail."""
    played.begin("long")
    played.ask("Reports lose their last row, find out why and fix it")
    played.hook(
        "PostToolUse", tool_name="AskUserQuestion", tool_use_id="ask",
        tool_input={"questions": [{"question": "Which currency?", "header": "x", "options": []}]},
        tool_response={"questions": [{"question": "Which currency?"}],
                       "answers": {"Which currency?": "Round invoices to whole cents"}},
    )  # fmt: skip
    for name in ("ancient", "oldest", *(f"table_{number}" for number in range(10)), "export"):
        played.edit(f"shop/{name}.py", "a = 1", f"rows = {name}_rows(all)")
    for target in ("image", "wheel", "site", "docs"):
        played.fail(f"make {target}", f"no space left for {target}")
    played.run("ruff check shop", "All checks passed!")
    played.say("The slice stops one row early.")


def compact(played: Played, *, early: bool = True) -> str:
    """The hooks of a compaction in the client's order; the summary is known before the session starts, or after."""
    played.hook("PreCompact", trigger="auto", custom_instructions=None, prompt_id="turn")
    if early:
        played.hook("SubagentStop", agent_id="a1", agent_type="", last_assistant_message=SUMMARY, prompt_id="turn")
    told = played.hook("SessionStart", source="compact")
    played.hook("PostCompact", trigger="auto", compact_summary=SUMMARY, prompt_id="turn")
    return told


def reasons(played: Played) -> list[str]:
    with closing(played.database()) as db:
        return [
            str(row[0]) for row in db.execute("SELECT reason FROM injection_items WHERE kind = 'dropped' ORDER BY id")
        ]


def test_what_the_summary_lost_comes_first_after_the_compaction(played: Played) -> None:
    work(played)
    told = compact(played)
    lines = told.split("\n")
    lost = lines.index("Known before, and not in the summary of the conversation:")
    files = lines.index("Files in play:")
    assert lines.index("Interrupted:") < lost < files
    assert any("shop/ancient.py" in line for line in lines[lost:files]), "beyond the files that are told anyway"
    assert lines[lines.index("Passed last:") + 1].startswith("- “ruff check shop”")
    assert not any("`shop/table_9.py`" in line for line in lines[lost:files]), "the summary names it"
    with closing(played.database()) as db:
        assert db.execute("SELECT count(*) FROM prompts WHERE kind = 'summary'").fetchone() == (1,)
        (one,) = compactions.of_session(db, "long")
    given = {each.text for each in one.dropped if each.given_at}
    assert {"shop/ancient.py", "ruff check shop", "Which currency? -> Round invoices to whole cents"} <= given
    assert one.at and not any(each.needed for each in one.known)


def test_a_prompt_an_edit_and_a_command_are_given_back_what_they_touch_once(played: Played) -> None:
    work(played)
    told = compact(played, early=False)
    assert "ancient.py" not in told and "make image" not in told, "there was no room, and no summary yet"
    at = strftime("%H:%M", localtime((played.at - 1000) // 1000))
    asked = played.ask("now do the same in ancient.py")
    assert "`shop/ancient.py` was changed just now, asked “Reports lose their last row" in asked
    assert "it brought “rows = ancient_rows(all)”" in asked
    assert reasons(played) == [f"dropped by the compaction at {at}; the prompt names ancient.py"]
    played.say("Looking.")
    assert played.ask("and ancient.py once more, please") == ""
    assert played.about_to("Edit", file_path="/src/shop/shop/table_9.py", old_string="a", new_string="b") == ""
    edit = {"file_path": "/src/shop/shop/oldest.py", "old_string": "a", "new_string": "b"}
    assert "`shop/oldest.py` was changed just now" in played.about_to("Edit", **edit)
    assert played.about_to("Edit", **edit) == ""
    assert played.about_to("Bash", command="make docs") == "", "the summary names it"
    failing = played.about_to("Bash", command="make image")
    assert "“make image” failed just now, and has not passed since: “no space left for image”" in failing
    assert played.about_to("Bash", command="make image") == ""
    told, failed = answered("search", {"query": "in which currency are invoices rounded"}, "/src/shop")
    assert not failed
    (dropped,) = json.loads(told)["dropped"]
    assert "whole cents" in dropped["text"] and dropped["why"].startswith("dropped by the compaction at")


def test_a_session_without_a_compaction_is_not_looked_at(played: Played, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("spoken_of", "before_call", "lost"):
        monkeypatch.delattr(giveback, name)
    work(played)
    played.ask("now do the same in ancient.py")
    assert played.about_to("Bash", command="make image") == ""
    assert played.about_to("Edit", file_path="/src/shop/shop/oldest.py", old_string="a", new_string="b") == ""
    with closing(played.database()) as db:
        assert not db.execute("SELECT 1 FROM counters WHERE name LIKE '%fail%'").fetchall()


def test_a_long_session_is_looked_through_only_for_what_the_prompt_speaks_of(
    played: Played, monkeypatch: pytest.MonkeyPatch
) -> None:
    work(played)
    compact(played, early=False)
    wanted: list[str] = []
    touched = dropped.met

    def met(one: Thing, later: Iterable[Call]) -> Call | None:
        wanted.append(one.text)
        return touched(one, later)

    monkeypatch.setattr(dropped, "met", met)
    with closing(played.database()) as db:
        number, at = db.execute("SELECT max(seq), max(at) FROM observations").fetchone()
        db.executemany(
            "INSERT INTO observations (session_id, seq, at, obs_type, file_path, content, outcome, dedup_key)"
            " VALUES ('long', ?1, ?2, ?3, ?4, ?5, 'ok', 'late' || ?1)",
            [(number + each, at + each, *(("command", None, f"make part_{each}") if each % 2 else
              ("file_edit", f"shop/late_{each}.py", "+ row = 1"))) for each in range(1, 3000)],
        )  # fmt: skip
        present = Present(1, "long", at + 5000, "where is the weather report?")
        assert not giveback.spoken_of(db, present) and not wanted
        present.prompt = "now do the same in ancient.py"
        (item,) = giveback.spoken_of(db, present)
        assert item.files == ("shop/ancient.py",) and wanted == ["shop/ancient.py"]
        calls = dropped.folds(db, "long", 5)[0].before
        assert len(calls) == 5, "those just before the compaction"


def test_what_else_a_prompt_is_told_is_not_lost_where_looking_is_late(
    played: Played, monkeypatch: pytest.MonkeyPatch
) -> None:
    work(played)
    compact(played, early=False)
    monkeypatch.setattr(ask, "beside", lambda db, present, config, made, most: ask._added(made, OTHER, most))
    monkeypatch.setattr(giveback, "perf_counter_ns", lambda: dropped.EVERY - 1)
    told = played.ask("now do the same in ancient.py")
    assert OTHER.text in told and "was changed just now" not in told
    monkeypatch.undo()
    played.say("Looking.")
    assert "`shop/ancient.py` was changed just now" in played.ask("and ancient.py once more, please")


def test_what_a_person_excluded_is_not_given_back(played: Played) -> None:
    work(played)
    with closing(played.database()) as db:
        db.execute("INSERT INTO context_choices SELECT id, 'file/shop/ancient.py', 'exclude', 1 FROM projects")
    assert "ancient.py" not in compact(played)
    assert "ancient.py" not in played.ask("now do the same in ancient.py")


def test_the_replay_counts_what_was_told_before_it_was_needed(played: Played) -> None:
    work(played)
    compact(played)
    played.ask("go on")
    played.run("ruff check shop", "All checks passed!")
    played.read("shop/ancient.py")
    told = json.loads(run("eval", "compactions", "--json").stdout)
    by = told["by"]["kind"]
    assert (by["command"]["dropped"], by["command"]["needed"], by["command"]["told"]) == (1, 1, 1)
    assert (by["file"]["needed"], by["file"]["told"]) == (1, 1)
    assert told["baseline"]["by"]["kind"] == {"decision": 0, "open end": 0, "file": 0, "command": 0, "file read": 0}
    assert told["told_by"]["after the compaction"] == 2
    assert run("eval", "compactions", "--project", "nowhere").returncode != 0
