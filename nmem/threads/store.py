"""SQL of threads, the sessions in each, what was said in them, and a person's choice for the next session.

On the hook path: plain values. Nothing here commits; callers hold the transaction. Decisions to link threads, and what
settling and the screens read of them, lie in nmem.threads.links_store.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sqlite3 import Connection

    Said = dict[str, tuple[list[tuple[int, str]], list[tuple[int, str]]]]
    """What was said in sessions: prompts and closing words, each with its time, the newest first."""

MINUTE = 60_000
DAY = 24 * 60 * MINUTE
TITLE = 80
CHOICE_MS = DAY // 2
"""How long a choice waits for its session."""
SPOKEN = "source = 'user' AND agent_id IS NULL AND kind IN ('prompt', 'late')"
EACH = 1500
"""Characters of what was said that count."""
_CLOSED = "source = 'agent' AND agent_id IS NULL AND kind = 'closing'"
_SESSIONS, _SPAN = 20, 90 * DAY
"""Sessions of a project that say what is usual there, and how far back the oldest of them may have ended.

None that began twice as long ago is looked at: else a project's whole past is gone through where little is recent.
"""
_LONG = 100
"""Sessions from which on a line of work is long: all of them are not gone through to find its newest."""
_RECENT, _OFTEN, _USUAL = 60, 12, 0.4
"""A branch is a trunk when so many of the newest sessions, and this part of them, were on it."""
_TOLD = 60
"""The most sessions whose words are kept at once."""
HIGH, LIKELY, UNCERTAIN = "high", "likely", "uncertain"
"""How sure a link is."""
said: Said | None = None
"""What sessions said, kept while one transaction decides about many; None: nothing is kept."""


def remember() -> None:
    """Keep what is read of sessions' words until `forget`: in this transaction nobody else writes."""
    global said  # noqa: PLW0603 - of one run
    said = {}


def forget() -> None:
    """Keep sessions' words no longer."""
    global said  # noqa: PLW0603 - of one run
    said = None


class Session:
    """What decides about a session's thread."""

    __slots__ = ("branch", "client", "id", "parent_id", "project_id", "source", "thread_id")

    def __init__(self, session_id: str, project_id: int, client: str, parent_id: str, branch: str, source: str,
                 thread_id: int | None) -> None:  # fmt: skip
        self.id = session_id
        self.project_id = project_id
        self.client = client
        self.parent_id = parent_id
        self.branch = branch
        self.source = source
        self.thread_id = thread_id
        """None while nothing is decided."""


class Before:
    """A session that was active before, in the same project."""

    __slots__ = ("active_at", "branch", "session_id", "thread_id", "timeout")

    def __init__(self, thread_id: int, session_id: str, branch: str, timeout: float | None, active_at: int) -> None:
        self.thread_id = thread_id
        self.session_id = session_id
        self.branch = branch
        self.timeout = timeout
        """Its thread's own timeout in minutes."""
        self.active_at = active_at


def session(db: Connection, session_id: str) -> Session | None:
    """A session and its thread, or None when it is not stored."""
    row = db.execute(
        "SELECT s.id, s.project_id, s.client, coalesce(s.parent_id, ''), coalesce(s.branch, ''),"
        " coalesce(s.source, ''), t.thread_id FROM sessions s LEFT JOIN session_threads t ON t.session_id = s.id"
        " WHERE s.id = ?",
        (session_id,),
    ).fetchone()
    return Session(*row) if row else None


def first_prompt(db: Connection, session_id: str) -> tuple[int, str] | None:
    """When and with what words the person opened the session; None while nothing is said."""
    row = db.execute(
        f"SELECT at, substr(content, 1, 1500) FROM prompts WHERE session_id = ? AND {SPOKEN}"  # noqa: S608 - our words
        " ORDER BY at, id LIMIT 1",
        (session_id,),
    ).fetchone()
    return (row[0], row[1]) if row else None


def unassigned(db: Connection) -> list[str]:
    """Sessions in which somebody spoke and that have no thread, in the order in which they were opened."""
    rows = db.execute(
        f"SELECT session_id FROM prompts WHERE {SPOKEN}"  # noqa: S608 - our words
        " AND session_id NOT IN (SELECT session_id FROM session_threads)"
        " GROUP BY session_id ORDER BY min(at), session_id"
    )
    return [row[0] for row in rows]


def thread_of(db: Connection, session_id: str) -> int | None:
    """The thread of a session, if it has one."""
    row = db.execute("SELECT thread_id FROM session_threads WHERE session_id = ?", (session_id,)).fetchone()
    return int(row[0]) if row else None


def reason(db: Connection, session_id: str) -> str:
    """Why a session is in its thread; empty when it is in none."""
    row = db.execute("SELECT how FROM session_threads WHERE session_id = ?", (session_id,)).fetchone()
    return str(row[0]) if row else ""


def own_timeouts(db: Connection, project_id: int) -> list[float]:
    """The timeouts that threads of a project have of their own."""
    rows = db.execute(
        "SELECT timeout_minutes FROM threads WHERE project_id = ? AND timeout_minutes IS NOT NULL", (project_id,)
    )
    return [float(row[0]) for row in rows]


def before(db: Connection, of: Session, at: int, since: int) -> list[Before]:
    """Sessions of the project that were active between `since` and `at`, the most recent first.

    Sessions that went on after `at` count with what they had done by then; those that ended more than 30 days after it
    are not looked at, so that a long history stays cheap.
    """
    rows = db.execute(
        "SELECT x.thread_id, s.id, coalesce(s.branch, ''), t.timeout_minutes, s.last_at FROM sessions s"
        " JOIN session_threads x ON x.session_id = s.id JOIN threads t ON t.id = x.thread_id"
        " WHERE s.project_id = ? AND s.last_at BETWEEN ? AND ? AND s.started_at <= ? AND s.id != ?",
        (of.project_id, since, at + 30 * DAY, at, of.id),
    ).fetchall()
    found = []
    for thread_id, session_id, branch, timeout, last_at in rows:
        active = last_at if last_at <= at else _active(db, session_id, at)
        if active is not None and active >= since:
            found.append(Before(thread_id, session_id, branch, timeout, active))
    found.sort(key=lambda each: (-each.active_at, each.session_id))
    return found


def _active(db: Connection, session_id: str, at: int) -> int | None:
    """The last thing that happened in a session by a time."""
    row = db.execute(
        "SELECT max(coalesce((SELECT max(at) FROM prompts WHERE session_id = ?1 AND source = 'user' AND at <= ?2), -1),"
        " coalesce((SELECT max(at) FROM observations WHERE session_id = ?1 AND at <= ?2), -1))",
        (session_id, at),
    ).fetchone()
    return None if row[0] < 0 else int(row[0])


def shared(db: Connection, project_id: int, branch: str, at: int) -> bool:
    """Whether a branch says nothing of a line of work: a trunk by its name, or where most of the work happens."""
    from nmem.threads.config import TRUNKS  # on use: start-up stays short

    if not branch or branch in TRUNKS:
        return True
    all_of, on_it = db.execute(
        "SELECT count(*), total(branch = ?) FROM (SELECT branch FROM sessions WHERE project_id = ? AND started_at < ?"
        " AND started_at > ? AND +last_at BETWEEN ? AND ? ORDER BY started_at DESC LIMIT ?)",
        (branch, project_id, at, at - 2 * _SPAN, at - _SPAN, at + _SPAN, _RECENT),
    ).fetchone()
    return bool(on_it >= _OFTEN and on_it >= _USUAL * all_of)


def worked_on(db: Connection, project_id: int, branch: str, at: int) -> bool:
    """Whether a branch had work of its own before: who turns to it goes on with that, not with what was last."""
    found = db.execute(
        "SELECT 1 FROM sessions s JOIN session_threads x ON x.session_id = s.id"
        " WHERE s.project_id = ? AND s.branch = ? AND s.started_at < ? AND s.last_at >= ? LIMIT 1",
        (project_id, branch, at, at - _SPAN),
    ).fetchone()
    return found is not None


def project_name(db: Connection, project_id: int) -> str:
    """What a project is called; empty when it is not stored."""
    row = db.execute("SELECT name FROM projects WHERE id = ?", (project_id,)).fetchone()
    return str(row[0]) if row else ""


def recent_sessions(db: Connection, project_id: int, but: str, at: int) -> list[str]:
    """The newest sessions of a project before a time, but one."""
    rows = db.execute(
        "SELECT id FROM sessions WHERE project_id = ? AND started_at < ? AND started_at > ? AND id != ?"
        " AND +last_at BETWEEN ? AND ? ORDER BY started_at DESC, id LIMIT ?",
        (project_id, at, at - 2 * _SPAN, but, at - _SPAN, at + _SPAN, _SESSIONS),
    ).fetchall()
    return [str(row[0]) for row in rows]


def newest_sessions(db: Connection, thread_id: int, at: int) -> list[str]:
    """The newest sessions of a line of work that began by a time; of a long one first those among the newest of all."""
    of = "WHERE x.thread_id = ? AND s.started_at <= ? ORDER BY s.started_at DESC, s.id LIMIT ?"
    long = db.execute(
        "SELECT count(*) FROM (SELECT 1 FROM session_threads WHERE thread_id = ? LIMIT ?)", (thread_id, _LONG)
    ).fetchone()[0] == _LONG  # fmt: skip
    if long:
        rows = db.execute(
            "SELECT s.id FROM (SELECT id, started_at FROM sessions WHERE started_at <= ?"  # noqa: S608 - our words
            " ORDER BY started_at DESC, id LIMIT ?) s CROSS JOIN session_threads x ON x.session_id = s.id " + of,
            (at, _LONG, thread_id, at, _SESSIONS),
        ).fetchall()
        if len(rows) == _SESSIONS:
            return [row[0] for row in rows]
    rows = db.execute(
        "SELECT s.id FROM session_threads x JOIN sessions s ON s.id = x.session_id " + of,  # noqa: S608 - our words
        (thread_id, at, _SESSIONS),
    ).fetchall()
    return [row[0] for row in rows]


def touched_before(db: Connection, session_id: str, at: int, most: int) -> list[str]:
    """Files touched in a session before a time, the last ones first; one may come twice."""
    rows = db.execute(
        "SELECT file_path FROM observations WHERE session_id = ? AND at < ? AND file_path IS NOT NULL"
        " ORDER BY at DESC, seq DESC LIMIT ?",
        (session_id, at, most),
    ).fetchall()
    return [row[0] for row in rows]


def texts(db: Connection, session_id: str, at: int, most: int, closings: int) -> list[tuple[int, int, str]]:
    """The newest prompts of a session before a time (0, time, text), then the agent's newest closing words (1, ...)."""
    if said is not None:
        return _kept_texts(said, db, session_id, at, most, closings)
    newest = " AND at < ? ORDER BY at DESC, id DESC LIMIT ?"
    return db.execute(
        f"SELECT * FROM (SELECT 0, at, substr(content, 1, {EACH}) FROM prompts WHERE session_id = ?"  # noqa: S608
        f" AND {SPOKEN}{newest}) UNION ALL SELECT * FROM (SELECT 1, at, substr(content, 1, {EACH}) FROM prompts"
        f" WHERE session_id = ? AND {_CLOSED}{newest})",
        (session_id, at, most, session_id, at, closings),
    ).fetchall()


def _kept_texts(
    told: Said, db: Connection, session_id: str, at: int, most: int, closings: int
) -> list[tuple[int, int, str]]:
    found = told.get(session_id)
    if found is None:
        if len(told) >= _TOLD:
            told.clear()
        prompts, ends = (
            db.execute(
                f"SELECT at, substr(content, 1, {EACH}) FROM prompts WHERE session_id = ? AND {which}"  # noqa: S608
                " ORDER BY at DESC, id DESC",
                (session_id,),
            ).fetchall()
            for which in (SPOKEN, _CLOSED)
        )
        found = told[session_id] = prompts, ends
    spoken = [(0, when, text) for when, text in found[0] if when < at][:most]
    return spoken + [(1, when, text) for when, text in found[1] if when < at][:closings]


def active_threads(db: Connection, project_id: int, but: int, at: int, since: int, most: int) -> list[tuple[int, int]]:
    """Threads of a project from before a time, active since another: (id, last activity), those active last first."""
    return db.execute(
        "SELECT id, last_at FROM threads WHERE project_id = ? AND id != ? AND created_at < ? AND last_at >= ?"
        " AND turn_count > 0 ORDER BY last_at DESC, id DESC LIMIT ?",
        (project_id, but, at, since, most),
    ).fetchall()


def threads_of_units(db: Connection, units: list[int]) -> list[tuple[int, int]]:
    """Episodes with the thread of each."""
    marks = ",".join("?" * len(units))
    return db.execute(f"SELECT id, thread_id FROM work_units WHERE id IN ({marks})", units).fetchall()  # noqa: S608


def link_at_prompt(db: Connection, rows: list[tuple[int, int, int, float, str, str]]) -> None:
    """Keep links that a prompt made: time, earlier thread, later one, score, components, how sure."""
    db.executemany(
        "INSERT INTO episode_links (at, earlier_thread_id, later_thread_id, algorithmic_score, components,"
        " decision, certainty) VALUES (?, ?, ?, ?, ?, 'link', ?)"
        " ON CONFLICT (earlier_thread_id, later_thread_id) DO NOTHING",
        rows,
    )


def waiting_choice(db: Connection, project_id: int, at: int) -> tuple[int | None] | None:
    """The choice that still waits for a session of a project: (thread,), or (None,) for a new one; None: nothing."""
    row = db.execute(
        "SELECT thread_id FROM thread_choices WHERE project_id = ? AND at BETWEEN ? AND ?",
        (project_id, at - CHOICE_MS, at),
    ).fetchone()
    return (row[0],) if row else None


def choose(db: Connection, project_id: int, thread_id: int | None, at: int) -> None:
    """Keep a choice for the next session of a project; it replaces an earlier one."""
    db.execute("INSERT OR REPLACE INTO thread_choices VALUES (?, ?, ?)", (project_id, thread_id, at))


def chosen(db: Connection, project_id: int) -> tuple[int | None, int] | None:
    """What was chosen for the next session of a project, however long ago: (thread or None for a new one, at)."""
    row = db.execute("SELECT thread_id, at FROM thread_choices WHERE project_id = ?", (project_id,)).fetchone()
    return (row[0], row[1]) if row else None


def forget_choice(db: Connection, project_id: int) -> None:
    """No thread is chosen for the project any more."""
    db.execute("DELETE FROM thread_choices WHERE project_id = ?", (project_id,))


def create(db: Connection, project_id: int, title: str, at: int) -> int:
    """A new thread; it ends those of the project that nothing has happened in for their timeout (see `close_idle`)."""
    cursor = db.execute(
        "INSERT INTO threads (project_id, title, created_at, last_at) VALUES (?, ?, ?, ?)",
        (project_id, " ".join(title.split())[:TITLE], at, at),
    )
    return int(cursor.lastrowid or 0)


def join(db: Connection, session_id: str, thread_id: int, how: str) -> None:
    """Put a session into a thread, instead of where it was."""
    db.execute(
        "INSERT INTO session_threads VALUES (?, ?, ?)"
        " ON CONFLICT (session_id) DO UPDATE SET thread_id = excluded.thread_id, how = excluded.how",
        (session_id, thread_id, how),
    )
    from nmem.episodes import units  # on use: start-up stays short

    for unit in units.of_session(db, session_id):
        if unit.thread_id != thread_id:
            units.annotated(db, unit.id, {"thread_id": thread_id})
    if how in ("chosen", "resume"):
        db.execute("UPDATE threads SET explicit = 1 WHERE id = ?", (thread_id,))


def leave(db: Connection, session_id: str) -> None:
    """Take a session out of its thread; it is decided about again when something happens in it."""
    db.execute("DELETE FROM session_threads WHERE session_id = ?", (session_id,))


def refresh(db: Connection, thread_id: int) -> None:
    """Bring what a thread says of itself in line with its sessions: turns, clients, last activity, primary episode."""
    of = "FROM session_threads x JOIN sessions s ON s.id = x.session_id WHERE x.thread_id = threads.id"
    db.execute(
        "UPDATE threads SET"  # noqa: S608 - our words
        f" last_at = max(created_at, coalesce((SELECT max(s.last_at) {of}), 0)),"
        f" clients = (SELECT json_group_array(client) FROM (SELECT DISTINCT s.client {of} ORDER BY 1)),"
        " turn_count = (SELECT count(*) FROM session_threads x JOIN prompts p ON p.session_id = x.session_id"
        f"   WHERE x.thread_id = threads.id AND {SPOKEN}),"
        " primary_unit_id = (SELECT u.id FROM work_units u WHERE u.thread_id = threads.id"
        "   ORDER BY u.turn_count DESC, u.started_at, u.id LIMIT 1)"
        " WHERE id = ?",
        (thread_id,),
    )


def entitle(db: Connection) -> None:
    """Give threads the title of their longest episode that has one."""
    db.execute(
        "UPDATE threads SET title = named.title FROM (SELECT thread_id, coalesce(title, agent_title, heading) AS title,"
        " row_number() OVER (PARTITION BY thread_id ORDER BY turn_count DESC, started_at, id) AS place FROM work_units"
        " INDEXED BY work_units_standing WHERE thread_id IS NOT NULL"
        "   AND coalesce(title, agent_title, heading) IS NOT NULL) named"
        " WHERE threads.id = named.thread_id AND named.place = 1 AND threads.title != named.title"
    )


def touch(db: Connection, thread_id: int, session_id: str) -> None:
    """Something happened in a thread when it last did in one of its sessions; `refresh` says the rest."""
    db.execute(
        "UPDATE threads SET last_at = max(last_at, (SELECT last_at FROM sessions WHERE id = ?)) WHERE id = ?",
        (session_id, thread_id),
    )


def reopen(db: Connection, thread_id: int, session_id: str) -> None:
    """Open an ended thread again if something happened in one of its sessions since; before `refresh`."""
    db.execute(
        "UPDATE threads SET state = 'open' WHERE id = ? AND state != 'open'"
        " AND last_at < (SELECT last_at FROM sessions WHERE id = ?)",
        (thread_id, session_id),
    )


def close(db: Connection, thread_id: int) -> None:
    """The person ends a thread."""
    db.execute("UPDATE threads SET state = 'closed' WHERE id = ?", (thread_id,))


def condensed(db: Connection, thread_id: int, micro: str, meso: str, macro: str, at: int) -> None:
    """Store the summaries of a thread."""
    db.execute(
        "UPDATE threads SET micro = ?, meso = ?, macro = ?, compacted_at = ? WHERE id = ?",
        (micro, meso, macro, at, thread_id),
    )


def close_idle(db: Connection, timeout_minutes: float, now: int, project_id: int | None = None) -> int:
    """End the threads in which nothing has happened for their timeout; how many."""
    where = "" if project_id is None else " AND project_id = ?"
    cursor = db.execute(
        "UPDATE threads SET state = 'closed' WHERE state = 'open'"  # noqa: S608 - our words
        f" AND last_at < ? - coalesce(timeout_minutes, ?) * {MINUTE}{where}",
        (now, timeout_minutes) if project_id is None else (now, timeout_minutes, project_id),
    )
    return cursor.rowcount


def set_timeout(db: Connection, thread_id: int, minutes: float | None) -> None:
    """Give a thread a timeout of its own, or take it back."""
    db.execute("UPDATE threads SET timeout_minutes = ? WHERE id = ?", (minutes, thread_id))
