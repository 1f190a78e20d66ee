"""Changes the state of tasks (SQL): each change is one transaction with a check and an event.

`db` is a writing connection outside a transaction, `now` is in milliseconds. An attempt is named by its number, so a
late word about an earlier one changes nothing. All raise sqlite3.Error.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict
from sqlite3 import Connection
from typing import Any

from capture.storage import store
from capture.storage.schema import NewerDatabase
from capture.storage.store import transaction
from nmem import hours, tables
from nmem.database import worded
from nmem.dispatch import read
from nmem.dispatch.task import (
    CANCELLED,
    FAILED,
    LIVE,
    NEEDS_INPUT,
    OVER,
    QUEUED,
    RUNNING,
    SUCCEEDED,
    TIMED_OUT,
    NewTask,
    Outcome,
    Task,
)
from nmem.errors import NmemError

_WAIT = 10.0
"""Seconds to wait for the lock."""
_BACKOFF = 30_000
_LONGEST_BACKOFF = 3_600_000
_READY = f"""
SELECT t.id, t.quiet_hours FROM tasks t
WHERE t.state = '{QUEUED}' AND t.not_before <= :now AND {read.APPROVED}
  AND NOT EXISTS (SELECT 1 FROM task_needs n LEFT JOIN tasks d ON d.id = n.needs_id
                  WHERE n.task_id = t.id AND d.state IS NOT '{SUCCEEDED}')
  AND (t.worktree OR NOT EXISTS (SELECT 1 FROM tasks r WHERE r.state IN ('{RUNNING}', '{NEEDS_INPUT}')
                                 AND r.cwd = t.cwd AND NOT r.worktree))
ORDER BY t.priority DESC, t.not_before, t.id
"""  # noqa: S608 - our words
_CLAIM = f"""
UPDATE tasks SET state = '{RUNNING}', runner = :runner, process = '', claimed_at = :now, changed_at = :now,
  started_at = NULL, ended_at = NULL, exit_code = NULL, output = '', reason = '', how = '', socket = '', pane = '',
  worktree_path = '', branch = '', session_id = NULL, attempt = attempt + 1, tries = tries + 1
WHERE id = :id AND state = '{QUEUED}' RETURNING attempt
"""  # noqa: S608 - our words


def now() -> int:
    """Milliseconds since 1970."""
    return time.time_ns() // 1_000_000


@contextmanager
def writing(db_path: str) -> Iterator[Connection]:
    """A writing connection with the tables of tasks; what goes wrong is one line."""
    try:
        db = store.connect(db_path, timeout=_WAIT)
    except NewerDatabase as error:
        raise NmemError(f"{db_path}: {error}: upgrade nmem") from None
    except (sqlite3.Error, OSError) as error:
        raise NmemError(f"{db_path} cannot be written: {worded(error)}") from None
    try:
        tables.ensure(db)
        yield db
    except (sqlite3.Error, NewerDatabase) as error:
        raise NmemError(f"{db_path}: {worded(error)}") from None
    finally:
        db.close()


def event(db: Connection, task_id: int, now: int, what: str, text: str = "") -> None:
    """Note what happened, inside the caller's transaction or by itself."""
    db.execute(
        "INSERT INTO task_events (task_id, at, attempt, state, what, text)"
        " SELECT id, ?, attempt, state, ?, ? FROM tasks WHERE id = ?",
        (now, what, text, task_id),
    )


def add(db: Connection, new: NewTask, now: int) -> int:
    """Queue a task that nmem.dispatch.accept has let through; its id."""
    row = {**asdict(new), "worktree": bool(new.worktree)}
    del row["needs"]
    with transaction(db):
        made = db.execute(
            f"INSERT INTO tasks (created_at, changed_at, {', '.join(row)})"  # noqa: S608 - our names
            f" VALUES (?, ?, {', '.join('?' * len(row))}) RETURNING id",
            (now, now, *row.values()),
        ).fetchone()[0]
        needs = sorted(set(new.needs))
        db.executemany("INSERT INTO task_needs VALUES (?, ?)", [(made, need) for need in needs])
        event(db, made, now, "queued", f"by {new.source}")
        for need in needs:
            if (row := db.execute("SELECT state FROM tasks WHERE id = ?", (need,)).fetchone()) and row[0] in BROKEN:
                _cancel_for(db, made, need, row[0], now)
                break
    return int(made)


BROKEN = (FAILED, CANCELLED, TIMED_OUT)
"""Ends of a task after which those that need it are cancelled."""


def change(db: Connection, task_id: int, values: Mapping[str, Any], needs: tuple[int, ...] | None, now: int) -> None:
    """Set columns of a task. Raises NmemError for one that somebody has claimed meanwhile."""
    with transaction(db):
        _at_rest(db, task_id)
        names = ", ".join(f"{name} = ?" for name in (*values, "changed_at"))
        db.execute(f"UPDATE tasks SET {names} WHERE id = ?", (*values.values(), now, task_id))  # noqa: S608 - our names
        if needs is not None:
            db.execute("DELETE FROM task_needs WHERE task_id = ?", (task_id,))
            db.executemany("INSERT INTO task_needs VALUES (?, ?)", [(task_id, need) for need in sorted(set(needs))])
        changed = [*values, *(["needs"] if needs is not None else [])]
        event(db, task_id, now, "edited", ", ".join(name.replace("_", " ") for name in changed))


def _at_rest(db: Connection, task_id: int) -> None:
    if db.execute("SELECT 1 FROM tasks WHERE id = ? AND state IN (?, ?)", (task_id, *LIVE)).fetchone():
        raise NmemError(f"task/{task_id} was started in the meantime: `nmem task cancel {task_id}` ends it")


def claim(db: Connection, runner: str, now: int, most: int, quiet: str = "", only: int = 0) -> Task | None:
    """The task that comes next, now this runner's and running; None when there is none or `most` are running already.

    Whoever asks first has it: the lock is taken before anything is looked at. `quiet`: the hours of the configuration,
    for tasks that have none of their own. `only`: this task or none, whatever its time and however many are running.
    """
    with transaction(db):
        if not only and db.execute("SELECT count(*) FROM tasks WHERE state = ?", (RUNNING,)).fetchone()[0] >= most:
            return None
        chosen = only or _next(db, now, quiet)
        if not chosen:
            return None
        if only:
            _approve(db, only, "a person started it", now)
        if db.execute(_CLAIM, {"id": chosen, "runner": runner, "now": now}).fetchone() is None:
            return None
        event(db, chosen, now, "claimed", runner)
        return read.task(db, chosen)


def approve(db: Connection, task_id: int, why: str, now: int) -> bool:
    """Let one run that waits for a person; `why`: who says so. False: it does not wait for that (any more)."""
    with transaction(db):
        return _approve(db, task_id, why, now)


def _approve(db: Connection, task_id: int, why: str, now: int) -> bool:
    one = read.task(db, task_id)
    if one is None or not one.asks:
        return False
    event(db, task_id, now, "approved", why)
    return True


def _next(db: Connection, now: int, quiet: str) -> int:
    for task_id, own in db.execute(_READY, {"now": now}):
        held = quiet if own is None else own
        if not (held and hours.within(held, now)):
            return int(task_id)
    return 0


def unclaim(db: Connection, task_id: int, attempt: int, why: str, now: int, not_before: int = 0) -> bool:
    """Back into the queue: nothing of it was started, so the try does not count."""
    with transaction(db):
        back = db.execute(
            "UPDATE tasks SET state = ?, runner = '', process = '', tries = max(tries - 1, 0), reason = ?,"
            " not_before = max(not_before, ?), changed_at = ? WHERE id = ? AND attempt = ? AND state = ? RETURNING id",
            (QUEUED, why, not_before, now, task_id, attempt, RUNNING),
        ).fetchone()
        if back:
            event(db, task_id, now, "returned", why)
    return back is not None


def placed(db: Connection, task_id: int, attempt: int, values: Mapping[str, str], now: int, text: str = "") -> None:
    """Note where an attempt runs: how, socket, pane, worktree_path, branch."""
    with transaction(db):
        names = ", ".join(f"{name} = ?" for name in values)
        done = db.execute(
            f"UPDATE tasks SET {names} WHERE id = ? AND attempt = ? RETURNING id",  # noqa: S608 - our names
            (*values.values(), task_id, attempt),
        ).fetchone()
        if done and text:
            event(db, task_id, now, "note", text)


def started(db: Connection, task_id: int, attempt: int, process: str, now: int) -> bool:
    """The process beside the client is there, whoever sees it first. False: nobody waits for this attempt any more."""
    with transaction(db):
        row = db.execute(
            "SELECT process FROM tasks WHERE id = ? AND attempt = ? AND state IN (?, ?)", (task_id, attempt, *LIVE)
        ).fetchone()
        if row is None or row[0] not in ("", process):
            return False
        if not row[0]:
            db.execute(
                "UPDATE tasks SET process = ?, started_at = ?, changed_at = ? WHERE id = ?",
                (process, now, now, task_id),
            )
            event(db, task_id, now, "started")
    return True


def waiting(db: Connection, task_id: int, attempt: int, why: str, now: int) -> None:
    """It waits for a person, or for something else than before."""
    _between(db, task_id, attempt, LIVE, (NEEDS_INPUT, "asked", why), now)


def answered(db: Connection, task_id: int, attempt: int, now: int) -> None:
    """It goes on."""
    _between(db, task_id, attempt, (NEEDS_INPUT,), (RUNNING, "answered", ""), now)


def _between(
    db: Connection, task_id: int, attempt: int, before: tuple[str, ...], after: tuple[str, str, str], now: int
) -> None:
    """From one of these states to a state, with what happened and why."""
    state, what, why = after
    with transaction(db):
        done = db.execute(
            "UPDATE tasks SET state = ?, reason = ?, changed_at = ? WHERE id = ? AND attempt = ?"  # noqa: S608 - marks
            f" AND state IN ({', '.join('?' * len(before))}) RETURNING id",
            (state, why, now, task_id, attempt, *before),
        ).fetchone()
        if done:
            event(db, task_id, now, what, why)


def tail(db: Connection, task_id: int, attempt: int, output: str) -> None:
    """What a running attempt shows just now."""
    with transaction(db):
        db.execute(
            "UPDATE tasks SET output = ? WHERE id = ? AND attempt = ? AND state IN (?, ?)",
            (output, task_id, attempt, *LIVE),
        )


def finish(db: Connection, task_id: int, attempt: int, outcome: Outcome, now: int) -> bool:
    """An attempt is over: the task with it, or it is queued again while there are retries. False: that was known."""
    with transaction(db):
        row = db.execute(
            "SELECT retries, tries, session_id FROM tasks WHERE id = ? AND attempt = ? AND state IN (?, ?)",
            (task_id, attempt, *LIVE),
        ).fetchone()
        if row is None:
            return False
        at = outcome.at or now
        db.execute(
            "UPDATE tasks SET state = ?, exit_code = ?, reason = ?, output = CASE WHEN ? = '' THEN output ELSE ? END,"
            " ended_at = ?, changed_at = ? WHERE id = ?",
            (outcome.state, outcome.exit_code, outcome.reason, outcome.output, outcome.output, at, now, task_id),
        )
        code = "" if outcome.exit_code is None else f"exit {outcome.exit_code}"
        became = f"session/{row[2]}" if row[2] else ""
        event(db, task_id, at, "ended", "; ".join(part for part in (code, outcome.reason, became) if part))
        if outcome.state in (FAILED, TIMED_OUT) and row[1] <= row[0] and not outcome.final:
            _again(db, task_id, row[1], row[0], now)
        elif outcome.state != SUCCEEDED:
            _spread(db, task_id, outcome.state, now)
    return True


def _again(db: Connection, task_id: int, tries: int, retries: int, now: int) -> None:
    """The next attempt, a little later each time."""
    later = now + min(_BACKOFF * 2 ** (tries - 1), _LONGEST_BACKOFF)
    why = f"try {tries} of {retries + 1} did not succeed"
    db.execute(
        "UPDATE tasks SET state = ?, not_before = ?, reason = ?, runner = '' WHERE id = ?",
        (QUEUED, later, why, task_id),
    )
    event(db, task_id, now, "retried", why)


def _spread(db: Connection, task_id: int, state: str, now: int) -> None:
    """What needs this one cannot run: it is cancelled, and says for what."""
    for other in read.dependants(db, task_id):
        _cancel_for(db, other, task_id, state, now)


def _cancel_for(db: Connection, task_id: int, needed: int, state: str, now: int) -> None:
    why = f"task/{needed}, which it needs, {_VERBS[state]}"
    done = db.execute(
        "UPDATE tasks SET state = ?, reason = ?, cancelled_for = ?, ended_at = ?, changed_at = ?"
        " WHERE id = ? AND state = ? RETURNING id",
        (CANCELLED, why, needed, now, now, task_id, QUEUED),
    ).fetchone()
    if done:
        event(db, task_id, now, "cancelled", why)
        _spread(db, task_id, CANCELLED, now)


_VERBS = {FAILED: "failed", CANCELLED: "was cancelled", TIMED_OUT: "ran out of time"}


def cancel_queued(db: Connection, task_id: int, why: str, now: int) -> bool:
    """Cancel one that nobody has claimed, and what needs it. False: it is not queued (any more)."""
    with transaction(db):
        done = db.execute(
            "UPDATE tasks SET state = ?, reason = ?, cancelled_for = NULL, ended_at = ?, changed_at = ?"
            " WHERE id = ? AND state = ? RETURNING id",
            (CANCELLED, why, now, now, task_id, QUEUED),
        ).fetchone()
        if done:
            event(db, task_id, now, "cancelled", why)
            _spread(db, task_id, CANCELLED, now)
    return done is not None


def hold(db: Connection, since: Connection, now: int) -> int:
    """Of tasks that are queued here, cancel those that are queued no more in `since`, which is newer: how many.

    For a backup that is put back: what has been done after it was taken shall not be done again by itself.
    """
    if not (read.present(db) and read.present(since)):
        return 0
    newest = since.execute("SELECT coalesce(max(id), 0) FROM tasks").fetchone()[0]
    queued = {row[0] for row in since.execute("SELECT id FROM tasks WHERE state = ?", (QUEUED,))}
    here = [row[0] for row in db.execute("SELECT id FROM tasks WHERE state = ? AND id <= ?", (QUEUED, newest))]
    return sum(
        cancel_queued(db, each, "it came back with a backup and was not queued any more", now)
        for each in here
        if each not in queued
    )


def requeue(db: Connection, task_id: int, now: int) -> tuple[int, ...]:
    """Queue one that is over once more, and with it what was cancelled because of it; all their ids, () when none."""
    with transaction(db):
        return tuple(_revive(db, task_id, now, "retried", "by a person"))


def _revive(db: Connection, task_id: int, now: int, what: str, text: str) -> list[int]:
    done = db.execute(
        "UPDATE tasks SET state = ?, reason = '', cancelled_for = NULL, tries = 0, not_before = 0, runner = '',"
        " process = '', changed_at = ? WHERE id = ? AND state IN (?, ?, ?, ?) RETURNING id",
        (QUEUED, now, task_id, *OVER),
    ).fetchone()
    if done is None:
        return []
    event(db, task_id, now, what, text)
    out = [task_id]
    waiting_for = db.execute("SELECT id FROM tasks WHERE state = ? AND cancelled_for = ?", (CANCELLED, task_id))
    for (other,) in waiting_for.fetchall():
        out += _revive(db, other, now, "revived", f"task/{task_id} is queued again")
    return out


def forget(db: Connection, task_id: int) -> None:
    """Delete a task with its events. Raises NmemError for one that somebody has claimed meanwhile."""
    with transaction(db):
        _at_rest(db, task_id)
        db.execute("DELETE FROM tasks WHERE id = ?", (task_id,))
