"""What episodes ask of `prompts`, `observations` and `sessions`, and the rows that undo puts back. Hooks import this.

From the top: the turns of a session, what is counted in an episode, its records as narrators read them, what closes an
open end, episodes that the agent names, how far sessions are, all rows of a session's episodes as they are kept beside
a correction. Reading and dividing episodes is `units`', stories are `narrations`'.
"""

from __future__ import annotations

from nmem.episodes.unit import BROKEN_OFF

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from sqlite3 import Connection
    from typing import Any

    from nmem.episodes.unit import Unit

    Kept = dict[str, Any]
    Row = tuple[int, str, str, str, str, str]
    """One observation: at in ms, obs_type, file path or "", content, outcome (ok | failed | unknown), and what the
    tool answered where a check failed or a commit was made, else ""."""

FAR = 1 << 62
"""A moment after all others, and a number above all others."""

# the turns of a session

SAID_CHARS = 700
FILES = ("file_read", "file_edit", "file_write")


def asked(db: Connection, session_id: str, most: int, newest: int = 0) -> list[Any]:
    """(id, at, kind, `most` characters) of what the person said in a session, by time; `newest`: only so many."""
    found = db.execute(
        f"SELECT id, at, kind, substr(content, 1, {most:d}) FROM prompts"  # noqa: S608 - our numbers
        " WHERE session_id = ? AND source = 'user' AND agent_id IS NULL"
        f" ORDER BY {f'at DESC, id DESC LIMIT {newest:d}' if newest else 'at, id'}",
        (session_id,),
    ).fetchall()
    return found[::-1] if newest else found


_WORK = (
    "SELECT prompt_id, obs_type, tool_name, file_path, count(*), max(at),"
    " max(obs_type = 'git_commit' OR (tool_name IN ('Bash', 'PowerShell', 'shell')"
    " AND instr(content, 'git commit') > 0)),"
    " max(instr(coalesce(metadata, ''), '\"interrupted\":true') > 0)"
    " FROM observations WHERE {} AND agent_id IS NULL GROUP BY prompt_id, obs_type, tool_name, file_path"
)


def work(db: Connection, session_id: str, prompts: list[int] | None = None) -> list[Any]:
    """(prompt, type, tool, path, calls, newest, whether a commit, whether interrupted) of the turns of a session.

    `prompts`: only of the turns of these.
    """
    return _of_turns(db, _WORK, session_id, prompts)


def _of_turns(db: Connection, sql: str, session_id: str, prompts: list[int] | None) -> list[Any]:
    if prompts is None:
        return db.execute(sql.format("session_id = ? AND prompt_id IS NOT NULL"), (session_id,)).fetchall()
    return db.execute(sql.format(f"prompt_id IN ({','.join(str(int(number)) for number in prompts)})")).fetchall()


def touched(db: Connection, session_id: str) -> list[tuple[int, str]]:
    """(prompt, path) of the files that were read and edited in a session."""
    return db.execute(
        f"SELECT DISTINCT prompt_id, file_path FROM observations WHERE session_id = ? AND obs_type IN {FILES}"  # noqa: S608
        " AND prompt_id IS NOT NULL AND file_path != '' AND tool_name IS NOT NULL AND agent_id IS NULL",
        (session_id,),
    ).fetchall()


def closings(db: Connection, session_id: str, since: int) -> list[tuple[int, str, int]]:
    """(at, text, whether a mark that the turn was broken off) of what closed the turns of a session."""
    return db.execute(
        f"SELECT at, substr(content, 1, {SAID_CHARS}), source = 'machine' FROM prompts"  # noqa: S608 - our numbers
        " WHERE session_id = ? AND source IN ('agent', 'machine') AND at >= ? AND agent_id IS NULL"
        f" AND (kind = 'closing' OR {BROKEN_OFF}) ORDER BY at, id",
        (session_id, since),
    ).fetchall()


# what is counted in an episode


def seen(db: Connection, unit: Unit, after: int) -> list[Any]:
    """The observations of an episode beyond a number, as `tally.Seen` takes them."""
    return db.execute(
        "SELECT o.seq, o.id, o.at, o.obs_type, o.file_path, o.outcome, o.duration_ms,"
        " CASE WHEN instr(coalesce(o.metadata, ''), '\"commit\":') + instr(coalesce(o.metadata, ''), '\"push\":')"
        " + instr(coalesce(o.metadata, ''), '\"interrupted\":') + (o.obs_type = 'test' AND o.outcome = 'failed')"
        " THEN o.metadata END,"
        " CASE WHEN o.obs_type LIKE 'git%' OR o.obs_type = 'test' THEN o.content ELSE '' END,"
        " o.phase, o.scope, o.locus, o.novelty, o.friction FROM observations o WHERE o.session_id = ? AND o.seq > ?"
        " AND o.prompt_id IN (SELECT prompt_id FROM unit_prompts WHERE unit_id = ?) ORDER BY o.seq",
        (unit.session_id, after, unit.id),
    ).fetchall()


def said(db: Connection, unit: Unit, end: int) -> list[tuple[int, int, int | None]]:
    """(id, at, 1 broken off | 0 closing | None) of what is new among what was said in an episode until a moment."""
    return db.execute(
        "SELECT p.id, p.at,"  # noqa: S608 - our words
        " CASE WHEN p.source = 'machine' THEN 1 WHEN p.kind = 'closing' AND p.agent_id IS NULL THEN 0 END"
        " FROM prompts p WHERE p.session_id = ? AND p.id > ? AND p.at >= ? AND p.at < ?"
        f" AND (p.source = 'agent' OR {BROKEN_OFF} OR (p.source = 'user' AND EXISTS"
        " (SELECT 1 FROM unit_prompts u WHERE u.prompt_id = p.id AND u.unit_id = ?)))",
        (unit.session_id, unit.annotated_prompt, unit.started_at, end, unit.id),
    ).fetchall()


def next_begins(db: Connection, unit: Unit) -> int:
    """When the next episode of the session begins: what is said from then on belongs to that one."""
    row = db.execute(
        "SELECT min(started_at) FROM work_units WHERE session_id = ? AND (started_at, id) > (?, ?)",
        (unit.session_id, unit.started_at, unit.id),
    ).fetchone()
    return FAR if row[0] is None else int(row[0])


def is_swept(db: Connection, session_id: str) -> bool:
    """As `trace.swept`, which a hook does not load where nothing was swept."""
    return db.execute("SELECT 1 FROM swept_sessions WHERE session_id = ?", (session_id,)).fetchone() is not None


def sign(db: Connection, session_id: str, phase: str, prints: str, units: int, active: int, at: int) -> None:
    """Store the signature and fingerprint of a session. Inside a transaction."""
    db.execute(
        "INSERT INTO session_signatures VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (session_id) DO UPDATE SET signature"
        " = excluded.signature, fingerprint = excluded.fingerprint, units = excluded.units, active_ms ="
        " excluded.active_ms, at = excluded.at",
        (session_id, phase, prints, units, active, at),
    )


def newest_said(db: Connection, session_id: str, kind: str, since: int = 0, before: int = FAR) -> str | None:
    """The agent's newest words of a kind (closing | summary) in a session, subagents left out."""
    row = db.execute(
        "SELECT content FROM prompts WHERE session_id = ? AND source = 'agent' AND at >= ? AND at < ?"
        " AND kind = ? AND (agent_id IS NULL OR kind = 'summary') ORDER BY at DESC, id DESC LIMIT 1",
        (session_id, since, before, kind),
    ).fetchone()
    return row[0] if row else None


# the records of an episode, as narrators read them

OF = (
    "u.first_prompt_id || '.' || u.last_prompt_id || '.' || u.turn_count || '.' || u.obs_count || '.'"
    " || u.annotated_seq || '.' || u.annotated_prompt || iif(u.state = 'open', '.open', '')"
)
"""What an episode holds, as SQL over work_units `u`: a text that changes when prompts or records come or go."""


def held(db: Connection, unit_id: int) -> tuple[str, int, str, str, str | None] | None:
    """(session, beginning, what it holds, state, folder of the checkout) of an episode."""
    row = db.execute(
        f"SELECT u.session_id, u.started_at, {OF}, u.state, coalesce(f.root, p.root) FROM work_units u"  # noqa: S608
        " LEFT JOIN sessions s ON s.id = u.session_id LEFT JOIN projects p ON p.id = s.project_id"
        " LEFT JOIN project_folders f ON f.folder = s.cwd WHERE u.id = ?",
        (unit_id,),
    ).fetchone()
    return tuple(row) if row else None


def asked_in(db: Connection, unit_id: int) -> list[Any]:
    """(at, kind, content) of the prompts of an episode."""
    return db.execute(
        "SELECT p.at, p.kind, p.content FROM unit_prompts u JOIN prompts p ON p.id = u.prompt_id WHERE u.unit_id = ?"
        " ORDER BY p.at, p.id",
        (unit_id,),
    ).fetchall()


def spans(db: Connection, unit_id: int, session_id: str) -> Iterator[tuple[int, int]]:
    """When the episode was worked on: from each of its prompts until the next prompt of another episode."""
    start: int | None = None
    found = db.execute(
        "SELECT p.at, u.unit_id = ? FROM prompts p JOIN unit_prompts u ON u.prompt_id = p.id"
        " WHERE p.session_id = ? AND p.source = 'user' ORDER BY p.at, p.id",
        (unit_id, session_id),
    ).fetchall()
    for at, mine in [*found, (FAR, 0)]:
        if mine and start is None:
            start = at
        elif not mine and start is not None:
            yield start, at
            start = None


def said_between(db: Connection, session_id: str, start: int, end: int) -> list[Any]:
    """(at, kind, content) of what was said in a session, and of the marks where a turn was broken off."""
    return db.execute(
        "SELECT at, kind, content FROM prompts WHERE session_id = ? AND source IN ('agent', 'machine') AND at >= ?"  # noqa: S608
        f" AND at < ? AND (source = 'agent' OR {BROKEN_OFF}) ORDER BY at, id",
        (session_id, start, end),
    ).fetchall()


def spoken(db: Connection, session_id: str) -> list[tuple[int, str, str]]:
    """(at, kind, beginning) of the agent's own closing words and thoughts, and of the marks, in a session."""
    return db.execute(
        "SELECT at, kind, substr(content, 1, 4000) FROM prompts WHERE session_id = ? AND source IN ('agent', 'machine')"  # noqa: S608
        f" AND agent_id IS NULL AND (kind IN ('closing', 'thinking') OR {BROKEN_OFF}) ORDER BY at, id",
        (session_id,),
    ).fetchall()


def done(db: Connection, session_id: str) -> Iterable[Any]:
    """(prompt, then as `reading.action` takes it) of what was done in a session, of each content the beginning."""
    return _done(db, "substr(o.content, 1, 2000)", "IS NOT NULL", session_id)


def done_in(db: Connection, session_id: str, unit_id: int) -> Iterable[Any]:
    """The same of one episode, with all of each content."""
    return _done(db, "o.content", "IN (SELECT prompt_id FROM unit_prompts WHERE unit_id = ?)", session_id, unit_id)


def _done(db: Connection, content: str, where: str, *values: str | int) -> Iterable[Any]:
    return db.execute(
        f"SELECT o.prompt_id, o.at, o.obs_type, {content}, o.outcome, o.tool_name, o.file_path, o.exit_code,"  # noqa: S608
        f" o.metadata FROM observations o WHERE o.session_id = ? AND o.prompt_id {where} ORDER BY o.seq",
        values,
    )


# what closes an open end

COLUMNS = (
    "o.at, o.obs_type, coalesce(o.file_path, ''), substr(o.content, 1, 3000), CASE WHEN o.obs_type IN ('file_edit',"
    " 'file_write', 'file_read') AND instr(coalesce(o.metadata, ''), '\"refused\":') THEN 'failed' ELSE o.outcome END,"
    " CASE WHEN o.obs_type ="
    " 'git_commit' OR o.outcome = 'failed' THEN coalesce(substr(o.metadata, 1, 3000), '') ELSE '' END"
)
"""A Row of the table `observations o`; a call on a file that was refused counts as failed: nothing was touched."""
ROWS = 1000
"""Newest rows of later sessions that are looked at."""
_LATER_PROMPTS = 60
_LATER_SESSIONS = 24
"""The newest later sessions of the project that are looked at."""


def went_on(db: Connection, session_id: str, at: int) -> list[str]:
    """The newest sessions of the project that went on after a moment."""
    rows = db.execute(
        "SELECT id FROM sessions WHERE project_id = (SELECT project_id FROM sessions WHERE id = ?) AND last_at > ?"
        " ORDER BY last_at DESC LIMIT ?",
        (session_id, at, _LATER_SESSIONS),
    )
    return [row[0] for row in rows.fetchall()]


def closing(db: Connection, session_id: str, since: int) -> list[Row]:
    """The newest runs, edits and commits of a session that may close something; the newest first."""
    return db.execute(
        f"SELECT {COLUMNS} FROM observations o WHERE o.session_id = ? AND o.at > ? AND o.outcome != 'failed'"  # noqa: S608
        " AND o.obs_type IN ('test', 'build', 'lint', 'git_commit', 'git_push', 'file_edit', 'file_write')"
        " ORDER BY o.at DESC LIMIT ?",
        (session_id, since, ROWS // 2),
    ).fetchall()


def observed(db: Connection, session_id: str, since: int = 0, most: int = ROWS) -> list[Row]:
    """The newest observations of a session, in order of time. Raises sqlite3.Error."""
    found: list[Row] = db.execute(
        f"SELECT {COLUMNS} FROM observations o WHERE o.session_id = ? AND {'' if since else '+'}o.at >= ?"  # noqa: S608
        " ORDER BY o.seq DESC LIMIT ?",  # of the whole session by its order: nothing is sorted
        (session_id, since, most),
    ).fetchall()
    return found[::-1]


def asked_since(db: Connection, sessions: Sequence[str], at: int) -> list[tuple[str, str]]:
    """(session, beginning) of what persons asked in some sessions since."""
    return db.execute(
        "SELECT session_id, substr(content, 1, 2000) FROM prompts WHERE session_id IN"  # noqa: S608
        f" ({','.join('?' * len(sessions))}) AND source = 'user' AND at > ? AND agent_id IS NULL"
        " ORDER BY at DESC LIMIT ?",
        (*sessions, at, _LATER_PROMPTS),
    ).fetchall()


# episodes that the agent names

_CALLS = (
    "SELECT prompt_id, json_extract(metadata, '$.episode.title'), json_extract(metadata, '$.episode.resumes')"
    " FROM observations WHERE {} AND obs_type = 'mcp_call' AND agent_id IS NULL"
    " AND instr(metadata, '\"episode\":') > 0 AND json_valid(metadata) ORDER BY at, id"
)


def calls(db: Connection, session_id: str, prompts: list[int] | None = None) -> list[Any]:
    """(prompt, title, what it resumes) of each call by which the agent names an episode, in order of time."""
    return _of_turns(db, _CALLS, session_id, prompts)


def earlier(db: Connection, unit_id: int, number: int | None = None) -> list[tuple[int, str]]:
    """(id, name) of the newest episodes of its project that began before an episode, or of the one with this number."""
    return db.execute(
        "SELECT u.id, coalesce(u.title, u.agent_title, u.heading, substr(u.intent, 1, 400))"  # noqa: S608
        " FROM work_units u JOIN sessions s ON s.id = u.session_id JOIN work_units n ON n.id = ?"
        " JOIN sessions m ON m.id = n.session_id WHERE s.project_id = m.project_id"
        f" AND (u.started_at, u.id) < (n.started_at, n.id) {'' if number is None else 'AND u.id = ?'}"
        " ORDER BY u.started_at DESC, u.id DESC LIMIT 200",
        (unit_id,) if number is None else (unit_id, number),
    ).fetchall()


# how far sessions are

IDLE = 30 * 60_000
"""Milliseconds without an event after which a session counts as over."""


def state(db: Connection, session_id: str) -> tuple[Any, ...]:
    """The session's state, with counters that change with each prompt and action, but for a rewritten prompt."""
    row = db.execute(
        "SELECT state, seq, last_at, (SELECT count(*) FROM prompts p WHERE p.session_id = s.id),"
        " (SELECT max(id) FROM prompts p WHERE p.session_id = s.id) FROM sessions s WHERE id = ?",
        (session_id,),
    ).fetchone()
    return tuple(row) if row else ("",)


def finished(db: Connection, now: int, idle: int = IDLE, *, open_yet: bool = False) -> list[str]:
    """Sessions that are over, whether they said so or not; `open_yet`: such as have an open episode. In ms."""
    only = "AND id IN (SELECT session_id FROM work_units WHERE state = 'open')" if open_yet else ""
    found = db.execute(f"SELECT id FROM sessions WHERE (last_at < ? OR state = 'ended') {only}", (now - idle,))  # noqa: S608
    return [row[0] for row in found]


def undivided(db: Connection) -> list[str]:
    """Sessions with prompts in no episode, or with closed episodes that are not wholly annotated; the newest first."""
    found = db.execute(
        "SELECT id FROM sessions WHERE id IN (SELECT p.session_id FROM prompts p WHERE p.source = 'user'"
        " AND p.agent_id IS NULL"
        " AND NOT EXISTS (SELECT 1 FROM unit_prompts u WHERE u.prompt_id = p.id)"
        " UNION SELECT session_id FROM work_units WHERE state = 'closed'"
        " AND (annotated_prompt = 0 OR (obs_count > 0 AND traced_seq < annotated_seq)))"
        " ORDER BY last_at DESC, id"
    )
    return [row[0] for row in found]


# the rows of a session, as they are kept beside a correction and put back

_UNITS = "(SELECT id FROM work_units WHERE session_id = :session)"
KEPT = {
    "work_units": ("id", f"SELECT * FROM work_units WHERE session_id = :session OR resumes IN {_UNITS}"),  # noqa: S608
    "unit_prompts": ("prompt_id", f"SELECT * FROM unit_prompts WHERE unit_id IN {_UNITS}"),  # noqa: S608
    "narrations": ("unit_id", f"SELECT * FROM narrations WHERE unit_id IN {_UNITS}"),  # noqa: S608
    "narratives_fts": ("rowid", f"SELECT rowid, * FROM narratives_fts WHERE rowid IN {_UNITS}"),  # noqa: S608
    "threads": ("id", f"SELECT id, primary_unit_id FROM threads WHERE primary_unit_id IN {_UNITS}"),  # noqa: S608
    "session_signatures": ("session_id", "SELECT * FROM session_signatures WHERE session_id = :session"),
}
"""Table -> its key, and its rows that belong to a session; rows are put back in this order."""


def image(db: Connection, session_id: str) -> dict[str, dict[str, Kept]]:
    """All rows about a session's episodes: table -> key -> row."""
    out: dict[str, dict[str, Kept]] = {}
    for table, (key, sql) in KEPT.items():
        cursor = db.execute(sql, {"session": session_id})
        names = [column[0] for column in cursor.description]
        rows = (dict(zip(names, tuple(row), strict=True)) for row in cursor.fetchall())
        out[table] = {str(row[key]): row for row in rows}
    return out


def row(db: Connection, table: str, key: str) -> Kept | None:
    """One row as it is now."""
    name = KEPT[table][0]
    columns = "rowid, *" if name == "rowid" else "*"
    cursor = db.execute(f"SELECT {columns} FROM {table} WHERE {name} = ?", (key,))  # noqa: S608 - our names
    names = [column[0] for column in cursor.description]
    found = cursor.fetchone()
    return None if found is None else dict(zip(names, tuple(found), strict=True))


def add_row(db: Connection, table: str, values: Kept) -> None:
    """Put a row back that is gone, as far as its table has these columns."""
    columns = {column[1] for column in db.execute(f"PRAGMA table_info({table})")} | {KEPT[table][0]}
    known = {name: value for name, value in values.items() if name in columns}
    names, marks = ", ".join(known), ", ".join("?" for _ in known)
    db.execute(f"INSERT INTO {table} ({names}) VALUES ({marks})", list(known.values()))  # noqa: S608 - our names


def set_row(db: Connection, table: str, key: str, values: Kept) -> None:
    """Write columns of a row, but not its key."""
    values = {name: value for name, value in values.items() if name != KEPT[table][0]}
    if values:
        names = ", ".join(f"{name} = ?" for name in values)
        db.execute(f"UPDATE {table} SET {names} WHERE {KEPT[table][0]} = ?", [*values.values(), key])  # noqa: S608


def is_there(db: Connection, table: str, number: object) -> bool:
    """Whether a table has a row with this id."""
    return db.execute(f"SELECT 1 FROM {table} WHERE id = ?", (number,)).fetchone() is not None  # noqa: S608


def later_keys(db: Connection) -> None:
    """Whether rows that refer to each other fit is looked at when the transaction ends."""
    db.execute("PRAGMA defer_foreign_keys = ON")
