"""Reads tasks for lists, screens and the runner (SQL).

    tasks(db, states=(), project="", limit=200) -> tuple[Task, ...]   live ones first, then the next, then the past
    heads(db, limit=1000) -> tuple[Task, ...]                         the same, prompts cut short, without output
    task(db, task_id) -> Task | None
    events(db, task_id) -> tuple[TaskEvent, ...]                      oldest first
    counts(db) -> dict[str, int]                                      state -> how many; without those of none
    standing(task, now, quiet="") -> str                              why it is not running, or what became of it
    present(db) -> bool

Any connection will do, a reading one of nmem.database or a writing one; none of these writes. What a person may do
with a task stands in nmem.dispatch.act.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from datetime import UTC, datetime
from sqlite3 import Connection, Row
from typing import Any

from nmem import hours
from nmem.dispatch.task import AGENT, NEEDS_INPUT, OVER, QUEUED, RUNNING, Task, TaskEvent

_STORED = tuple(each.name for each in fields(Task) if each.name not in ("needs", "waits_for", "approved"))
_FLAGS = ("interactive", "worktree")
APPROVED = (
    f"(t.source != '{AGENT}' OR EXISTS"  # noqa: S608 - our words
    " (SELECT 1 FROM task_events e WHERE e.task_id = t.id AND e.what = 'approved'))"
)
"""Of a row t of tasks: whether a person, or the configuration, lets it run."""
_SHORT = {"prompt": "substr(t.prompt, 1, 400) AS prompt", "output": "'' AS output"}
_COLUMNS = ", ".join(f"t.{name}" for name in _STORED)
_ROWS = f"""
SELECT {_COLUMNS},
  (SELECT group_concat(n.needs_id) FROM task_needs n WHERE n.task_id = t.id) AS needs,
  (SELECT group_concat(n.needs_id) FROM task_needs n LEFT JOIN tasks d ON d.id = n.needs_id
   WHERE n.task_id = t.id AND d.state IS NOT 'succeeded') AS waits_for,
  {APPROVED} AS approved
FROM tasks t
"""  # noqa: S608 - our names
_HEADS = _ROWS.replace(_COLUMNS, ", ".join(_SHORT.get(name, f"t.{name}") for name in _STORED))
_ORDER = f"""
ORDER BY CASE t.state WHEN '{NEEDS_INPUT}' THEN 0 WHEN '{RUNNING}' THEN 1 WHEN '{QUEUED}' THEN 2 ELSE 3 END,
  CASE WHEN t.state = '{QUEUED}' THEN -t.priority END, CASE WHEN t.state = '{QUEUED}' THEN t.not_before END,
  CASE WHEN t.ended_at IS NULL THEN t.id END, t.ended_at DESC, t.id DESC
"""


def present(db: Connection) -> bool:
    """Whether this database has tables of tasks at all."""
    return db.execute("SELECT 1 FROM sqlite_master WHERE name = 'tasks'").fetchone() is not None


def tasks(db: Connection, states: Sequence[str] = (), project: str = "", limit: int = 200) -> tuple[Task, ...]:
    """Tasks in these states, of all when none is named: what needs a person first, the past last."""
    if not present(db):
        return ()
    where, given = ["1"], list[Any]()
    if states:
        where.append(f"t.state IN ({', '.join('?' * len(states))})")
        given += states
    if project:
        where.append("t.project = ?")
        given.append(project)
    query = f"{_ROWS} WHERE {' AND '.join(where)} {_ORDER} LIMIT ?"
    return tuple(_task(row) for row in _named(db, query, (*given, limit)))


def heads(db: Connection, limit: int = 1000) -> tuple[Task, ...]:
    """What a list shows of all tasks, in the same order: prompts are cut short, and output is left out."""
    return tuple(_task(row) for row in _named(db, f"{_HEADS} {_ORDER} LIMIT ?", (limit,))) if present(db) else ()


def task(db: Connection, task_id: int) -> Task | None:
    """One task, None when there is none."""
    found = _named(db, f"{_ROWS} WHERE t.id = ?", (task_id,)) if present(db) else []
    return _task(found[0]) if found else None


def events(db: Connection, task_id: int) -> tuple[TaskEvent, ...]:
    """What happened to a task, oldest first."""
    query = "SELECT at, attempt, state, what, text FROM task_events WHERE task_id = ? ORDER BY id"
    return tuple(TaskEvent(*row) for row in db.execute(query, (task_id,)))


def newest_event(db: Connection) -> int:
    """The number of what happened last."""
    return int(db.execute("SELECT coalesce(max(id), 0) FROM task_events").fetchone()[0]) if present(db) else 0


def events_since(db: Connection, seen: int) -> tuple[int, list[tuple[int, str, TaskEvent]]]:
    """What happened to any task after the event `seen`: the newest number, and (task, title, event), oldest first."""
    if not present(db):
        return seen, []
    query = (
        "SELECT e.id, t.id, t.prompt, e.at, e.attempt, e.state, e.what, e.text FROM task_events e"
        " JOIN tasks t ON t.id = e.task_id WHERE e.id > ? ORDER BY e.id"
    )
    rows = [tuple(row) for row in db.execute(query, (seen,))]
    out = [(row[1], next(iter(row[2].strip().splitlines()), ""), TaskEvent(*row[3:])) for row in rows]
    return (rows[-1][0] if rows else seen), out


def counts(db: Connection) -> dict[str, int]:
    """How many there are in each state."""
    if not present(db):
        return {}
    return {state: many for state, many in db.execute("SELECT state, count(*) FROM tasks GROUP BY state")}  # noqa: C416 - rows are tuples or Rows


def asking(db: Connection) -> int:
    """How many wait for a person to let them run."""
    query = f"SELECT count(*) FROM tasks t WHERE t.state = '{QUEUED}' AND NOT {APPROVED}"  # noqa: S608 - our words
    return int(db.execute(query).fetchone()[0]) if present(db) else 0


def dependants(db: Connection, task_id: int) -> tuple[int, ...]:
    """The tasks that wait for this one, directly."""
    query = "SELECT task_id FROM task_needs WHERE needs_id = ? ORDER BY task_id"
    return tuple(row[0] for row in db.execute(query, (task_id,)))


def standing(one: Task, now: int, quiet: str = "") -> str:
    """Why a task is not running, or what became of it, in words; `quiet`: the hours of the configuration."""
    if one.state != QUEUED:
        return one.reason
    if one.asks:
        return f"an agent queued it, and it waits for your approval: `nmem task approve {one.id}`"
    if one.waits_for:
        return f"waits for {', '.join(f'task/{need}' for need in one.waits_for)}"
    if one.not_before > now:
        return f"not before {datetime.fromtimestamp(one.not_before / 1000, UTC).astimezone():%Y-%m-%d %H:%M}"
    held = quiet if one.quiet_hours is None else one.quiet_hours
    if held and hours.within(held, now):
        return f"quiet hours, {held}"
    return one.reason


def _named(db: Connection, query: str, given: Sequence[Any]) -> list[Row]:
    cursor = db.cursor()
    cursor.row_factory = Row
    return cursor.execute(query, given).fetchall()


def _task(row: Row) -> Task:
    values = {name: row[name] for name in _STORED}
    values |= {name: bool(values[name]) for name in _FLAGS}
    return Task(**values, needs=_ids(row["needs"]), waits_for=_ids(row["waits_for"]), approved=bool(row["approved"]))


def _ids(listed: str | None) -> tuple[int, ...]:
    return tuple(sorted(int(each) for each in listed.split(","))) if listed else ()


def of_agents(db: Connection) -> int:
    """How many tasks that agents queued are not over."""
    waits = "SELECT count(*) FROM tasks WHERE source = ? AND state NOT IN (?, ?, ?, ?)"
    return int(db.execute(waits, (AGENT, *OVER)).fetchone()[0])
