"""Tasks are found by what they ask for, and the index follows them: new, edited, begun, removed."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest

from capture.storage import store
from capture.storage.schema import statements
from nmem import tables
from nmem.audit import integrity
from nmem.search.search import Hit, search
from nmem.store import schema
from nmem.store.schema.found import TASKS_FOUND
from tests.nmem.search.conftest import NOW, Stored


def hits(stored: Stored, text: str) -> tuple[Hit, ...]:
    return search(stored.db, text, NOW, seconds=30).hits


def ids(stored: Stored, text: str) -> list[str]:
    return [hit.id for hit in hits(stored, text)]


@pytest.mark.parametrize("settled", [True, False])
def test_by_its_words_its_project_and_filters(stored: Stored, settled: bool) -> None:
    mine = stored.queue("write the changelog\nfrom src/log.py", state="failed")
    other = stored.queue("write the changelog", "blog", client="codex")
    stored.queue("sweep the floor", "nowhere")
    stored.say("something else")
    if settled:
        stored.settle()
    assert set(ids(stored, "changelog")) == {mine, other}
    assert ids(stored, "changelog blog")[0] == other
    assert ids(stored, "type:task changelog project:shop") == ids(stored, "type:task file:src/log") == [mine]
    assert ids(stored, "type:task client:codex") == [other]
    assert ids(stored, "is:failed") == [mine]
    assert ids(stored, "type:task sweep") == ["task/3"]
    assert not ids(stored, "type:task since:1d until:2020-01")
    found = hits(stored, "changelog is:failed")[0]
    assert (found.kind, found.project, found.client, found.outcome) == ("task", "shop", "claude", "failed")
    assert [found.snippet.text[a:b] for a, b in found.snippet.marks] == ["changelog"]
    assert hits(stored, "sweep")[0].project == "nowhere"


def test_one_of_a_folder_of_which_nothing_is_recorded_is_found_by_its_project(stored: Stored) -> None:
    mine, other = stored.queue("sweep the floor", "nowhere"), stored.queue("sweep the stairs")
    yard = stored.queue("sweep the yard", "shop yard")
    call = stored.do("sweep")
    shown = search(stored.db, "sweep", NOW, seconds=30).facets.projects
    assert {one.value: ids(stored, f"sweep {one.filter}") for one in shown} == {
        "nowhere": [mine], "shop": [call, other], "shop yard": [yard],
    }  # fmt: skip
    assert ids(stored, "type:task project:nowhere") == ids(stored, "sweep project:nowh client:claude") == [mine]
    assert set(ids(stored, "type:task project:nowhere,shop")) == {mine, other}
    assert ids(stored, "type:command project:nowhere") == ids(stored, "project:elsewhere") == []
    stored.db.execute("INSERT INTO projects VALUES (9, 'k', 'nowhere', '/src/nowhere', NULL, 0)")
    assert ids(stored, "type:task project:nowhere") == [mine], "what was recorded there since takes nothing away"


def test_the_index_follows_the_task(stored: Stored) -> None:
    stored.queue("first words")
    stored.db.execute("UPDATE tasks SET prompt = 'other words'")
    assert (ids(stored, "first"), ids(stored, "other")) == ([], ["task/1"])
    before = stored.db.execute("SELECT id FROM search_docs").fetchall()
    stored.db.execute("UPDATE tasks SET state = 'running', output = 'chatter', changed_at = 7")
    assert stored.db.execute("SELECT id FROM search_docs").fetchall() == before
    stored.db.execute("UPDATE tasks SET session_id = 'blog'")
    assert hits(stored, "other")[0].session_id == "blog"
    stored.db.execute("UPDATE search_docs SET body = 'rewritten'")
    assert (ids(stored, "other"), ids(stored, "rewritten")) == ([], ["task/1"])
    stored.db.execute("DELETE FROM tasks")
    assert ids(stored, "rewritten") == []
    stored.db.execute("INSERT INTO search_docs_fts(search_docs_fts, rank) VALUES ('integrity-check', 1)")


def test_the_projects_of_one_name_are_told_apart_by_the_folder(stored: Stored) -> None:
    stored.db.execute("INSERT INTO projects VALUES (9, 'k', 'shop', '/old/shop', NULL, 0)")
    stored.queue("here", cwd="/src/shop")
    stored.queue("there", cwd="/old/shop/sub")
    placed = stored.db.execute("SELECT ref, project_id FROM search_docs ORDER BY id").fetchall()
    assert [tuple(row) for row in placed] == [("1", 1), ("2", 9)]


def test_what_was_queued_before_is_found(tmp_path: Path) -> None:
    last = schema.MIGRATIONS.index(TASKS_FOUND)
    with closing(store.connect(str(tmp_path / "nmem.db"))) as db:
        db.execute("CREATE TABLE nmem_schema (version INTEGER NOT NULL)")
        db.execute("INSERT INTO nmem_schema VALUES (?)", (last,))
        for script in schema.MIGRATIONS[:last]:
            for statement in statements(script):
                db.execute(statement)
        db.execute("INSERT INTO tasks (created_at, changed_at, prompt, cwd) VALUES (1, 1, 'an old wish', '/x')")
        tables.ensure(db)
        assert [hit.id for hit in search(db, "wish", NOW, seconds=30).hits] == ["task/1"]


def test_one_that_is_left_behind_is_said_and_mended(stored: Stored) -> None:
    stored.queue("gone")
    stored.db.execute("DROP TRIGGER search_tasks_delete")
    stored.db.execute("DELETE FROM tasks")
    path = str(stored.db.execute("PRAGMA database_list").fetchone()[2])
    said = [found.evidence for found in integrity.findings(stored.db, path) if found.check == "orphans"]
    assert said == ["1 searchable task that is gone"]
    assert integrity.fix(stored.db) == ["1 searchable task that is gone: removed"]
    assert stored.db.execute("SELECT 1 FROM search_docs").fetchone() is None
