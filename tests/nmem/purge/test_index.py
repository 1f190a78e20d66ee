"""The index of episodes follows every column that it holds."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from sqlite3 import Connection

import pytest

from capture.storage import store
from capture.storage.schema import statements
from nmem import tables
from nmem.purge import files, run
from nmem.purge.selection import Selection
from nmem.search.search import search
from nmem.settle import settle
from nmem.store import schema
from nmem.undo import undo
from tests.nmem.conftest import Recorded
from tests.nmem.purge.conftest import holding

WORD = "quokkabird99"
TOLD = ("title", "intent", "summary", "learned", "completed", "next_steps", "notes", "files_read", "files_edited")


def found(db: Connection, word: str = WORD) -> int:
    return int(db.execute("SELECT count(*) FROM narratives_fts WHERE narratives_fts MATCH ?", (word,)).fetchone()[0])


def test_a_word_in_one_column_only_goes_out_of_the_index(record: Recorded, db_path: str) -> None:
    """In each column another one."""
    record.coupon()
    settle(db_path, 600, models=False, clock=lambda: record.at + 86_400_000)
    words = {column: f"{WORD}of{column.replace('_', '')}" for column in TOLD}
    for column, word in words.items():
        record.db.execute(f"UPDATE work_units SET {column} = ?", (f"about {word}",))
        assert found(record.db, word), column
    done = run.purge(db_path, Selection(texts=tuple(words.values())), 1, window=0)
    assert done.left == ()
    assert [column for column, word in words.items() if found(record.db, word)] == []
    assert holding(db_path, tuple(words.values())) == []


def test_what_the_index_missed_is_put_right(db_path: str) -> None:
    last = schema.MIGRATIONS.index(schema._WHOLLY_INDEXED)
    with closing(store.connect(db_path)) as db:
        db.execute("CREATE TABLE nmem_schema (version INTEGER NOT NULL)")
        db.execute("INSERT INTO nmem_schema VALUES (?)", (last,))
        for script in schema.MIGRATIONS[:last]:
            for statement in statements(script):
                db.execute(statement)
        made = Recorded(db).begin("s")
        made.user("fix it")
        number = db.execute("SELECT max(id) FROM prompts").fetchone()[0]
        db.execute("INSERT INTO threads (id, project_id, created_at, last_at) SELECT 1, project_id, 1, 1 FROM sessions")
        columns = "id, session_id, first_prompt_id, last_prompt_id, started_at, last_at, intent, notes"
        db.execute(f"INSERT INTO work_units ({columns}) VALUES (1, 's', ?1, ?1, 1, 1, 'fix it', ?2)", (number, WORD))
        db.execute("UPDATE work_units SET notes = 'nothing'")
        assert found(db) == 1
        tables.ensure(db)
        assert found(db) == 0


def test_what_settling_could_not_clean_is_logged(
    record: Recorded, db_path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    record.coupon()
    record.user(f"say {WORD}")
    run.purge(db_path, Selection(texts=(WORD,)), 1_000, window=60, later=True)
    monkeypatch.setattr(files, "clean", lambda _path, _words: [])
    monkeypatch.setattr(files, "holding", lambda paths, words: list(paths)[:1])
    run.finish(db_path, 1_001)
    assert "purge/1: it is still in" in Path(db_path).with_name("nmem.log").read_text("utf-8")


def asked(db: Connection, words: str) -> list[str]:
    return [hit.id for hit in search(db, words, 1, seconds=30).hits]


@pytest.mark.parametrize("chosen", [Selection(ids=(("task", "1"),)), Selection(texts=(WORD,))])
def test_a_task_that_is_purged_is_found_no_more_and_again_when_it_is_back(
    record: Recorded, db_path: str, chosen: Selection
) -> None:
    record.coupon()
    for prompt in (f"look after the {WORD}", "sweep the floor"):
        record.db.execute("INSERT INTO tasks (created_at, changed_at, prompt, cwd) VALUES (1, 1, ?, '/x')", (prompt,))
    settle(db_path, 600, models=False, clock=lambda: record.at + 86_400_000)
    assert asked(record.db, WORD) == ["task/1"]
    run.purge(db_path, chosen, 1_000, window=60)
    assert (asked(record.db, WORD), asked(record.db, "sweep floor")) == ([], ["task/2"])
    assert holding(db_path, (WORD,)) == []
    undo(record.db, 1_001)
    assert asked(record.db, WORD) == ["task/1"]
    record.db.execute("INSERT INTO search_docs_fts(search_docs_fts, rank) VALUES ('integrity-check', 1)")
    assert run.purge(db_path, chosen, 1_002, window=0).left == ()
    assert (asked(record.db, WORD), holding(db_path, (WORD,))) == ([], [])
