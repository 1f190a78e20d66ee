"""The stance of stored sessions and episodes: what is read, as of when, how, and that following it is reading it."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from dataclasses import replace
from sqlite3 import Connection

import pytest

from nmem.stance import history, read, store
from nmem.stance.model import Stance
from nmem.stance.words import needs, stands
from tests.nmem.conftest import Recorded
from tests.nmem.stance.conftest import START, score, unit

Open = Callable[[], Connection]
NOW = START + 10**9


def session(record: Recorded, name: str = "one", count: int = 12, think: int = 6) -> int:
    """A session of thinking, then acting calls; gives the prompt's id."""
    record.begin(name).user("Add a coupon to the cart")
    prompt = record.prompt
    for number in range(1, count + 1):
        record.act("file_read" if number <= think else "file_edit", "", f"src/{number % 3}.py")
        phase = -0.9 if number <= think else 0.9
        score(record.db, name, number, phase, 0.8, -1, -0.7, -0.9)
    return prompt


def found(db: Connection, session_id: str = "one") -> Stance:
    stance = read.of_session(db, session_id, NOW)
    assert stance is not None
    return stance


def test_a_session_is_read_with_its_prompts_and_episodes(record: Recorded, open_db: Open) -> None:
    first = session(record, think=6)
    record.user("Now speed up the import")
    for number in range(13, 31):
        record.act("file_edit", "", "src/feed.py")
        score(record.db, "one", number, 0.9, 0.8)
    units = [unit(record.db, "one", first), unit(record.db, "one", record.prompt, title="Import")]
    stance = found(open_db())
    assert (stance.count, stance.observations, stance.placed, stance.project) == (30, 30, 30, "shop")
    # the line is over with the 15th call: fourteen stand in reason, by their own signs six
    assert (stance.quadrants["reason"].number, stance.quadrants["finish"].number) == (14, 16)
    assert (stance.signs["reason"], stance.signs["finish"].number) == ((6, 0.2), 24)
    assert stance.quadrant == "finish"
    # -.9 six times, then .9: .9 - 1.8 * .92 ** n is over 0 from n = 9 on: the 15th call, under the second prompt
    (shift,) = stance.shifts
    assert (shift.axis, shift.seq, shift.from_, shift.to) == ("phase", 15, "think", "act")
    assert (shift.before, shift.after, shift.prompt) == ("reason", "finish", "Now speed up the import")
    assert shift.prompt_id == record.prompt
    strips = stance.strips
    assert [(each.unit_id, each.title, each.count) for each in strips] == [
        (units[0], "Add a coupon to the cart", 12), (units[1], "Import", 18),
    ]  # fmt: skip
    assert strips[0].quadrants["reason"].share == 1
    assert [(part.quadrant, part.count) for part in strips[1].path] == [("reason", 2), ("finish", 16)]
    assert stance.locus["internal"] == (12, 1.0)
    assert stance.novelty_friction["routine_smooth"] == 12


def test_a_short_session_is_not_told_with_certainty(record: Recorded, open_db: Open) -> None:
    # -.9 twice, then .9: .9 - 1.8 * .92 ** 8 = -.024 after ten calls, of which eight act
    session(record, count=10, think=2)
    short = found(open_db())
    assert short.points[-1].ema_phase == pytest.approx(0.9 - 1.8 * 0.92**8)
    assert (short.quadrant, short.few, short.did) == ("reason", True, (2, 8, 0))
    assert stands(short) == "so far 2 think, 8 act"
    assert needs(short) == "a quadrant needs about 20 calls, here are 10"
    bare = replace(short, points=(), placed=0, failed=3)
    assert stands(bare) == "so far 10 calls, 3 failed", "what the model is not sure of is told by what went wrong"
    for number in range(11, 21):
        record.act("file_edit", "", "src/feed.py")
        score(record.db, "one", number, 0.9, 0.8)
    long = found(open_db())
    assert (long.placed, long.few, stands(long)) == (20, False, "finish")


def test_a_session_without_labels_is_not_short(record: Recorded, open_db: Open) -> None:
    record.begin("one").user("Add a coupon").act("file_edit", "", "src/a.py")
    assert (found(open_db()).few, stands(found(open_db()))) == (False, "")


def test_an_episode_begins_with_its_own_first_call(record: Recorded, open_db: Open) -> None:
    first = session(record, think=12)
    record.user("Now write it")
    record.act("file_edit", "", "src/a.py")
    score(record.db, "one", 13, 0.5, 0.5)
    unit(record.db, "one", first)
    number = unit(record.db, "one", record.prompt)
    stance = read.of_unit(open_db(), number, NOW)
    assert stance is not None
    assert (stance.unit_id, stance.count, stance.points[0].ema_phase) == (number, 1, 0.5)
    assert stance.started_at == stance.points[0].at
    assert [each.unit_id for each in stance.strips] == [number]
    assert read.of_unit(open_db(), 99, NOW) is None


def test_what_is_no_call_is_not_counted(record: Recorded, open_db: Open) -> None:
    session(record)
    record.act("session_compact", "auto").act("marker", "release")
    assert found(open_db()).observations == 12


def test_a_session_without_labels_or_calls(record: Recorded, open_db: Open) -> None:
    record.begin("bare").user("hi").act("command", "ls")
    record.begin("empty").user("hi")
    bare = found(open_db(), "bare")
    assert (bare.count, bare.observations, bare.points, bare.quadrant) == (0, 1, (), "")
    assert bare.phase_5 is None
    assert found(open_db(), "empty").observations == 0
    assert read.of_session(open_db(), "nobody", NOW) is None


def test_following_a_session_is_reading_it(record: Recorded, open_db: Open) -> None:
    """New rows, labels that come later, a person's own, rows that go and late ones that move others up."""
    dice = random.Random(4)
    prompt = session(record)
    unit(record.db, "one", prompt)
    db = open_db()
    one = read.follow(db, "one", NOW)
    assert one is not None
    changes: list[Callable[[], object]] = [
        lambda: _add(record, dice, dice.randint(1, 6)),
        lambda: score(record.db, "one", dice.randint(1, record.seq), dice.uniform(-1, 1), None),
        lambda: record.db.execute("UPDATE observations SET novelty = 1 WHERE session_id = 'one' AND seq = 3"),
        lambda: record.db.execute("DELETE FROM observations WHERE session_id = 'one' AND seq = ?",
                                  (dice.randint(1, record.seq),)),
        lambda: record.db.execute("UPDATE observations SET seq = seq + 1 WHERE session_id = 'one' AND seq >= 7"),
        lambda: record.db.execute("UPDATE observations SET outcome = 'failed' WHERE session_id = 'one' AND seq = 2"),
        lambda: record.user("and the tax"),
    ]  # fmt: skip
    for _ in range(60):
        dice.choice(changes)()
        record.seq = record.db.execute("SELECT max(seq) FROM observations WHERE session_id = 'one'").fetchone()[0]
        assert read.advance(db, one, NOW) == found(db)


def _add(record: Recorded, dice: random.Random, count: int) -> None:
    for _ in range(count):
        record.act(dice.choice(("test", "file_edit", "command")), "pytest", "a.py", dice.choice(("ok", "failed")))
        axis = [dice.choice((None, dice.uniform(-1, 1))) for _ in range(5)]
        score(record.db, "one", record.seq, *axis)


def test_nothing_new_costs_no_reading(record: Recorded, open_db: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    session(record)
    db = open_db()
    one = read.follow(db, "one", NOW)
    assert one is not None
    seen = one.seen
    read.advance(db, one, NOW)
    record.act("command", "ls")
    read.advance(db, one, NOW)
    assert one.seen is seen, "it went on from where it was"
    assert one.seen.way.observations == 13


def test_what_turns_out_well_afterwards_is_no_longer_stuck(record: Recorded, open_db: Open) -> None:
    record.begin("one").user("fix it")
    for _ in range(3):
        record.test("failed")
    record.test("unknown")
    db = open_db()
    one = read.follow(db, "one", NOW)
    assert one is not None
    assert read.advance(db, one, NOW).guidance[0].rule == "stuck_run"
    record.db.execute("UPDATE observations SET outcome = 'ok' WHERE session_id = 'one' AND seq = 4")
    after = read.advance(db, one, NOW)
    assert after == found(db)
    assert "stuck_run" not in [each.rule for each in after.guidance]


def test_every_call_of_an_episode_counts_and_what_is_not_read_is_told_apart(record: Recorded, open_db: Open) -> None:
    unit(record.db, "one", session(record))
    for model in ("abc", None):
        record.test("failed")
        score(record.db, "one", record.seq, None)
        record.db.execute("UPDATE observations SET label_model = ? WHERE seq = ?", (model, record.seq))
    stance = found(open_db())
    assert (stance.observations, stance.count, stance.bare, stance.failed) == (14, 12, 1, 2)
    (strip,) = stance.strips
    assert (strip.count, strip.failed, sum(each.count for each in strip.path)) == (14, 2, 12)


def test_what_was_swept_is_read_from_the_trace(record: Recorded, open_db: Open) -> None:
    prompt = session(record)
    before = found(open_db())
    trace = [
        {"id": row[0], "t": row[1], "type": row[2], "path": row[3], "outcome": row[4],
         "scores": {"phase": row[5], "scope": row[6], "locus": row[7], "novelty": row[8], "friction": row[9]}}
        for row in record.db.execute("SELECT id, at, obs_type, file_path, outcome, phase, scope, locus, novelty,"
                                     " friction FROM observations WHERE session_id = 'one'")
    ]  # fmt: skip
    unit(record.db, "one", prompt, state="closed", obs_trace=json.dumps([*trace, "no", {"id": "x"}]))
    record.db.execute("DELETE FROM observations WHERE session_id = 'one' AND obs_type = 'file_read'")
    after = found(open_db())
    assert after.quadrants == before.quadrants
    assert [(each.seq, each.ema_phase) for each in after.points] == [(p.seq, p.ema_phase) for p in before.points]


def test_the_newest_session_is_that_of_the_project(record: Recorded, open_db: Open) -> None:
    session(record, "mine")
    record.begin("empty").user("hi")
    record.db.execute("INSERT INTO projects VALUES (2, 'other', 'other', '/src/other', NULL, 0)")
    session(record, "theirs")
    record.db.execute("UPDATE sessions SET project_id = 2 WHERE id = 'theirs'")
    db = open_db()
    assert read.newest(db, "shop") == "mine"
    assert read.newest(db, "/src/other") == "theirs"
    assert read.newest(db, "nothing") is None


def test_several_sessions_the_newest_first(record: Recorded, open_db: Open) -> None:
    for number, think in enumerate((0, 3, 6)):
        session(record, f"s{number}", think=think)
    db = open_db()
    rows_ = read.sessions(db, "shop", 2)
    assert [each.session_id for each in rows_] == ["s2", "s1"]
    # six of -.9 and six of .9; three of twelve think
    assert rows_[0].phase == pytest.approx(0)
    assert rows_[0].think == 0.5
    # .9 - 1.8 * .92 ** n over the first three, then .9 : over 0 from the 12th call on
    assert rows_[1].quadrants["reason"] == (11, 11 / 12)
    assert rows_[1].quadrants == found(db, "s1").quadrants
    assert (rows_[1].friction, rows_[1].novel, rows_[1].intent) == (0, 0, "Add a coupon to the cart")
    assert [each.session_id for each in history.up_to(db, "s1", 5)] == ["s1", "s0"]


def test_beside_earlier_sessions_only(record: Recorded, open_db: Open) -> None:
    for number in range(5):
        session(record, f"s{number}", count=20, think=4)
    session(record, "mine", count=20, think=18)
    session(record, "later", count=20, think=20)
    mine = found(open_db(), "mine")
    think = next(each for each in mine.usual if each.name == "think")
    assert (think.value, think.median, think.sessions, think.unusual) == (0.9, 0.2, 5, True)
    assert "unusual" in [each.rule for each in mine.guidance]
    assert found(open_db(), "s2").usual == ()


def test_the_third_stuck_hour_of_a_week(record: Recorded, open_db: Open) -> None:
    for name in ("a", "b", "c"):
        record.begin(name).user("fix the rounding")
        for _ in range(3):
            record.test("failed").edit("src/cart.py")
    db = open_db()
    (one,) = found(db, "c").stuck
    assert (one.failures, one.files) == (3, ("src/cart.py",))
    advice = found(db, "c").guidance[0]
    assert advice.text == "Third stuck hour within seven days on src/cart.py."
    assert found(db, "b").guidance[0].text.startswith("Second stuck hour"), "what came later is not looked at"
    record.db.execute("UPDATE observations SET at = at - 700000000 WHERE session_id = 'a'")
    record.db.execute("UPDATE sessions SET last_at = last_at - 700000000 WHERE id = 'a'")
    assert found(db, "c").guidance[0].text.startswith("Second stuck hour")


def test_an_episode_that_was_given_up_is_known_from_the_project(record: Recorded, open_db: Open) -> None:
    prompt = session(record, "old")
    unit(record.db, "old", prompt, outcomes=json.dumps({"abandoned": True}), next_steps=json.dumps(["Test coupons"]),
         hot_files=json.dumps([{"path": "src/x.py", "edits": 2}, {"path": "src/y.py", "edits": 0}]))  # fmt: skip
    record.begin("new").user("try again").edit("src/x.py")
    advice = found(open_db(), "new").guidance
    assert [each.rule for each in advice] == ["bad_history"]
    assert "was abandoned" in advice[0].text
    day = 86_400_000
    earlier, steps = history.ended_badly(open_db(), 1, START + day)
    assert [each.files for each in earlier] == [frozenset(("src/x.py",))]
    assert steps == ("Test coupons",)
    assert history.ended_badly(open_db(), 1, START) == ((), ())
    assert history.ended_badly(open_db(), 1, START + 8 * day) == (earlier, ()), "a week later they are no news"


def test_every_question_is_answered_by_an_index(record: Recorded, open_db: Open) -> None:
    session(record)
    db = open_db()
    of_unit = " AND prompt_id IN (SELECT prompt_id FROM unit_prompts WHERE unit_id = 1)"
    asked = [
        (store.CALLS.replace("{unit}", ""), 2), (store.CHECK.replace("{unit}", ""), 3),
        (store.CALLS.replace("{unit}", of_unit), 2), (store.CHECK.replace("{unit}", of_unit), 3),
        (store.FIGURES, 1), (store.WAY, 1), (store.ENDED, 6), (store.WEEK_SESSIONS, 5), (store.TRIED, 3),
        (store.SESSION + store.EARLIER, 4),
    ]  # fmt: skip
    for sql, values in asked:
        plan = [row["detail"] for row in db.execute("EXPLAIN QUERY PLAN " + sql, [1] * values)]
        assert not [line for line in plan if line.startswith("SCAN")], (sql, plan)


@pytest.mark.parametrize(
    "change", ["phase = 0.3", "scope = -0.3", "locus = 0.3", "novelty = 0.3", "friction = 0.3", "outcome = 'failed'",
               "label_model = NULL", "prompt_id = NULL", "phase = NULL"],
)  # fmt: skip
def test_a_change_of_what_was_read_is_noticed(record: Recorded, open_db: Open, change: str) -> None:
    unit(record.db, "one", session(record))
    db = open_db()
    one = read.follow(db, "one", NOW)
    assert one is not None
    before = read.advance(db, one, NOW)
    record.db.execute(f"UPDATE observations SET {change} WHERE session_id = 'one' AND seq = 5")
    after = read.advance(db, one, NOW)
    assert after == found(db)
    assert after != before
