"""Counting on from turn to turn gives what counting from the start gives; and what is counted is what was done."""

from __future__ import annotations

import json
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from capture.event import STOPPED
from capture.storage import store
from capture.storage.store import transaction
from nmem import tables
from nmem.episodes import annotate, units
from nmem.episodes.undone import undoes
from tests.nmem.episodes.conftest import Script

ACTIONS = st.tuples(
    st.sampled_from(
        ["file_read", "file_edit", "file_write", "search", "test", "command", "git_commit", "git_other", "git_push"]),
    st.sampled_from([None, "a.py", "b/c.py", "ö.md"]),
    st.sampled_from(["ok", "failed", "unknown"]),
    st.sampled_from(["", "git checkout -- .", "git status"]),
    st.sampled_from(
        [None, '{"interrupted":true}', '{"commit":{"hash":"abcd123","message":"m"}}', '{"push":{"rejected":true}}']),
    st.sampled_from([0.1, 2.0, 4.9, 5.1, 70.0]),
)  # fmt: skip
TURNS = st.lists(st.tuples(st.lists(ACTIONS, max_size=6), st.booleans(), st.booleans()), min_size=1, max_size=5)


def columns(unit: units.Unit) -> dict[str, Any]:
    names = ("obs_count", "hot_files", "phase_signature", "fingerprint", "outcomes", "commits", "friction", "active_ms",
             "annotated_seq", "last_at")  # fmt: skip
    return {name: getattr(unit, name) for name in names}


@settings(max_examples=30, deadline=None)
@given(TURNS)
def test_counting_on_is_counting_all(turns: list[tuple[list[tuple[Any, ...]], bool, bool]]) -> None:
    with TemporaryDirectory() as folder:
        db = store.connect(str(Path(folder) / "n.db"))
        tables.ensure(db)
        script = Script(db)
        unit_id = 0
        for actions, counted, stopped in turns:
            number = script.prompt("do it")
            with transaction(db):
                if unit_id:
                    units.append(db, number, unit_id, units.Verdict("cont", "online"))
                else:
                    unit_id = units.start(db, number, units.Verdict("new", "first"))
            for kind, path, outcome, content, metadata, minutes in actions:
                script.did(kind, path, outcome, content, metadata=metadata, minutes=minutes)
            script.said("done")
            if stopped:
                script.prompt(STOPPED, 0, "notification", "machine")
            if counted:
                annotate.update_newest(db, script.id)
        annotate.update_newest(db, script.id)
        found = units.get(db, unit_id)
        assert found
        on = columns(found)
        with transaction(db):
            annotate.recount(db, found)
        again = units.get(db, unit_id)
        assert again and columns(again) == on
        db.close()


def test_files_are_ordered_by_what_was_done_to_them(script: Script) -> None:
    number = script.prompt("fix it")
    with transaction(script.db):
        made = units.start(script.db, number, units.Verdict("new", "first"))
    for _ in range(4):
        script.did("file_read", "read.py", tool="Read")
    script.did("file_edit", "edit.py")
    script.did("file_edit", "edit.py")
    script.did("file_edit", "broken.py", "failed")
    script.did("test", outcome="failed", content="pytest", tool="Bash")
    script.did("test", outcome="ok", content="pytest", tool="Bash")
    annotate.update_newest(script.db, script.id)
    unit = units.get(script.db, made)
    assert unit
    hot = json.loads(unit.hot_files)
    assert [(each["path"], each["reads"], each["edits"], each["failures"]) for each in hot] == [
        ("edit.py", 0, 2, 0), ("read.py", 4, 0, 0), ("broken.py", 0, 0, 1),
    ]  # fmt: skip
    assert json.loads(unit.outcomes)["tests"] == "passed"
    assert json.loads(unit.phase_signature) == {"investigate": 4, "execute": 5, "failures": 2}
    assert unit.friction == pytest.approx(2 / 12, abs=0.001)


def test_breaks_are_not_work(script: Script) -> None:
    number = script.prompt("fix it")
    with transaction(script.db):
        made = units.start(script.db, number, units.Verdict("new", "first"))
    script.did("file_edit", "a.py", minutes=3)
    script.did("file_edit", "a.py", minutes=120)
    script.did("file_edit", "a.py", minutes=1)
    annotate.update_newest(script.db, script.id)
    unit = units.get(script.db, made)
    assert unit and unit.active_ms == 4 * 60_000 and unit.last_at == script.at


def test_work_that_was_thrown_away_is_abandoned(script: Script) -> None:
    number = script.prompt("try a cache")
    with transaction(script.db):
        made = units.start(script.db, number, units.Verdict("new", "first"))
    script.did("file_edit", "cache.py")
    script.did("git_other", content="cd x && git checkout -- .", tool="Bash")
    annotate.update_newest(script.db, script.id)
    unit = units.get(script.db, made)
    assert unit
    said = json.loads(unit.outcomes)
    assert (said["abandoned"], said["reverted"], said["thrown_away"], said["uncommitted"]) == (True, 1, 1, 0)


def said_of(script: Script, made: int) -> dict[str, object]:
    annotate.update_newest(script.db, script.id)
    unit = units.get(script.db, made)
    assert unit
    found: dict[str, object] = json.loads(unit.outcomes)
    return found


def test_a_turn_that_was_broken_off_leaves_its_work_unfinished_until_another_ends(script: Script) -> None:
    number = script.prompt("refactor the cache")
    with transaction(script.db):
        made = units.start(script.db, number, units.Verdict("new", "first"))
    script.did("file_edit", "cache.py")
    script.said("I will now")
    assert said_of(script, made)["interrupted"] is False
    script.prompt(STOPPED, 0.1, "notification", "machine")
    told = said_of(script, made)
    assert (told["interrupted"], told["abandoned"]) == (True, True)
    unit = units.get(script.db, made)
    assert unit and json.loads(unit.phase_signature)["interruptions"] == 1
    with transaction(script.db):
        units.append(script.db, script.prompt("go on"), made, units.Verdict("cont", "online"))
    script.said("The cache is refactored.")
    told = said_of(script, made)
    assert (told["interrupted"], told["abandoned"]) == (False, False)


def test_what_was_taken_back_on_the_way_to_a_commit_is_committed(script: Script) -> None:
    number = script.prompt("refactor the cache")
    with transaction(script.db):
        made = units.start(script.db, number, units.Verdict("new", "first"))
    script.did("file_edit", "cache.py")
    script.did("git_other", content="git checkout -- cache.py", tool="Bash")
    script.did("file_edit", "cache.py")
    assert said_of(script, made)["reverted"] == 0, "work stands again"
    script.did("git_commit", content="git commit -am 'Refactor the cache'", tool="Bash")
    script.did("git_other", content="git checkout -- .", tool="Bash")
    said = said_of(script, made)
    assert (said["committed"], said["reverted"], said["thrown_away"], said["undone"]) == (1, 0, 0, 1)


def test_one_of_two_files_taken_back_is_no_revert_and_a_reverted_commit_is_one(script: Script) -> None:
    number = script.prompt("refactor the cache")
    with transaction(script.db):
        made = units.start(script.db, number, units.Verdict("new", "first"))
    script.did("file_edit", "src/cache.py")
    script.did("file_edit", "src/other.py")
    script.did("git_other", content="git restore src/other.py", tool="Bash")
    said = said_of(script, made)
    assert (said["reverted"], said["thrown_away"], said["uncommitted"], said["abandoned"]) == (0, 1, 1, False)
    script.did("git_commit", content="git commit -am x", tool="Bash")
    script.did("git_other", content="git reset --hard HEAD~1", tool="Bash")
    assert said_of(script, made)["reverted"] == 1


@pytest.mark.parametrize(("command", "wanted"), [
    ("git checkout .", True), ("git checkout -- src/a.py", True), ("git checkout main", False),
    ("git restore a.py", True), ("git restore --staged a.py", False), ("git reset --hard HEAD~1", True),
    ("git reset HEAD a.py", False), ("git -C sub revert abc", True), ("cd a && git clean -fd", True),
    ("git clean -n -f", False), ("git stash drop", True), ("git stash", False), ("echo git reset --hard", False),
])  # fmt: skip
def test_what_undoes_work(command: str, wanted: bool) -> None:
    assert undoes(command) is wanted


@pytest.mark.parametrize(
    ("line", "answer", "says"),
    [
        ("rtk bun run test", "error: unrecognized subcommand 'bun'", None),
        ("cd src && go test ./...", "bash: line 1: cd: src: No such file or directory", None),
        ("go vet ./... && go test ./...", "cache/map.go:204:13: possible misuse of unsafe.Pointer", None),
        ("go vet ./... && go test ./...", "--- FAIL: TestMap (0.00s)\nFAIL\tcache", "failed"),
        ("cd src && make test", "make: *** [test] Error 1", "failed"),
    ],
)
def test_a_line_that_broke_off_before_its_tests_failed_none(
    script: Script, line: str, answer: str, says: str | None
) -> None:
    number = script.prompt("run the tests")
    with transaction(script.db):
        made = units.start(script.db, number, units.Verdict("new", "first"))
    script.did("test", outcome="failed", content=line, metadata=json.dumps({"response": answer}))
    assert said_of(script, made)["tests"] == says
