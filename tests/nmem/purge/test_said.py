"""A purge is told in the same words everywhere, and never by the name of a table."""

from __future__ import annotations

from pathlib import Path

from capture.storage import store
from nmem import tables
from nmem.purge import journal, said
from nmem.purge.reach import FACTS, text_columns


def test_numbers_are_told_by_what_they_are() -> None:
    assert said.goes({"obs": 14, "prompt": 1, "session": 1}) == "1 session, 1 prompt, 14 calls"
    assert said.goes({"trace": 2_000}) == "2,000 swept calls"
    assert said.goes({}) == "other texts that contain it"
    assert said.of_tables({"observations": 1, "learnings": 2, "work_units": 3}, ["id obs"]) == {"obs": 1}
    assert said.of_tables({"learnings": 2}, ["id learning"]) == {"learning": 2}
    assert said.of_tables({"learnings": 2, "tasks": 1}, ["text"]) == {"task": 1}
    assert said.of_tables({"tasks": 1}, ["session", "text"]) == {}
    assert said.places({"tasks": 1, "observations": 3, "task_events": 4}) == [("tasks", 5), ("calls", 3)]
    assert said.by(["id obs", "id episode"]) == "by the id of a call and the id of an episode"
    assert said.by(["session", "since", "before"]) == "by session and time"


def test_every_table_that_is_looked_through_has_words(tmp_path: Path) -> None:
    db = store.connect(str(tmp_path / "x.db"))
    tables.ensure(db)
    names = [table.name for table in journal.tables(db, FACTS) if text_columns(db, table.name)]
    db.close()
    assert len(names) > 40
    found = said.elsewhere({f"{name}.data": 1 for name in names})
    assert sum(found.values()) == len(names)
    assert not [word for word in found if "_" in word or "." in word]
    assert said.elsewhere({"learning_findings.data": 2, "learnings.title": 1}) == {"learnings and their evidence": 3}
