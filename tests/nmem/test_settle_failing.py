"""One step that fails is said and passed over: the others are done, now and the next time."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from capture import paths
from capture import seal as seal_module
from capture.event import Batch, Prompt
from capture.redaction import settings
from capture.seal import seal
from capture.storage import spool
from nmem import settle as settling
from nmem.commands.main import nmem
from nmem.context import keep
from nmem.doctor.checks import storage
from nmem.learn import refresh
from nmem.purge import history
from nmem.retention import idle
from nmem.retention.idle import automatic
from nmem.settle import settle
from tests.nmem.conftest import Recorded
from tests.nmem.retention.conftest import DAY


def test_a_step_that_fails_is_logged_counted_and_passed_over(
    record: Recorded, db_path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_args: object, **_more: object) -> None:
        record.db.execute("SELECT 1")
        raise KeyError("rows")

    record.coupon()
    sound = refresh.refresh
    monkeypatch.setattr(refresh, "refresh", broken)
    report = settle(db_path, 600, models=False)
    assert report is not None and report.failed == ["learn"] and report.told == 1 and report.indexed
    assert "settle: learn: KeyError at test_settle_failing.py" in Path(paths.log(db_path)).read_text()
    result = CliRunner().invoke(nmem, ["settle", "--no-model", "--json"])
    assert result.exit_code == 1 and json.loads(result.stdout)["failed"] == ["learn"]
    assert "the step learn failed, the others are done" in CliRunner().invoke(nmem, ["settle", "--no-model"]).stdout
    said = [one.evidence for one in storage._counts(record.db) if one.check == "settling"]
    assert said == ["3 steps of settling failed and were skipped"]
    monkeypatch.setattr(refresh, "refresh", sound)
    report = settle(db_path, 600, models=False)
    assert report is not None and not report.failed and report.learned == 1
    assert not [one for one in storage._counts(record.db) if one.check == "settling"]


def test_a_step_that_fails_within_a_transaction_leaves_none_open(
    record: Recorded, db_path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(run: settling._Run, *_some: object) -> None:
        run.db.execute("BEGIN IMMEDIATE")
        run.db.execute("DELETE FROM prompts")
        raise ValueError

    record.coupon()
    monkeypatch.setattr(settling._Run, "_labels", broken)
    report = settle(db_path, 600, models=False)
    assert report is not None and len(report.failed) == 1 and report.told == 1
    assert record.db.execute("SELECT count(*) FROM prompts").fetchone()[0] == 4


def _rule(own_home: Path, regex: str) -> None:
    """A pattern of the person's own, as a new process would see it."""
    rule = f'[redaction]\npatterns = [{{ name = "code-name", regex = "{regex}" }}]\n'
    (own_home / "config.toml").write_text(rule, "utf-8")
    settings._recent.clear()
    seal_module._plain.clear()


def test_what_was_spooled_before_a_pattern_is_redacted_by_it(
    record: Recorded, db_path: str, own_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NMEM_CONFIG", str(own_home / "config.toml"))

    def said(text: str, key: str) -> Batch:
        batch = Batch("claude", "s1", record.at, "/src/shop", "hook")
        batch.prompts = [Prompt(record.at, "user", "prompt", text, dedup_key=key)]
        return batch

    spool.put(db_path, seal(said("the code name is EMERALD-9921 dear", "p1")))
    _rule(own_home, "EMERALD-[0-9]{4}")
    settle(db_path, 600, models=False)
    (words,) = record.db.execute("SELECT content FROM prompts").fetchone()
    assert "EMERALD" not in words and "code name" in words
    spool.put(db_path, seal(said("again RUBY-1122", "p2")))
    _rule(own_home, "(EMERALD|RUBY)-[0-9]{4}")
    history.over(record.db, record.at)
    spool.drain(record.db, db_path)
    assert not history.stale(record.db)
    assert not record.db.execute("SELECT 1 FROM prompts WHERE content LIKE '%RUBY%'").fetchone()


def test_empty_pages_are_given_back_when_the_last_session_has_ended(
    record: Recorded, db_path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    record.coupon()
    settle(db_path, 600, models=False, clock=lambda: record.at + DAY)
    record.db.execute("CREATE TABLE waste (x)")
    record.db.executemany("INSERT INTO waste VALUES (zeroblob(4000))", [()] * 1000)
    record.db.execute("DROP TABLE waste")
    monkeypatch.setattr(idle, "PAYS_BYTES", 1_000_000)
    record.coupon("now")
    now = record.at + 1000
    automatic(record.db, db_path, now, lambda: False)
    assert idle.saves(record.db)[0] > 1_000_000, "somebody works"
    record.db.execute("UPDATE sessions SET state = 'ended' WHERE id = 'now'")
    assert not idle.due(record.db, now), "the rest of the upkeep was done just now"
    automatic(record.db, db_path, now, lambda: False)
    assert idle.saves(record.db)[0] == 0


def test_a_session_that_is_another_project_s_now_is_folded_there(record: Recorded, db_path: str) -> None:
    record.coupon().coupon("again")
    settle(db_path, 600, models=False)
    record.db.execute("INSERT INTO projects VALUES (2, 'other', 'other', '/src/other', NULL, 0)")
    record.db.execute("UPDATE sessions SET project_id = 2 WHERE id = 'again'")
    assert keep.refold(record.db, 2, "other", record.at) > 0
    report = settle(db_path, 600, models=False)
    assert report is not None and not report.failed
    counted = "SELECT session_id, project_id FROM context_sessions ORDER BY 2"
    assert [tuple(row) for row in record.db.execute(counted)] == [("coupon", 1), ("again", 2)]
    assert record.db.execute("SELECT sessions FROM context_projects WHERE project_id = 1").fetchone()[0] == 1
