"""Every place tells the same figures of hooks, says what they are, and why they are slow."""

from __future__ import annotations

from contextlib import closing
from sqlite3 import Connection

import pytest

from nmem import database, tables
from nmem.audit import latency
from nmem.commands.status import plain, sections
from nmem.doctor.checks import hooks
from nmem.read import views
from nmem.read.health import HookCost, health, hook_cost, keep_measured
from tests.nmem.conftest import Recorded


def ran(db: Connection, event: str, walls: list[int], cpu: int = 18_000, size: int = 900) -> None:
    db.executemany(
        "INSERT INTO hook_runs (at, client, event, wall_us, cpu_us, bytes, result)"
        " VALUES (1, 'claude', ?, ?, ?, ?, 'stored')",
        [(event, wall, cpu, size) for wall in walls],
    )


def cost(db: Connection) -> HookCost:
    return hook_cost(db)


def test_one_figure_in_all_places(record: Recorded, db_path: str) -> None:
    tables.ensure(record.db)
    ran(record.db, "PostToolUse", [20_000, 20_000, 31_000] * 33)
    ran(record.db, "Stop", [24_000] * 20)
    keep_measured(record.db, 38.0, 13.5, 5)
    with closing(database.reader(db_path)) as db:
        view, seen = health(db, db_path), views.hooks(db)
    assert (view.wall.p50, view.wall.p95) == (view.cost.p50, view.cost.p95) == (20_000, 31_000)
    assert seen.wall_us == view.cost.p50
    assert [(one.event, one.p50, one.p95) for one in view.cost.events] == [
        ("PostToolUse", 20_000, 31_000), ("Stop", 24_000, 24_000)
    ]  # fmt: skip
    (finding,) = latency.findings(record.db)
    assert "PostToolUse 20 and 31 ms" in finding.evidence
    told = plain(sections(view, [], 10))
    assert "claude PostToolUse\t20.0 ms\t31.0 ms" in told
    assert (
        "the client waits 38 ms for each event that nmem doctor sends, 2.8x a bare interpreter's 14 ms (limit 3x)"
        in told
    )


def test_before_doctor_ran_nothing_is_concluded(record: Recorded) -> None:
    ran(record.db, "Stop", [24_000] * 20)
    assert cost(record.db).slow is None
    assert "`nmem doctor` measures it" in cost(record.db).verdict


@pytest.mark.parametrize(("late", "cpu", "size", "why"), [
    ("PostToolUse", 20_000, 900, "without working: the disk"),
    ("PostToolUse", 190_000, 900_000, "large events"),
    ("UserPromptSubmit", 190_000, 900, "context is selected"),
    ("PostToolUse", 190_000, 900, "mostly PostToolUse"),
])  # fmt: skip
def test_the_likeliest_reason_is_named(record: Recorded, late: str, cpu: int, size: int, why: str) -> None:
    ran(record.db, "Stop", [20_000] * 90)
    assert not cost(record.db).why
    ran(record.db, late, [200_000] * 10, cpu, size)
    assert why in cost(record.db).why


def test_a_database_that_others_hold_and_a_start_that_is_not_compiled(record: Recorded) -> None:
    tables.ensure(record.db)
    ran(record.db, "Stop", [20_000] * 10 + [200_000] * 10)
    record.db.execute("INSERT OR REPLACE INTO counters VALUES ('drained', 3)")
    assert "another process locks" in cost(record.db).why
    record.db.execute("DELETE FROM hook_runs")
    ran(record.db, "Stop", [20_000] * 20)
    keep_measured(record.db, 90.0, 14.0, 5)
    found = cost(record.db)
    assert found.slow
    assert "bytecode or the rule cache" in found.why
    assert [one.severity for one in latency.findings(record.db)] == ["note", "ok"]


def test_what_doctor_timed_is_kept_for_every_other_place(
    record: Recorded, db_path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    tables.ensure(record.db)
    monkeypatch.setattr("nmem.doctor.checks.hooks.paths.database", lambda: db_path)
    hooks._keep(41.0, 14.0)
    seen = cost(record.db).measured
    assert seen is not None
    assert (seen.whole, seen.bare) == (41.0, 14.0)
    monkeypatch.setattr("nmem.doctor.checks.hooks.paths.database", lambda: "/proc/none/nmem.db")
    hooks._keep(99.0, 14.0)  # where nothing can be written, doctor goes on
