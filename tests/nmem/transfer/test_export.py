"""Exports: what comes along in which form, that nothing is stored twice, and that redaction holds the door."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from capture.storage import store
from nmem import tables
from nmem.commands.main import nmem
from nmem.errors import NmemError
from nmem.settle import settle
from nmem.transfer.incoming import Washer
from tests.nmem.conftest import Recorded

SECRET = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
FACTS = {
    "prompts": "SELECT session_id, at, source, kind, content, native_id, dedup_key FROM prompts ORDER BY 1, 2, 7",
    "observations": "SELECT o.session_id, o.at, o.seq, obs_type, tool_name, file_path, o.content, outcome,"
    " json(metadata),"
    " pinned, repeats, o.dedup_key, p.dedup_key FROM observations o LEFT JOIN prompts p ON p.id = o.prompt_id"
    " ORDER BY 1, 3",
    "sessions": "SELECT s.id, client, cwd, started_at, s.last_at, ended_at, p.key FROM sessions s"
    " JOIN projects p ON p.id = s.project_id ORDER BY 1",
}
MEANING = {
    "episodes": "SELECT session_id, intent, title, state, summary, pinned, obs_count FROM work_units"
    " ORDER BY 1, started_at",
    "prompts": "SELECT p.dedup_key, u.session_id, x.label, x.decided_by FROM unit_prompts x JOIN prompts p"
    " ON p.id = x.prompt_id JOIN work_units u ON u.id = x.unit_id ORDER BY 2, 1",
    "threads": "SELECT s.session_id, t.title, t.pinned FROM session_threads s JOIN threads t ON t.id = s.thread_id"
    " ORDER BY 1",
    "summaries": "SELECT session_id, intent, learned FROM session_summaries ORDER BY 1",
    "learnings": "SELECT kind, key, state, rule FROM learnings ORDER BY 1, 2",
    "evidence": "SELECT l.key, e.session_id, o.dedup_key FROM learning_evidence e JOIN learnings l"
    " ON l.id = e.learning_id LEFT JOIN observations o ON o.id = e.observation_id ORDER BY 1, 2, 3",
    "corrections": "SELECT at, kind FROM corrections WHERE kind != 'setting' ORDER BY 1, 2",
}


def run(*args: str, db: str) -> Any:
    return CliRunner().invoke(nmem, args, env={"NMEM_DB": db})


def ok(*args: str, db: str) -> str:
    result = run(*args, db=db)
    assert result.exit_code == 0, (result.output, result.exception)
    return str(result.stdout)


def refused(*args: str, db: str) -> str:
    result = run(*args, db=db)
    assert isinstance(result.exception, NmemError), (result.output, result.exception)
    return str(result.exception)


def said(path: str | Path, queries: dict[str, str]) -> dict[str, list[Any]]:
    with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as db:
        return {name: db.execute(sql).fetchall() for name, sql in queries.items()}


@pytest.fixture
def full(record: Recorded, db_path: str) -> str:
    """Two sessions with episodes, pins, a marker, a learning with evidence, corrections of every sort."""
    assert run("config", "set", "retention.enabled", "off", db=db_path).exit_code == 0  # these sessions are long ago
    record.once("export, full", lambda: _record(record, db_path))
    return db_path


def _record(record: Recorded, db_path: str) -> None:
    record.coupon().coupon("again")
    record.db.execute("UPDATE projects SET key = 'example.org/shop', remote = 'example.org/shop'")
    settle(db_path, models=False)
    record.db.execute(
        "INSERT INTO learnings (id, project_id, kind, key, title, first_at, last_at, sessions, occurrences, state,"
        " rule) VALUES (20, 1, 'failed_command', 'go vet', 'go vet fails', 2, 9, 1, 1, 'accepted', 'run go vet')"
    )
    record.db.execute(
        "INSERT INTO learning_evidence (learning_id, role, session_id, observation_id, at) VALUES (20, 'occurrence',"
        " 'coupon', 1, 5)"
    )
    for words in (("pin", "obs/2"), ("pin", "episode/1"), ("relabel", "3", "phase=act"),
                  ("episodes", "rename", "1", "The coupon"), ("pin", "thread/1")):  # fmt: skip
        result = run(*words, db=db_path)
        assert result.exit_code == 0, (words, result.output, result.exception)


@pytest.fixture
def other(tmp_path: Path) -> str:
    """Where another machine's database would be."""
    return str(tmp_path / "other" / "nmem.db")


@pytest.fixture
def busy(other: str) -> str:
    """Another machine's database with a session of its own, whose ids are taken."""
    assert run("config", "set", "retention.enabled", "off", db=other).exit_code == 0
    with closing(store.connect(other)) as db:
        tables.ensure(db)
        own = Recorded(db)
        own.coupon("mine")
        own.db.execute("UPDATE projects SET key = 'example.org/other', name = 'other', root = '/src/other'")
    settle(other, models=False)
    return other


def test_lines_carry_the_facts(full: str, other: str, tmp_path: Path) -> None:
    file = tmp_path / "out.jsonl"
    assert "2 sessions, 8 prompts, 10 observations" in ok("export", str(file), db=full)
    rows = [json.loads(line) for line in file.read_text().splitlines()]
    assert [row["type"] for row in rows[:3]] == ["export", "session", "prompt"]
    assert ok("export", db=full).splitlines()[1:] == file.read_text().splitlines()[1:]
    told = ok("import", "--from-export", str(file), db=other)
    assert told.startswith("New: 2 sessions, 8 prompts, 10 observations")
    assert said(other, FACTS) == said(full, FACTS)
    before = said(other, FACTS)
    again = ok("import", "--from-export", str(file), db=other)
    assert again.startswith("Nothing new")
    assert "18 rows were here already" in again
    assert said(other, FACTS) == before
    settle(other, models=False)
    assert len(said(other, MEANING)["episodes"]) == 2


def test_tables_carry_everything_to_a_new_machine(full: str, other: str, tmp_path: Path) -> None:
    file = str(tmp_path / "out.db")
    assert "2 sessions, 8 prompts, 10 observations, 2 episodes" in ok("export", file, db=full)
    ok("import", "--from-export", file, db=other)
    assert said(other, FACTS) == said(full, FACTS)
    assert said(other, MEANING) == said(full, MEANING)
    for _ in range(5):
        assert ok("undo", db=other) == ok("undo", db=full)
    assert said(other, MEANING) == said(full, MEANING)
    assert "nothing to undo" in refused("undo", db=other)


def test_tables_merge_with_what_is_there(full: str, busy: str, tmp_path: Path) -> None:
    file = str(tmp_path / "out.db")
    ok("export", file, db=full)
    own = said(busy, MEANING)
    ok("import", "--from-export", file, db=busy)
    found, there = said(busy, MEANING), said(full, MEANING)
    for name in ("episodes", "prompts", "threads", "summaries", "corrections"):
        assert sorted(map(repr, found[name])) == sorted(map(repr, own[name] + there[name])), name
    assert set(there["learnings"]) <= set(found["learnings"])
    assert set(there["evidence"]) <= set(found["evidence"])
    facts = said(busy, FACTS)
    assert [row for row in facts["observations"] if row[0] != "mine"] == said(full, FACTS)["observations"]
    with closing(sqlite3.connect(busy)) as db:
        assert db.execute("PRAGMA foreign_key_check").fetchall() == []
        assert db.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        trace = json.loads(db.execute("SELECT obs_trace FROM work_units WHERE session_id = 'coupon'").fetchone()[0])
        ids = [row[0] for row in db.execute("SELECT id FROM observations WHERE session_id = 'coupon' ORDER BY seq")]
        assert [each["id"] for each in trace] == ids
    again = ok("import", "--from-export", file, db=busy)
    assert again.startswith("Nothing new")
    assert said(busy, MEANING) == found
    assert said(busy, FACTS) == facts


def test_of_what_came_from_elsewhere_only_what_can_be_is_undone(full: str, busy: str, tmp_path: Path) -> None:
    file = str(tmp_path / "out.db")
    ok("export", file, db=full)
    ok("import", "--from-export", file, db=busy)
    ok("pin", "obs/1", db=busy)
    assert "obs/1 pinned" in ok("undo", db=busy), "one's own come first"
    assert "pinned" in ok("undo", db=busy)
    assert "made on another machine" in refused("undo", db=busy)


def test_a_session_that_is_known_only_gains_what_it_lacks(full: str, other: str, tmp_path: Path) -> None:
    file = str(tmp_path / "out.db")
    ok("export", file, db=full)
    ok("import", "--from-export", file, db=other)
    with closing(sqlite3.connect(other)) as db:
        db.execute("UPDATE observations SET pinned = 0")
        db.execute("DELETE FROM observations WHERE session_id = 'again' AND seq > 2")
        db.execute("UPDATE work_units SET title = 'my own name'")
        db.commit()
    told = ok("import", "--from-export", file, db=other)
    assert "New: 3 observations" in told
    found, there = said(other, FACTS), said(full, FACTS)
    assert [row[6:] for row in found["observations"]] == [row[6:] for row in there["observations"]]
    assert {row[2] for row in said(other, MEANING)["episodes"]} == {"my own name"}


def test_another_memory_s_database_or_a_backup_is_taken_in_as_well(full: str, busy: str, tmp_path: Path) -> None:
    ok("backup", str(tmp_path / "b.db"), db=full)
    ok("import", "--from-export", str(tmp_path / "b.db"), db=busy)
    assert ok("import", "--from-export", full, db=busy).startswith("Nothing new")


@pytest.mark.parametrize("form", ["jsonl", "sqlite"])
def test_everything_is_redacted_on_the_way_in(full: str, other: str, tmp_path: Path, form: str) -> None:
    file = tmp_path / "out"
    with closing(sqlite3.connect(full)) as db:
        db.execute("UPDATE prompts SET content = content || ?", (f" with {SECRET}",))
        db.execute("UPDATE observations SET content = ?, metadata = ?", (SECRET, json.dumps({"response": SECRET})))
        db.execute("UPDATE sessions SET branch = ?", (SECRET,))
        db.execute("UPDATE work_units SET intent = ?, learned = ?", (SECRET, json.dumps([SECRET])))
        db.execute("UPDATE learnings SET title = ?, rule = ?", (SECRET, SECRET))
        db.execute("UPDATE session_summaries SET intent = ?", (SECRET,))
        db.execute("UPDATE threads SET title = ?", (SECRET,))
        db.commit()
    ok("export", str(file), "--format", form, db=full)
    told = json.loads(ok("import", "--from-export", str(file), "--json", db=other))
    assert told["redacted"] >= 20
    for path in Path(other).parent.rglob("*"):
        assert not path.is_file() or SECRET.encode() not in path.read_bytes(), path
    with closing(sqlite3.connect(other)) as db:
        assert "[REDACTED" in db.execute("SELECT content FROM prompts").fetchone()[0]


@pytest.mark.parametrize("hidden", [SECRET, "\\u001b]0;x\\u0007", "\U000e0041"])
def test_a_name_that_stands_twice_in_json_hides_nothing(hidden: str) -> None:
    """A parser keeps the last of them; what is stored is the text."""
    kept = Washer().value('{"a": "' + hidden + '", "a": "x"}')
    assert hidden not in str(kept)


@pytest.mark.parametrize("form", ["jsonl", "sqlite"])
def test_folders_are_what_they_are_here(record: Recorded, db_path: str, other: str, tmp_path: Path, form: str) -> None:
    """A project without a remote is its folder, so a folder of the other machine is named."""
    record.coupon()
    record.db.execute("UPDATE projects SET key = '/src/shop'")
    file = tmp_path / "out"
    ok("export", str(file), "--format", form, db=db_path)
    ok("import", "--from-export", str(file), "--folder", "/src=/Users/me/src", db=other)
    with closing(sqlite3.connect(other)) as db:
        assert db.execute("SELECT key, root FROM projects").fetchall() == [("/Users/me/src/shop", "/Users/me/src/shop")]
        assert db.execute("SELECT cwd FROM sessions").fetchone() == ("/Users/me/src/shop",)


def test_a_project_is_the_same_one_by_its_remote(full: str, other: str, tmp_path: Path) -> None:
    with closing(store.connect(other)) as db:
        db.execute(
            "INSERT INTO projects VALUES (9, 'example.org/shop', 'shop', '/home/me/shop', 'example.org/shop', 0)"
        )
    file = str(tmp_path / "out.db")
    ok("export", file, db=full)
    ok("import", "--from-export", file, db=other)
    with closing(sqlite3.connect(other)) as db:
        assert db.execute("SELECT id, root FROM projects").fetchall() == [(9, "/home/me/shop")]
        assert db.execute("SELECT DISTINCT project_id FROM sessions").fetchall() == [(9,)]


@pytest.mark.parametrize("form", ["jsonl", "sqlite"])
def test_project_and_since_choose(full: str, busy: str, other: str, tmp_path: Path, form: str) -> None:
    with closing(sqlite3.connect(full)) as db:
        db.execute("INSERT INTO projects VALUES (7, 'example.org/blog', 'blog', '/src/blog', NULL, 0)")
        db.execute("UPDATE sessions SET project_id = 7, last_at = 1 WHERE id = 'again'")
        db.commit()
    ok("export", str(tmp_path / "a"), "--format", form, "--project", "blog", db=full)
    ok("import", "--from-export", str(tmp_path / "a"), db=busy)
    assert [row[0] for row in said(busy, FACTS)["sessions"]] == ["again", "mine"]
    ok("export", str(tmp_path / "b"), "--format", form, "--since", "2025-01-01", db=full)
    ok("import", "--from-export", str(tmp_path / "b"), db=busy)
    assert [row[0] for row in said(busy, FACTS)["sessions"]] == ["again", "coupon", "mine"]
    assert "nothing is recorded of project nope" in refused("export", "--project", "nope", db=full)


def test_what_is_no_export_is_refused_in_one_line(full: str, other: str, tmp_path: Path) -> None:
    file = tmp_path / "x"
    for text, words in (
        ("hello", "is not an export"),
        ('{"type": "export", "format": 99}', "upgrade nmem"),
        ("", "is not an export"),
    ):
        file.write_text(text)
        assert words in refused("import", "--from-export", str(file), db=other)
    with closing(sqlite3.connect(tmp_path / "foreign.db")) as db:
        db.execute("CREATE TABLE t (x)")
    assert "not nmem's" in refused("import", "--from-export", str(tmp_path / "foreign.db"), db=other)
    ok("export", str(tmp_path / "new.db"), db=full)
    with closing(sqlite3.connect(tmp_path / "new.db")) as db:
        db.execute("UPDATE nmem_export SET value = '99' WHERE name = 'meaning'")
        db.commit()
    assert "upgrade nmem" in refused("import", "--from-export", str(tmp_path / "new.db"), db=other)
    assert "is an export, not a backup" in refused("restore", str(tmp_path / "new.db"), "--yes", db=other)
    assert "exists already" in refused("export", str(file), db=full)


def test_lines_that_are_no_record_are_counted_and_the_rest_is_taken(full: str, other: str, tmp_path: Path) -> None:
    file = tmp_path / "out.jsonl"
    ok("export", str(file), db=full)
    lines = file.read_text().splitlines()
    lines[4:4] = ["{torn", "[]", '{"type": "prompt", "session": "nobody"}', '{"type": "odd"}']
    file.write_text("\n".join(lines))
    told = json.loads(ok("import", "--from-export", str(file), "--json", db=other))
    assert (told["unreadable"], told["prompts"], told["observations"]) == (3, 8, 10)


@pytest.mark.parametrize("form", ["jsonl", "sqlite"])
def test_an_import_that_is_broken_off_goes_on(full: str, other: str, tmp_path: Path, form: str,
                                              monkeypatch: pytest.MonkeyPatch) -> None:  # fmt: skip
    from nmem.transfer import facts, take_in

    file = str(tmp_path / "out")
    ok("export", file, "--format", form, db=full)
    module = facts if form == "jsonl" else take_in
    real, calls = module.seal, iter(range(100))

    def broken(batch: Any) -> Any:
        if next(calls) == 2:
            raise KeyboardInterrupt
        return real(batch)

    monkeypatch.setattr(module, "seal", broken)
    run("import", "--from-export", file, db=other)
    monkeypatch.setattr(module, "seal", real)
    ok("import", "--from-export", file, db=other)
    assert said(other, FACTS) == said(full, FACTS)
    if form == "sqlite":
        assert said(other, MEANING) == said(full, MEANING)
