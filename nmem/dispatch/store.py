"""Tasks, what they need of each other, and what happened to them (SQL): `tasks`, `task_needs`, `task_events`.

A hook of a task's session loads it: nothing else is loaded for it.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from sqlite3 import Connection, Row

_APPROVED = (
    "(t.source != 'agent' OR EXISTS (SELECT 1 FROM task_events e WHERE e.task_id = t.id AND e.what = 'approved'))"
)
"""Of a row t of tasks: whether a person, or the configuration, lets it run."""
_NEEDS = f"""
  (SELECT group_concat(n.needs_id) FROM task_needs n WHERE n.task_id = t.id) AS needs,
  (SELECT group_concat(n.needs_id) FROM task_needs n LEFT JOIN tasks d ON d.id = n.needs_id
   WHERE n.task_id = t.id AND d.state IS NOT 'succeeded') AS waits_for,
  {_APPROVED} AS approved
"""  # noqa: S608 - our words
_SHORT = {"prompt": "substr(t.prompt, 1, 400) AS prompt", "output": "'' AS output"}
_ORDER = """
ORDER BY CASE t.state WHEN 'needs-input' THEN 0 WHEN 'running' THEN 1 WHEN 'queued' THEN 2 ELSE 3 END,
  CASE WHEN t.state = 'queued' THEN -t.priority END, CASE WHEN t.state = 'queued' THEN t.not_before END,
  CASE WHEN t.ended_at IS NULL THEN t.id END, t.ended_at DESC, t.id DESC
"""
_READY = f"""
SELECT t.id, t.quiet_hours FROM tasks t
WHERE t.state = 'queued' AND t.not_before <= ? AND {_APPROVED}
  AND NOT EXISTS (SELECT 1 FROM task_needs n LEFT JOIN tasks d ON d.id = n.needs_id
                  WHERE n.task_id = t.id AND d.state IS NOT 'succeeded')
  AND (t.worktree OR NOT EXISTS (SELECT 1 FROM tasks r WHERE r.state IN ('running', 'needs-input')
                                 AND r.cwd = t.cwd AND NOT r.worktree))
ORDER BY t.priority DESC, t.not_before, t.id
"""  # noqa: S608 - our words
_CLAIM = """
UPDATE tasks SET state = 'running', runner = :runner, process = '', claimed_at = :now, changed_at = :now,
  started_at = NULL, ended_at = NULL, exit_code = NULL, output = '', reason = '', how = '', socket = '', pane = '',
  worktree_path = '', branch = '', session_id = NULL, attempt = attempt + 1, tries = tries + 1
WHERE id = :id AND state = 'queued' RETURNING attempt
"""


def present(db: Connection) -> bool:
    """Whether this database has tables of tasks at all."""
    return db.execute("SELECT 1 FROM sqlite_master WHERE name = 'tasks'").fetchone() is not None


def tasks(
    db: Connection, columns: Iterable[str], given: Mapping[str, Sequence[object]], most: int, *, short: bool = False
) -> list[Row]:  # fmt: skip
    """Tasks that have one of some values in columns: what needs a person first, then the next, then the past.

    `short`: prompts are cut, and output is left out.
    """
    names = ", ".join(_SHORT.get(name, f"t.{name}") if short else f"t.{name}" for name in columns)
    where = "".join(f" AND t.{name} IN ({', '.join('?' * len(values))})" for name, values in given.items() if values)
    bound = [value for values in given.values() for value in values]
    cursor = db.cursor()
    from sqlite3 import Row  # on use: no hook needs it

    cursor.row_factory = Row
    sql = f"SELECT {names}, {_NEEDS} FROM tasks t WHERE 1{where} {_ORDER} LIMIT ?"  # noqa: S608 - our names
    return cursor.execute(sql, (*bound, most)).fetchall()


def events(db: Connection, task_id: int) -> list[tuple[int, int, str, str, str]]:
    """Time, attempt, state, what and in which words, of all that happened to a task, oldest first."""
    query = "SELECT at, attempt, state, what, text FROM task_events WHERE task_id = ? ORDER BY id"
    return db.execute(query, (task_id,)).fetchall()


def newest_event(db: Connection) -> int:
    """The number of what happened last."""
    return int(db.execute("SELECT coalesce(max(id), 0) FROM task_events").fetchone()[0]) if present(db) else 0


def events_since(db: Connection, seen: int) -> list[tuple[int, int, str, int, int, str, str, str]]:
    """The same of any task after an event, each behind its number, the task and its prompt."""
    query = (
        "SELECT e.id, t.id, t.prompt, e.at, e.attempt, e.state, e.what, e.text FROM task_events e"
        " JOIN tasks t ON t.id = e.task_id WHERE e.id > ? ORDER BY e.id"
    )
    return db.execute(query, (seen,)).fetchall() if present(db) else []


def counts(db: Connection) -> dict[str, int]:
    """How many there are in each state; without those of none."""
    if not present(db):
        return {}
    return {state: many for state, many in db.execute("SELECT state, count(*) FROM tasks GROUP BY state")}  # noqa: C416 - rows are tuples or Rows


def asking(db: Connection) -> int:
    """How many wait for a person to let them run."""
    query = f"SELECT count(*) FROM tasks t WHERE t.state = 'queued' AND NOT {_APPROVED}"  # noqa: S608 - our words
    return int(db.execute(query).fetchone()[0]) if present(db) else 0


def dependants(db: Connection, task_id: int) -> tuple[int, ...]:
    """The tasks that wait for this one, directly."""
    query = "SELECT task_id FROM task_needs WHERE needs_id = ? ORDER BY task_id"
    return tuple(row[0] for row in db.execute(query, (task_id,)))


def of_agents(db: Connection) -> int:
    """How many tasks that agents queued are not over."""
    waits = "SELECT count(*) FROM tasks WHERE source = 'agent' AND state IN ('queued', 'running', 'needs-input')"
    return int(db.execute(waits).fetchone()[0])


def ready(db: Connection, now: int) -> list[tuple[int, str | None]]:
    """Tasks that may run, the next first, with their own quiet hours."""
    return db.execute(_READY, (now,)).fetchall()


def ids(db: Connection, state: str, *, cancelled_for: int | None = None) -> list[int]:
    """The tasks in a state; of those that were cancelled because of one."""
    of = "" if cancelled_for is None else " AND cancelled_for = ?"
    rows = db.execute(f"SELECT id FROM tasks WHERE state = ?{of}", (state, *([cancelled_for] if of else [])))  # noqa: S608
    return [row[0] for row in rows.fetchall()]


def newest(db: Connection) -> int:
    """The highest number of a task."""
    return int(db.execute("SELECT coalesce(max(id), 0) FROM tasks").fetchone()[0])


def state(db: Connection, task_id: int) -> str:
    """The state of a task; "" where there is none."""
    row = db.execute("SELECT state FROM tasks WHERE id = ?", (task_id,)).fetchone()
    return str(row[0]) if row else ""


def attempt(db: Connection, task_id: int, number: int | None = None) -> tuple[str, int, int, str | None] | None:
    """Process, tries, retries and session of a live task, where its attempt is the one that is named; else None."""
    row: tuple[str, int, int, str | None] | None = db.execute("SELECT process, tries, retries, session_id FROM tasks"
                                                              " WHERE id = ?1 AND attempt = coalesce(?2, attempt)"
                                                              " AND state IN ('running', 'needs-input')",
                                                              (task_id, number)).fetchone()  # fmt: skip
    return row


def event(db: Connection, task_id: int, now: int, what: str, text: str = "") -> None:
    """Note what happened, inside the caller's transaction or by itself."""
    db.execute("INSERT INTO task_events (task_id, at, attempt, state, what, text) SELECT id, ?, attempt, state, ?, ?"
               " FROM tasks WHERE id = ?", (now, what, text, task_id))  # fmt: skip


def add(db: Connection, values: Mapping[str, object]) -> int:
    """A new task; its id."""
    return int(db.execute(
        f"INSERT INTO tasks ({', '.join(values)}) VALUES ({', '.join('?' * len(values))}) RETURNING id",  # noqa: S608 - our names
        (*values.values(),),
    ).fetchone()[0])  # fmt: skip


def need(db: Connection, task_id: int, needs: Iterable[int]) -> None:
    """Write which tasks a task needs, in place of those that it needed."""
    db.execute("DELETE FROM task_needs WHERE task_id = ?", (task_id,))
    db.executemany("INSERT INTO task_needs VALUES (?, ?)", [(task_id, each) for each in needs])


def put(
    db: Connection, task_id: int, values: Mapping[str, object], states: Sequence[str] = (), number: int | None = None
) -> bool:
    """Set columns of a task where it is in one of some states, and its attempt is the one that is named; whether."""
    names = ", ".join(f"{name} = ?" for name in values)
    among = f" AND state IN ({', '.join('?' * len(states))})" if states else ""
    sql = f"UPDATE tasks SET {names} WHERE id = ? AND attempt = coalesce(?, attempt){among} RETURNING id"  # noqa: S608 - our names
    return db.execute(sql, (*values.values(), task_id, number, *states)).fetchone() is not None


def claim(db: Connection, task_id: int, runner: str, now: int) -> bool:
    """Begin the next attempt of a task that is queued; whether it was."""
    return db.execute(_CLAIM, {"id": task_id, "runner": runner, "now": now}).fetchone() is not None


def unclaim(db: Connection, task_id: int, number: int, why: str, now: int, not_before: int) -> bool:
    """Queue a running task again as if its attempt had not been; whether it was running."""
    back = db.execute(
        "UPDATE tasks SET state = 'queued', runner = '', process = '', tries = max(tries - 1, 0), reason = ?,"
        " not_before = max(not_before, ?), changed_at = ?"
        " WHERE id = ? AND attempt = ? AND state = 'running' RETURNING id",
        (why, not_before, now, task_id, number),
    ).fetchone()
    return back is not None


def forget(db: Connection, task_id: int) -> None:
    """Delete a task with its events."""
    db.execute("DELETE FROM tasks WHERE id = ?", (task_id,))


def becomes(db: Connection, task_id: int, session_id: str) -> None:
    """Note the session that a live task became, where it is recorded."""
    db.execute("UPDATE tasks SET session_id = ?1 WHERE id = ?2 AND state IN ('running', 'needs-input') AND"
               " EXISTS (SELECT 1 FROM sessions WHERE id = ?1)", (session_id, task_id))  # fmt: skip


def session_state(db: Connection, task_id: int) -> tuple[str, int] | None:
    """The state of a task's session and the time of its last word; None while it never had a turn."""
    row = db.execute("SELECT s.state, s.last_at FROM tasks t JOIN sessions s ON s.id = t.session_id WHERE t.id = ? AND"
                     " EXISTS (SELECT 1 FROM prompts p WHERE p.session_id = s.id AND p.source = 'user')",
                     (task_id,)).fetchone()  # fmt: skip
    return (str(row[0]), int(row[1])) if row else None


def done(db: Connection, session_id: str, since: int) -> list[tuple[str, str, str, str, str, str | None]]:
    """Type, tool, path, content, outcome and metadata of what a session did since a time, in its order."""
    return db.execute("SELECT obs_type, coalesce(tool_name, ''), coalesce(file_path, ''), content, outcome, metadata"
                      " FROM observations WHERE session_id = ? AND at >= ? ORDER BY at, seq",
                      (session_id, since)).fetchall()  # fmt: skip
