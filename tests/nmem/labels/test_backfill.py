"""History is labelled as hooks would have labelled it, whatever interrupts it, and a person's word stays."""

from __future__ import annotations

import json
import random
import sqlite3
import threading
import time
from contextlib import closing
from pathlib import Path

import pytest
from click.testing import CliRunner

from capture import cache
from capture.event import Batch, Observation
from capture.labels import DIMENSIONS
from capture.labels import model as engine
from capture.seal import seal
from capture.storage import rows, store
from nmem.audit import WRONG
from nmem.commands.main import nmem
from nmem.doctor.checks import records
from nmem.episodes import annotate, detect, units
from nmem.errors import NmemError
from nmem.labels import backfill as bf
from nmem.labels import cards, corrections, names, read
from nmem.labels import store as labels_store
from nmem.settle import settle
from tests.nmem.killing import killed
from tests.nmem.labels.conftest import START, Hooks, other_model, use


def run(hooks: Hooks, db_path: str, **wanted: object) -> bf.Report:
    return bf.backfill(hooks.db, db_path, START, bf.Wanted(**wanted))  # type: ignore[arg-type]


def mine() -> str:
    model = engine.shipped()
    assert model
    return model.name


def test_it_says_what_the_hook_said(hooks: Hooks, db_path: str) -> None:
    for name in ("a", "b"):
        hooks.session(name, times=3)
    before = hooks.labels()
    assert any(row[0] for row in before)
    hooks.bare()
    report = run(hooks, db_path)
    assert hooks.labels() == before
    assert (report.labelled, report.sessions, report.left) == (len(before), 2, False)
    assert run(hooks, db_path).labelled == 0


def test_agents_beside_each_other_are_read_as_the_hook_reads_them(hooks: Hooks, db_path: str) -> None:
    dice = random.Random(5)
    calls = [("Read", "/src/shop/a.py"), ("Bash", "npm test"), ("Edit", "/src/shop/a.py"), ("Grep", "total"),
             ("Bash", "git status"), ("WebFetch", "https://example.org/x"), ("Bash", "cargo build")]  # fmt: skip
    hooks.user("s", "the build is broken, find out why")
    for number in range(300):
        tool, argument = dice.choice(calls)
        agent = dice.choice(["", "", "a1", "a2", "rare"]) if number % 40 else "rare"
        hooks.call("s", tool, f"{argument}{number % 5}", "Exit code 1" if dice.random() < 0.2 else "", agent)
        if dice.random() < 0.05:
            batch = Batch("claude", "s", hooks.at, "/src/shop")
            batch.observations.append(Observation(hooks.at, "session_compact", "auto", dedup_key=f"m{number}"))
            rows.write(hooks.db, seal(batch))
    before = hooks.labels()
    hooks.bare()
    run(hooks, db_path)
    assert hooks.labels() == before


def test_only_a_part_that_lacks_labels_is_labelled_with_what_came_before_it(hooks: Hooks, db_path: str) -> None:
    hooks.session("s", times=4)
    before = hooks.labels()
    hooks.db.execute("UPDATE observations SET phase=NULL, friction=NULL, label_model=NULL WHERE seq > 21")
    assert run(hooks, db_path).labelled == len(before) - 21
    assert hooks.labels() == before


def test_processes_of_their_own_come_to_the_same(hooks: Hooks, db_path: str) -> None:
    for number in range(6):
        hooks.session(f"s{number}", times=2)
    before = hooks.labels()
    hooks.bare()
    report = bf.backfill(hooks.db, db_path, START, processes=2)
    assert (report.labelled, report.sessions) == (len(before), 6)
    assert hooks.labels() == before


def test_another_model_labels_anew_and_says_so_in_every_row(hooks: Hooks, db_path: str) -> None:
    hooks.session()
    use(db_path, other_model())
    report = run(hooks, db_path)
    assert report.changed > 0
    assert {row[-1] for row in hooks.labels()} == {"0123456789ab"}
    assert {row[0] > 0 for row in hooks.labels()} == {True}  # type: ignore[operator]
    assert set(labels_store.known(hooks.db)) == {"0123456789ab"}


def test_one_dimension_alone(hooks: Hooks, db_path: str) -> None:
    hooks.session()
    before = hooks.labels()
    use(db_path, other_model())
    run(hooks, db_path, dimension="scope")
    after = hooks.labels()
    assert [(row[0], *row[2:5]) for row in after] == [(row[0], *row[2:5]) for row in before]
    assert {row[1] for row in after} == {round(other_model().scores(())[1], 4)}
    assert {row[-1] for row in after} == {f"{mine()}~scope:0123456789ab"}
    assert run(hooks, db_path, dimension="scope").labelled == 0
    for name in DIMENSIONS:
        run(hooks, db_path, dimension=name)
    assert {row[-1] for row in hooks.labels()} == {"0123456789ab"}, "five by one model are that model's"


def test_one_dimension_of_what_carries_no_labels_leaves_the_others_due(hooks: Hooks, db_path: str) -> None:
    hooks.session()
    before = hooks.labels()
    hooks.bare()
    assert run(hooks, db_path, dimension="phase").labelled == len(before)
    assert {row[-1] for row in hooks.labels()} == {f"~phase:{mine()}"}
    standing = read.standing(hooks.db, db_path)
    assert (standing.bare, standing.due) == (len(before), len(before))
    number = int(hooks.db.execute("SELECT min(id) FROM observations").fetchone()[0])
    words = read.labelled(hooks.db, db_path, number).words
    assert [bool(word.model) for word in words] == [True, False, False, False, False], "nobody's is no abstention"
    assert read.recent(hooks.db, unsure=True) == []
    assert run(hooks, db_path, dimension="scope").labelled == len(before)
    assert run(hooks, db_path).labelled == len(before)
    assert hooks.labels() == before
    hooks.bare()
    for name in DIMENSIONS:
        run(hooks, db_path, dimension=name)
    assert hooks.labels() == before, "five times one dimension are a whole run"


def test_settling_gives_what_one_dimension_left_open(hooks: Hooks, db_path: str) -> None:
    hooks.session()
    before = hooks.labels()
    hooks.bare()
    use(db_path, other_model())
    run(hooks, db_path, dimension="phase")
    Path(engine.personal_file(db_path)).unlink()
    assert bf.fill(hooks.db, db_path, START, lambda: False) == len(before)
    assert {row[-1] for row in hooks.labels()} == {f"{mine()}~phase:0123456789ab"}
    assert [row[1:5] for row in hooks.labels()] == [row[1:5] for row in before]
    assert bf.fill(hooks.db, db_path, START, lambda: False) == 0


def test_a_row_decided_in_everything_is_not_due_for_ever(hooks: Hooks, db_path: str) -> None:
    number = hooks.call("s", "Read", "/src/shop/a.py")
    hooks.bare()
    words = {"phase": "act", "scope": "diverge", "locus": "internal", "novelty": "novel", "friction": "smooth"}
    corrections.relabel_many(hooks.db, number, words, START)
    assert run(hooks, db_path).labelled == 1
    assert read.standing(hooks.db, db_path).due == 0
    assert hooks.labels()[0][:5] == (1.0, -1.0, -1.0, 1.0, -1.0)


def test_another_model_beside_the_database_ends_the_work(hooks: Hooks, db_path: str) -> None:
    for number in range(4):
        hooks.session(f"s{number}")
    hooks.bare()

    def step(_report: bf.Report) -> None:
        value: tuple[object, ...] = (engine.FORMAT, "0123456789ab", {}, 0, [0.0] * 5)
        assert cache.write(engine.personal_file(db_path), value)

    with pytest.raises(NmemError, match="the label model changed meanwhile"):
        bf.backfill(hooks.db, db_path, START, step=step)


def test_the_log_is_folded_back_by_itself_afterwards(hooks: Hooks, db_path: str) -> None:
    hooks.session()
    hooks.bare()
    hooks.db.execute("PRAGMA wal_autocheckpoint=700")
    bf.fill(hooks.db, db_path, START, lambda: False)
    assert hooks.db.execute("PRAGMA wal_autocheckpoint").fetchone()[0] == 700


def test_a_model_that_cannot_label_takes_nothing_away(
    hooks: Hooks, db_path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    hooks.session()
    before = hooks.labels()

    def broken(*_: object) -> None:
        raise TypeError("unsupported operand")

    monkeypatch.setattr(engine.Model, "label", broken)
    with pytest.raises(NmemError, match="cannot label observation 1, which keeps its labels: TypeError"):
        run(hooks, db_path, everything=True)
    assert hooks.labels() == before
    hooks.bare()
    assert run(hooks, db_path).labelled == len(before), "what had nothing gets the model's silence"


@pytest.mark.parametrize(
    "value",
    [(1, "0123456789ab", {"role:read": "x"}, 0, [0.5] * 5), (1, "0123456789ab", {3: 4}, 0, [0.5] * 5),
     (1, "x; DROP+~", {}, 0, [0.5] * 5), (1, "0123456789aB", {}, 0, [0.5] * 5)],
)  # fmt: skip
def test_a_table_with_other_contents_is_passed_over_and_everybody_says_so(
    hooks: Hooks, db_path: str, value: object
) -> None:
    hooks.session()
    before = hooks.labels()
    assert cache.write(engine.personal_file(db_path), value)
    done = CliRunner().invoke(nmem, ["backfill", "--all"])
    assert done.exit_code == 1
    assert "is not trusted: it is damaged" in str(done.exception)
    assert hooks.labels() == before
    assert "is not trusted" in CliRunner().invoke(nmem, ["status"]).output
    first, second = records.labels()
    assert (first.severity, second.mend) == (WRONG, "")
    assert "is not trusted" in first.evidence
    done = CliRunner().invoke(nmem, ["train", "labels", "--reset"])
    assert done.exit_code == 0, done.exception
    assert read.standing(hooks.db, db_path).passed_over == ""


def test_why_a_model_of_one_s_own_is_passed_over(hooks: Hooks, db_path: str) -> None:
    use(db_path, other_model())
    file = Path(engine.personal_file(db_path))
    assert cards.passed_over(db_path) == ""
    file.chmod(0o664)
    assert "mode 664): chmod 600" in cards.passed_over(db_path)
    file.chmod(0o600)
    file.parent.chmod(0o775)
    try:
        engine.forget()
        assert "chmod 700" in cards.passed_over(db_path)
    finally:
        file.parent.chmod(0o700)
    engine.forget()
    file.rename(file.with_name("elsewhere"))
    file.symlink_to(file.with_name("elsewhere"))
    assert "it is a link" in cards.passed_over(db_path)


def test_a_person_s_word_stays(hooks: Hooks, db_path: str) -> None:
    hooks.session()
    number = hooks.call("s", "Read", "/src/shop/web/login.py")
    corrections.relabel_many(hooks.db, number, {"phase": "act", "locus": "external"}, START)
    use(db_path, other_model())
    for wanted in ({}, {"everything": True}, {"dimension": "phase"}, {"dimension": "locus", "everything": True}):
        run(hooks, db_path, **wanted)
        row = hooks.labels(f"id = {number}")[0]
        assert (row[0], row[2], row[-1]) == (1.0, 1.0, "0123456789ab+phase,locus")


def test_project_limit_and_what_is_not_there(hooks: Hooks, db_path: str) -> None:
    hooks.session()
    hooks.bare()
    report = run(hooks, db_path, limit=4)
    assert (report.labelled, report.left) == (4, True)
    assert sum(row[-1] is None for row in hooks.labels()) == 6
    with pytest.raises(NmemError, match="nothing is recorded of project nowhere"):
        run(hooks, db_path, project="nowhere")
    with pytest.raises(NmemError, match="colour is not a dimension"):
        run(hooks, db_path, dimension="colour")
    name = hooks.db.execute("SELECT name FROM projects").fetchone()[0]
    assert run(hooks, db_path, project=name).labelled == 6


def test_killed_anywhere_it_goes_on_and_ends_the_same(hooks: Hooks, db_path: str) -> None:
    for number in range(20):
        hooks.session(f"s{number}", times=4)
    detect.sessions(hooks.db, [f"s{number}" for number in range(20)], db_path)
    hooks.db.execute("UPDATE work_units SET state = 'closed'")
    for number in range(20):
        detect.session(hooks.db, f"s{number}", close=True)
    before, kept = hooks.labels(), units_of(hooks)
    hooks.bare()
    for number in range(20):
        detect.session(hooks.db, f"s{number}", close=True)
    modules = "nmem.commands.backfill nmem.labels.backfill"
    ended, whole = killed(modules, ["backfill", "--json"], None)
    assert not ended
    hooks.bare()
    for number in range(20):
        detect.session(hooks.db, f"s{number}", close=True)
    assert killed(modules, ["backfill", "--json"], 0)[0]
    for number in range(1, 5):
        killed(modules, ["backfill", "--json"], whole * number / 10)
    run(hooks, db_path)
    assert hooks.labels() == before
    assert hooks.db.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    settle(db_path, 600, models=False)  # traces that a killed run left behind
    assert units_of(hooks) == kept


def units_of(hooks: Hooks) -> list[object]:
    found = hooks.db.execute(
        "SELECT id, phase_signature, obs_trace, traced_seq, annotated_seq FROM work_units ORDER BY id"
    )
    return [(row[0], json.loads(row[1]), json.loads(row[2]), *row[3:]) for row in found]


def test_a_stop_between_two_transactions_leaves_the_rest(hooks: Hooks, db_path: str) -> None:
    for number in range(5):
        hooks.session(f"s{number}")
    before = hooks.labels()
    hooks.bare()
    told: list[int] = []
    report = bf.backfill(hooks.db, db_path, START, step=lambda report: told.append(report.labelled),
                         stop=lambda: len(told) >= 2)  # fmt: skip
    assert report.left
    assert 0 < report.labelled < len(before)
    run(hooks, db_path)
    assert hooks.labels() == before


def test_what_episodes_keep_of_labels_follows(hooks: Hooks, db_path: str) -> None:
    hooks.session("closed", times=3)
    hooks.session("open")
    for name in ("closed", "open"):
        detect.session(hooks.db, name, close=name == "closed")
    told = hooks.db.execute("SELECT group_concat(annotated_seq || '.' || annotated_prompt) FROM work_units").fetchone()
    use(db_path, other_model())
    run(hooks, db_path)
    after = units_of(hooks)
    signed = hooks.db.execute("SELECT session_id, signature FROM session_signatures ORDER BY 1").fetchall()
    for unit in [unit for name in ("closed", "open") for unit in units.of_session(hooks.db, name)]:
        with store.transaction(hooks.db):
            annotate.recount(hooks.db, unit, trace=unit.state == units.CLOSED)
    for name in ("closed", "open"):
        with store.transaction(hooks.db):
            annotate.sign_session(hooks.db, name)
    assert after == units_of(hooks), "as counting everything again would have it"
    again = hooks.db.execute("SELECT session_id, signature FROM session_signatures ORDER BY 1").fetchall()
    assert [json.loads(row[1]) for row in signed] == [json.loads(row[1]) for row in again]
    assert (
        told
        == hooks.db.execute("SELECT group_concat(annotated_seq || '.' || annotated_prompt) FROM work_units").fetchone()
    ), "no story has to be told again"


def test_hooks_are_not_held_up(hooks: Hooks, db_path: str) -> None:
    for number in range(60):
        hooks.session(f"s{number}", times=3)
    hooks.bare()
    waited: list[float] = []
    over = threading.Event()

    def write() -> None:
        with closing(store.connect(db_path, timeout=60)) as db:
            while not over.is_set():
                begun = time.perf_counter()
                with store.transaction(db):
                    store.count(db, "beside")
                waited.append(time.perf_counter() - begun)
                time.sleep(0.005)

    beside = threading.Thread(target=write)
    beside.start()
    let_in: list[int] = []
    report = bf.backfill(hooks.db, db_path, START, step=lambda _: let_in.append(len(waited)))
    over.set()
    beside.join()
    assert report.labelled == len(hooks.labels())
    assert len(set(let_in)) > 3, "nobody was let in between"
    assert sorted(waited)[len(waited) // 2] < 0.25, "a hook would have had to put its row aside"


def test_a_row_that_is_labelled_meanwhile_is_left_alone(hooks: Hooks, db_path: str) -> None:
    hooks.session()
    number = hooks.call("s", "Read", "/src/shop/web/login.py")
    hooks.bare()
    steps = 0

    def step(report: bf.Report) -> None:
        nonlocal steps
        steps += 1

    def stop() -> bool:
        if (
            not steps
            and hooks.db.execute("SELECT label_model FROM observations WHERE id = ?", (number,)).fetchone()[0] is None
        ):
            corrections.relabel(hooks.db, number, "phase", "act", START)
        return False

    bf.backfill(hooks.db, db_path, START, step=step, stop=stop)
    row = hooks.labels(f"id = {number}")[0]
    assert row[0] == 1.0
    assert names.read(str(row[-1])).own == {"phase"}
    run(hooks, db_path)
    assert hooks.labels(f"id = {number}")[0][-1] == f"{mine()}+phase"


def test_settling_labels_what_nothing_has_labelled(hooks: Hooks, db_path: str) -> None:
    hooks.session("a", times=2)
    before = hooks.labels()
    hooks.bare()
    report = settle(db_path, 600, models=False)
    assert report
    assert report.labelled == len(before)
    assert hooks.labels() == before
    assert set(labels_store.known(hooks.db)) == {mine()}
    looked = labels_store.looked_to(hooks.db)
    assert looked == hooks.db.execute("SELECT max(id) FROM observations").fetchone()[0]
    use(db_path, other_model())
    hooks.session("b")
    again = settle(db_path, 600, models=False)
    assert again
    assert again.labelled == 0
    assert mine() in {row[-1] for row in hooks.labels("session_id = 'a'")}, "another model's are left to nmem backfill"
    assert set(labels_store.known(hooks.db)) == {mine(), "0123456789ab"}


def test_settling_goes_on_when_its_time_ran_out(hooks: Hooks, db_path: str) -> None:
    for number in range(4):
        hooks.session(f"s{number}")
    hooks.bare()
    calls = iter([False, True])
    assert bf.fill(hooks.db, db_path, START, lambda: next(calls, True)) > 0
    assert labels_store.looked_to(hooks.db) == 0
    assert bf.fill(hooks.db, db_path, START, lambda: False) > 0
    assert not [row for row in hooks.labels() if row[-1] is None]
    assert bf.fill(hooks.db, db_path, START, lambda: False) == 0


def test_odd_rows_are_labelled_or_abstained_from_and_do_not_stop_it(hooks: Hooks, db_path: str) -> None:
    hooks.session()
    odd = ["", "\x00\x00", "🙂" * 5000, "((((" * 900, "'" * 3000, "<<" * 900, "\\" * 2000, "$(" * 700, "a" * 100_000]
    for place, text in enumerate(odd):
        hooks.db.execute(
            "INSERT INTO observations (session_id, at, seq, obs_type, tool_name, file_path, content, label_model,"
            " metadata, dedup_key) VALUES ('s', ?, ?, ?, ?, ?, ?, ?, '{', ?)",
            (START - place, 1000 + place, ("command", "mcp_call", "odd kind")[place % 3], text[:40],
             text[:90] or None, text,
             ("+", "~~+phase", "+,,+", "~scope", None, "x" * 5000, "+colour", ":", "~:,:")[place], f"odd{place}"),
        )  # fmt: skip
    run(hooks, db_path)
    found = hooks.db.execute("SELECT label_model FROM observations").fetchall()
    assert {name.partition("+")[0] for (name,) in found} == {mine()}
    assert run(hooks, db_path).labelled == 0


def test_the_command_says_what_it_did(hooks: Hooks, db_path: str) -> None:
    hooks.session()
    hooks.bare()
    done = CliRunner().invoke(nmem, ["backfill"])
    assert done.exit_code == 0, done.output
    assert "10 calls in 1 session labelled by model" in done.output
    done = CliRunner().invoke(nmem, ["backfill"])
    assert done.output.startswith("nothing to label: every call carries the labels of model")
    done = CliRunner().invoke(nmem, ["backfill", "--all", "--json"])
    assert json.loads(done.output)["labelled"] == 10
    assert isinstance(hooks.db, sqlite3.Connection)
