"""The records of one session that a hook looks into: the call at hand, its compactions, what was known before them.

Tables: observations, prompts, said_decisions, injections. Loaded by a call that may be answered, and in a session that
was compacted or cleared.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from sqlite3 import Connection

    from nmem.episodes.store import Row

    Call = tuple[int, Row]
    """The id of a call, and the call as `open_ends` has it."""
    Edit = tuple[int, str, int, str, int]
    """An edit of a file: number, session, time, content, and its place in the session."""
    Summary = tuple[int, str, int, int]
    """The id of a summary, its text, its length in characters, and when it was told."""
    Said = tuple[int, int, str]
    """The id of a prompt or of the agent's last words, when, and the text."""


# the call at hand


def place(db: Connection, session_id: str) -> tuple[int, str, str] | None:
    """A session's project, the project's name, and the folder of the checkout; None when it is not known."""
    found: tuple[int, str, str] | None = db.execute(
        "SELECT s.project_id, p.name, coalesce(f.root, p.root) FROM sessions s JOIN projects p ON p.id = s.project_id"
        " LEFT JOIN project_folders f ON f.folder = s.cwd WHERE s.id = ?",
        (session_id,),
    ).fetchone()
    return found


def compacted(db: Connection, session_id: str) -> int | None:
    """When the conversation was compacted last; None: it was not."""
    look = "SELECT max(at) FROM injections WHERE session_id = ? AND event = 'compact'"
    at: int | None = db.execute(look, (session_id,)).fetchone()[0]
    return at


def edits_like(db: Connection, project_id: int, path: str, part: str, most: int) -> list[Edit]:
    """Of the newest edits of a file those that hold a text."""
    return db.execute(
        "SELECT o.id, o.session_id, o.at, o.content, o.seq FROM (SELECT * FROM observations WHERE file_path = ?"
        " ORDER BY at DESC LIMIT ?) o JOIN sessions s ON s.id = o.session_id WHERE s.project_id = ?"
        " AND o.obs_type IN ('file_edit', 'file_write') AND o.outcome = 'ok' AND instr(o.content, ?)"
        " ORDER BY o.at DESC",
        (path, most, project_id, part),
    ).fetchall()


def git_after(db: Connection, session_id: str, seq: int) -> list[str]:
    """Commands with git that a session ran after one of its calls."""
    query = (
        "SELECT content FROM observations WHERE session_id = ? AND seq > ? AND outcome = 'ok'"
        " AND obs_type IN ('git_other', 'command', 'git_commit') AND instr(content, 'git ') ORDER BY seq LIMIT 200"
    )
    return [row[0] for row in db.execute(query, (session_id, seq)).fetchall()]


def last_change(db: Connection, session_id: str, path: str) -> tuple[int, int] | None:
    """The newest change of a file by the session's own agent: its number, and when."""
    found: tuple[int, int] | None = db.execute(
        "SELECT id, at FROM observations WHERE file_path = ? AND session_id = ? AND agent_id IS NULL"
        " AND obs_type IN ('file_edit', 'file_write') AND outcome != 'failed' ORDER BY at DESC LIMIT 1",
        (path, session_id),
    ).fetchone()
    return found


def change(db: Connection, number: int) -> tuple[str, str]:
    """What a change of a file brought, and what the person had asked for."""
    row = db.execute(
        "SELECT substr(o.content, 1, 1200), substr(coalesce(p.content, ''), 1, 400) FROM observations o"
        " LEFT JOIN prompts p ON p.id = o.prompt_id AND p.source = 'user' WHERE o.id = ?",
        (number,),
    ).fetchone()
    return (row[0], row[1]) if row else ("", "")


# its calls


def _calls(db: Connection, rest: str, values: Sequence[str | int]) -> list[Call]:
    from nmem.episodes.store import COLUMNS  # on use: most calls that may be answered ask for none

    found = db.execute(f"SELECT o.id, {COLUMNS} FROM observations o WHERE o.session_id = ? AND {rest}", values)  # noqa: S608
    return [(int(row[0]), tuple(row[1:])) for row in found.fetchall()]


def calls(db: Connection, session_id: str, after: int) -> list[Call]:
    """The calls of the session's own agent after a number."""
    return _calls(db, "o.agent_id IS NULL AND o.seq > ? ORDER BY o.seq", (session_id, after))


def newest_calls(db: Connection, session_id: str, most: int) -> list[Call]:
    """The newest calls of a session, in their order, also those of subagents."""
    newest = "o.seq > (SELECT seq FROM sessions WHERE id = ?) - ? ORDER BY o.seq"
    return _calls(db, newest, (session_id, session_id, most))


def failures(db: Connection, session_id: str, most: int) -> list[Call]:
    """The commands of the session's own agent that failed, the newest first."""
    failed = (
        "o.agent_id IS NULL AND o.outcome = 'failed' AND o.obs_type IN ('test', 'build', 'lint', 'command', 'install')"
        " ORDER BY o.at DESC LIMIT ?"
    )
    return _calls(db, failed, (session_id, most))


# its compactions


def compactions(db: Connection, session_id: str) -> list[tuple[int, int, int]]:
    """Row, time and number of each compaction of a session."""
    return db.execute(
        "SELECT id, at, seq FROM observations WHERE session_id = ? AND obs_type = 'session_compact' AND agent_id"
        " IS NULL ORDER BY seq, id", (session_id,),
    ).fetchall()  # fmt: skip


def summaries(db: Connection, session_id: str) -> list[Summary]:
    """The summaries that the client made of a session, by time."""
    return db.execute(
        "SELECT id, content, length(content), at FROM prompts WHERE session_id = ? AND kind = 'summary'"
        " AND agent_id IS NULL AND content != '' ORDER BY at",
        (session_id,),
    ).fetchall()


def settled(db: Connection, session_id: str) -> list[tuple[str, int, str]]:
    """Decisions said in the session, questions that were answered, and what was marked: id, time and words."""
    found = db.execute(
        "SELECT 'decision/' || d.id, d.at, CASE WHEN d.wording != '' THEN d.wording WHEN length(p.content) ="
        " d.said_size THEN substr(p.content, d.said_from + 1, d.said_to - d.said_from) ELSE substr(p.content, 1, 400)"
        " END FROM said_decisions d JOIN prompts p ON p.id = d.prompt_id WHERE d.session_id = ?1"
        " AND d.state != 'dismissed' ORDER BY d.at, d.id", (session_id,),
    ).fetchall()  # fmt: skip
    return found + db.execute(
        "SELECT 'obs/' || id, at, substr(content, 1, 1000) FROM observations WHERE session_id = ? AND agent_id IS NULL"
        " AND (obs_type = 'question' AND instr(content, ' -> ') OR obs_type = 'marker') ORDER BY seq", (session_id,),
    ).fetchall()  # fmt: skip


def spoken(db: Connection, session_id: str) -> list[Said]:
    """Row, time and text of what the person said and what the agent asked at the end of a turn."""
    return db.execute(
        "SELECT id, at, CASE source WHEN 'user' THEN substr(content, 1, 2000) ELSE substr(content, -600) END"
        " FROM prompts WHERE session_id = ? AND agent_id IS NULL AND ((source = 'user' AND kind IN ('prompt', 'late'))"
        " OR (source = 'agent' AND kind = 'closing' AND instr(substr(content, -200), '?'))) ORDER BY at, id",
        (session_id,),
    ).fetchall()


# what is recovered


def cleared_before(db: Connection, session_id: str, since: int) -> list[str]:
    """Sessions of the same client and folder that a clear ended since a time, and that no other start followed."""
    rows = db.execute(
        "SELECT o.id FROM sessions s JOIN sessions o ON o.project_id = s.project_id AND o.client = s.client"
        " AND o.cwd = s.cwd AND o.id != s.id WHERE s.id = ? AND o.last_at >= ? AND o.ended_at >= ?"
        " AND o.end_reason = 'clear' AND NOT EXISTS (SELECT 1 FROM sessions n WHERE n.project_id = o.project_id"
        " AND n.client = o.client AND n.cwd = o.cwd AND n.source = 'clear' AND n.id NOT IN (s.id, o.id)"
        " AND n.started_at >= o.ended_at AND n.started_at < s.started_at) LIMIT 2",
        (session_id, since, since),
    ).fetchall()
    return [row[0] for row in rows]


def last_answer(db: Connection, session_id: str, since: int) -> str:
    """What the agent said last at the end of a turn, since a time."""
    row = db.execute(
        "SELECT substr(content, 1, 4000) FROM prompts WHERE session_id = ? AND source = 'agent' AND at >= ?"
        " AND kind = 'closing' AND agent_id IS NULL ORDER BY at DESC, id DESC LIMIT 1",
        (session_id, since),
    ).fetchone()
    return row[0] if row else ""


def prompts_of(db: Connection, unit_id: int, but: int, most: int) -> list[tuple[int, str]]:
    """The newest prompts of an episode without one, and without commands: number and text."""
    return db.execute(
        "SELECT p.id, substr(p.content, 1, 2000) FROM unit_prompts u JOIN prompts p ON p.id = u.prompt_id"
        " WHERE u.unit_id = ? AND p.id != ? AND p.kind != 'command' ORDER BY p.at DESC, p.id DESC LIMIT ?",
        (unit_id, but, most),
    ).fetchall()
