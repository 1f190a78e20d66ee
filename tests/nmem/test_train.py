"""`nmem train boundaries`: learns a person's habit, keeps only what is better, goes back, and says what changed."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from sqlite3 import Connection
from typing import Any

import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

from capture.storage import store
from nmem import tables
from nmem.commands.main import nmem
from nmem.episodes import boundary, corrections, detect, units
from nmem.training import answers, personal
from nmem.training.answers import Answer
from nmem.training.store import Fitting
from nmem.undo import undo

START = 1_760_000_000_000
TOPICS = ("cache eviction order", "invoice pdf footer", "webhook retry limit", "avatar upload size",
          "search index rebuild", "email bounce handler", "coupon rounding rule", "audit trail export")  # fmt: skip


@pytest.fixture
def db(db_path: str) -> Any:
    made = store.connect(db_path)
    tables.ensure(made)
    made.execute("INSERT INTO projects VALUES (1, 'a', 'a', '/a', NULL, ?)", (START,))
    yield made
    made.close()


def record(db: Connection, number: int) -> None:
    """A session of short requests, two for each of four things, all in one folder and without pauses."""
    session, at = f"s{number}", START + number * 86_400_000
    db.execute(
        "INSERT INTO sessions (id, client, project_id, cwd, state, started_at, last_at)"
        " VALUES (?, 'claude', 1, '/a', 'ended', ?, ?)",
        (session, at, at),
    )
    for step in range(8):
        topic = TOPICS[(number + step // 2) % len(TOPICS)]
        text = f"please also rework the {topic}" if step % 2 == 0 else f"{topic}: name it better"
        at += 60_000
        prompt = db.execute(
            "INSERT INTO prompts (session_id, at, source, kind, content, dedup_key)"
            " VALUES (?, ?, 'user', 'prompt', ?, ?)", (session, at, text, f"p{at}"),
        ).lastrowid  # fmt: skip
        path = f"src/{topic.split()[0]}.py"
        db.execute(
            "INSERT INTO observations (session_id, prompt_id, at, seq, obs_type, tool_name, content, file_path,"
            " outcome, dedup_key) VALUES (?, ?, ?, ?, 'file_edit', 'Edit', ?, ?, 'ok', ?)",
            (session, prompt, at + 9_000, step + 1, path, path, f"o{at}"),
        )
    detect.session(db, session)


def decide(db: Connection, session: str, opens: Callable[[int], bool]) -> None:
    """The person says of every prompt but the first whether something new begins there."""
    for number, prompt in enumerate(units.prompts_of_session(db, session)):
        if not number:
            continue
        unit = units.get(db, units.of_prompt(db, prompt.id) or 0)
        assert unit
        is_open = unit.first_prompt_id == prompt.id
        before = units.previous(db, unit)
        if opens(number) and not is_open:
            corrections.split(db, unit.id, prompt.id, START)
        elif not opens(number) and is_open and before:
            corrections.merge(db, unit.id, before.id, START)
        else:
            said = units.said_of(db, prompt.id)
            if said and said.by != "person":
                corrections.keep(db, prompt.id, START)


def taught(db: Connection, sessions: int = 6) -> None:
    """A person for whom each second short request is a thing of its own."""
    for number in range(sessions):
        record(db, number)
        decide(db, f"s{number}", lambda step: step % 2 == 0)


def run(*args: str) -> Any:
    return CliRunner().invoke(nmem, ["train", "boundaries", *args])


def test_a_habit_is_learned_and_decides_from_then_on(db: Connection, db_path: str) -> None:
    taught(db)
    report = personal.train(db, db_path, START)
    assert (report.enough, report.sessions, report.decisions) == (True, 6, 42)
    revised = next(each for each in report.refits if each.kind == "revised")
    assert revised.adopted
    assert revised.after.f1 > revised.before.f1 + 0.2
    assert revised.cuts_after > revised.cuts_before
    assert revised.after.missed < revised.before.missed
    assert {each.feature for each in revised.shifts} & {"fresh", "t_files_new"}
    record(db, 7)
    record(db, 8)
    before = [unit.first_prompt_id for unit in units.of_session(db, "s7")]
    detect.session(db, "s7", boundary.load(db_path))
    after = [unit.first_prompt_id for unit in units.of_session(db, "s7")]
    opened = [prompt.id for prompt in units.prompts_of_session(db, "s7")][::2]
    assert len(set(after) & set(opened)) > len(set(before) & set(opened))


def fittings(db: Connection) -> list[Fitting]:
    """What was fitted, the newest first."""
    found = db.execute(
        "SELECT at, before, after, reason, metrics FROM tuning_history WHERE subject = ? ORDER BY id DESC",
        (answers.SUBJECT,),
    )
    return [Fitting(row[0], json.loads(row[1]), json.loads(row[2]), row[3], json.loads(row[4])) for row in found]


def test_a_dry_run_changes_nothing(db: Connection, db_path: str) -> None:
    taught(db)
    result = run("--dry-run")
    assert result.exit_code == 0, result.output
    assert "nothing was changed: a dry run" in result.output
    assert not personal.own(db_path).exists()
    assert fittings(db) == []


def test_it_says_what_changed_and_goes_back(db: Connection, db_path: str) -> None:
    taught(db)
    result = run()
    assert result.exit_code == 0, result.output
    assert "42 decisions of yours in 6 sessions" in result.output
    assert "counts more" in result.output
    assert "better: adopted" in result.output
    file = personal.own(db_path)
    assert str(file) in result.output
    assert file.stat().st_mode & 0o777 == 0o600
    assert list(file.parent.glob("boundaries.json.*")) == []
    result = run("--reset")
    assert "are in use again" in result.output
    assert not file.exists()
    assert "no weights of your own" in run("--reset").output
    history = fittings(db)
    assert [each.reason.partition(":")[0] for each in history] == ["reset", "online"]
    assert history[0].before == history[1].after
    assert history[0].after == history[1].before == {kind: personal.shipped()[kind] for kind in personal.KINDS}


def test_repeated_fitting_does_not_drift(db: Connection, db_path: str) -> None:
    taught(db)
    personal.train(db, db_path, START)
    once = personal.own(db_path).read_text()
    personal.train(db, db_path, START)
    assert personal.own(db_path).read_text() == once


def test_answers_without_a_pattern_are_rejected(db: Connection, db_path: str) -> None:
    for number in range(6):
        record(db, number)
        decide(db, f"s{number}", lambda step, number=number: (step * 7 + number * 5) % 11 < 3)  # type: ignore[misc]
    report = json.loads(run("--json").output)
    assert report["enough"]
    for refit in report["refits"]:
        assert refit["adopted"] == (refit["after"]["cost"] < refit["before"]["cost"])
        assert not refit["adopted"]
    assert report["path"] == ""
    assert not personal.own(db_path).exists()


def test_what_was_learned_goes_when_it_no_longer_helps(db: Connection, db_path: str) -> None:
    taught(db)
    personal.train(db, db_path, START)
    assert personal.own(db_path).exists()
    while True:
        try:
            undo(db, START)
        except Exception as error:  # noqa: BLE001 - only this one ends it
            assert "nothing to undo" in str(error)
            break
    for number in range(6):
        decide(db, f"s{number}", lambda step, number=number: (step * 7 + number * 5) % 11 < 3)  # type: ignore[misc]
    personal.train(db, db_path, START)
    assert not personal.own(db_path).exists()


def test_too_few_decisions_are_said(db: Connection, db_path: str) -> None:
    assert "0 decisions in 0 sessions" in run().output
    record(db, 1)
    decide(db, "s1", lambda step: step % 2 == 0)
    result = run()
    assert result.exit_code == 0
    assert "7 decisions in 1 session; it takes 12 in 4" in result.output
    assert [each.reason for each in fittings(db)] == ["the cut follows the person's own rate"]


def test_the_cut_follows_a_persons_rate_as_corrections_come_in(db: Connection, db_path: str) -> None:
    def thresholds() -> list[float]:
        return [personal.in_force(db_path)[kind]["threshold"] for kind in personal.KINDS]

    usual = thresholds()
    record(db, 1)
    assert not personal.follow(db, db_path, START)
    decide(db, "s1", lambda step: step % 2 == 0)
    assert personal.follow(db, db_path, START)
    once = thresholds()
    assert all(usual[at] - 0.9 < once[at] < usual[at] for at in (0, 1))
    assert not personal.follow(db, db_path, START)
    record(db, 2)
    decide(db, "s2", lambda step: step % 2 == 0)
    assert personal.follow(db, db_path, START)
    assert all(new < old for new, old in zip(thresholds(), once, strict=True))
    assert personal.shipped()["online"]["weights"] == personal.in_force(db_path)["online"]["weights"]


def test_every_feature_has_words() -> None:
    for kind in personal.KINDS:
        assert personal.shipped()[kind]["weights"].keys() <= personal._WORDS.keys()


def test_usage(db: Connection) -> None:
    assert run("--reset", "--dry-run").exit_code == 2
    assert "exclude" in run("--reset", "--dry-run").output


def test_a_move_elsewhere_is_a_boundary_and_what_is_left_counts_a_little(db: Connection) -> None:
    record(db, 1)
    prompts = units.prompts_of_session(db, "s1")
    corrections.split(db, units.of_prompt(db, prompts[4].id) or 0, prompts[4].id, START)
    corrections.move(db, prompts[6].id, units.of_prompt(db, prompts[0].id) or 0, START)
    known = answers.answers(db, frozenset())
    own = {number: each.boundary for number, each in enumerate(known, 1) if each.own}
    assert own == {4: True, 6: True, 7: True}
    assert {each.weight for each in known} == {1.0, answers.STANDING}


def test_broken_weights_of_ones_own_do_not_stop_detection(db: Connection, db_path: str) -> None:
    personal.own(db_path).write_text("{")
    assert personal.in_force(db_path) == personal.shipped()
    assert boundary.load(db_path).models["online"].threshold == personal.shipped()["online"]["threshold"]


NAMES = list(personal.shipped()["revised"]["weights"])


@settings(max_examples=25, deadline=None)
@given(st.lists(st.tuples(st.lists(st.floats(0, 3), min_size=len(NAMES), max_size=len(NAMES)), st.booleans()),
                min_size=1, max_size=12))  # fmt: skip
def test_a_few_answers_move_little_and_turn_nothing_round(found: list[tuple[list[float], bool]]) -> None:
    base = personal.shipped()["revised"]
    known = [Answer("s", dict(zip(NAMES, values, strict=True)), new, 1.0) for values, new in found]
    part = personal.fitted(base, known)
    for name in NAMES:
        old, new = base["weights"][name][0], part["weights"][name][0]
        assert old * new >= 0
        assert abs(new - old) < 3
    assert part["threshold"] - part["offer"] == pytest.approx(base["threshold"] - base["offer"], abs=0.002)


def test_the_weights_beside_the_database_are_where_the_detector_looks(db_path: str) -> None:
    assert personal.own(db_path) == Path(db_path).parent / boundary.FITTED
