"""Claiming, order, needs, retries: what the queue promises whatever runs the tasks."""

from __future__ import annotations

import sqlite3
import time
from multiprocessing.synchronize import Event
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from nmem import hours
from nmem.dispatch import act, queue, read, store
from nmem.dispatch.task import CANCELLED, FAILED, SUCCEEDED, TIMED_OUT, NewTask, Outcome
from nmem.errors import NmemError
from tests.nmem.killing import FORKED

if TYPE_CHECKING:
    from tests.nmem.dispatch.conftest import Place

NOW = 1_760_000_000_000
RUNNERS, TASKS = 20, 200


def _claims(path: str, name: str, go: Event, out: str) -> None:
    """A runner that only claims, until there is nothing left."""
    mine = []
    go.wait()
    done = False
    while not done:  # a machine that is busy may keep one waiting for longer than a writer waits
        try:
            with queue.writing(path) as db:
                while one := queue.claim(db, name, NOW, TASKS):
                    mine.append(one.id)
                done = True
        except NmemError:
            continue
    Path(out).write_text("\n".join(map(str, mine)))


def test_twenty_runners_at_once_claim_two_hundred_tasks_exactly_once(
    db_path: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(Path(__file__).parents[3]))  # the processes find this module again by its name
    with queue.writing(db_path) as db:
        for number in range(TASKS):
            folder = tmp_path / str(number)
            folder.mkdir()
            queue.add(db, NewTask("do", str(folder)), NOW)
    go = FORKED.Event()
    outs = [str(tmp_path / f"claimed-{number}") for number in range(RUNNERS)]
    runners = [FORKED.Process(target=_claims, args=(db_path, f"r{number}", go, out)) for number, out in enumerate(outs)]
    for each in runners:
        each.start()
    go.set()
    for each in runners:
        each.join(600)
        assert each.exitcode == 0
    claimed = [int(line) for out in outs for line in Path(out).read_text().split()]
    assert sorted(claimed) == list(range(1, TASKS + 1))
    with queue.writing(db_path) as db:
        assert store.counts(db) == {"running": TASKS}
        assert db.execute("SELECT count(*) FROM task_events WHERE what = 'claimed'").fetchone() == (TASKS,)
        assert db.execute("SELECT max(attempt) FROM tasks").fetchone() == (1,)


def claim(place: Place, most: int = 9, now: int = 0, quiet: str = "") -> int:
    with queue.writing(place.db_path) as db:
        one = queue.claim(db, "me", now or queue.now(), most, quiet)
    return one.id if one else 0


def finish(place: Place, number: int, state: str, code: int | None = None, final: bool = False) -> None:
    with queue.writing(place.db_path) as db:
        attempt = place.task(number).attempt
        queue.finish(db, number, attempt, Outcome(state, code, final=final), queue.now())


def test_higher_priority_first_then_the_older_and_one_at_a_time_in_a_folder(place: Place) -> None:
    low, high, other = place.add("a"), place.add("b", priority=5), place.add("c", worktree=True)
    assert claim(place) == high
    assert claim(place) == other  # the folder is taken, but a worktree is another folder
    assert claim(place) == 0
    finish(place, high, SUCCEEDED, 0)
    assert claim(place, most=1) == 0  # one runs already
    assert claim(place) == low


def test_what_is_needed_comes_first_and_its_failure_cancels_what_needs_it(place: Place) -> None:
    first = place.add("a")
    second = place.add("b", needs=(first,))
    third = place.add("c", needs=(second,))
    assert claim(place) == first
    assert claim(place) == 0
    finish(place, first, FAILED, 3)
    assert place.task(second).state == place.task(third).state == CANCELLED
    assert place.task(second).reason == "task/1, which it needs, failed"
    assert place.task(third).reason == "task/2, which it needs, was cancelled"
    with queue.writing(place.db_path) as db:
        with pytest.raises(NmemError, match="needs task/1, which failed: retry that"):
            act.retry(db, second, queue.now())
        assert act.retry(db, first, queue.now()) == (1, 2, 3)
    assert claim(place) == first
    finish(place, first, SUCCEEDED, 0)
    assert claim(place) == second


def test_what_needs_a_purged_task_waits_until_a_person_says_otherwise(place: Place) -> None:
    first = place.add("a")
    second = place.add("b", needs=(first,))
    with queue.writing(place.db_path) as db:
        db.execute("DELETE FROM tasks WHERE id = ?", (first,))
        assert act.edit(db, second, {"priority": 2}, queue.now()).waits_for == (first,)
    assert claim(place) == 0
    place.command("edit", str(second), "--depends-on", "none")
    assert place.task(second).needs == ()
    assert claim(place) == second


def test_one_that_was_claimed_meanwhile_is_neither_changed_nor_deleted(place: Place) -> None:
    number = place.add("a")
    claim(place)
    with queue.writing(place.db_path) as db:
        with pytest.raises(NmemError, match="task/1 was started in the meantime"):
            queue.change(db, number, {"prompt": "b"}, None, queue.now())
        with pytest.raises(NmemError, match="task/1 was started in the meantime"):
            queue.forget(db, number)
    assert place.task(number).prompt == "a"


def test_a_task_that_needs_a_failed_one_is_cancelled_at_once(place: Place) -> None:
    place.add("a")
    finish(place, claim(place), TIMED_OUT)
    late = place.add("b", needs=(1,))
    assert (place.task(late).state, place.task(late).reason) == (CANCELLED, "task/1, which it needs, ran out of time")


def test_retries_come_later_each_time_and_end(place: Place) -> None:
    number = place.add("a", retries=2)
    waits = []
    for tried in (1, 2):
        assert claim(place, now=queue.now() + 10_000_000) == number
        finish(place, number, FAILED, 1)
        one = place.task(number)
        assert (one.state, one.reason) == ("queued", f"try {tried} of 3 did not succeed")
        waits.append(one.not_before - one.changed_at)
        assert claim(place) == 0
    assert waits == [30_000, 60_000]
    assert claim(place, now=queue.now() + 10_000_000) == number
    finish(place, number, FAILED, 1)
    assert place.task(number).state == FAILED
    assert place.happened(number).count("retried") == 2


def test_what_another_try_would_not_find_is_not_tried_again(place: Place) -> None:
    number = place.add("a", retries=5)
    finish(place, claim(place), FAILED, 127, final=True)
    assert place.task(number).state == FAILED


def test_a_late_word_about_an_earlier_attempt_changes_nothing(place: Place) -> None:
    number = place.add("a")
    claim(place)
    with queue.writing(place.db_path) as db:
        assert queue.unclaim(db, number, 1, "again", queue.now())
        assert place.task(number).tries == 0
        assert claim(place) == number
        assert not queue.finish(db, number, 1, Outcome(FAILED, 1), queue.now())
        queue.waiting(db, number, 1, "?", queue.now())
        assert place.task(number).state == "running"
        assert queue.finish(db, number, 2, Outcome(SUCCEEDED, 0), queue.now())
        assert not queue.finish(db, number, 2, Outcome(FAILED, 1), queue.now())
    assert place.task(number).state == SUCCEEDED


def test_what_a_person_is_wanted_for_is_told_as_it_is_now(place: Place) -> None:
    number = place.add("a")
    claim(place)
    with queue.writing(place.db_path) as db:
        queue.started(db, number, 1, "7@x", queue.now())
        queue.waiting(db, number, 1, "asks for permission: Bash make", queue.now())
        queue.waiting(db, number, 1, "its turn is over", queue.now())
        assert (place.task(number).state, place.task(number).reason) == ("needs-input", "its turn is over")
        queue.answered(db, number, 1, queue.now())
        assert (place.task(number).state, place.task(number).reason) == ("running", "")
    assert place.happened(number) == ["queued", "claimed", "started", "asked", "asked", "answered"]


def test_a_start_is_noted_once_whoever_sees_it_first(place: Place) -> None:
    number = place.add("a")
    claim(place)
    with queue.writing(place.db_path) as db:
        assert queue.started(db, number, 1, "7@x", queue.now())
        assert queue.started(db, number, 1, "7@x", queue.now())
        assert not queue.started(db, number, 1, "8@x", queue.now())
    assert place.happened(number).count("started") == 1


def test_not_before_and_quiet_hours(place: Place) -> None:
    soon = place.add("a", not_before=queue.now() + 60_000)
    assert claim(place) == 0
    assert claim(place, now=queue.now() + 61_000) == soon
    day = place.add("b", worktree=True)
    always = place.add("c", quiet_hours="none", worktree=True)
    noon = hours.when("2026-01-31 12:00", 0)
    assert noon < queue.now() * 2
    with queue.writing(place.db_path) as db:
        assert (one := queue.claim(db, "me", noon + 10**12, 9, "00:00-23:59")) and one.id == always
        assert queue.claim(db, "me", noon + 10**12, 9, "00:00-23:59") is None
        assert read.standing(place.task(day), noon + 10**12, "00:00-23:59") == "quiet hours, 00:00-23:59"
    assert claim(place) == day


def test_prompts_are_redacted_before_they_are_stored(place: Place) -> None:
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    number = place.add(f"push with {secret}\x1b[31m now")
    assert "[REDACTED" in place.task(number).prompt
    with sqlite3.connect(place.db_path) as db:
        assert not any(
            secret in str(row) for table in ("tasks", "task_events") for row in db.execute(f"SELECT * FROM {table}")
        )
    db.close()


@pytest.mark.parametrize(
    ("values", "says"),
    [
        ({"prompt": "  "}, "the prompt is empty"),
        ({"prompt": "x" * 100_001}, "at most 100,000 characters"),
        ({"client": "emacs"}, "emacs is not a client"),
        ({"cwd": "/nowhere/at/all"}, "is not a folder"),
        ({"cwd": "/" + "x" * 4096}, "is not a folder that a task can run in"),
        ({"cwd": "/tmp/\udcff"}, "is not a folder"),
        ({"needs": (99,)}, "there is no task 99"),
        ({"retries": 21}, "at most 20 times"),
        ({"quiet_hours": "25:00-26:00"}, "invalid quiet hours"),
        ({"worktree": True, "cwd": "/"}, "is not in a git repository"),
    ],
)
def test_what_cannot_be_queued_is_refused_in_one_line(place: Place, values: dict[str, object], says: str) -> None:
    given = {"prompt": "do", **values}
    with pytest.raises(NmemError, match=says) as refused:
        place.add(str(given.pop("prompt")), **given)
    assert "\n" not in str(refused.value)


def test_edit_checks_and_notes_and_a_circle_is_refused(place: Place) -> None:
    first, second = place.add("a"), place.add("b", needs=(1,))
    with queue.writing(place.db_path) as db:
        made = act.edit(db, first, {"prompt": "aa", "priority": 3, "time_limit": 60}, queue.now())
        assert (made.prompt, made.priority, made.time_limit) == ("aa", 3, 60)
        with pytest.raises(NmemError, match="task/1 would wait for itself"):
            act.edit(db, first, {"needs": (second,)}, queue.now())
        with pytest.raises(NmemError, match="has no state to change"):
            act.edit(db, first, {"state": "succeeded"}, queue.now())
    claim(place)
    with queue.writing(place.db_path) as db, pytest.raises(NmemError, match="is running: cancel it first"):
        act.edit(db, first, {"prompt": "no"}, queue.now())
    assert place.happened(first) == ["queued", "edited", "claimed"]


def test_removing_spares_what_is_needed_and_what_runs(place: Place) -> None:
    first, second = place.add("a"), place.add("b", needs=(1,))
    with pytest.raises(NmemError, match="task/2 waits for task/1"):
        act.remove(place.db_path, first)
    claim(place)
    with pytest.raises(NmemError, match="is running"):
        act.remove(place.db_path, first)
    act.remove(place.db_path, second)
    with queue.writing(place.db_path) as db:
        assert read.task(db, second) is None
        assert db.execute("SELECT count(*) FROM task_events WHERE task_id = ?", (second,)).fetchone() == (0,)


@pytest.mark.parametrize(
    ("text", "minutes"), [("30m", 30), ("in 2 hours", 120), ("1d", 1440), ("90 s", 1.5), ("now", None), ("", None)]
)
def test_times_from_now(text: str, minutes: float | None) -> None:
    assert hours.when(text, NOW) == (0 if minutes is None else NOW + minutes * 60_000)


def test_times_on_the_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    try:  # NOW is 08:53:20
        assert hours.when("09:00", NOW) - NOW == 400_000
        assert hours.when("08:00", NOW) - NOW == (23 * 3600 + 400) * 1000
        assert hours.when("tonight", NOW) - NOW == (12 * 3600 + 400) * 1000
        assert hours.when("tomorrow", NOW) - NOW == (24 * 3600 + 400) * 1000
        assert hours.when("1760000000", NOW) == NOW
        assert [hours.within("22:00-07:00", NOW + h * 3_600_000) for h in (0, 14, 20)] == [False, True, True]
        assert [hours.within("08:00-18:00", NOW + h * 3_600_000) for h in (0, 10)] == [True, False]
    finally:
        monkeypatch.undo()
        time.tzset()
    for wrong in ("sometime", "25:00", "2026-13-01", "-5m", "9" * 40):
        with pytest.raises(NmemError, match="invalid time"):
            hours.when(wrong, NOW)
