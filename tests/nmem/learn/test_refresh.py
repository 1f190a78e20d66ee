"""Learnings follow the sessions: bit by bit or all at once, twice or once; and a person's word stands."""

from __future__ import annotations

import json
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from capture.storage import store as base
from nmem import tables
from nmem.learn import findings_store, kinds, read, refresh, report, warnings
from nmem.learn.find import Finding
from nmem.learn.learning import OPEN, RESOLVED
from nmem.learn.refresh import said_in

History = Any
NO_BUN = "error: unrecognized subcommand 'bun'\n\nUsage: rtk [OPTIONS]"
DAY = 86_400_000


def _months(history: History, after_each: bool) -> None:
    """Several weeks: a command that comes back, an error that is put right, a loop, quiet days."""
    for number in range(12):
        history.begin(f"a{number}")
        if number not in (5, 6, 7, 8, 9):
            history.fails("rtk bun run test", NO_BUN).runs("bun run test")
        if number < 4:
            history.fails("pytest -q", "ModuleNotFoundError: No module named 'yaml'").runs("pip install pyyaml").runs(
                "pytest -q"
            )
        if number in (3, 7):
            for _ in range(5):
                history.edit("src/sync.py").fails("make sync", "FAIL: test_race (shop.Sync)")
        history.runs("pytest -q").runs("ls")
        if after_each:
            refresh.refresh(history.db, history.at)


def test_bit_by_bit_or_all_at_once_is_the_same(history: History, tmp_path: Path) -> None:
    _months(history, after_each=True)
    step_by_step = history.rows()
    history.anew()
    assert history.rows() == step_by_step
    db = base.connect(str(tmp_path / "other.db"))
    tables.ensure(db)
    other = type(history)(db)
    _months(other, after_each=False)
    refresh.refresh(db, other.at)
    assert other.rows() == step_by_step
    assert len(step_by_step[0]) >= 3
    db.close()


def test_twice_changes_nothing_and_costs_nothing(history: History) -> None:
    _months(history, after_each=False)
    refresh.refresh(history.db, history.at)
    ids, changes = history.db.execute("SELECT id FROM learnings ORDER BY id").fetchall(), history.db.total_changes
    again = refresh.refresh(history.db, history.at)
    assert (again.sessions, again.learnings, history.db.total_changes) == (0, 0, changes)
    assert history.anew().learnings == 0
    assert history.db.execute("SELECT id FROM learnings ORDER BY id").fetchall() == ids


def test_a_project_is_summed_up_from_the_commands_that_failed_in_it_and_comes_to_the_same(history: History) -> None:
    _months(history, after_each=False)
    for number in range(3):
        history.begin(f"b{number}").runs("make docs").runs(f"make page{number}")
    refresh.refresh(history.db, history.at)
    said = said_in(history.db, 1)
    every = [
        (session, Finding(kind, key, **json.loads(data)))
        for session, kind, key, data in history.db.execute(
            "SELECT f.session_id, kind, key, data FROM learning_findings f JOIN sessions s ON s.id = f.session_id"
            " ORDER BY s.started_at, s.id, kind, key"
        )
    ]
    ran = {one.key: {session for session, other in said.findings if other.key == one.key} for _, one in said.findings}
    assert len(ran["pytest"]) == 12  # also where it passes: it is told whether it is over
    assert "make docs" not in ran
    assert "make docs" in {one.key for _, one in every}
    assert kinds.patterns(said) == kinds.patterns(replace(said, findings=every)) != []


@given(st.lists(st.sampled_from(["fail", "other", "fix", "edit", "quiet", "new"]), max_size=40))
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_order_of_things_is_the_same_bit_by_bit(history: History, tmp_path_factory: Any, steps: list[str]) -> None:
    found = []
    for each in (True, False):
        with closing(base.connect(str(tmp_path_factory.mktemp("d") / "n.db"))) as db:
            tables.ensure(db)
            here = type(history)(db).begin("first")
            for number, step in enumerate(steps):
                _step(here, step, number)
                if each:
                    refresh.refresh(db, here.at)
            refresh.refresh(db, here.at)
            found.append(here.rows())
    assert found[0] == found[1]


def _step(here: History, step: str, number: int) -> None:
    match step:
        case "fail":
            here.fails("rtk bun run test", NO_BUN)
        case "other":
            here.fails("pytest -q", "FAILED a_test.py::test_a - x")
        case "fix":
            here.runs("bun run test")
        case "edit":
            here.edit("a.py")
        case "quiet":
            here.runs("ls")
        case _:
            here.begin(f"n{number}")


def _rtk(history: History, *names: str) -> None:
    for name in names:
        history.begin(name).fails("rtk bun run test", NO_BUN).runs("bun run test")


def _say(history: History, state: str) -> None:
    history.db.execute("UPDATE learnings SET state = ?, state_by = 'person', state_at = ?", (state, history.at))


@pytest.mark.parametrize("state", ["accepted", "dismissed", "snoozed"])
def test_a_persons_word_stands_when_it_occurs_again(history: History, state: str) -> None:
    _rtk(history, "a", "b", "c")
    history.learn()
    _say(history, state)
    _rtk(history, "d")
    (one,) = history.learn()
    assert (one.state, one.state_by, one.sessions, one.reopened) == (state, "person", 4, 0)


def test_what_a_person_resolved_opens_when_it_occurs_again(history: History) -> None:
    _rtk(history, "a", "b", "c")
    history.learn()
    _say(history, RESOLVED)
    history.quiet(2)
    assert history.learn()[0].state == RESOLVED
    _rtk(history, "d")
    for _ in range(2):
        (one,) = history.learn()
        assert (one.state, one.state_by, one.reopened) == (OPEN, "evidence", 1)
        history.anew()


def test_what_a_person_said_something_of_stays_when_its_sessions_go(history: History) -> None:
    _rtk(history, "a", "b", "c")
    history.learn()
    _say(history, "dismissed")
    for table in ("learned_sessions", "learning_findings", "learning_evidence"):
        history.db.execute(f"DELETE FROM {table} WHERE session_id = 'a'")
    history.db.execute("DELETE FROM observations WHERE session_id = 'a'")
    history.quiet(1)
    assert [one.state for one in history.learn()] == ["dismissed"]


def test_what_is_no_longer_borne_out_goes(history: History) -> None:
    for name in "abc":
        history.begin(name).fails("rtk bun run test", NO_BUN)
    assert history.learn()
    history.db.execute("DELETE FROM learning_evidence WHERE session_id = 'a'")
    history.db.execute("DELETE FROM observations WHERE session_id = 'a'")
    history.anew()
    assert history.learn() == []


def test_an_observation_that_is_forgotten_leaves_its_excerpt(history: History) -> None:
    _rtk(history, "a", "b", "c")
    (one,) = history.learn()
    history.db.execute("DELETE FROM observations WHERE session_id = 'a'")
    left = [each for each in read.evidence(history.db, one.id) if each.session_id == "a" and each.role == "occurrence"]
    assert [(each.observation_id, each.excerpt) for each in left] == [(None, NO_BUN.split("\n", maxsplit=1)[0])]


def test_who_is_stopped_between_reading_and_summing_up_loses_nothing(
    history: History, monkeypatch: pytest.MonkeyPatch
) -> None:
    _rtk(history, "a", "b", "c")
    with monkeypatch.context() as patched:
        patched.setattr(refresh, "project", lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            refresh.refresh(history.db, history.at)
    assert [one.sessions for one in history.learn()] == [3]
    history.begin("d").runs("ls").begin("e").fails("rtk bun run test", NO_BUN)
    read_e = "SELECT 1 FROM learned_sessions WHERE session_id = 'e'"
    done = refresh.refresh(history.db, history.at, stopped=lambda: history.db.execute(read_e).fetchone() is not None)
    assert (done.sessions, done.left) == (1, 1)
    assert [one.sessions for one in history.learn()] == [4]


def test_other_rules_read_every_session_again(history: History, monkeypatch: pytest.MonkeyPatch) -> None:
    _rtk(history, "a", "b")
    history.learn()
    assert findings_store.stale(history.db) == []
    monkeypatch.setattr(findings_store, "VERSION", "another")
    assert [session for session, _ in findings_store.stale(history.db)] == ["b", "a"]


def test_an_episode_that_asks_for_the_command_inherits_the_warning(history: History) -> None:
    _rtk(history, "a", "b", "c")
    (one,) = history.learn()
    for intent, reason in (
        ("add a flag, then check it with `rtk bun run test`", "is to run `rtk bun run test`"),
        ("Verification: run `bun run test` and the linter", "is to run `bun run test`"),
        ("test the basket", ""), ("bun is fast; run the linter", ""), ("", ""),
    ):  # fmt: skip
        found = warnings.matches([one], intent, [])
        assert [why for _, why in found] == ([reason] if reason else [])


def test_warnings_are_written_for_recent_episodes_and_read_back(history: History) -> None:
    _rtk(history, "a", "b", "c")
    history.begin("d").user("run `bun run test` after the change")
    unit = history.db.execute(
        "INSERT INTO work_units (session_id, first_prompt_id, last_prompt_id, started_at, last_at, intent)"
        " VALUES ('d', ?, ?, ?, ?, 'run `bun run test` after the change')",
        (history.prompt, history.prompt, history.at, history.at),
    ).lastrowid
    history.learn()
    (one,) = read.warned(history.db, int(unit or 0), history.at)
    assert one.learning.kind == "failed_command"
    (now,) = warnings.current(history.db, int(unit or 0), history.at)
    assert (now.learning, now.reason) == (one.learning, one.reason)
    history.db.execute("UPDATE learnings SET state = 'dismissed', state_by = 'person', state_at = 1")
    assert read.warned(history.db, int(unit or 0), history.at) == ()
    assert warnings.warn_open(history.db, 1, history.at) == 0
    assert history.db.execute("SELECT count(*) FROM unit_warnings").fetchone() == (0,)


def test_heat_is_hand_computed() -> None:
    week = 7 * DAY
    assert read.weight([1000, 1000 - week, 1000 - 2 * week], 1000) == pytest.approx(1.75)
    assert [read.scaled(weight) for weight in (0.0, 1.0, 3.0, 6.0, 60.0)] == [0, 21, 50, 75, 100]
    assert read.weight([2000], 1000) == 1.0
    assert read.week(1_760_000_000_000) == 1_759_708_800_000  # Monday 2025-10-06
    assert read.weeks([1_759_708_800_000, 1_760_000_000_000, 1_759_708_799_999]) == (
        (1_759_104_000_000, 1),
        (1_759_708_800_000, 2),
    )


def test_a_month_in_which_nobody_worked_cools_nothing_and_work_does(history: History) -> None:
    _rtk(history, "a", "b", "c")
    hot = history.learn()[0].heat
    (later,) = read.learnings(history.db, history.at + 30 * DAY)
    assert later.heat == hot
    history.quiet(4)
    (cooler,) = [one for one in history.learn() if one.kind == "failed_command"]
    assert cooler.heat < hot


def test_after_a_month_of_rest_the_calendar_cools_by_the_same_half_life() -> None:
    # sixty sessions of one moment weigh 60; 30 quiet days: 60, 37: 30, 44: 15, 51: 7.5, 58: 3.75, 65: 1.875
    met = [1] * 60
    weights = [read.weight(met, read.until(1, 1 + days * DAY)) for days in (0, 30, 37, 44, 51, 58, 65)]
    assert weights == pytest.approx([60, 60, 30, 15, 7.5, 3.75, 1.875])
    assert [report.word(read.scaled(weight)) for weight in weights][-3:] == ["hot", "warm", "warm"]
    # worked on since: age runs to the last work until that is a month ago
    assert read.until(5 * DAY, 20 * DAY) == 5 * DAY
    assert read.until(5 * DAY, 36 * DAY) == 6 * DAY
    assert read.until(0, 7) == 7, "nothing is known of its sessions"
    assert read.until(9, 7) == 7, "another clock"


def test_what_was_met_months_ago_is_not_hot_and_stands_below_what_was_met_lately(history: History) -> None:
    _rtk(history, *"abcdefghij")
    assert history.learn()[0].heat >= 67
    (old,) = [one for one in read.learnings(history.db, history.at + 240 * DAY) if one.kind == "failed_command"]
    assert (old.heat, report.word(old.heat)) == (0, "cool")


def test_what_was_put_off_is_open_again_when_the_time_is_over(history: History) -> None:
    _rtk(history, "a", "b", "c")
    history.learn()
    history.db.execute(
        "UPDATE learnings SET state = 'snoozed', state_by = 'person', state_at = 1, snoozed_until = ?",
        (history.at + DAY,),
    )
    assert read.learnings(history.db, history.at) == ()
    assert len(read.learnings(history.db, history.at + 2 * DAY)) == 1


def test_a_session_that_goes_on_is_read_again_after_half_an_hour(history: History) -> None:
    history.begin("short")
    history.runs("make world")
    began = history.at
    history.db.execute("UPDATE sessions SET state = 'waiting', seq = 1, last_at = ?", (began,))
    assert refresh.refresh(history.db, began, patient=True).sessions == 1
    for minutes, read_again in ((10, 0), (20, 0), (31, 1), (40, 0)):
        now = began + minutes * 60_000
        history.db.execute("UPDATE sessions SET seq = ?, last_at = ?", (minutes, now))
        assert refresh.refresh(history.db, now, patient=True).sessions == read_again, minutes


def test_a_long_session_that_goes_on_is_read_again_once_a_tenth_was_added(history: History) -> None:
    history.begin("long")
    for _ in range(200):
        history.runs("make world")
    history.db.execute("UPDATE sessions SET state = 'waiting', seq = 200, last_at = ?", (history.at,))
    assert refresh.refresh(history.db, history.at, patient=True).sessions == 1
    history.at += 31 * 60_000
    history.db.execute("UPDATE sessions SET seq = 219, last_at = ?", (history.at,))
    assert refresh.refresh(history.db, history.at, patient=True).sessions == 0
    assert [session for session, _ in findings_store.stale(history.db)] == ["long"]  # whoever looks sees all of it
    history.db.execute("UPDATE sessions SET seq = 221")
    assert refresh.refresh(history.db, history.at, patient=True).sessions == 1


@pytest.mark.parametrize("how", ["ended", "silent"])
def test_a_long_session_is_read_again_when_it_is_over(history: History, how: str) -> None:
    history.begin("long")
    for _ in range(200):
        history.runs("make world")
    history.db.execute("UPDATE sessions SET state = 'waiting', seq = 200, last_at = ?", (history.at,))
    refresh.refresh(history.db, history.at, patient=True)
    history.db.execute("UPDATE sessions SET seq = 201, state = iif(? = 'ended', 'ended', state)", (how,))
    later = history.at + (3_600_000 if how == "silent" else 0)
    assert refresh.refresh(history.db, later, patient=True).sessions == 1
