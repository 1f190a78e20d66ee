"""The order in which queued tasks will run, and why each waits; what an episode left becomes a task."""

from __future__ import annotations

from typing import Any

from nmem.dispatch import queue, read
from nmem.dispatch.read import FOLDER, LATER, NEEDS, QUIET, READY
from nmem.dispatch.task import QUEUED

HOUR = 3_600_000


def places(place: Any, now: int, quiet: str = "") -> list[tuple[str, str]]:
    """Prompt and reason, in order."""
    with queue.writing(place.db_path) as db:
        every = read.heads(db)
    live = [one for one in every if one.live]
    found = read.order([one for one in every if one.state == QUEUED], live, now, quiet)
    return [(each.task.title, each.waits) for each in found]


def test_what_can_start_stands_first_by_priority_then_age(place: Any) -> None:
    now = queue.now()
    place.add("later", not_before=now + 2 * HOUR, priority=9)
    place.add("soon", not_before=now + HOUR)
    place.add("old")
    place.add("urgent", priority=5)
    place.add("new")
    found = [("urgent", READY), ("old", READY), ("new", READY), ("soon", LATER), ("later", LATER)]
    assert places(place, now) == found
    assert places(place, now + 3 * HOUR)[0] == ("later", READY)


def test_what_needs_another_stands_after_it_whatever_its_priority(place: Any) -> None:
    now = queue.now()
    first = place.add("first", not_before=now + HOUR)
    second = place.add("second", needs=(first,), priority=9)
    place.add("third", needs=(second, first), priority=10)
    place.add("free", priority=-5)
    assert places(place, now) == [("free", READY), ("first", LATER), ("second", NEEDS), ("third", NEEDS)]


def test_quiet_hours_hold_until_they_end(place: Any) -> None:
    now = queue.now()
    place.add("held")
    place.add("own", quiet_hours="")
    assert places(place, now, "00:00-23:59") in ([("own", READY), ("held", QUIET)], [("held", READY), ("own", READY)])
    with queue.writing(place.db_path) as db:
        held = read.order(read.heads(db), (), now, "00:00-23:59")[-1]
    assert held.waits == READY or now < held.until <= now + 25 * HOUR


def test_a_folder_holds_one_at_a_time_but_for_worktrees(place: Any) -> None:
    running = place.add("running")
    place.add("same folder")
    place.add("a worktree", worktree=True)
    with queue.writing(place.db_path) as db:
        db.execute("UPDATE tasks SET state = 'running' WHERE id = ?", (running,))
    assert places(place, queue.now()) == [("a worktree", READY), ("same folder", FOLDER)]


def test_a_thousand_in_a_chain_are_put_in_order(place: Any) -> None:
    with queue.writing(place.db_path) as db, db:
        db.executemany(
            "INSERT INTO tasks(created_at, changed_at, prompt, cwd) VALUES (1, 1, ?, '/')",
            ((str(n),) for n in range(1000)),
        )
        db.execute("INSERT INTO task_needs SELECT id, id + 1 FROM tasks WHERE id < 1000")
    assert [title for title, _ in places(place, queue.now())] == [str(n) for n in reversed(range(1000))]


def test_heads_keep_prompts_short_and_leave_output_out(place: Any) -> None:
    number = place.add("word " * 1000)
    with queue.writing(place.db_path) as db:
        db.execute("UPDATE tasks SET output = 'much' WHERE id = ?", (number,))
        one, whole = read.heads(db)[0], read.task(db, number)
    assert (len(one.prompt), one.output) == (400, "")
    assert whole is not None
    assert whole.prompt.startswith(one.prompt)
