"""Labels where rows are written: by hooks and by imports alike, and never at the cost of a row."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from capture.event import FAILED, OK, Batch, Observation, Prompt
from capture.labels import model
from capture.seal import seal
from capture.storage import store
from capture.storage.rows import write, write_many

AT = 1_760_000_000_000
COLUMNS = "phase, scope, locus, novelty, friction, label_model"


def made(number: int, kind: str, content: str, path: str | None = None, outcome: str = OK, agent: str = "") -> Batch:
    batch = Batch("claude", "s1", AT + number * 1000, "/srv/x")
    seen = Observation(batch.at, kind, content, dedup_key=f"k{number}{kind}")
    seen.tool_name = {"file_read": "Read", "file_edit": "Edit"}.get(kind, "Bash")
    seen.file_path, seen.outcome, seen.agent_id = path, outcome, agent
    batch.observations.append(seen)
    return batch


def story() -> list[Batch]:
    asked = Batch("claude", "s1", AT, "/srv/x")
    asked.prompts.append(Prompt(AT, "user", "prompt", "make the parser faster", dedup_key="p1.1"))
    return [asked, made(1, "session_start", "startup"), made(2, "file_read", "a.py", "a.py"),
            made(3, "file_edit", "+x", "a.py"), made(4, "test", "pytest -q", None, FAILED),
            made(5, "test", "pytest -q", None, OK, "sub"), made(6, "test", "pytest -q"),
            made(7, "git_push", "git push"),
            made(5, "command", "ls late"), made(8, "file_read", "b.py", "b.py")]  # fmt: skip


def labels(db: sqlite3.Connection) -> list[tuple[object, ...]]:
    return [tuple(row) for row in db.execute(f"SELECT {COLUMNS} FROM observations ORDER BY seq")]


def test_a_row_is_labelled_and_what_is_no_call_is_not(db_path: str) -> None:
    db = store.connect(db_path)
    write_many(db, map(seal, story()))
    found = {row[-1]: row[:-1] for row in db.execute(f"SELECT {COLUMNS}, obs_type FROM observations ORDER BY seq")}
    assert found.pop("session_start") == (None,) * 6
    assert {row[5] for row in found.values()} == {model.current(db_path).name}  # type: ignore[union-attr]
    assert found["file_read"][0] < 0 < found["file_edit"][0]
    assert found["git_push"][2] > 0 > found["file_edit"][2]
    failed = db.execute("SELECT friction FROM observations WHERE outcome = 'failed'").fetchone()
    assert failed[0] > 0


def test_one_by_one_and_all_at_once_are_the_same(tmp_path: Path) -> None:
    together, alone = (store.connect(str(tmp_path / name / "x.db")) for name in "ab")
    write_many(together, map(seal, story()))
    for batch in story():
        write(alone, seal(batch))
    assert labels(together) == labels(alone)
    assert len(labels(alone)) == 9


def test_a_fault_costs_the_labels_and_not_the_row(db_path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise RuntimeError

    monkeypatch.setattr("capture.labels.labeller.call_of", broken)
    db = store.connect(db_path)
    written = write_many(db, map(seal, story()))
    assert written.stored == 10
    assert set(labels(db)) == {(None,) * 6}
    assert "not labelled: RuntimeError" in Path(db_path).with_name("nmem.log").read_text()


def test_without_a_table_rows_are_stored_all_the_same(db_path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(model, "SHIPPED", "/nowhere")
    model.forget()
    db = store.connect(db_path)
    write(db, seal(made(1, "file_read", "a.py", "a.py")))
    model.forget()
    assert labels(db) == [(None,) * 6]


def test_a_hook_labels(bash: Callable[..., dict[str, object]], db_path: str, hook: Callable[..., object]) -> None:
    hook(bash(0, "git push origin main"))
    db = sqlite3.connect(db_path)
    assert db.execute("SELECT locus > 0.5, label_model FROM observations").fetchone() == (1, model.shipped().name)  # type: ignore[union-attr]
    db.close()
