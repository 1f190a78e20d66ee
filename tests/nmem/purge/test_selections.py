"""Selections: how they combine, what they reach, and that an undo is exact for any of them."""

from __future__ import annotations

import random
import re
import shutil
import sqlite3
import time
from contextlib import closing
from pathlib import Path

import pytest
from click.testing import CliRunner

from capture.storage import store
from nmem import tables
from nmem.commands.main import nmem
from nmem.errors import NmemError
from nmem.purge import reach, run, trash
from nmem.purge.preview import preview
from nmem.purge.selection import Matcher, Selection, parse
from nmem.purge.store import waiting
from nmem.undo import undo
from tests.nmem.purge.conftest import TOKEN, dumped, holding, hook, settled, tool
from tests.nmem.purge.test_purge import differences, recounted

NOW = time.time_ns() // 1_000_000


def ids(db_path: str, sql: str) -> list[int | str]:
    with closing(sqlite3.connect(db_path)) as db:
        return [row[0] for row in db.execute(sql)]


SORTS = ("rows", "episode", "learning", "session", "sessions", "thread", "project", "file", "words in a session",
         "words", "regex", "before")  # fmt: skip


def selection_of(sort: str, db_path: str, dice: random.Random) -> Selection:
    """A selection of a sort that a person could make."""
    observations = ids(db_path, "SELECT id FROM observations")
    prompts = ids(db_path, "SELECT id FROM prompts")
    times = ids(db_path, "SELECT at FROM prompts")
    kinds = {
        "rows": lambda: Selection(ids=tuple(
            [("obs", str(one)) for one in dice.sample(observations, dice.randint(1, 4))]
            + [("prompt", str(one)) for one in dice.sample(prompts, dice.randint(0, 3))])),
        "episode": lambda: Selection(ids=(("episode", str(dice.choice(ids(db_path, "SELECT id FROM work_units")))),)),
        "learning": lambda: Selection(ids=(("learning", str((ids(db_path, "SELECT id FROM learnings") or [1])[0])),)),
        "session": lambda: Selection(sessions=(dice.choice(["s1", "later", "other"]),)),
        "sessions": lambda: Selection(sessions=("s1", "later")),
        "thread": lambda: Selection(ids=(("thread", str(dice.choice(ids(db_path, "SELECT id FROM threads")))),)),
        "project": lambda: Selection(projects=(str(ids(db_path, "SELECT name FROM projects")[0]),)),
        "file": lambda: Selection(files=("src/invoice.py",)),
        "words in a session": lambda: Selection(sessions=("s1",), texts=("readme",)),
        "words": lambda: Selection(texts=(dice.choice(["invoice", TOKEN, "deploy", "ordinary"]),)),
        "regex": lambda: Selection(regexes=(r"Exit code \\d|reach [A-Z]\\w+",)),
        "before": lambda: Selection(before=int(dice.choice(times)) + dice.randint(0, 2)),
    }  # fmt: skip
    return kinds[sort]()


@pytest.mark.parametrize("seed", range(3))
def test_an_undo_is_exact_for_any_selection(planted: str, tmp_path: Path, seed: int) -> None:
    recounted(planted)
    before = dumped(planted)
    dice = random.Random(seed)
    for sort in SORTS[seed::3]:
        folder = tmp_path / sort / "data"
        shutil.copytree(Path(planted).parent, folder)
        path = str(folder / "nmem.db")
        chosen = selection_of(sort, path, dice)
        try:
            done = run.purge(path, chosen, NOW)
        except NmemError as error:
            assert "nothing recorded" in str(error) or "no learning/1" in str(error)
            continue
        if dice.random() < 0.7:
            settled(path)
        with closing(sqlite3.connect(path)) as db:
            assert db.execute("PRAGMA foreign_key_check").fetchall() == [], chosen
        dumped(path)  # every index agrees with its rows
        with closing(store.connect(path, timeout=5)) as db:
            tables.ensure(db)
            undo(db, NOW)
        recounted(path)
        assert differences(before, dumped(path)) == {}, (chosen, done.counts)
        assert trash.kept(path) == set()


def test_a_whole_session_is_nowhere(planted: str) -> None:
    run.purge(planted, Selection(sessions=("s1",)), NOW, window=0)
    settled(planted)
    with closing(sqlite3.connect(planted)) as db:
        for table in ("sessions", "prompts", "observations", "work_units", "session_summaries"):
            column = "id" if table == "sessions" else "session_id"
            assert db.execute(f"SELECT count(*) FROM {table} WHERE {column} = 's1'").fetchone() == (0,)
        assert db.execute("SELECT count(*) FROM sessions").fetchone() == (2,)


def test_different_means_narrow_each_other(planted: str) -> None:
    with closing(sqlite3.connect(planted)) as db:
        both = reach.find(db, Selection(sessions=("s1",), texts=("readme",)))
        every = reach.find(db, Selection(texts=("readme",)))
        assert 0 < len(both.prompts) < len(every.prompts)
        assert not both.sessions and both.touched == {"s1"}
        files = reach.find(db, Selection(sessions=("later",), files=("src/invoice.py",)))
        assert (len(files.observations), files.prompts) == (1, set())


def test_a_preview_says_exactly_what_goes(planted: str) -> None:
    chosen = Selection(sessions=("s1",), texts=(TOKEN,))
    with closing(sqlite3.connect(planted)) as db:
        shown = preview(db, chosen, planted)
    done = run.purge(planted, chosen, NOW)
    assert shown.rows == {"obs": done.counts["observations"], "prompt": done.counts["prompts"]}
    assert shown.total == len(shown.items)


def test_rows_that_came_since_keep_to_themselves(planted: str) -> None:
    """Numbers that were used again belong to the old rows after an undo; what came since moves behind them."""
    newest = ids(planted, "SELECT max(id) FROM observations")[0]
    said = ids(planted, f"SELECT content FROM observations WHERE id = {newest}")[0]
    run.purge(planted, Selection(sessions=("later",)), NOW)
    hook(planted, "UserPromptSubmit", prompt="a new question about shipping", session_id="new")
    for number in range(12):
        tool(
            planted,
            "Bash",
            100 + number,
            {"command": f"echo new {number}"},
            {"stdout": "x", "stderr": ""},
            session_id="new",
        )
    settled(planted)
    with closing(store.connect(planted, timeout=5)) as db:
        undo(db, NOW)
    settled(planted)
    with closing(sqlite3.connect(planted)) as db:
        assert db.execute("SELECT content FROM observations WHERE id = ?", (newest,)).fetchone() == (said,)
        found = db.execute("SELECT content, prompt_id IN (SELECT id FROM prompts WHERE session_id = 'new')"
                           " FROM observations WHERE session_id = 'new' ORDER BY id").fetchall()  # fmt: skip
        assert found == [(f"echo new {number}", 1) for number in range(12)]
        assert db.execute("PRAGMA foreign_key_check").fetchall() == []
    dumped(planted)


def test_after_the_window_nothing_brings_it_back(planted: str) -> None:
    run.purge(planted, Selection(texts=(TOKEN,)), NOW, window=1)
    with closing(store.connect(planted, timeout=5)) as db:
        later = NOW + 61_000
        assert waiting(db, later)
        assert "its window is over" in undo(db, later)
        assert waiting(db, later)
        assert run.expire(db, planted, later) == 1
        assert trash.kept(planted) == set()
        assert "purge" not in {row[0] for row in db.execute("SELECT kind FROM corrections")}


def test_hooks_lose_nothing_while_it_works(planted: str) -> None:
    """A hook that finds the database locked spools, and what it had is there afterwards."""
    with closing(store.connect(planted)) as db:
        db.execute("BEGIN IMMEDIATE")
        hook(planted, "UserPromptSubmit", prompt="asked while it was locked", session_id="busy")
        db.execute("ROLLBACK")
    run.purge(planted, Selection(sessions=("s1",)), NOW)
    assert ids(planted, "SELECT content FROM prompts WHERE session_id = 'busy'") == ["asked while it was locked"]


def test_what_waits_in_the_spool_is_reached(planted: str) -> None:
    with closing(store.connect(planted)) as db:
        db.execute("BEGIN IMMEDIATE")
        hook(planted, "UserPromptSubmit", prompt=f"again {TOKEN}", session_id="busy")
        db.execute("ROLLBACK")
    assert any(name.startswith("spool/") for name in holding(planted))
    run.purge(planted, Selection(texts=(TOKEN,)), NOW, window=0)
    assert holding(planted) == []


def test_case_json_blanks_and_quotes_make_no_difference() -> None:
    says = Matcher(('a "Key" é',), ())
    assert all(map(says, ('A "KEY" É', r'{"x": "a \"Key\" \u00e9"}', "a  'key'\n é", "a “Key” é", b'a "Key" \xc3\xa9')))
    assert not any(map(says, ("a key", None, 3, "")))


@pytest.mark.parametrize("written", ["obs/x", "nothing", "session/", "obs/1/2", "tag/1"])
def test_ids_are_read_strictly(written: str) -> None:
    with pytest.raises(NmemError, match="is not an id"):
        parse(written)


def test_the_command_shows_first_and_asks(planted: str) -> None:
    run_ = CliRunner().invoke
    shown = run_(nmem, ["purge", "--text", TOKEN, "--dry-run"])
    assert shown.exit_code == 0
    assert "What would go" in shown.output and "observations" not in shown.output
    assert not re.search(r"\b[a-z]+_[a-z]+\.[a-z]+\b", shown.output.replace(TOKEN, ""))
    assert holding(planted)
    assert run_(nmem, ["purge", "--text", TOKEN], input="n\n").exit_code != 0
    assert holding(planted)
    done = run_(nmem, ["purge", "--text", TOKEN, "--yes"])
    assert done.exit_code == 0, done.output
    assert holding(planted) == []
    goes = re.findall(r"These go\s+(.+)", shown.output)[0]
    assert f"purged: {goes}; " in done.output
    listed = run_(nmem, ["purge", "--list"]).output
    assert f"purge/1: {goes} by words; can be undone" in listed
    assert run_(nmem, ["undo"]).output == f"undone: purge/1: {goes}\n"
    assert holding(planted)
    assert run_(nmem, ["purge", "--text", "zz"]).exit_code != 0


def test_tasks_that_say_chosen_words_are_shown_one_by_one_and_are_those_that_go(planted: str) -> None:
    before = ids(planted, "SELECT id FROM tasks")
    with closing(store.connect(planted, timeout=5)) as db:
        tables.ensure(db)
        db.execute("INSERT INTO tasks (created_at, changed_at, prompt, cwd) VALUES (1, 1, 'polish the spout', '/x')")
        db.execute("INSERT INTO tasks (created_at, changed_at, prompt, cwd, session_id, output)"
                   " VALUES (1, 1, 'answered', '/x', 's1', ?)", (TOKEN,))  # fmt: skip
        shown = preview(db, Selection(texts=(TOKEN,)))
    assert shown.rows["task"] == len(before) == 2
    assert [one.id for one in shown.items if one.kind in ("failed", "queued")] == ["task/2", "task/1"]
    assert not [name for name in shown.elsewhere if name.startswith("tasks.")]
    done = run.purge(planted, Selection(texts=(TOKEN,)), NOW)
    assert done.rows == shown.rows
    assert ids(planted, "SELECT prompt FROM tasks") == ["polish the spout", "answered"]


def test_the_preview_of_one_call_names_what_learnings_lose(planted: str) -> None:
    call = ids(planted, "SELECT id FROM observations WHERE session_id = 's1' AND outcome = 'failed'")[0]
    noted = ids(planted, "SELECT count(*) FROM learning_findings WHERE session_id = 's1'")
    with closing(store.connect(planted, timeout=5)) as db:
        shown = preview(db, Selection(ids=(("obs", str(call)),)))
    assert [shown.derived.get("notes that learnings are made of")] == noted != [0]
    run.purge(planted, Selection(ids=(("obs", str(call)),)), NOW, window=0)
    assert ids(planted, "SELECT count(*) FROM learning_findings WHERE session_id = 's1'") == [0]


def test_a_project_that_only_tasks_name_goes_with_them_and_comes_back(planted: str) -> None:
    with closing(store.connect(planted, timeout=5)) as db:
        tables.ensure(db)
        for project, state in (("teapot", "queued"), ("teapot", "running"), ("kettle", "running"), ("other", "queued")):
            db.execute("INSERT INTO tasks (created_at, changed_at, prompt, cwd, project, state)"
                       " VALUES (1, 1, 'polish the spout', '/x', ?, ?)", (project, state))  # fmt: skip
        before = dumped(planted)
        shown = preview(db, Selection(projects=("teapot",)))
        assert shown.rows == {"task": 1}
        assert [one.text for one in shown.items] == ["polish the spout"]
        with pytest.raises(NmemError, match="is running"):
            preview(db, Selection(projects=("kettle",)))
        with pytest.raises(NmemError, match="nothing is recorded of project"):
            preview(db, Selection(projects=("saucer",)))
    done = run.purge(planted, Selection(projects=("teapot",)), NOW)
    assert done.rows == {"task": 1}
    assert ids(planted, "SELECT project || ' ' || state FROM tasks WHERE project != ''") == [
        "teapot running", "kettle running", "other queued"
    ]  # fmt: skip
    with closing(store.connect(planted, timeout=5)) as db:
        undo(db, NOW)
    assert differences(before, dumped(planted)).keys() <= {"vocabulary"}, "that settling counts anew"


def test_the_preview_of_a_project_counts_its_tasks(planted: str) -> None:
    name = str(ids(planted, "SELECT name FROM projects JOIN sessions ON projects.id = project_id")[0])
    with closing(store.connect(planted, timeout=5)) as db:
        tables.ensure(db)
        db.execute(
            "INSERT INTO tasks (created_at, changed_at, prompt, cwd, project) VALUES (1, 1, 'p', '/x', ?)", (name,)
        )
        shown = preview(db, Selection(projects=(name,)))
    assert shown.rows["task"] == 1
    assert run.purge(planted, Selection(projects=(name,)), NOW).rows == shown.rows
