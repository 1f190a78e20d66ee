"""What was swept stays swept: whoever tells of it once more, nothing comes back and nothing is counted twice."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from sqlite3 import Connection
from typing import Any

import pytest
from click.testing import CliRunner

from capture.storage import store
from nmem import tables, undo
from nmem.audit import losses
from nmem.commands.main import nmem
from nmem.episodes import annotate, units
from nmem.importing.discover import find
from nmem.importing.importer import Importer
from nmem.purge import run
from nmem.purge.selection import Selection
from nmem.retention import store as rows
from nmem.retention import sweep as sweeping
from nmem.settle import settle
from nmem.store import trace
from nmem.transfer.incoming import Folders
from nmem.transfer.take_in import take_in
from tests.nmem.conftest import Recorded
from tests.nmem.retention.conftest import DAY, LATER
from tests.nmem.retention.test_sweep import PLAIN, counted, swift


def transcript(folder: Path, calls: int, session: str = "abc") -> Path:
    """Four calls a turn: three with ids, of which two read the same file; a thought, and what the agent said."""
    lines: list[dict[str, Any]] = []
    for number in range(calls):
        lines.append({"type": "user", "message": {"role": "user", "content": f"Build part {number}"}})
        for place, (name, given) in enumerate((
            ("Bash", {"command": f"make part{number}"}), ("Read", {"file_path": f"/src/part{number}.c"}),
            ("Read", {"file_path": f"/src/part{number}.c"}),
        )):  # fmt: skip
            use = {"type": "tool_use", "id": f"toolu_{number}_{place}", "name": name, "input": given}
            done = {"type": "tool_result", "tool_use_id": use["id"], "content": "done"}
            lines += [
                {"type": "assistant", "message": {"role": "assistant", "id": f"m{number}{place}", "content": [use]}},
                {"type": "user", "message": {"role": "user", "content": [done]}, "toolUseResult": {"stdout": "done"}},
            ]
        said = [
            {"type": "thinking", "thinking": f"I think {number}."},
            {"type": "text", "text": f"Part {number} is built."},
        ]
        lines.append({"type": "assistant", "message": {"role": "assistant", "id": f"n{number}", "content": said}})
    stamp = {"sessionId": session, "cwd": "/home/dev/src/shop", "version": "2.1.9"}
    path = folder / f"{session}.jsonl"
    path.write_text("".join(
        json.dumps({**stamp, **line, "uuid": f"u{at}", "timestamp": f"2026-01-01T10:{at // 60:02d}:{at % 60:02d}.000Z"})
        + "\n" for at, line in enumerate(lines)
    ))  # fmt: skip
    return path


def told(db: Connection) -> dict[str, Any]:
    """All that is counted, and what is there."""
    for (session_id,) in db.execute("SELECT id FROM sessions").fetchall():
        for unit in units.of_session(db, session_id):
            annotate.recount(db, unit)
    return {
        "episodes": [row[:12] for row in counted(db)],
        "rows": db.execute("SELECT (SELECT count(*) FROM observations), (SELECT count(*) FROM prompts)").fetchone(),
        "traces": db.execute("SELECT observations, prompts, sayings FROM swept_sessions ORDER BY 1, 2").fetchall(),
        "traced": [len(trace.gone(db, row[0])) for row in db.execute("SELECT id FROM sessions ORDER BY id")],
    }


@pytest.fixture
def imported(record: Recorded, db_path: str, tmp_path: Path) -> tuple[Connection, Path]:
    """A transcript taken in, settled; nothing swept yet."""
    path = transcript(tmp_path, 4)
    Importer(record.db, 0).run(find([path]))
    record.db.execute("UPDATE sessions SET origin = 'hook', state = 'ended', transcript_path = ?", (str(path),))
    newest = record.db.execute("SELECT max(last_at) FROM sessions").fetchone()[0]
    settle(db_path, 600, models=False, clock=lambda: newest + DAY)
    return record.db, path


def sweep_all(db: Connection) -> dict[str, Any]:
    sweeping.sweep(db, PLAIN, LATER, pace=swift(db))
    assert db.execute("SELECT count(*) FROM observations").fetchone() == (0,)
    return told(db)


def test_a_transcript_that_is_imported_again(imported: tuple[Connection, Path], db_path: str) -> None:
    db, path = imported
    before = told(db)["episodes"]
    swept = sweep_all(db)
    assert swept["episodes"] == before and swept["traced"] == [8]
    (loss,) = losses.losses(db, LATER, deep=True)
    assert (loss.calls, loss.missing) == (12, ()), "not lost: known by its trace"
    db.execute("DELETE FROM transcript_cursors")
    report = Importer(db, 0).run(find([path]))
    assert (report.prompts, report.observations) == (0, 0)
    settle(db_path, 600, models=False, clock=lambda: LATER)
    assert told(db) == swept
    sweeping.sweep(db, PLAIN, LATER, pace=swift(db))
    assert told(db) == swept


@pytest.mark.parametrize("form", ["jsonl", "db"])
def test_an_export_of_before_the_sweep(
    imported: tuple[Connection, Path], db_path: str, tmp_path: Path, form: str
) -> None:
    db, _ = imported
    file = tmp_path / f"out.{form}"
    assert CliRunner().invoke(nmem, ["export", str(file)], env={"NMEM_DB": db_path}).exit_code == 0
    swept = sweep_all(db)
    report = take_in(db_path, str(file), Folders())
    assert (report.prompts, report.observations) == (0, 0)
    settle(db_path, 600, models=False, clock=lambda: LATER)
    sweeping.sweep(db, PLAIN, LATER, pace=swift(db))
    assert told(db) == swept


def test_what_was_swept_before_traces_had_keys(imported: tuple[Connection, Path], db_path: str) -> None:
    db, path = imported
    swept = sweep_all(db)
    db.execute("DELETE FROM swept_keys")
    assert all(not one.missing for one in losses.losses(db, LATER, deep=True))
    db.execute("DELETE FROM transcript_cursors")
    assert Importer(db, 0).run(find([path])).observations == 0
    assert told(db) == swept


def test_a_swept_session_that_is_resumed_goes_on(imported: tuple[Connection, Path], tmp_path: Path) -> None:
    db, path = imported
    swept = sweep_all(db)
    longer = transcript(tmp_path, 6)
    assert longer == path
    assert Importer(db, 0).run(find([path])).observations > 0
    db.execute("DELETE FROM transcript_cursors")
    assert Importer(db, 0).run(find([path])).observations == 0
    assert told(db)["traced"] == swept["traced"]
    keys = {row[0] for row in db.execute("SELECT tool_use_id FROM observations")}
    assert keys == {"toolu_4_0", "toolu_4_1", "toolu_5_0", "toolu_5_1"}


def test_a_call_without_an_id_told_at_another_time(record: Recorded, settled: Callable[[], Recorded]) -> None:
    record.coupon()
    record.db.execute("UPDATE observations SET dedup_key = 'x' || seq || '.' || at")
    db = settled().db
    sweeping.sweep(db, PLAIN, LATER, pace=swift(db))
    row = (
        "INSERT INTO observations (session_id, at, seq, obs_type, content, dedup_key)"
        " VALUES ('coupon', ?, 9, 'test', '', ?)"
    )
    newest = db.execute("SELECT newest FROM swept_sessions").fetchone()[0]
    assert db.execute(row, (newest + 900, f"x3.{newest + 900}t")).rowcount == 0
    assert db.execute(row, (newest + 900, f"x33.{newest + 900}t")).rowcount == 1, "another call"
    assert db.execute(row, (newest + DAY, f"x3.{newest + DAY}")).rowcount == 1, "the same call, made again"


@pytest.mark.parametrize("swept_rows", ["all", "none"])
def test_a_purge_that_is_undone_after_a_sweep(
    record: Recorded, settled: Callable[[], Recorded], db_path: str, swept_rows: str
) -> None:
    record.coupon()
    db = settled().db
    before = told(db)
    number = db.execute("SELECT max(id) FROM prompts WHERE source = 'user'").fetchone()[0]
    now = run.milliseconds()
    run.purge(db_path, Selection(ids=(("prompt", str(number)),)), now)
    settle(db_path, 600, models=False, clock=lambda: now)
    if swept_rows == "all":
        sweeping.sweep(db, PLAIN, LATER, pace=swift(db))
    assert undo.undo(db, now + 1000)
    assert db.execute("PRAGMA foreign_key_check").fetchall() == []
    after = told(db)
    assert after["episodes"] == before["episodes"]
    rows = {row[0] for row in db.execute("SELECT id FROM observations")}
    assert not rows & {one.id for one in trace.gone(db, "coupon")}
    assert len(rows) + after["traced"][0] == before["rows"][0]
    assert not db.execute("SELECT 1 FROM upkeep WHERE name = 'undo'").fetchone()


@pytest.mark.parametrize("busy", [False, True])
def test_an_export_of_a_swept_memory_is_counted_as_it_was(
    imported: tuple[Connection, Path], db_path: str, tmp_path: Path, busy: bool
) -> None:
    db, path = imported
    swept = sweep_all(db)
    other = str(tmp_path / "other" / "nmem.db")
    with closing(store.connect(other)) as there:
        tables.ensure(there)
        if busy:
            Recorded(there).coupon("mine")
        file = str(tmp_path / "out.db")
        assert CliRunner().invoke(nmem, ["export", file], env={"NMEM_DB": db_path}).exit_code == 0
        take_in(other, file, Folders())
        settle(other, 600, models=False, clock=lambda: LATER)
        for unit in units.of_session(there, "abc"):
            annotate.recount(there, unit)
        counts = "SELECT intent, obs_count, phase_signature, fingerprint FROM work_units WHERE session_id = 'abc'"
        assert there.execute(counts).fetchall() == db.execute(counts).fetchall()
        assert there.execute("SELECT * FROM swept_sessions").fetchall() == db.execute(
            "SELECT * FROM swept_sessions").fetchall()  # fmt: skip
        gone = trace.gone(there, "abc")
        assert len(gone) == swept["traced"][0]
        assert not {one.id for one in gone} & {row[0] for row in there.execute("SELECT id FROM observations")}
        assert {one.prompt_id for one in gone} <= {row[0] for row in there.execute("SELECT id FROM prompts")}
        assert Importer(there, 0).run(find([path])).observations == 0
        newest = there.execute("SELECT newest FROM gone_ids WHERE name = 'observations'").fetchone()[0]
        assert newest >= max(one.id for one in gone)
    said = CliRunner().invoke(nmem, ["export", str(tmp_path / "out.jsonl")], env={"NMEM_DB": db_path})
    assert "8 older calls of 1 sessions are kept only as traces: lines of JSON omit them" in said.stderr


def test_labels_put_right_elsewhere_cost_a_session_nothing(record: Recorded, settled: Callable[[], Recorded]) -> None:
    record.coupon().coupon("again")
    db = settled().db
    db.execute(
        "INSERT INTO corrections (at, kind, target, payload, before)"
        " SELECT 1, 'label', 'observation/' || id, '{}', '{}' FROM observations WHERE session_id = 'coupon'"
    )
    kept = rows.kept(db)
    own = {row[0] for row in db.execute("SELECT id FROM observations WHERE session_id = 'coupon'")}
    assert rows.of_session(db, "coupon", kept).observations == own
    assert rows.of_session(db, "again", kept).observations == set()
    sweeping.sweep(db, PLAIN, LATER, pace=swift(db))
    assert {row[0] for row in db.execute("SELECT id FROM observations")} == own
    steps = db.execute("EXPLAIN QUERY PLAN SELECT count(*) FROM corrections WHERE undone_at IS NOT NULL").fetchall()
    assert "corrections_taken_back" in steps[0][3]
