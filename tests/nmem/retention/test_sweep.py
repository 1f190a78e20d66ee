"""What goes, what stays, and that what is gone can still be told."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from sqlite3 import Connection

import pytest

from nmem.context import pins
from nmem.episodes import annotate, corrections, units
from nmem.retention import sweep as sweeping
from nmem.retention.policy import Policy
from nmem.retention.sweep import Pace
from nmem.store import trace
from tests.nmem.conftest import Recorded
from tests.nmem.retention.conftest import DAY, LATER, anything

PLAIN = Policy(mediation=False)


def swift(db: Connection, rows: int = 5) -> Pace:
    """Small batches and no rest."""
    pace = Pace(db, sleep=lambda _seconds: None)
    pace.rows = rows
    return pace


def ids(db: Connection, table: str = "observations") -> set[int]:
    return {row[0] for row in db.execute(f"SELECT id FROM {table}")}


def counted(db: Connection) -> list[tuple[object, ...]]:
    """All that episodes and sessions are counted as."""
    return (
        db.execute(
            "SELECT id, intent, obs_count, hot_files, phase_signature, fingerprint, outcomes, commits, friction,"
            " active_ms, annotated_seq, annotated_prompt, last_at, obs_trace FROM work_units ORDER BY id"
        ).fetchall()
        + db.execute("SELECT * FROM session_signatures ORDER BY session_id").fetchall()
    )


@pytest.mark.parametrize("seed", range(6))
def test_whatever_happened_nothing_exempt_is_lost_and_all_else_can_be_told(
    seed: int, record: Recorded, settled: Callable[[], Recorded]
) -> None:
    dice = random.Random(seed)
    for number in range(4):
        anything(record, f"s{number}", dice)
    record.act("marker", "we round once", None, "unknown", kind="decision")
    db = settled().db
    numbers = sorted(ids(db))
    kept = set(dice.sample(numbers, 3))
    for number in kept:
        db.execute("UPDATE observations SET pinned = 1 WHERE id = ?", (number,))
    unit = dice.choice([row[0] for row in db.execute("SELECT id FROM work_units")])
    units.annotated(db, unit, {"pinned": True})
    kept |= {row[0] for row in db.execute(
        "SELECT o.id FROM observations o JOIN unit_prompts x ON x.prompt_id = o.prompt_id WHERE x.unit_id = ?", (unit,)
    )}  # fmt: skip
    kept |= {row[0] for row in db.execute("SELECT id FROM observations WHERE obs_type = 'marker'")}
    asked = {row[0] for row in db.execute(
        f"SELECT prompt_id FROM observations WHERE id IN ({','.join(map(str, kept))})"
    )}  # fmt: skip
    before, total = counted(db), len(numbers)

    dry = sweeping.sweep(db, PLAIN, LATER, dry=True)
    assert ids(db) == set(numbers), "a dry run takes nothing"
    done = sweeping.sweep(db, PLAIN, LATER, pace=swift(db))
    assert done.counts == dry.counts
    assert ids(db) == kept
    words = dict(db.execute("SELECT id, content FROM prompts WHERE source = 'user'").fetchall())
    assert {number for number, said in words.items() if said} >= asked
    assert counted(db) == before

    gone = [one.id for (session,) in db.execute("SELECT id FROM sessions") for one in trace.gone(db, session)]
    assert len(gone) == len(set(gone)) == total - len(kept)
    assert sorted([*gone, *kept]) == numbers
    journalled = db.execute("SELECT type, sum(count) FROM sweep_counts GROUP BY type").fetchall()
    assert dict(journalled) == {type_: number for (_, type_), number in done.counts.items()}
    assert not db.execute("PRAGMA foreign_key_check").fetchall()
    db.execute("INSERT INTO observations_fts(observations_fts, rank) VALUES ('integrity-check', 1)")
    db.execute("INSERT INTO prompts_fts(prompts_fts, rank) VALUES ('integrity-check', 1)")

    again = sweeping.sweep(db, PLAIN, LATER, pace=swift(db))
    assert (again.count, again.sessions) == (0, 0)
    for row in db.execute("SELECT id FROM work_units").fetchall():
        found = units.get(db, row[0])
        assert found
        annotate.recount(db, found, trace=True)
    for (session,) in db.execute("SELECT id FROM sessions").fetchall():
        annotate.sign_session(db, session)
    assert counted(db) == before, "counted anew from traces it is the same"


def test_what_a_person_accepted_chose_or_put_right_stays(record: Recorded, settled: Callable[[], Recorded]) -> None:
    record.coupon()
    record.db.execute("UPDATE sessions SET state = 'ended'")
    db = settled().db
    numbers = sorted(ids(db))
    asked = db.execute("SELECT prompt_id FROM observations WHERE id = ?", (numbers[0],)).fetchone()[0]
    other = db.execute("SELECT max(id) FROM prompts WHERE source = 'user'").fetchone()[0]
    made = db.execute(
        "INSERT INTO learnings (project_id, kind, key, title, first_at, last_at, sessions, occurrences, state)"
        " VALUES (1, 'failed_command', 'k', 'pytest', 0, 0, 3, 3, 'accepted')"
    ).lastrowid
    db.execute(
        "INSERT INTO learning_evidence (learning_id, role, session_id, observation_id, at) VALUES (?, 'fix', ?, ?, 0)",
        (made, "coupon", numbers[0]),
    )
    db.execute(
        "INSERT INTO corrections (at, kind, target, payload, before) VALUES (0, 'label', ?, '{}', '{}')",
        (f"observation/{numbers[1]}",),
    )
    pins.pin(db, "prompt", other, True, 1)
    sweeping.sweep(db, PLAIN, LATER, pace=swift(db))
    assert ids(db) == {numbers[0], numbers[1]}
    words = dict(db.execute("SELECT id, content FROM prompts WHERE source = 'user'").fetchall())
    assert words[asked]
    assert words[other]


def test_only_sessions_that_can_be_told_without_their_rows_are_touched(
    record: Recorded, settled: Callable[[], Recorded]
) -> None:
    dice = random.Random(1)
    for name in ("unsummed", "untraced", "open", "fine"):
        anything(record, name, dice)
        record.edit("src/a.py")
    db = settled().db
    db.execute("DELETE FROM session_summaries WHERE session_id = 'unsummed'")
    db.execute("UPDATE work_units SET traced_seq = 0 WHERE session_id = 'untraced'")
    db.execute("UPDATE work_units SET state = 'open', ended_at = NULL WHERE session_id = 'open'")
    done = sweeping.sweep(db, PLAIN, LATER, pace=swift(db))
    assert done.skipped == {"not summed up yet": 1, "episodes not traced yet": 1, "has an open episode": 1}
    left = dict(db.execute("SELECT session_id, count(*) FROM observations GROUP BY 1").fetchall())
    assert set(left) == {"unsummed", "untraced", "open"}


def test_a_trace_that_lacks_rows_is_written_before_they_go(record: Recorded, settled: Callable[[], Recorded]) -> None:
    record.coupon()
    db = settled().db
    before = counted(db)
    db.execute("UPDATE work_units SET obs_trace = '[]'")
    done = sweeping.sweep(db, PLAIN, LATER, pace=swift(db))
    assert done.count
    assert not ids(db)
    assert counted(db) == before


def test_each_type_has_its_own_time(record: Recorded, settled: Callable[[], Recorded]) -> None:
    record.begin("one").user("look at the invoice").act("file_read", "src/a.py", "src/a.py").edit("src/a.py")
    record.act("command", "ls").agent("it is fine", "thinking").agent("Done.")
    db = settled().db
    now = record.at + 100 * DAY
    types = "SELECT group_concat(obs_type) FROM (SELECT obs_type FROM observations ORDER BY id)"
    assert sweeping.sweep(db, PLAIN, now, pace=swift(db)).counts == {("shop", "file_read"): 1, ("shop", "reasoning"): 2}
    assert db.execute(types).fetchone()[0] == "file_edit,command"
    own = Policy(mediation=False, projects={"shop": {"all": 0, "command": 30}})
    assert sweeping.sweep(db, own, now, pace=swift(db)).counts == {("shop", "command"): 1}
    forever = Policy(mediation=False, projects={"shop": {"all": 0}})
    assert not sweeping.sweep(db, forever, LATER, pace=swift(db)).count


def test_what_is_split_after_a_sweep_is_counted_right(record: Recorded, settled: Callable[[], Recorded]) -> None:
    record.begin("one").user("The invoice total is doubled when a coupon is used").edit("src/a.py").edit("src/b.py")
    record.user("no, the total of the coupon is still doubled").edit("src/c.py").agent("Done.")
    db = settled().db
    assert db.execute("SELECT count(*) FROM work_units").fetchone()[0] == 1
    sweeping.sweep(db, PLAIN, LATER, pace=swift(db))
    second = db.execute("SELECT max(id) FROM prompts WHERE source = 'user'").fetchone()[0]
    corrections.split(db, unit_of(db, second), second, LATER)
    found = db.execute("SELECT obs_count, obs_trace FROM work_units ORDER BY started_at").fetchall()
    assert [(count, [one["path"] for one in json.loads(trace_)]) for count, trace_ in found] == [
        (2, ["src/a.py", "src/b.py"]), (1, ["src/c.py"]),
    ]  # fmt: skip


def test_above_the_size_lifetimes_are_shortened(record: Recorded, settled: Callable[[], Recorded]) -> None:
    record.begin("one").user("look at the invoice").act("file_read", "src/a.py", "src/a.py").agent("Done.")
    db = settled().db
    now = record.at + 50 * DAY
    assert not sweeping.sweep(db, PLAIN, now, pace=swift(db)).count
    done = sweeping.sweep(db, Policy(mediation=False, max_bytes=1), now, pace=swift(db))
    assert done.counts["shop", "file_read"] == 1
    assert done.shorter < 1
    whys = [row[0] for row in db.execute("SELECT why FROM sweep_journal ORDER BY id")]
    assert "size" in whys


def unit_of(db: Connection, prompt_id: int) -> int:
    return int(db.execute("SELECT unit_id FROM unit_prompts WHERE prompt_id = ?", (prompt_id,)).fetchone()[0])
