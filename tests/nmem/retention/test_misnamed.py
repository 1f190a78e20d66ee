"""A project that is misspelt in [retention.projects] is named wherever one looks, and loses nothing meanwhile."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner

from nmem.audit import NOTE, WRONG
from nmem.commands.main import nmem
from nmem.doctor.checks.records import config
from nmem.retention import policy
from nmem.retention import sweep as sweeping
from tests.nmem.conftest import Recorded
from tests.nmem.retention.conftest import LATER
from tests.nmem.retention.test_sweep import swift


def ruled(monkeypatch: pytest.MonkeyPatch, own_home: Path, *names: str) -> None:
    tables = "".join(f"[retention.projects.{name}]\nall = 0\n" for name in names)
    (own_home / "config.toml").write_text(f"[retention]\nmediation = false\n{tables}", "utf-8")
    monkeypatch.setenv("NMEM_CONFIG", str(own_home / "config.toml"))


def test_the_nearest_name_is_said_and_its_project_is_let_alone(
    record: Recorded, settled: Callable[[], Recorded], own_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    record.coupon()
    db = settled().db
    db.execute("INSERT INTO projects VALUES (2, 'cafe', 'cafe', '/src/cafe', NULL, 0)")
    ruled(monkeypatch, own_home, "shpo", "elsewhere", "cafe")
    meant = (
        "retention.projects.shpo names no project that is recorded: did you mean shop? Nothing of shop goes until then"
    )
    checked = CliRunner().invoke(nmem, ["config", "check"])
    assert checked.exit_code == 1 and meant in checked.stdout
    assert "retention.projects.elsewhere names no project that is recorded here" in checked.stdout
    assert {(one.severity, "shpo" in one.evidence) for one in config()} == {(WRONG, True), (NOTE, False)}
    dry = CliRunner().invoke(nmem, ["sweep", "--dry-run"])
    assert "did you mean shop? Nothing of shop goes until then" in " ".join(dry.stdout.split())
    told = json.loads(CliRunner().invoke(nmem, ["sweep", "--dry-run", "--json"]).stdout)
    assert told["unknown_projects"] == [{"name": "shpo", "nearest": "shop"}, {"name": "elsewhere", "nearest": ""}]
    done = sweeping.sweep(db, policy.load(), LATER, pace=swift(db))
    assert done.count == 0 and done.skipped == {policy.HELD: 1}
    ruled(monkeypatch, own_home, "elsewhere")
    assert CliRunner().invoke(nmem, ["config", "check"]).exit_code == 0
    assert sweeping.sweep(db, policy.load(), LATER, pace=swift(db)).count > 0


def test_where_nothing_is_recorded_no_name_is_wrong(own_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ruled(monkeypatch, own_home, "shop")
    assert CliRunner().invoke(nmem, ["config", "check"]).exit_code == 0
