"""A database as it stood: nothing later shows, whoever reads; the replay's figures do not know the future."""

from __future__ import annotations

import shutil
import sqlite3
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from nmem.context import candidates, review_store
from nmem.errors import NmemError
from nmem.evaluate import context as ev
from nmem.evaluate.store import Moment, as_it_was
from nmem.settle import settle
from tests.nmem.conftest import MINUTE

if TYPE_CHECKING:
    from tests.nmem.conftest import Recorded

HOUR = 60 * MINUTE
PARTS = ("invoice", "tax", "login", "search", "export")
TABLES = ("sessions", "prompts", "observations", "work_units", "unit_prompts", "threads", "session_threads",
          "learnings", "learning_evidence", "corrections", "episode_links", "session_summaries")  # fmt: skip


@pytest.fixture
def history(record: Recorded, db_path: str) -> str:
    """Fifteen sessions over five parts, two of them side by side, settled afterwards."""
    record.once("as of, history", lambda: _record(record, db_path))
    return db_path


def _record(record: Recorded, db_path: str) -> None:
    for number in range(15):
        part = PARTS[number % 5]
        record.begin(f"s{number}").user(f"the {part} page shows wrong totals, part {number}: fix src/{part}/page.py")
        record.act("git_push", "git push", None, "failed", response="fatal: The current branch has no upstream branch.")
        record.edit(f"src/{part}/page.py").edit(f"src/{part}/extra{number}.py").act("file_read", "r", "src/common.py")
        record.act("git_push", "git push --set-upstream origin work").agent(f"Fixed {part} in step {number}.")
        record.db.execute("UPDATE sessions SET state = 'ended', branch = ? WHERE id = ?", (f"fix/{part}", f"s{number}"))
    record.begin("long").user("the invoice totals once more").edit("src/invoice/page.py")
    at, record.at = record.at, record.at + 5 * MINUTE
    record.begin("beside").user("the tax totals once more").edit("src/tax/page.py").agent("done")
    record.session, record.seq = "long", 90
    record.user("now the export").edit("src/export/late.py").agent("done late")
    assert at < record.at
    assert settle(db_path, models=False, clock=lambda: record.at + 2 * HOUR) is not None


def rows(db: sqlite3.Connection) -> dict[str, list[tuple[Any, ...]]]:
    return {
        table: [tuple(row) for row in db.execute(f"SELECT * FROM {table} ORDER BY 1, 2").fetchall()] for table in TABLES
    }


def told(path: str, only: str = "") -> dict[tuple[str, object], Any]:
    """Everything that would be told at every moment of a history."""
    with review_store.as_of(path) as db:
        asked = [one for one in ev.moments(db) if not only or one.session_id == only]
    out: dict[tuple[str, object], Any] = {}
    with review_store.as_of(path) as db:
        for one in asked:
            as_it_was(db, one)
            for prompt in ("", one.prompt):
                there = ev.present_of(one, prompt)
                out[one.session_id, bool(prompt)] = [
                    (item.id, round(item.score, 9), item.text, item.reason) for item in candidates.gathered(db, there)
                ]
            out[one.session_id, "rows"] = rows(db)
    return out


def without_learnings(told: Any) -> Any:
    """What a later remedy may hide, it may not change; everything else is the very same."""
    if isinstance(told, dict):
        return {table: rows for table, rows in told.items() if table != "learnings"}
    return [one for one in told if not one[0].startswith("learning/")]


def changed(path: str, to: Path, statements: list[tuple[str, tuple[object, ...]]]) -> str:
    """A copy of a database in which something else happened later."""
    source = sqlite3.connect(path)
    copy = sqlite3.connect(to, isolation_level=None)
    source.backup(copy)
    source.close()
    for statement, values in statements:
        copy.execute(statement, values)
    copy.close()
    shutil.copystat(path, to)
    return str(to)


LEARNINGS = """
UPDATE learnings SET files = '["poison.py"]', remedy = json_object('kind', 'edit', 'text', 'poison', 'files',
  json_array(), 'commands', json_array(), 'confidence', 1, 'times', 9, 'observation_ids',
  json_array((SELECT max(id) FROM observations)))
WHERE id IN (SELECT learning_id FROM learning_evidence WHERE at >= ?)
"""
EPISODES = """
UPDATE work_units SET title = 'poison', summary = 'poison', learned = '["poison"]', next_steps = '["poison"]',
  hot_files = '[{"path": "poison.py"}]', pinned = 0
WHERE session_id IN (SELECT id FROM sessions WHERE last_at >= ?)
"""
LATE_EVIDENCE = """
INSERT INTO learning_evidence (learning_id, role, session_id, at, excerpt)
SELECT id, 'occurrence', 's0', ?, 'poison' FROM learnings
"""
LATE_EDIT = """
INSERT INTO observations (session_id, at, seq, obs_type, file_path, content, dedup_key)
VALUES ('s0', ?, 9000, 'file_edit', 'poison/old.py', 'poison', 'poison')
"""
LATE_PROMPT = """
INSERT INTO prompts (session_id, at, source, kind, content, dedup_key) VALUES ('s0', ?, 'user', 'prompt', ?, 'poison')
"""
RENAMED = """
INSERT INTO corrections (at, kind, target, payload, before)
SELECT ?, 'rename', 'episode/' || id, '{}', '{}' FROM work_units
"""
MOVED = """
INSERT INTO corrections (at, kind, target, payload, before)
SELECT ?, 'thread', 'session/' || session_id, '{}', '{}' FROM session_threads WHERE thread_id = 9999
"""
LATE_THREAD = """
INSERT INTO threads (id, project_id, title, state, created_at, last_at) VALUES (9999, 1, 'poison', 'open', ?, ?)
"""
IN_VAIN = """
INSERT INTO injections (id, at, session_id, event, client, text, tokens) VALUES (7001, ?, 's0', 'prompt', 'claude',
  'poison', 1)
"""
UNUSED = """
INSERT INTO injection_items (injection_id, position, item, kind, score, reason, text, tokens, used, used_how, used_at)
SELECT 7001, id, 'episode/' || id, 'episode', 1, '', 'poison', 1, 0, '', ? FROM work_units
"""
USEFULNESS = "INSERT INTO context_usefulness SELECT 1, 'episode/' || id, 9, 0 FROM work_units"
LATE_PIN = "INSERT INTO corrections (at, kind, target, payload, before) VALUES (?, 'pin', 'episode/1', '{}', '{}')"


def poison(moment: Moment) -> list[tuple[str, tuple[object, ...]]]:
    """Everything later says something else: the prompt's own words, other files, branches, stories, choices."""
    at, own = moment.at, moment.session_id
    edits = "UPDATE observations SET file_path = 'poison/late.py', content = 'poison' WHERE at >= ? AND session_id != ?"
    return [
        ("UPDATE prompts SET content = ? WHERE at >= ? AND session_id != ?", ("poison.py " + moment.prompt, at, own)),
        (edits, (at, own)),
        ("UPDATE sessions SET branch = 'poison' WHERE last_at >= ?", (at,)),
        (EPISODES, (at,)),
        ("UPDATE threads SET micro = 'poison', meso = 'poison' WHERE last_at >= ?", (at,)),
        (LEARNINGS, (at,)),
        (LATE_EVIDENCE, (at,)),
        (LATE_EDIT, (at,)),
        (LATE_PROMPT, (at, moment.prompt)),
        ("INSERT INTO context_choices VALUES (1, 'file/poison.py', 'pin', ?)", (at,)),
        (LATE_PIN, (at,)),
        ("UPDATE work_units SET pinned = 1 WHERE id = 1", ()),
        (IN_VAIN, (at,)),
        (UNUSED, (at + 1,)),
        (USEFULNESS, ()),
        ("UPDATE work_units SET title = 'poison'", ()),
        (RENAMED, (at,)),
        (LATE_THREAD, (at, at)),
    ]


def test_nothing_of_the_future_is_told(history: str, tmp_path: Path) -> None:
    with review_store.as_of(history) as db:
        moments = ev.moments(db)
    assert len(moments) >= 14
    for moment in moments[::2]:
        poisoned = changed(history, tmp_path / "poisoned.db", poison(moment))
        before, after = told(history, moment.session_id), told(poisoned, moment.session_id)
        assert before
        for key, value in before.items():
            assert without_learnings(after[key]) == without_learnings(value), (moment.session_id, key)
        assert "poison" not in str(after)
        (tmp_path / "poisoned.db").unlink()


def test_a_later_thread_is_not_the_thread_then(history: str, tmp_path: Path) -> None:
    with review_store.as_of(history) as db:
        at = ev.moments(db)[5].at
    moved: list[tuple[str, tuple[object, ...]]] = [
        (LATE_THREAD, (at, at)),
        ("UPDATE session_threads SET thread_id = 9999 WHERE session_id = 's1'", ()),
        ("UPDATE work_units SET thread_id = 9999 WHERE session_id = 's1'", ()),
        (MOVED, (at,)),
        ("UPDATE session_threads SET thread_id = 1 WHERE session_id = 's2'", ()),
        (MOVED.replace("thread_id = 9999", "session_id = 's2'"), (at,)),
    ]  # fmt: skip
    with review_store.as_of(changed(history, tmp_path / "moved.db", moved), at) as db:
        known = dict(db.execute("SELECT session_id, thread_id FROM session_threads").fetchall())
        assert "s0" in known
        assert not {"s1", "s2"} & set(known)
        assert not db.execute("SELECT 1 FROM work_units WHERE thread_id = 9999").fetchall()


def test_whatever_is_read_is_veiled(history: str) -> None:
    """No reader reaches past the views: what a later table or column says cannot leak in unseen."""
    read: set[str] = set()

    def look(action: int, table: str | None, _: str | None, where: str | None, through: str | None) -> int:
        if action == sqlite3.SQLITE_READ and where == "main" and through is None and table:
            read.add(table)
        return sqlite3.SQLITE_OK

    with review_store.as_of(history) as db:
        asked = ev.moments(db)
    with review_store.as_of(history) as db:
        db.set_authorizer(look)
        for one in (asked[3], asked[-1]):
            as_it_was(db, one)
            ev.told_names(db, one)
            for prompt in ("", one.prompt):
                candidates.gathered(db, ev.present_of(one, prompt))
        db.set_authorizer(None)
    assert read - {"sqlite_master", "json_each"} <= set(review_store.UNVEILED), "veil it, or say in UNVEILED why not"


def test_the_same_is_told_as_if_the_future_had_not_come(history: str, tmp_path: Path) -> None:
    with review_store.as_of(history) as db:
        moment = next(one for one in ev.moments(db) if one.session_id == "beside")
    gone: list[tuple[str, tuple[object, ...]]] = [
        ("PRAGMA foreign_keys=0", ()),
        ("DELETE FROM observations WHERE at >= ? AND session_id != ?", (moment.at, moment.session_id)),
        ("DELETE FROM unit_prompts WHERE prompt_id IN (SELECT id FROM prompts WHERE at >= ?)", (moment.at,)),
        ("DELETE FROM prompts WHERE at >= ? AND session_id != ?", (moment.at, moment.session_id)),
        ("DELETE FROM sessions WHERE started_at > ? AND id != ?", (moment.at, moment.session_id)),
    ]
    without = changed(history, tmp_path / "without.db", gone)
    before, after = told(history, "beside"), told(without, "beside")
    for prompt in (False, True):
        assert before["beside", prompt] == after["beside", prompt]
    assert "late.py" not in str(before)
    assert "src/invoice/page.py" in str(before["beside", "rows"]), (
        "what was done by then is there, its session still open"
    )


def test_a_session_that_goes_on_is_open_and_untold(history: str) -> None:
    at = sqlite3.connect(history).execute("SELECT started_at FROM sessions WHERE id = 'beside'").fetchone()[0]
    with review_store.as_of(history, at) as db:
        state, branch, last = db.execute("SELECT state, branch, last_at FROM sessions WHERE id = 'long'").fetchone()
        assert (state, branch) == ("working", None)
        assert last <= at
        long = db.execute("SELECT summary, ended_at FROM work_units WHERE session_id = 'long'").fetchone()
        assert long == (None, None)
        assert db.execute("SELECT summary FROM work_units WHERE session_id = 's3'").fetchone()[0]


def test_the_file_itself_is_never_written(history: str) -> None:
    with review_store.as_of(history) as db, pytest.raises(sqlite3.OperationalError):
        db.execute("DELETE FROM main.sessions")


def test_figures_beside_the_baseline(history: str) -> None:
    found = ev.evaluate(history)
    figures = {"hit_rate", "precision", "tokens", "sessions"}
    assert set(found) == figures | {"baseline", "by"}
    assert set(found["baseline"]) == figures | {"name"}
    assert found["sessions"] == 16
    assert set(found["by"]) == {"project", "prompt"}
    assert found["by"]["project"]["shop"]["hit_rate"] == found["hit_rate"]
    assert sum(one["sessions"] for one in found["by"]["prompt"].values()) == 16
    assert found["hit_rate"] >= 0.6
    assert found == ev.evaluate(history), "the same every time"
    whole = ev.evaluate(history, "shop", 400)
    assert found["tokens"] < whole["tokens"] <= 400
    with pytest.raises(NmemError, match="no session is left to replay"):
        ev.evaluate(history, "another")
