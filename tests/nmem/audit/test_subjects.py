"""What each subject of the audit says: that all is well, and what is wrong when something is."""

from __future__ import annotations

import json
import sqlite3
import sys
from pathlib import Path
from sqlite3 import Connection

import pytest

from capture.storage import store
from nmem import database
from nmem.audit import (
    NOTE,
    OK,
    WRONG,
    extraction,
    integrity,
    labels,
    latency,
    losses,
    read,
    redaction,
    retrieval,
    servers,
)
from tests.nmem.conftest import MINUTE, START, Recorded

DAY = 24 * 60 * MINUTE


def history(
    record: Recorded, version: str, sessions: int, calls: int, content: str = "make", **columns: object
) -> None:
    for number in range(sessions):
        record.begin(f"{version}-{number}").user("build it")
        for _ in range(calls):
            record.act("command", content)
        record.db.execute("UPDATE sessions SET client_version = ? WHERE id = ?", (version, record.session))
        for name, value in columns.items():
            record.db.execute(f"UPDATE observations SET {name} = ? WHERE session_id = ?", (value, record.session))


class TestExtraction:
    def test_alike_versions_raise_nothing(self, record: Recorded) -> None:
        history(record, "2.1.9", 5, 10)
        history(record, "2.1.10", 2, 10)
        (one,) = extraction.findings(record.db, record.at)
        assert (one.severity, one.evidence) == (
            OK, "70 calls of 7 sessions are read as before; no share has shifted")  # fmt: skip

    def test_a_version_whose_calls_come_out_empty(self, record: Recorded) -> None:
        history(record, "2.1.9", 5, 10)
        history(record, "2.1.10", 2, 5, content="")
        (one,) = extraction.findings(record.db, record.at)
        assert (one.severity, one.client) == (WRONG, "claude")
        assert (
            "Claude Code 2.1.10: 100.0% (10 of 10) of shell calls without a command, 0.0% (0 of 50) in" in one.evidence
        )
        newest = record.db.execute("SELECT max(id) FROM observations").fetchone()[0]
        assert (
            one.examples[0] == f"obs/{newest}" and one.examples[0] in one.evidence and one.mend.startswith("nmem show")
        )

    @pytest.mark.parametrize("column", ["obs_type", "outcome"])
    def test_unknown_tools_and_outcomes(self, record: Recorded, column: str) -> None:
        history(record, "2.1.9", 5, 10)
        history(record, "2.1.10", 3, 6, **{column: {"obs_type": "tool_other", "outcome": "unknown"}[column]})
        words = {"obs_type": "a tool that nobody knows", "outcome": "shell calls of unknown outcome"}[column]
        assert [words in one.evidence for one in extraction.findings(record.db, record.at)] == [True]

    def test_one_odd_session_among_many_is_no_shift(self, record: Recorded) -> None:
        """Calls of one session are alike: fifty of one are not fifty independent ones."""
        for number in range(8):
            history(record, f"2.1.9-{number}", 1, 10, outcome="unknown" if number % 4 == 0 else "ok")
        record.db.execute("UPDATE sessions SET client_version = '2.1.9'")
        history(record, "2.1.10", 1, 12, outcome="unknown")
        assert [one.severity for one in extraction.findings(record.db, record.at)] == [OK]

    def test_a_shift_within_one_version(self, record: Recorded) -> None:
        history(record, "2.1.9", 5, 10)
        record.at += 30 * DAY
        history(record, "2.1.9b", 2, 6, content="")
        record.db.execute("UPDATE sessions SET client_version = '2.1.9'")
        (one,) = extraction.findings(record.db, record.at)
        assert "before this week" in one.evidence

    def test_broken_from_the_first_version_on(self, record: Recorded) -> None:
        history(record, "2.1.9", 3, 10, content="")
        assert [one.severity for one in extraction.findings(record.db, record.at)] == [WRONG]

    def test_few_calls_say_nothing(self, record: Recorded) -> None:
        history(record, "2.1.9", 5, 10)
        history(record, "2.1.10", 1, 3, content="")
        assert [one.severity for one in extraction.findings(record.db, record.at)] == [OK]


class TestIntegrity:
    @pytest.mark.parametrize("index", [one.name for one in integrity.INDEXES])
    def test_every_damaged_index_is_found_and_mended(self, record: Recorded, db_path: str, index: str) -> None:
        from nmem.search import refresh

        record.coupon()
        record.user("请修复发票").act("command", "npm test", None, "failed", response="E: no such table")
        refresh.refresh(record.db)
        before = {one.name: _rows(record.db, one.name) for one in integrity.INDEXES}
        assert [one.severity for one in integrity.texts(db_path)] == [OK]
        record.db.execute(f"DELETE FROM {index}_data WHERE id > 10")
        (one,) = integrity.texts(db_path)
        if before[index]:
            assert one.severity == WRONG and index in one.evidence and one.mend == "nmem doctor --fix"
            assert any(index in line for line in read.fix(db_path))
        assert [one.severity for one in integrity.texts(db_path)] == [OK]
        assert {one.name: _rows(record.db, one.name) for one in integrity.INDEXES} == before
        refresh.refresh(record.db)
        assert [one.severity for one in integrity.texts(db_path)] == [OK]

    def test_what_was_left_behind(self, record: Recorded, db_path: str) -> None:
        record.coupon()
        record.db.execute("INSERT INTO hook_runs VALUES (1, 1, 'claude', 'Stop', 'gone', 1, 1, 1, 'stored')")
        record.db.execute("INSERT INTO payload_shapes VALUES (1, 'claude', 'Stop', '', 'cwd:s')")
        record.db.execute("INSERT INTO session_shapes VALUES ('gone', 1, 1, 1, 1)")
        found = integrity.findings(record.db, db_path)
        assert [one.severity for one in found] == [NOTE, NOTE]
        assert len(read.fix(db_path)) == 2
        assert integrity.findings(record.db, db_path) == []
        assert record.db.execute("SELECT session_id FROM hook_runs").fetchone()[0] is None

    def test_a_large_database_is_copied_first_and_the_copy_goes(
        self, record: Recorded, db_path: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        record.coupon()
        monkeypatch.setattr(integrity, "_SMALL", 0)
        there = set(Path(db_path).parent.iterdir())
        record.db.execute("BEGIN IMMEDIATE")  # as a hook in the middle of its write: it is not waited for
        assert [one.severity for one in integrity.texts(db_path)] == [OK]
        record.db.execute("ROLLBACK")
        assert set(Path(db_path).parent.iterdir()) == there


def _rows(db: Connection, index: str) -> int:
    table = index + "_docsize"
    if not db.execute("SELECT 1 FROM sqlite_master WHERE name = ?", (table,)).fetchone():
        return int(db.execute("SELECT count(*) FROM search_terms").fetchone()[0])
    return int(db.execute(f"SELECT count(*) FROM {table}").fetchone()[0])


class TestLosses:
    def transcript(self, folder: Path, calls: int) -> Path:
        path = folder / "abc.jsonl"
        lines = [{"type": "user", "message": {"role": "user", "content": "build it"}, "uuid": "u"}]
        for number in range(calls):
            use = {"type": "tool_use", "id": f"toolu_{number}", "name": "Bash", "input": {"command": f"make {number}"}}
            result = {"type": "tool_result", "tool_use_id": f"toolu_{number}", "content": "done"}
            lines.append({"type": "assistant", "message": {"id": f"m{number}", "role": "assistant", "content": [use]}})
            lines.append(
                {"type": "user", "message": {"role": "user", "content": [result]}, "toolUseResult": {"stdout": "done"}}
            )
        stamp = {"sessionId": "abc", "cwd": str(folder), "timestamp": "2026-01-01T00:00:00.000Z", "version": "2.1.9"}
        path.write_text("".join(json.dumps({**stamp, **line}) + "\n" for line in lines))
        return path

    def recorded(self, record: Recorded, path: Path, calls: int) -> None:
        record.begin("abc").user("build it")
        for number in range(calls):
            record.act("command", f"make {number}")
            record.db.execute("UPDATE observations SET dedup_key = ?1, tool_use_id = ?1 WHERE seq = ?2",
                              (f"toolu_{number}", number + 1))  # fmt: skip
        record.db.execute("UPDATE sessions SET transcript_path = ?", (str(path),))

    def test_calls_that_no_hook_told_of(self, record: Recorded, tmp_path: Path) -> None:
        path = self.transcript(tmp_path, 8)
        self.recorded(record, path, 5)
        (one,) = losses.findings(record.db, record.at + DAY)
        assert (one.severity, one.evidence) == (WRONG, "3 of 8 calls of session abc are not stored (38%)")
        assert one.mend == f"nmem import {path} --client claude" and one.examples == ("session/abc",)
        (loss,) = losses.losses(record.db, record.at + DAY)
        assert loss.missing == ("toolu_5", "toolu_6", "toolu_7")

    def test_nothing_lost(self, record: Recorded, tmp_path: Path) -> None:
        self.recorded(record, self.transcript(tmp_path, 5), 5)
        assert [one.severity for one in losses.findings(record.db, record.at + DAY)] == [OK]

    def test_a_session_at_work_is_left_alone(self, record: Recorded, tmp_path: Path) -> None:
        self.recorded(record, self.transcript(tmp_path, 8), 5)
        assert losses.losses(record.db, record.at + MINUTE) == ()

    def test_many_calls_from_transcripts_mean_that_a_hook_does_not_run(self, record: Recorded) -> None:
        store.count(record.db, "recovered", 30)
        assert [one.severity for one in losses.findings(record.db, record.at)] == [NOTE]


class TestLatency:
    def runs(self, db: Connection, walls: list[int]) -> None:
        db.executemany("INSERT INTO hook_runs (at, client, event, wall_us, cpu_us, bytes, result)"
                       " VALUES (1, 'claude', 'Stop', ?, 1, 1, 'stored')", [(wall,) for wall in walls])  # fmt: skip

    def test_slower_hooks(self, record: Recorded) -> None:
        self.runs(record.db, [20_000 + n % 7 * 500 for n in range(120)] + [44_000 + n % 7 * 500 for n in range(40)])
        (one,) = latency.findings(record.db)
        assert one.severity == NOTE and "Stop takes 46 ms lately, was 22 ms (160 runs)" in one.evidence

    def test_as_fast_as_ever(self, record: Recorded) -> None:
        self.runs(record.db, [20_000 + n % 7 * 500 for n in range(160)])
        assert [one.severity for one in latency.findings(record.db)] == [OK]


class TestRetrieval:
    def told(self, record: Recorded, session: str, used: int, items: int, kind: str = "episode") -> None:
        record.begin(session)
        number = record.db.execute(
            "INSERT INTO injections (at, session_id, event, client, text, tokens) VALUES (?, ?, 's', 'claude', 't', 9)",
            (record.at, session),
        ).lastrowid
        for at in range(items):
            record.db.execute(
                "INSERT INTO injection_items (injection_id, position, item, kind, score, reason, text, tokens, used)"
                " VALUES (?, ?, ?, ?, 1, '', 't', 3, ?)", (number, at, f"{kind}/{at}", kind, at < used))  # fmt: skip

    def test_nothing_told_is_nothing_said(self, record: Recorded) -> None:
        assert retrieval.findings(record.db, record.at) == []

    def test_use_that_falls(self, record: Recorded) -> None:
        for number in range(10):
            self.told(record, f"a{number}", 4, 5)
        record.at += 30 * DAY
        for number in range(10):
            self.told(record, f"b{number}", 1, 5)
        found = retrieval.findings(record.db, record.at)
        assert {one.severity for one in found} == {NOTE}
        assert "20.0% (10 of 50) of told items were of use this week, 80.0% (40 of 50) before" in found[0].evidence

    def test_use_that_stays(self, record: Recorded) -> None:
        for number in range(10):
            self.told(record, f"a{number}", 4, 5)
        assert [one.severity for one in retrieval.findings(record.db, record.at, deep=True)] == [OK]


class TestRedaction:
    def found(self, record: Recorded, day: int, count: int) -> None:
        at = START // DAY * DAY + day * DAY + 1000
        record.begin(f"d{day}").user("x")
        for _ in range(50):
            record.act("command", "make")
        record.db.execute("UPDATE observations SET at = ? WHERE session_id = ?", (at, f"d{day}"))
        if count:
            name = sqlite3.connect(":memory:").execute("SELECT date(?, 'unixepoch')", (at // 1000,)).fetchone()[0]
            record.db.execute("INSERT INTO redactions VALUES (?, 'token', ?)", (name, count))

    def test_a_kind_that_is_found_more_often(self, record: Recorded) -> None:
        for day in range(14):
            self.found(record, day, 20 if day >= 7 else 1)
        (one,) = redaction.findings(record.db, START // DAY * DAY + 13 * DAY + 5000)
        assert one.severity == NOTE and "token is found in" in one.evidence and "false alarms?" in one.evidence

    def test_a_kind_that_is_found_as_ever(self, record: Recorded) -> None:
        for day in range(14):
            self.found(record, day, 2)
        assert [one.severity for one in redaction.findings(record.db, START // DAY * DAY + 13 * DAY + 5000)] == [OK]


class TestLabels:
    def test_a_model_that_abstains_more(self, record: Recorded, db_path: str) -> None:
        history(record, "a", 6, 20, label_model="m", phase=0.9, scope=0.9, locus=0.9, novelty=0.9, friction=0.9)
        record.at += 30 * DAY
        history(record, "b", 6, 20, label_model="m", phase=None, scope=0.9, locus=0.9, novelty=0.9, friction=0.9)
        found = [one for one in labels.findings(record.db, db_path, record.at) if one.severity == NOTE]
        assert (
            "phase: no answer for 100.0% (120 of 120) of calls this week, 0.0% (0 of 120) before" in found[0].evidence
        )

    def test_a_model_as_ever(self, record: Recorded, db_path: str) -> None:
        history(record, "a", 6, 20, label_model="m", phase=0.9, scope=0.9, locus=0.9, novelty=0.9, friction=0.9)
        assert [one.severity for one in labels.findings(record.db, db_path, record.at)] == [OK]


class TestServers:
    def register(self, own_home: Path, words: list[str]) -> None:
        entry = {"command": words[0], "args": words[1:]}
        (own_home / ".claude.json").write_text(json.dumps({"mcpServers": {"nmem": entry}}))

    def test_the_server_starts_and_lists_its_tools(self, own_home: Path, record: Recorded) -> None:
        self.register(own_home, [sys.executable, "-m", "nmem", "mcp"])
        (one,) = servers.findings(["claude"], str(own_home))
        assert one.severity == OK and "lists" in one.evidence and one.ms, one

    def test_a_server_that_does_not_start(self, own_home: Path) -> None:
        self.register(own_home, ["/gone/python", "-m", "nmem", "mcp"])
        (one,) = servers.findings(["claude"], str(own_home))
        assert (one.severity, one.mend) == (WRONG, "nmem init --client claude") and "No such file" in one.evidence

    def test_a_client_without_it(self, own_home: Path) -> None:
        assert [one.severity for one in servers.findings(["claude", "cursor"], str(own_home))] == [NOTE]


def test_everything_at_once_is_data_and_never_fails(record: Recorded, db_path: str) -> None:
    record.coupon()
    db = database.reader(db_path)
    found = read.findings(db, db_path, record.at)
    assert {one.severity for one in found} <= {OK, NOTE}
    record.db.execute("DROP TABLE redactions")
    broken = read.findings(db, db_path, record.at)
    assert [one.check for one in broken if one.severity == WRONG] == ["redaction"]
    db.close()
