"""What a person is told of forgetting: commands, the forecast, mediation, upkeep, what readers say."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from contextlib import ExitStack, closing
from pathlib import Path

import pytest
from click.testing import CliRunner

from nmem import database
from nmem.commands.main import nmem
from nmem.context import keep
from nmem.errors import NmemError
from nmem.read import file_history
from nmem.retention import idle, journal, policy, read
from nmem.retention import sweep as sweeping
from nmem.retention.idle import automatic
from nmem.retention.policy import LEAST, MOST, Policy, lives, multiple
from nmem.stance import read as stance
from tests.nmem.conftest import Recorded
from tests.nmem.retention.conftest import DAY, LATER

PLAIN = Policy(mediation=False)
Settled = Callable[[], Recorded]


def never() -> bool:
    return False


def test_the_command_asks_sweeps_and_keeps_a_journal(record: Recorded, settled: Settled, db_path: str) -> None:
    record.coupon()
    settled()

    def run(*args: str) -> str:
        found = CliRunner().invoke(nmem, ["sweep", *args])
        assert found.exit_code == 0, (found.output, found.exception)
        return found.output

    dry = json.loads(run("--dry-run", "--json"))
    assert dry["forgotten"] > 0
    assert CliRunner().invoke(nmem, ["sweep"]).exit_code == 2, "not a terminal: it is said with --yes"
    done = json.loads(run("--yes", "--clock-is-right", "--json"))
    assert done["counts"] == dry["counts"]
    (entry,) = json.loads(run("--journal", "--json"))
    assert (entry["why"], entry["done"]) == ("person", "finished")
    assert sum(one["count"] for one in entry["counts"]) == done["forgotten"]
    assert "nothing is past its lifetime" in run("--yes")
    assert "file_read" in run("--policy", "--json")
    with pytest.raises(NmemError, match="nothing is recorded of project nowhere"):
        CliRunner().invoke(nmem, ["sweep", "--dry-run", "--project", "nowhere"], catch_exceptions=False)


def test_another_sweep_is_waited_for(record: Recorded, settled: Settled, db_path: str) -> None:
    record.coupon()
    settled()
    given = ["sweep", "--yes", "--clock-is-right", "--json"]
    with ExitStack() as other:
        assert other.enter_context(idle.alone(db_path))
        told = CliRunner().invoke(nmem, [*given, "--seconds", "0.1"], standalone_mode=False)
        assert "another sweep is running" in str(told.exception)
        end = threading.Timer(0.3, other.close)
        end.start()
        assert json.loads(CliRunner().invoke(nmem, given).output)["forgotten"] > 0
        end.join()


def test_a_wrong_policy_names_the_nearest_word_and_forgets_nothing(
    record: Recorded, settled: Settled, db_path: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = tmp_path / "config.toml"
    config.write_text("[retention.projects.shop]\nfile_raed = 30\n")
    monkeypatch.setenv("NMEM_CONFIG", str(config))
    with pytest.raises(NmemError, match="did you mean file_read"):
        policy.load()
    db = settled().db
    db.execute("INSERT OR REPLACE INTO upkeep VALUES (?, 0, '')", (sweeping.NOTICED,))
    assert automatic(db, db_path, LATER, never).forgotten == 0


def test_by_itself_nothing_goes_in_the_first_week_then_once_a_day(
    record: Recorded, settled: Settled, db_path: str
) -> None:
    record.coupon()
    db = settled().db
    db.execute("DELETE FROM upkeep")
    for day in (0, 1, 6):  # years after the only session: that the clock is right is seen by the second day
        assert automatic(db, db_path, LATER + day * DAY, never).forgotten == 0
    assert automatic(db, db_path, LATER + 8 * DAY, never).forgotten > 0
    assert not sweeping.due(db, LATER + 8 * DAY + 1)
    assert sweeping.due(db, LATER + 9 * DAY)


def test_the_forecast_and_what_stands(record: Recorded, settled: Settled, db_path: str) -> None:
    record.coupon()
    settled()
    with closing(database.reader(db_path)) as db:
        found = read.forecast(db, now=LATER)
        assert [(one.total, one.now) for one in found.rows if one.type == "test"] == [(3, 3)]
        early = read.forecast(db, now=record.at + 175 * DAY)
        assert [(one.now, one.week, one.month) for one in early.rows if one.type == "test"] == [(0, 3, 3)]
        standing = read.standing(db, LATER)
        assert standing.enabled
        assert {one.type for one in standing.lives} >= {"test", "prompt", "reasoning"}


def test_readers_fall_back_on_traces_and_say_so(record: Recorded, settled: Settled, db_path: str) -> None:
    record.coupon()
    db = settled().db
    project = (1, "shop")
    with closing(database.reader(db_path)) as look:
        before = stance.of_session(look, "coupon", LATER)
        files = file_history.history(look, "src/invoice.py")
    keep.refold(db, *project, LATER)
    tables = ("context_files", "context_sessions", "context_projects")
    folded = {table: db.execute(f"SELECT * FROM {table}").fetchall() for table in tables[:1]}
    taken = db.execute("SELECT taken FROM context_projects").fetchone()
    sweeping.sweep(db, PLAIN, LATER)
    assert db.execute("SELECT taken FROM context_projects").fetchone() == taken, "nothing is to be folded again"
    keep.refold(db, *project, LATER)
    assert {table: db.execute(f"SELECT * FROM {table}").fetchall() for table in tables[:1]} == folded
    with closing(database.reader(db_path)) as look:
        after = stance.of_session(look, "coupon", LATER)
        assert before
        assert after
        assert (after.observations, after.traced) == (before.observations, before.observations)
        again = file_history.history(look, "src/invoice.py")
        assert (again.total, again.touches[0].edits) == (files.total, files.touches[0].edits)
        assert again.forgotten == 2
        assert journal.gone(look).said.startswith("5 older calls are known by their trace only")
    shown = CliRunner().invoke(nmem, ["show", "file/src/invoice.py"])
    assert "2 older calls known by their trace only" in shown.output
    assert "known by their trace only" in CliRunner().invoke(nmem, ["search", "coupon", "--json"]).output


def test_use_lengthens_and_idleness_shortens_within_bounds() -> None:
    assert multiple(0, 0, 0, 0) == 1
    assert multiple(1, 1, 1, 10**6) == MOST
    assert multiple(0, 0, 0, 10**6) == LEAST
    for evidence in (0, 10, 1000):
        steps = [multiple(used / 10, 0, 0, evidence) for used in range(11)]
        assert steps == sorted(steps)


def test_mediation_explains_itself_and_is_off_by_one_switch(record: Recorded, settled: Settled) -> None:
    record.coupon()
    db = settled().db
    db.execute("UPDATE work_units SET pinned = 1")
    projects = {1: "shop"}
    (test,) = [one for one in lives(db, Policy(), record.at + 10 * DAY, projects) if one.type == "test"]
    assert test.factor > 1
    assert test.in_force > test.written
    assert "lie beside something pinned" in test.reason
    assert {one.factor for one in lives(db, PLAIN, LATER, projects)} == {1.0}


def test_upkeep_does_what_pays(record: Recorded, settled: Settled, db_path: str) -> None:
    record.coupon()
    db = settled().db
    steps = {one.name: one for one in idle.maintain(db, db_path, LATER, stopped=never)}
    assert steps["merge"].done
    assert not steps["vacuum"].done
    assert "not needed" in steps["vacuum"].told
    assert not idle.due(db, LATER + 1)
    assert idle.maintain(db, db_path, LATER, stopped=never, vacuum=True)[-1].done
    found = CliRunner().invoke(nmem, ["maintain", "--json"])
    assert [one["name"] for one in json.loads(found.output)] == ["merge", "optimize", "checkpoint", "vacuum"]


def test_upkeep_tells_what_was_done_and_no_notes_of_the_clock(record: Recorded, settled: Settled, db_path: str) -> None:
    record.coupon()
    settled()
    db = record.db
    idle.maintain(db, db_path, LATER, stopped=never, vacuum=False)
    db.execute("INSERT OR REPLACE INTO upkeep VALUES ('last look', ?, '86400000')", (LATER,))
    assert {name for name, *_ in idle.told(db)} == {"merge", "optimize", "checkpoint"}
