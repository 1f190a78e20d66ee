"""Learnings as they stand (SQL), how commands went that they are of, and the folders and clients of their projects.

Tables: `learnings`, `learning_evidence`, `unit_warnings`. On the hook's path: nothing is loaded for it.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from sqlite3 import Connection, Cursor, Row
    from typing import Any

_ROWS = """
SELECT l.*, p.name AS project,
  (SELECT max(s.last_at) FROM sessions s WHERE s.project_id = l.project_id) AS worked_at
FROM learnings l JOIN projects p ON p.id = l.project_id
"""
_LISTED = "(SELECT value FROM json_each(?))"


def _named(db: Connection) -> Cursor:
    """A cursor whose rows answer to names, whatever the connection's do."""
    cursor = db.cursor()
    from sqlite3 import Row  # on use: no hook needs it

    cursor.row_factory = Row
    return cursor


def _list(ids: Iterable[int]) -> str:
    """Numbers as one value to bind."""
    return f"[{','.join(map(str, ids))}]"


def present(db: Connection) -> bool:
    """Whether there are tables of learnings."""
    return db.execute("SELECT 1 FROM sqlite_master WHERE name = 'learnings'").fetchone() is not None


def learnings(db: Connection, project_id: int | None = None) -> list[Row]:
    """All learnings, or those of a project, with its name and when it was worked in last."""
    every = _named(db).execute
    return (every(_ROWS) if project_id is None else every(f"{_ROWS} WHERE l.project_id = ?", (project_id,))).fetchall()


def count_open(db: Connection, kinds: Sequence[str], now: int) -> int:
    """How many learnings of these kinds are open at `now` (ms), snoozed ones whose time is over among them."""
    found = db.execute(
        f"SELECT count(*) FROM learnings WHERE kind IN ({', '.join('?' * len(kinds))})"  # noqa: S608 -- marks only
        " AND (state = 'open' OR state = 'snoozed' AND snoozed_until <= ?)",
        (*kinds, now),
    )
    return int(found.fetchone()[0])


def learnings_of(db: Connection, ids: Iterable[int]) -> list[Row]:
    """Some learnings by their ids."""
    return _named(db).execute(f"{_ROWS} WHERE l.id IN {_LISTED}", (_list(dict.fromkeys(ids)),)).fetchall()


def occurrences(db: Connection, ids: Iterable[int]) -> list[tuple[int, str, int]]:
    """Learning, session and time of each occurrence of some learnings."""
    return db.execute(
        "SELECT learning_id, session_id, at FROM learning_evidence WHERE role = 'occurrence'"  # noqa: S608 - our words
        f" AND learning_id IN {_LISTED}",
        (_list(ids),),
    ).fetchall()


def evidence(db: Connection, learning_id: int, most: int) -> list[Row]:
    """Where a pattern was met and put right, the newest first, with what was done there."""
    found = _named(db).execute("SELECT e.*, o.content, o.outcome, o.tool_name, o.file_path, o.obs_type, u.unit_id"
                               " FROM learning_evidence e LEFT JOIN observations o ON o.id = e.observation_id"
                               " LEFT JOIN unit_prompts u ON u.prompt_id = coalesce(e.prompt_id, o.prompt_id)"
                               " WHERE e.learning_id = ? ORDER BY e.at DESC, e.id DESC LIMIT ?",
                               (learning_id, most))  # fmt: skip
    return found.fetchall()


def lines(db: Connection, learning_id: int) -> list[str]:
    """The lines that were kept of a learning. Raises sqlite3.Error."""
    rows = db.execute(
        "SELECT DISTINCT excerpt FROM learning_evidence WHERE learning_id = ? AND role = 'occurrence'", (learning_id,)
    ).fetchall()
    return [str(row[0]) for row in rows]


# What fails here, and what is known of it.

_OF = (
    "l.project_id = ? AND l.remedy IS NOT NULL AND l.kind IN ('failed_command', 'recurring_error')"
    " AND l.state IN ('open', 'accepted', 'resolved', 'weak')"
)
"""What a person dismissed or put off is not told; what is resolved and comes back is."""
_REMEDY = "SELECT l.id, l.kind, l.key, l.title, l.sessions, l.remedy FROM learnings l WHERE"


def met(db: Connection, project_id: int, most: int) -> list[tuple[int, str, str, str, int]]:
    """Id, kind, key, a line and the sessions of learnings with a remedy, for each place where they were met."""
    return db.execute(
        "SELECT l.id, l.kind, l.key, e.excerpt, l.sessions FROM learnings l"  # noqa: S608 - our words
        f" JOIN learning_evidence e ON e.learning_id = l.id AND e.role = 'occurrence' WHERE {_OF} LIMIT {most}",
        (project_id,),
    ).fetchall()


def remedy(db: Connection, learning_id: int) -> tuple[int, str, str, str, int, str]:
    """Id, kind, key, title, sessions and remedy of a learning."""
    row: tuple[int, str, str, str, int, str] = db.execute(f"{_REMEDY} l.id = ?", (learning_id,)).fetchone()
    return row


def failing(db: Connection, project_id: int, command: str, least: int) -> list[tuple[int, str, str, str, int, str]]:
    """The same of a command that fails, in so many sessions at least, and is not resolved."""
    return db.execute(
        f"{_REMEDY} l.kind = 'failed_command' AND (l.key = ? OR (l.key >= ? AND l.key < ?)) AND l.sessions >= {least}"
        f" AND l.state != 'resolved' AND {_OF}",
        (command, f"{command} | ", f"{command} |!", project_id),
    ).fetchall()


def failed_as(db: Connection, learning_id: int) -> list[tuple[str, str]]:
    """Session and text of the calls that failed in a learning's way."""
    return db.execute("SELECT DISTINCT e.session_id, o.content FROM learning_evidence e"
                      " JOIN observations o ON o.id = e.observation_id WHERE e.learning_id = ?"
                      " AND e.role = 'occurrence' AND o.outcome = 'failed'", (learning_id,)).fetchall()  # fmt: skip


def passed(db: Connection, project_id: int, command: str, learning_id: int) -> tuple[int, int]:
    """When a command passed last in a project, and when a learning of it was met last; 0 for never."""
    passed, last = db.execute("SELECT max(json_extract(f.data, '$.passed_at')), (SELECT last_at FROM learnings"
                              " WHERE id = ?) FROM learning_findings f WHERE f.project_id = ? AND f.kind = 'command'"
                              " AND f.key = ?", (learning_id, project_id, command)).fetchone()  # fmt: skip
    return passed or 0, last or 0


def health(db: Connection, project_id: int, command: str) -> tuple[float, int]:
    """In how many sessions of a project a command failed, of how many that ran it."""
    hit, ran = db.execute("SELECT total(json_extract(data, '$.count') > 0), count(*) FROM learning_findings"
                          " WHERE project_id = ? AND kind = 'command' AND key = ?",
                          (project_id, command)).fetchone()  # fmt: skip
    return hit, ran


def has_run(db: Connection, session_id: str, command: str) -> bool:
    """Whether a session has run a command, and it passed, as far as it is told by now."""
    sql = "SELECT 1 FROM observations WHERE session_id = ? AND outcome = 'ok' AND instr(content, ?) LIMIT 1"
    return db.execute(sql, (session_id, command)).fetchone() is not None


# What evidence and a person make of learnings.

MADE = ("title", "files", "first_at", "last_at", "sessions", "occurrences", "state", "state_at", "state_by",
        "reopened", "reopened_by_return", "remedy")  # fmt: skip
"""What evidence says."""
KEPT = (*MADE, "snoozed_until", "rule")
"""The same with what is a person's."""
STANDING = ("state", "state_at", "state_by", "snoozed_until", "rule")
"""Where a learning stands."""


def by_key(db: Connection, project_id: int) -> dict[tuple[str, str], tuple[int, dict[str, Any]]]:
    """The learnings of a project by kind and key: the id and what is kept."""
    sql = f"SELECT id, kind, key, {', '.join(KEPT)} FROM learnings WHERE project_id = ?"  # noqa: S608 - our names
    rows = db.execute(sql, (project_id,))
    return {(row[1], row[2]): (row[0], dict(zip(KEPT, row[3:], strict=True))) for row in map(tuple, rows.fetchall())}


def add(db: Connection, project_id: int, kind: str, key: str, made: Mapping[str, object]) -> int:
    """A new learning; its id."""
    sql = f"INSERT INTO learnings (project_id, kind, key, {', '.join(MADE)}) VALUES (?, ?, ?{', ?' * len(MADE)})"  # noqa: S608
    number = db.execute(sql, (project_id, kind, key, *(made[name] for name in MADE))).lastrowid
    return number or 0


def change(db: Connection, learning_id: int, values: Mapping[str, object], names: Sequence[str] = STANDING) -> None:
    """Write where a learning stands, or other columns of it. Inside a transaction."""
    sql = f"UPDATE learnings SET {', '.join(f'{name} = ?' for name in names)} WHERE id = ?"  # noqa: S608 - our names
    db.execute(sql, (*(values[name] for name in names), learning_id))


def drop(db: Connection, ids: Iterable[int]) -> None:
    """Learnings go, with all that hangs on them."""
    db.executemany("DELETE FROM learnings WHERE id = ?", [(number,) for number in ids])


def standing(db: Connection, learning_id: int) -> tuple[int, str, dict[str, Any]] | None:
    """Project, title and where a learning stands, as stored; None when it is gone."""
    sql = f"SELECT project_id, title, {', '.join(STANDING)} FROM learnings WHERE id = ?"  # noqa: S608 - our names
    row = db.execute(sql, (learning_id,)).fetchone()
    return None if row is None else (row[0], row[1], dict(zip(STANDING, tuple(row)[2:], strict=True)))


def put_evidence(db: Connection, learning_id: int, rows: Sequence[tuple[object, ...]]) -> bool:
    """Write a learning's evidence (role, session, observation, prompt, time, excerpt) where it changed; whether."""
    names = "role, session_id, observation_id, prompt_id, at, excerpt"
    there = f"SELECT {names} FROM learning_evidence WHERE learning_id = ? ORDER BY id"  # noqa: S608 - our names
    if db.execute(there, (learning_id,)).fetchall() == rows:
        return False
    db.execute("DELETE FROM learning_evidence WHERE learning_id = ?", (learning_id,))
    new = f"INSERT INTO learning_evidence (learning_id, {names}) VALUES (?, ?, ?, ?, ?, ?, ?)"  # noqa: S608 - our names
    db.executemany(new, [(learning_id, *row) for row in rows])
    return True


def still_there(db: Connection, table: str, ids: Iterable[int]) -> set[tuple[int, str]]:
    """Which observations or prompts are still there, with their sessions."""
    found = db.execute(f"SELECT id, session_id FROM {table} WHERE id IN {_LISTED}", (_list(ids),))  # noqa: S608 - our names
    return {(number, session) for number, session in found.fetchall()}


def purge(db: Connection, sessions: str) -> tuple[list[int], list[int]]:
    """Take out what was read of sessions, a JSON list; the learnings that rested on it, and the sessions' projects."""
    touched = db.execute(
        f"SELECT DISTINCT learning_id FROM learning_evidence WHERE session_id IN {_LISTED} ORDER BY 1", (sessions,)  # noqa: S608
    ).fetchall()  # fmt: skip
    projects = db.execute(f"SELECT DISTINCT project_id FROM sessions WHERE id IN {_LISTED}", (sessions,)).fetchall()  # noqa: S608
    for table in ("learning_findings", "learned_sessions", "learning_evidence"):
        db.execute(f"DELETE FROM {table} WHERE session_id IN {_LISTED}", (sessions,))  # noqa: S608
    return [row[0] for row in touched], [row[0] for row in projects]


def unword(db: Connection, learning_id: int, title: str, *, stands: bool) -> None:
    """Take the words of what was met out of a learning; its rule stays where it stands in a file."""
    left = db.execute("SELECT 1 FROM learning_evidence WHERE learning_id = ?", (learning_id,)).fetchone()
    db.execute("DELETE FROM unit_warnings WHERE learning_id = ?", (learning_id,))
    db.execute(
        "UPDATE learnings SET title = ?, files = '[]', remedy = NULL, key = iif(?, key, 'purged ' || id),"
        " rule = iif(?, rule, NULL) WHERE id = ?",
        (title, left is not None, stands, learning_id),
    )


def unword_corrections(db: Connection, target: str, title: str, *, stands: bool) -> None:
    """Take the words out of a person's corrections of a learning, or the corrections themselves."""
    if stands:
        db.execute("UPDATE corrections SET payload = json_set(payload, '$.title', ?) WHERE target = ?", (title, target))
    else:
        db.execute("DELETE FROM corrections WHERE target = ?", (target,))


# Where learnings are told.


def warnings(db: Connection, units: Iterable[int]) -> list[tuple[int, int, str, int]]:
    """Episode, learning, what matched and when, of the warnings of some episodes."""
    sql = f"SELECT unit_id, learning_id, reason, at FROM unit_warnings WHERE unit_id IN {_LISTED}"  # noqa: S608 - our words
    return db.execute(sql, (_list(units),)).fetchall()


def put_warnings(db: Connection, unit_id: int, gone: Iterable[int], changed: Mapping[int, str], now: int) -> None:
    """Take warnings back, and write what others say; an episode or a learning that went meanwhile is passed over."""
    db.executemany("DELETE FROM unit_warnings WHERE unit_id = ? AND learning_id = ?", [(unit_id, one) for one in gone])
    db.executemany("INSERT OR REPLACE INTO unit_warnings (unit_id, learning_id, at, reason) SELECT u.id, l.id, ?, ?"
                   " FROM work_units u, learnings l WHERE u.id = ? AND l.id = ?",
                   [(now, reason, unit_id, learning_id) for learning_id, reason in changed.items()])  # fmt: skip


def project_of_open(db: Connection, unit_id: int) -> int | None:
    """The project of an episode that is open; None when it is not."""
    row = db.execute("SELECT s.project_id FROM work_units u JOIN sessions s ON s.id = u.session_id WHERE u.id = ?"
                     " AND u.state = 'open'", (unit_id,)).fetchone()  # fmt: skip
    return row[0] if row else None


def units(db: Connection, project_id: int, recent: int, unit_id: int | None = None) -> list[tuple[int, str, str]]:
    """Id, request and files of one episode, or of those worked on until so long before a project's newest activity."""
    newest = db.execute("SELECT max(last_at) FROM sessions WHERE project_id = ?", (project_id,)).fetchone()[0] or 0
    return db.execute("SELECT u.id, u.intent, u.hot_files FROM work_units u JOIN sessions s ON s.id = u.session_id"
                      " WHERE s.project_id = ? AND (u.id = ? OR (? IS NULL AND u.last_at >= ?))"
                      " ORDER BY u.last_at DESC LIMIT 50",
                      (project_id, unit_id, unit_id, newest - recent)).fetchall()  # fmt: skip


def of_thread(db: Connection, thread_id: int, kind: str) -> list[int]:
    """The learnings of a kind that rest on a thread's sessions."""
    rows = db.execute("SELECT DISTINCT l.id FROM session_threads x"
                      " JOIN learning_evidence e ON e.session_id = x.session_id"
                      " JOIN learnings l ON l.id = e.learning_id WHERE x.thread_id = ? AND l.kind = ?",
                      (thread_id, kind))  # fmt: skip
    return [row[0] for row in rows.fetchall()]


def told(db: Connection, item: str) -> tuple[int, int]:
    """How often something was told to a session, and used then."""
    told, used = db.execute("SELECT count(*), total(i.used) FROM injection_items i"
                            " JOIN injections j ON j.id = i.injection_id WHERE i.item = ? AND NOT j.withheld",
                            (item,)).fetchone()  # fmt: skip
    return told, int(used)


# Projects.


def projects(db: Connection, column: str, value: object) -> list[tuple[int, str, str, str]]:
    """Id, key, name and root of the projects with an id, a key or a name, the oldest first."""
    found = db.execute(f"SELECT id, key, name, root FROM projects WHERE {column} = ? ORDER BY id", (value,))  # noqa: S608
    return [(row[0], row[1], row[2], row[3]) for row in found.fetchall()]


def roots(db: Connection, project_id: int) -> list[str]:
    """The folders that a project was worked in, the last one first."""
    found = db.execute("SELECT f.root FROM project_folders f LEFT JOIN sessions s ON s.cwd = f.folder"
                       " AND s.project_id = f.project_id WHERE f.project_id = ? GROUP BY f.root"
                       " ORDER BY max(s.last_at) DESC", (project_id,))  # fmt: skip
    return [row[0] for row in found]


def every_root(db: Connection) -> list[str]:
    """Folders of all projects."""
    return [row[0] for row in db.execute("SELECT DISTINCT root FROM project_folders ORDER BY root LIMIT 500")]


def clients(db: Connection, project_id: int) -> tuple[str, ...]:
    """The clients used in a project, the one with most sessions first."""
    found = db.execute("SELECT client FROM sessions WHERE project_id = ? GROUP BY client"
                       " ORDER BY count(*) DESC, max(last_at) DESC", (project_id,))  # fmt: skip
    return tuple(row[0] for row in found)
