"""Settling without a model: it finds what is due, does it once, survives being killed, and costs little when idle."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path
from sqlite3 import Connection
from typing import TYPE_CHECKING, Any

import pytest

from capture.settle import OFF
from capture.storage import store
from nmem import settle as settling
from nmem import settle_start
from nmem.episodes.annotate import update_newest
from nmem.llm import Cancel
from nmem.retrieval import engine
from nmem.search.search import search
from nmem.settle import Report, settle
from nmem.threads import continuity
from nmem.threads import store as threads_store
from tests.nmem.killing import killed

if TYPE_CHECKING:
    from tests.nmem.conftest import Recorded

NARRATIVE = "id, session_id, thread_id, state, intent, summary, learned, completed, next_steps, notes, narrator"


@pytest.fixture(autouse=True)
def no_models(own_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing on this machine's ports is asked."""
    file = own_home / "config.toml"
    file.write_text("[llm]\nenabled = false\n", "utf-8")
    monkeypatch.setenv("NMEM_CONFIG", str(file))


def run(db_path: str, **more: Any) -> Report:
    report = settle(db_path, 600, **more)
    assert report is not None
    return report


def units(db: Connection) -> list[Any]:
    return db.execute(f"SELECT {NARRATIVE} FROM work_units ORDER BY session_id, started_at").fetchall()


def test_what_is_over_is_closed_told_summed_up_and_threaded(record: Recorded, db_path: str) -> None:
    record.coupon()
    report = run(db_path)
    assert (report.detected, report.closed, report.threads, report.told, report.summaries) == (1, 1, 1, 1, 1)
    (unit,) = units(record.db)
    assert unit[3:5] == ("closed", "The invoice total is doubled when a coupon is used, fix it")
    assert unit[5].startswith(
        "The invoice total is doubled when a coupon is used, fix it. Later: no, the coupon total is still wrong"
    )
    assert unit[-1] == "extractive"
    summary = record.db.execute("SELECT intent, files_edited, narrator FROM session_summaries").fetchone()
    assert summary == ("The invoice total is doubled when a coupon is used, fix it", '["src/invoice.py"]', "extractive")
    assert record.db.execute("SELECT obs_trace FROM work_units").fetchone()[0].count('"t":') == 5


def test_a_session_that_may_go_on_is_left_open(record: Recorded, db_path: str) -> None:
    record.coupon()
    soon = record.at + 29 * 60_000
    report = run(db_path, clock=lambda: soon)
    assert (report.detected, report.closed, report.told) == (1, 0, 1)
    later = record.at + 31 * 60_000
    assert run(db_path, clock=lambda: later).told == 1


def test_waiting_sessions_are_settled_whole_and_in_batches_the_newest_first(
    record: Recorded, db_path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(settling, "BATCH", 2)
    for number in range(5):
        record.coupon(f"s{number}")
    told: list[tuple[int, int, list[str]]] = []

    def step(done: int, waiting: int, what: str) -> None:
        if what != settling.SETTLED:
            return
        with closing(store.connect(db_path)) as other:  # what another process sees is committed
            found = other.execute("SELECT session_id FROM session_summaries ORDER BY session_id").fetchall()
        told.append((done, waiting, [row[0] for row in found]))

    report = run(db_path, step=step)
    assert [each[:2] for each in told] == [(2, 5), (4, 5), (5, 5)]
    assert [each[2] for each in told[:2]] == [["s3", "s4"], ["s1", "s2", "s3", "s4"]]
    assert (report.detected, report.closed, report.told, report.summaries) == (5, 5, 5, 5)


def test_the_newest_sessions_are_found_and_told_of_before_the_others_are_looked_at(
    record: Recorded, db_path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(settling, "BATCH", 2)
    for number in range(5):
        record.coupon(f"s{number}")
    seen: list[tuple[set[str], set[str], set[str], int]] = []

    def step(done: int, _waiting: int, what: str) -> None:
        if done > 2 or what != settling.SETTLED:
            return
        with closing(store.connect(db_path)) as other:  # what another process sees is committed
            hits = search(other, "invoice total doubled coupon", record.at).hits
            ready = other.execute("SELECT session_id FROM context_sessions").fetchall()
            near = engine.related(other, 1, "the invoice total with a coupon", 9)
            of = {row[0]: row[1] for row in other.execute("SELECT id, session_id FROM work_units")}
            threads = other.execute("SELECT count(*) FROM session_threads").fetchone()[0]
            episodes = {of[hit.episode] for hit in hits if hit.episode}
            seen.append((episodes, {row[0] for row in ready}, {of[one.unit_id] for one in near}, threads))

    run(db_path, step=step)
    newest = {"s3", "s4"}
    assert seen == [({"s4"}, newest, newest, 0)], "of hits that say the same, the newest is shown"
    threads = record.db.execute("SELECT count(*) FROM session_threads").fetchone()[0]
    placed = record.db.execute("SELECT count(*) FROM work_units WHERE thread_id IS NOT NULL").fetchone()[0]
    folded = record.db.execute("SELECT count(*) FROM context_sessions").fetchone()[0]
    assert (threads, placed, folded) == (5, 5, 5)


def test_a_settling_without_time_left_has_the_newest_session(
    record: Recorded, db_path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(settling, "BATCH", 1)
    for number in range(4):
        record.coupon(f"s{number}")
    over = Cancel()
    report = run(db_path, cancel=over, step=lambda *_given: over.set())
    assert report.left
    assert record.db.execute("SELECT session_id FROM session_summaries").fetchall() == [("s3",)]
    assert run(db_path).summaries == 3


def test_a_thread_of_many_sessions_is_counted_once_a_transaction(
    record: Recorded, db_path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    counted: list[int] = []
    sound = threads_store.refresh

    def refresh(db: Connection, thread_id: int) -> None:
        counted.append(thread_id)
        sound(db, thread_id)

    monkeypatch.setattr(threads_store, "refresh", refresh)
    for number in range(60):
        record.coupon(f"s{number:02}")
        record.at -= 60 * 60_000 - 1  # each begins at once after the one before
    assert continuity.assign_all(record.db) == 60
    assert len(counted) == len(set(counted))
    threads = record.db.execute("SELECT turn_count, last_at FROM threads").fetchall()
    last = record.db.execute("SELECT max(last_at) FROM sessions").fetchone()[0]
    assert threads == [(120, last)]


def test_a_second_run_finds_nothing(record: Recorded, db_path: str) -> None:
    for name in ("a", "b"):
        record.coupon(name)
    run(db_path)
    before = units(record.db), record.db.execute("SELECT * FROM session_summaries").fetchall()
    report = run(db_path)
    assert report.idle
    assert (units(record.db), record.db.execute("SELECT * FROM session_summaries").fetchall()) == before


def test_narratives_are_found_by_their_words_and_lost_with_them(record: Recorded, db_path: str) -> None:
    def found(words: str) -> int:
        sql = "SELECT count(*) FROM narratives_fts WHERE narratives_fts MATCH ?"
        return int(record.db.execute(sql, (words,)).fetchone()[0])

    record.coupon()
    run(db_path)
    assert found("rounding") == 1, "from what the agent said"
    assert found("files:invoice") == 1
    record.db.execute("UPDATE work_units SET title = 'Basket sums'")
    assert found("title:basket") == 1
    assert found("rounding") == 1
    record.db.execute(
        "UPDATE work_units SET summary = 'Zebra', learned = NULL, notes = NULL, completed = NULL, next_steps = NULL"
    )
    assert (found("zebra"), found("rounding")) == (1, 0)
    for table in ("unit_prompts", "narrations", "work_units"):
        record.db.execute(f"DELETE FROM {table}")
    assert found("zebra OR basket OR invoice") == 0


def test_an_episode_whose_prompts_went_elsewhere_is_told_again(record: Recorded, db_path: str) -> None:
    from nmem.episodes import units as store_of_units
    from nmem.episodes.unit import NEW, PERSON, Verdict

    record.coupon()
    run(db_path)
    (before,) = units(record.db)
    second = record.db.execute("SELECT max(prompt_id) FROM unit_prompts").fetchone()[0]
    with store.transaction(record.db):
        store_of_units.split(record.db, second, Verdict(NEW, PERSON))
    report = run(db_path)
    assert (report.told, report.summaries) == (2, 1)
    first, later = units(record.db)
    assert first[5] != before[5]
    assert later[5].startswith("no, the coupon total is still wrong")


def test_secrets_that_reached_the_rows_do_not_reach_the_narrative(record: Recorded, db_path: str) -> None:
    token = "ghp_" + "a1B2c3D4e5F6" * 3
    record.begin("s").user(f"The deploy script uses {token} and fails, fix it").edit("deploy.sh").agent(
        f"The root cause was that {token} had expired, so the deploy was refused."
    )
    run(db_path)
    stored = str(record.db.execute("SELECT summary, learned, completed, notes FROM work_units").fetchall())
    assert "ghp_" not in stored + str(record.db.execute("SELECT * FROM session_summaries").fetchall())
    assert "REDACTED" in stored


def test_time_that_runs_out_leaves_the_rest_for_the_next_run(record: Recorded, db_path: str) -> None:
    for number in range(12):
        record.coupon(f"s{number}")
    report = settle(db_path, 0.01)
    assert report
    assert report.left
    seconds = 0.2
    while report and report.left:
        report = settle(db_path, seconds)
        seconds *= 1.5  # on a slow machine so little is over before anything is done
    assert len(units(record.db)) == 12
    assert all(unit[-1] == "extractive" for unit in units(record.db))


def spawn(db_path: str, *words: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-m", "nmem", "settle", "--json", "--db", db_path, *words],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip


def test_several_at_once_do_nothing_twice(record: Recorded, db_path: str) -> None:
    for number in range(5):
        record.coupon(f"s{number}")
    crowd = [spawn(db_path) for _ in range(3)]
    told = refused = 0
    for process in crowd:
        out, err = process.communicate(timeout=600)
        if process.returncode:
            assert b"another process" in err
            refused += 1
        else:
            told += json.loads(out)["told"]
    assert told == 5
    assert refused < 3


def test_killed_anywhere_it_ends_where_an_undisturbed_run_ends(record: Recorded, db_path: str, tmp_path: Path) -> None:
    for number in range(10):
        record.coupon(f"s{number}")
    undisturbed = tmp_path / "other" / "nmem.db"
    undisturbed.parent.mkdir()
    with closing(store.connect(str(undisturbed))) as other:
        record.db.backup(other)
        _, whole = killed("nmem.settle", ["settle", "--no-model", "--db", str(undisturbed)], None)
        expected = units(other)
    ended = [killed("nmem.settle", ["settle", "--db", db_path], whole * number / 10)[0] for number in range(5)]
    assert any(ended)
    run(db_path)
    assert record.db.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    assert units(record.db) == expected
    assert run(db_path).idle


def test_what_is_wished_for_while_it_works_is_done_by_the_same_run(record: Recorded, db_path: str) -> None:
    record.coupon("first")
    record.db.commit()
    wished = Path(settle_start.wanted(db_path))

    def clock() -> int:
        if not record.db.execute("SELECT 1 FROM sessions WHERE id = 'second'").fetchone():
            record.coupon("second")
            wished.write_text("1")
        return int(time.time() * 1000)

    report = run(db_path, clock=clock)
    assert report.told == 2
    assert wished.stat().st_size == 0


@pytest.mark.skipif(not hasattr(os, "posix_spawn"), reason="no way to start a process without a pipe here")
def test_a_wish_starts_one_process_in_the_background(
    record: Recorded, db_path: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    trap = tmp_path / "project"
    trap.mkdir()
    (trap / "nmem.py").write_text("raise SystemExit('the project was run instead')")
    monkeypatch.chdir(trap)
    monkeypatch.delenv(OFF)
    record.coupon()
    spawn, begun = settle_start._spawn, iter((True,))
    monkeypatch.setattr(settle_start, "_spawn", lambda _path: next(begun))
    assert settle_start.start(db_path)
    assert not settle_start.start(db_path), "it is about to begin"
    assert spawn(db_path)
    until = time.monotonic() + 300
    done = "SELECT count(*) FROM session_summaries"
    while time.monotonic() < until and not record.db.execute(done).fetchone()[0]:
        time.sleep(0.05)
    assert record.db.execute(done).fetchone() == (1,)
    while settle(db_path, 5) is None:
        time.sleep(0.05)  # it has gone before the folder goes


def test_a_lost_process_is_replaced_and_a_child_of_ours_starts_none(
    db_path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    Path(db_path).parent.mkdir(parents=True)
    started: list[str] = []

    def spawned(path: str) -> bool:
        started.append(path)
        return True

    monkeypatch.setattr(settle_start, "_spawn", spawned)
    assert not settle_start.start(db_path), "the environment says no"
    monkeypatch.delenv(OFF)
    assert settle_start.start(db_path)
    assert not settle_start.start(db_path)
    long_ago = time.time() - 60
    os.utime(settle_start.wanted(db_path), (long_ago, long_ago))
    assert settle_start.start(db_path)
    monkeypatch.setenv("NMEM_SKIP_HOOKS", "1")
    os.truncate(settle_start.wanted(db_path), 0)
    assert not settle_start.start(db_path)
    assert started == [db_path, db_path]


def test_what_a_hook_imports_to_start_it_is_cheap() -> None:
    code = (
        "import sys; sys.path.insert(0, '.'); import nmem.settle_start;"
        "print([n for n in ('re', 'json', 'subprocess', 'dataclasses', 'typing', 'pathlib') if n in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-I", "-S", "-c", code], capture_output=True, text=True,
                          cwd=Path(__file__).parents[2])  # fmt: skip
    assert done.stdout.strip() == "[]", done.stderr


def test_what_goes_on_is_told_as_far_as_it_came_and_anew_after_a_turn(record: Recorded, db_path: str) -> None:
    record.begin("s").user("Make the export keep its last row").edit("shop/export.py").test("failed")
    record.agent("The slice stops one row early.")
    now = record.at + 1_000
    assert run(db_path, clock=lambda: now).told == 1
    (unit,) = units(record.db)
    assert unit[3] == "open" and unit[-1] == "extractive" and "pytest" in unit[8]
    assert run(db_path, clock=lambda: now).idle
    record.edit("shop/export.py").test("ok").agent("Fixed the slice in `shop/export.py`.")
    update_newest(record.db, "s")  # as the hook does when a turn ends
    run(db_path, clock=lambda: now + 9_000)
    (unit,) = units(record.db)
    assert unit[3] == "open" and "pytest" not in unit[8] and "shop/export.py" in unit[7]
    run(db_path, clock=lambda: now + 3_600_000)
    assert units(record.db)[0][3] == "closed"


def test_a_turn_starts_settling_once_a_minute(db_path: str) -> None:
    assert settle_start.rested(db_path)
    run(db_path)
    assert not settle_start.rested(db_path)
    before = time.time() - settle_start.RESTING - 1
    os.utime(settle_start.lock_file(db_path), (before, before))
    assert settle_start.rested(db_path)
