"""What is worked out beside settling is what settling works out itself, also where the processes fail it."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from capture.storage import store
from nmem import settle as settling
from nmem import settle_beside
from nmem.decisions import find as said
from nmem.episodes import detect, storytelling
from nmem.episodes.boundary import load
from nmem.labels import workers
from nmem.llm import Cancel
from nmem.settle import FOUND, INDEXED, LEARNED, SETTLED, TOLD, settle
from nmem.side_by_side import Crew, Gone
from tests.nmem.conftest import Recorded

LATER = 24 * 3_600_000
TABLES = ("observations", "work_units", "narrations", "session_summaries", "said_decisions", "learning_findings",
          "learned_sessions", "learnings", "retrieval_docs", "retrieval_postings")  # fmt: skip


@pytest.fixture
def waiting(record: Recorded, db_path: str) -> Recorded:
    """Sessions that nobody has settled."""
    for number in range(4):
        record.begin(f"s{number}").user(f"write page {number}, then test it").edit(f"docs/{number}.md")
        record.test("failed", response=f"E  assert {number} == 9").edit(f"src/{number}.py").test()
        record.agent("The cause was a missing comma. It passes now.")
    record.at += LATER
    return record


def settled(record: Recorded, path: Path) -> dict[str, list[Any]]:
    """All that settling a copy of a memory makes of it."""
    with closing(sqlite3.connect(path)) as copy:
        record.db.backup(copy)
    report = settle(str(path), 600, models=False, clock=lambda: record.at)
    assert report is not None
    assert not report.failed
    assert (report.detected, report.told, report.learned) == (4, 4, 4)
    with closing(store.connect(str(path))) as db:
        return {name: db.execute(f"SELECT * FROM {name}").fetchall() for name in TABLES}


def beside(monkeypatch: pytest.MonkeyPatch, many: int = 2) -> None:
    monkeypatch.setattr(settle_beside, "ENOUGH", 1)
    monkeypatch.setattr(settling, "Beside", lambda db, path: settle_beside.Beside(db, path, many))


def alone(record: Recorded, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, list[Any]]:
    with monkeypatch.context() as patched:
        beside(patched, 1)
        return settled(record, tmp_path / "alone.db")


def test_two_processes_make_of_a_history_what_one_makes(
    waiting: Recorded, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = alone(waiting, tmp_path, monkeypatch)
    beside(monkeypatch)
    monkeypatch.setattr(settling, "BATCH", 1)
    monkeypatch.setattr(workers, "work_on", lambda *_given: pytest.fail("worked out here"))
    here: list[object] = []
    sound = detect.decide

    def decide(*given: Any) -> Any:
        here.append(given)
        return sound(*given)

    monkeypatch.setattr(detect, "decide", decide)
    monkeypatch.setattr(storytelling, "worded", lambda *_given: pytest.fail("worded here"))
    monkeypatch.setattr(said, "_heard", lambda *_given: pytest.fail("searched for decisions here"))
    assert settled(waiting, tmp_path / "beside.db") == one
    assert len(here) == 1, "of the newest batch alone it is decided here where episodes begin"
    assert one["observations"][0][-1] != ""
    assert all(one[name] for name in ("narrations", "learning_findings", "retrieval_docs"))


def test_what_the_processes_cannot_do_is_done_here(
    waiting: Recorded, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = alone(waiting, tmp_path, monkeypatch)

    def gone(_crew: Crew[Any, Any], _jobs: Any, _ahead: int) -> Any:
        def answer() -> None:
            raise Gone

        return answer

    monkeypatch.setattr(Crew, "each", gone)
    beside(monkeypatch)
    assert settled(waiting, tmp_path / "gone.db") == one


def test_a_run_with_little_to_do_starts_no_process(
    waiting: Recorded, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(settle_beside, "Crew", lambda *_given: pytest.fail("started"))
    assert settled(waiting, tmp_path / "few.db")["narrations"]


def test_all_that_wait_are_listed_before_the_second_batch_is_told_also_where_the_run_ends_there(
    waiting: Recorded, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = alone(waiting, tmp_path, monkeypatch)
    beside(monkeypatch)
    monkeypatch.setattr(settling, "BATCH", 1)
    path = tmp_path / "found.db"
    with closing(sqlite3.connect(path)) as copy:
        waiting.db.backup(copy)
    seen: list[tuple[int, str, int, int]] = []
    over = Cancel()

    def step(done: int, waiting: int, what: str) -> None:
        assert waiting == 4
        with closing(sqlite3.connect(path)) as other:  # what another process sees is committed
            listed = other.execute("SELECT count(*) FROM work_units WHERE state = 'closed' AND obs_count").fetchone()
            told = other.execute("SELECT count(*) FROM narrations").fetchone()
        seen.append((done, what, listed[0], told[0]))
        if (done, what) == (4, FOUND):
            over.set()

    settle(str(path), 600, models=False, clock=lambda: waiting.at, step=step, cancel=over)
    assert seen == [(1, SETTLED, 1, 1), (2, FOUND, 2, 1), (3, FOUND, 3, 1), (4, FOUND, 4, 1)]
    report = settle(str(path), 600, models=False, clock=lambda: waiting.at)
    assert report is not None
    assert (report.told, report.labelled) == (3, 12)
    with closing(store.connect(str(path))) as db:
        assert {name: db.execute(f"SELECT * FROM {name}").fetchall() for name in TABLES} == one


def test_stories_wait_for_no_labels_and_a_run_that_ends_before_these_is_taken_up_there(
    waiting: Recorded, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = alone(waiting, tmp_path, monkeypatch)
    beside(monkeypatch)
    monkeypatch.setattr(settling, "BATCH", 1)
    path = tmp_path / "told.db"
    with closing(sqlite3.connect(path)) as copy:
        waiting.db.backup(copy)
    seen: list[tuple[int, int, int]] = []
    over = Cancel()

    def step(done: int, _waiting: int, what: str) -> None:
        if what == TOLD:
            with closing(sqlite3.connect(path)) as other:
                told = other.execute("SELECT count(*) FROM narrations").fetchone()
                labelled = other.execute("SELECT count(DISTINCT session_id) FROM observations WHERE label_model != ''")
                seen.append((done, told[0], labelled.fetchone()[0]))
            if done == 4:
                over.set()

    settle(str(path), 600, models=False, clock=lambda: waiting.at, step=step, cancel=over)
    assert seen == [(2, 2, 1), (3, 3, 1), (4, 4, 1)]
    done: list[str] = []
    report = settle(
        str(path), 600, models=False, clock=lambda: waiting.at, step=lambda _done, _all, what: done.append(what)
    )
    assert report is not None
    assert (report.told, report.labelled) == (0, 12)
    assert list(dict.fromkeys(done)) == [SETTLED, TOLD, LEARNED, INDEXED], "no step goes on in silence"
    with closing(store.connect(str(path))) as db:
        assert {name: db.execute(f"SELECT * FROM {name}").fetchall() for name in TABLES} == one


def test_an_episode_that_is_counted_again_ends_as_its_story_found(record: Recorded, db_path: str) -> None:
    record.begin("s").user("make the totals of the invoice right, then run its tests").edit("src/invoice.py")
    record.test("failed", response="E  assert 12 == 24").edit("src/invoice.py").test("unknown")
    record.agent("The total was counted twice; it is right now, and all 12 tests pass.")
    record.at += LATER
    assert settle(db_path, 600, models=False, clock=lambda: record.at) is not None

    def ends() -> str:
        return str(record.db.execute("SELECT json_extract(outcomes, '$.tests') FROM work_units").fetchone()[0])

    told = ends()
    assert told != "failed"
    detect.count_again(record.db, "s")
    assert ends() == told


def test_what_goes_on_while_it_is_decided_on_is_decided_on_again(waiting: Recorded) -> None:
    detector = load()
    known = detect.decided(waiting.db, "s3", detector)
    assert detect.session(waiting.db, "s3", detector, known=known)
    waiting.user("now write the release notes, something else entirely").edit("NOTES.md")
    detect.session(waiting.db, "s3", detector, known=known)
    later = waiting.db.execute("SELECT prompt_id FROM unit_prompts ORDER BY prompt_id DESC").fetchone()
    assert later == waiting.db.execute("SELECT max(id) FROM prompts WHERE source = 'user'").fetchone()
