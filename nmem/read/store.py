"""Sessions, and what was said and done in them (SQL): rows for lists, one session, one call, one file.

Functions that give a Row take a connection of `nmem.database.reader`, whose rows answer to names.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from sqlite3 import Connection, Row
from typing import Any, NamedTuple

from nmem import tables
from nmem.episodes.text import checkout_path
from nmem.episodes.unit import NAMED, TITLED
from nmem.tables import NOW

INVESTIGATE = ("file_read", "search", "web_fetch", "web_search", "question", "plan")
EXECUTE = ("file_write", "file_edit", "command", "test", "build", "lint", "install", "git_commit", "git_push",
           "git_other", "github")  # fmt: skip
PROMPT_KINDS = ("prompt", "late", "command")


def first_row(db: Connection, sql: str, values: Sequence[object]) -> Row | None:
    """The first row of a question."""
    found: Row | None = db.execute(sql, values).fetchone()
    return found


def _marks(values: Iterable[object]) -> str:
    return ",".join("?" for _ in values)


# Sessions


_SESSION = f"""SELECT s.id, s.client, p.name AS project, p.root, coalesce(s.branch, ''), coalesce(s.model, ''), s.state,
  coalesce(s.cwd, ''), coalesce(s.transcript_path, ''), s.started_at, s.last_at, s.origin, s.context_tokens,
  s.context_window, s.context_at, coalesce((SELECT substr(content, 1, 400) FROM prompts
    WHERE session_id = s.id AND source = 'user' ORDER BY at DESC LIMIT 1), '') AS intent, {TITLED} AS name,
  {NAMED} AS opening
FROM sessions s JOIN projects p ON p.id = s.project_id"""  # noqa: S608 - our words
_LIST = """
SELECT s.id, s.client, p.name, p.root, coalesce(s.branch, '') AS branch, coalesce(s.cwd, '') AS cwd,
  coalesce(s.transcript_path, ''), s.state, s.origin, s.started_at, s.last_at, m.name AS given, m.tags, m.archived,
  (SELECT count(*) FROM prompts q WHERE q.session_id = s.id AND q.source = 'user' AND q.agent_id IS NULL
     AND q.kind IN ('prompt', 'late', 'command')) AS prompts,
  (SELECT u.outcomes FROM work_units u WHERE u.session_id = s.id ORDER BY u.started_at DESC LIMIT 1) AS outcomes,
  (SELECT t.state FROM tasks t WHERE t.session_id = s.id ORDER BY t.id DESC LIMIT 1) AS task,
  (SELECT c.at FROM transcript_copies c WHERE c.session_id = s.id AND c.packed IS NOT NULL) AS copied_at
FROM sessions s JOIN projects p ON p.id = s.project_id LEFT JOIN session_marks m ON m.session_id = s.id
WHERE (?1 = '' OR p.key = ?1) AND (?2 = '' OR s.client = ?2)
  AND (?3 = 'all' OR coalesce(m.archived, 0) = (?3 != 'current'))
ORDER BY s.last_at DESC, s.id
"""
_NAMES = f"""SELECT s.id, {TITLED} AS name, {NAMED} AS opening
FROM sessions s WHERE s.id IN (SELECT value FROM json_each(?))"""  # noqa: S608
_ON = """
SELECT s.id, (SELECT json_array(coalesce(u.title, u.agent_title), u.heading, u.intent) FROM work_units u
    WHERE u.session_id = s.id ORDER BY u.state = 'open' DESC, u.started_at DESC, u.id DESC LIMIT 1) AS unit,
  (SELECT max(t.id) FROM tasks t WHERE t.session_id = s.id) AS task,
  (SELECT count(DISTINCT o.agent_id) FROM observations o WHERE o.session_id = s.id AND o.at > ?2) AS helpers
FROM sessions s WHERE s.id IN (SELECT value FROM json_each(?1))
"""


def newest(db: Connection, limit: int, project: str = "") -> list[Row]:
    """The newest sessions first, of all projects or of one (a name, a key or a root)."""
    where = "(p.name = ? OR p.key = ? OR p.root = ?) AND" if project else ""
    found: list[Row] = []
    for when in (f"s.last_at <= {NOW}", f"s.last_at > {NOW}"):  # what a clock that was ahead recorded comes last
        sql = f"{_SESSION} WHERE {where} {when} ORDER BY s.last_at DESC LIMIT ?"
        found += db.execute(sql, [*[project] * (3 if project else 0), limit - len(found)]).fetchall()
    return found


def session(db: Connection, session_id: str) -> Row | None:
    """One session, with the columns of `newest`."""
    return first_row(db, f"{_SESSION} WHERE s.id = ?", (session_id,))


def session_count(db: Connection, project: str = "") -> int:
    """How many sessions there are of all projects, or of one (a name, a key or a root)."""
    sql = (
        "SELECT count(*) FROM sessions s JOIN projects p ON p.id = s.project_id WHERE ? IN ('', p.name, p.key, p.root)"
    )
    return int(db.execute(sql, (project,)).fetchone()[0])


def listed(db: Connection, project: str, client: str, which: str, session_id: str = "") -> list[Row]:
    """The sessions of a project (its key) and a client, or of all; `which`: archived, current or all; or that one."""
    sql, values = _LIST, [project, client, which]
    if session_id:
        sql, values = _LIST.replace("WHERE", "WHERE s.id = ?4 AND"), [*values, session_id]
    return db.execute(sql, values).fetchall()


def names_of(db: Connection, ids: Sequence[str]) -> dict[str, tuple[str | None, str]]:
    """Of some sessions the title, where they are settled, and the words that they began with."""
    return {row[0]: (row[1], row[2] or "") for row in db.execute(_NAMES, (json.dumps(ids),)).fetchall()}


def at_work(db: Connection, ids: Sequence[str], since: int) -> dict[str, Row]:
    """What some sessions are at: their episode, their task, and how many subagents did something since then."""
    return {row["id"]: row for row in db.execute(_ON, (json.dumps(ids), since)).fetchall()}


def all_tags(db: Connection) -> dict[str, int]:
    """Every tag, and how many sessions have it."""
    found = db.execute("SELECT j.value, count(*) FROM session_marks m, json_each(m.tags) j GROUP BY 1 ORDER BY 1")
    return {str(row[0]): int(row[1]) for row in found.fetchall()}


def sessions_like(db: Connection, beginning: str, limit: int = 5) -> list[str]:
    """Sessions whose id is, or begins with, a text (`session/` before it is as it is printed); the exact one alone."""
    beginning = beginning.removeprefix("session/")
    if not beginning:
        return []
    sql = """SELECT id
        FROM sessions WHERE substr(id, 1, length(?1)) = ?1 ORDER BY id = ?1 DESC, last_at DESC LIMIT ?2"""
    found = db.execute(sql, (beginning, limit)).fetchall()
    ids = [str(row[0]) for row in found]
    return ids[:1] if beginning in ids else ids


def summary_page(
    db: Connection, project_id: int | None, before: tuple[int, int] | None, limit: int
) -> list[tuple[str, int, int]]:
    """The newest `limit` sessions of a project or of all: (id, last_at, number of its row), before the last two."""
    where, values = ("s.project_id = ? AND", [project_id]) if project_id is not None else ("", list[int]())
    sql = f"""SELECT s.id, s.last_at, s.rowid FROM sessions s WHERE {where} (s.last_at, s.rowid) < (?, ?)
        AND EXISTS (SELECT 1 FROM prompts p WHERE p.session_id = s.id AND p.source = 'user')
        ORDER BY s.last_at DESC, s.rowid DESC LIMIT ?"""  # noqa: S608 -- our words
    return db.execute(sql, (*values, *(before or (2**62, 2**62)), limit)).fetchall()


def project_of(db: Connection, session_id: str) -> int | None:
    """The project of a session; None where it is not there."""
    row = first_row(db, "SELECT project_id FROM sessions WHERE id = ?", (session_id,))
    return row[0] if row else None


def active_beside(db: Connection, session_id: str, since: int) -> int:
    """How many other sessions were active since then and have not ended."""
    sql = "SELECT count(*) FROM sessions WHERE last_at > ? AND state != 'ended' AND id != ?"
    return int(db.execute(sql, (since, session_id)).fetchone()[0])


def summary(db: Connection, session_id: str) -> Row | None:
    """What was told of a session, and when that was active last."""
    sql = """SELECT m.intent, m.learned, m.completed, m.next_steps, m.notes, m.narrator, s.last_at
        FROM session_summaries m JOIN sessions s ON s.id = m.session_id WHERE s.id = ?"""
    return first_row(db, sql, (session_id,))


# The context window of a session


def window(db: Connection, session_id: str) -> Row | None:
    """What the status line was told of it, beside what the transcript says."""
    sql = """SELECT s.client, s.model, s.context_tokens, s.context_window,
        s.context_at, l.at AS told_at, l.model AS told_model, l.window_size, l.tokens AS told_tokens, l.cost_usd
        FROM sessions s LEFT JOIN status_lines l ON l.session_id = s.id WHERE s.id = ?"""
    return first_row(db, sql, (session_id,))


def told_size(db: Connection, model: str) -> int | None:
    """What the status line of any session told last of how much a model takes."""
    sql = "SELECT window_size FROM status_lines WHERE model = ? AND window_size > 0 ORDER BY at DESC LIMIT 1"
    row = first_row(db, sql, (model,))
    return row[0] if row else None


def compacted_since(db: Connection, session_id: str, at: int | None) -> bool:
    """Whether what was counted then is gone."""
    sql = """SELECT 1 FROM observations
        WHERE session_id = ? AND at > ? AND obs_type IN ('session_compact', 'session_clear') LIMIT 1"""
    return at is not None and first_row(db, sql, (session_id, at)) is not None


def readings(db: Connection, session_id: str, most: int) -> list[tuple[int, int]]:
    """The newest times and tokens that were counted, the oldest first."""
    sql = "SELECT at, tokens FROM context_readings WHERE session_id = ? ORDER BY at DESC LIMIT ?"
    return [(row[0], row[1]) for row in reversed(db.execute(sql, (session_id, most)).fetchall())]


def compacted(db: Connection, project: str = "") -> list[tuple[str, str, int]]:
    """Sessions that were compacted, with their project and how often: the newest first; `project`: key, name, root."""
    sql = """SELECT o.session_id, p.name, count(*) FROM observations o JOIN sessions s
        ON s.id = o.session_id JOIN projects p ON p.id = s.project_id WHERE o.obs_type = 'session_compact'
        AND o.agent_id IS NULL AND (?1 = '' OR ?1 IN (p.key, p.name, p.root)) GROUP BY 1 ORDER BY s.last_at DESC"""
    return [(str(row[0]), str(row[1]), int(row[2])) for row in db.execute(sql, (project,)).fetchall()]


def given(db: Connection, session_id: str) -> list[tuple[int, str]]:
    """What the session was told: when, and the item; nothing that was kept back."""
    sql = """SELECT j.at, i.item FROM injections j JOIN injection_items i
        ON i.injection_id = j.id WHERE j.session_id = ? AND NOT j.withheld ORDER BY j.at, i.position"""
    return [(int(at), str(item).removeprefix("pin/")) for at, item in db.execute(sql, (session_id,)).fetchall()]


# What was said


def prompt(db: Connection, prompt_id: int) -> tuple[int, str, int, str, str, str] | None:
    """One prompt: its id, session, time, source, kind and words."""
    row = first_row(db, "SELECT id, session_id, at, source, kind, content FROM prompts WHERE id = ?", (prompt_id,))
    return tuple(row) if row else None


def asked(db: Connection, session_id: str) -> tuple[str, int | None, int]:
    """The person's newest prompt in a session, when it came, and how many there are."""
    kinds = f"session_id = ? AND source = 'user' AND kind IN ({_marks(PROMPT_KINDS)})"
    sql = f"""SELECT substr(content, 1, 2000), at, (SELECT count(*) FROM prompts WHERE {kinds})
        FROM prompts WHERE {kinds} ORDER BY at DESC LIMIT 1"""  # noqa: S608
    row = first_row(db, sql, (session_id, *PROMPT_KINDS) * 2)
    return (row[0], row[1], row[2]) if row else ("", None, 0)


def answer_to(db: Connection, session_id: str, at: int) -> str:
    """What the agent said last before the person, who spoke then, spoke again."""
    sql = """SELECT content FROM prompts WHERE session_id = ?1 AND source = 'agent'
        AND kind = 'closing' AND at >= ?2 AND agent_id IS NULL AND at < coalesce((SELECT min(at) FROM prompts
        WHERE session_id = ?1 AND source = 'user' AND at > ?2), 1 << 62) ORDER BY at DESC, id DESC LIMIT 1"""
    row = first_row(db, sql, (session_id, at))
    return str(row[0]) if row else ""


def last_answer(db: Connection, session_id: str, span: tuple[int, int], silent: str, chars: tuple[int, int]
                ) -> tuple[str, str, int] | None:  # fmt: skip
    """The agent's last answer within a span that is not `silent`: so many characters of both its ends, and when."""
    sql = """SELECT substr(content, 1, ?), substr(content, -?), at
        FROM prompts WHERE session_id = ? AND source = 'agent' AND kind = 'closing'
        AND agent_id IS NULL AND at >= ? AND at < ? AND trim(content) != ? ORDER BY at DESC, id DESC LIMIT 1"""
    row = first_row(db, sql, (*chars, session_id, *span, silent))
    return tuple(row) if row else None


def reply(db: Connection, session_id: str, after: int, before: int) -> str:
    """The beginning of the person's next prompt between two moments."""
    sql = """SELECT substr(content, 1, 400) FROM prompts WHERE session_id = ?
        AND source = 'user' AND kind = 'prompt' AND agent_id IS NULL AND at > ? AND at < ? ORDER BY at, id LIMIT 1"""
    row = first_row(db, sql, (session_id, after, before))
    return row[0] if row else ""


# What was done


def observation(db: Connection, number: int) -> Row | None:
    """One call, with all its columns."""
    return first_row(db, "SELECT * FROM observations WHERE id = ?", (number,))


class Effort(NamedTuple):
    """How a stretch of work divides: looking, doing, and what went wrong."""

    investigate: int = 0
    execute: int = 0
    failed: int = 0


class HotFile(NamedTuple):
    """A file that the session works on."""

    path: str
    reads: int
    edits: int
    failures: int

    @property
    def weight(self) -> int:
        """How much it matters: a change weighs more than a look."""
        return 3 * self.edits + self.reads + 2 * self.failures


def effort(db: Connection, session_id: str, since: int) -> Effort:
    """How the work of a session divides since a time."""
    sql = f"""SELECT total(obs_type IN ({_marks(INVESTIGATE)})), total(obs_type IN ({_marks(EXECUTE)})),
        total(outcome = 'failed') FROM observations WHERE session_id = ? AND at >= ?"""  # noqa: S608
    return Effort(*map(int, db.execute(sql, (*INVESTIGATE, *EXECUTE, session_id, since)).fetchone()))


def hot_files(db: Connection, session_id: str, limit: int = 8, since: int = 0) -> tuple[HotFile, ...]:
    """The files of a session since a time by weight, heaviest first; one of a worktree as that of any checkout."""
    sql = """SELECT file_path, sum((obs_type = 'file_read') * (1 + repeats)),
        sum(obs_type IN ('file_write', 'file_edit')), sum(outcome = 'failed') FROM observations
        WHERE session_id = ? AND at >= ? AND file_path IS NOT NULL GROUP BY file_path ORDER BY max(at) DESC"""
    counts: dict[str, list[int]] = {}
    for path, *more in db.execute(sql, (session_id, since)).fetchall():
        known = counts.setdefault(checkout_path(path), [0, 0, 0])
        known[:] = [one + other for one, other in zip(known, more, strict=True)]
    files = sorted((HotFile(path, *each) for path, each in counts.items()), key=lambda file: -file.weight)
    return tuple(files[:limit])


def failed(db: Connection, session_id: str, limit: int) -> list[Row]:
    """The newest failures of a session."""
    sql = """SELECT id, at, obs_type, content, file_path, exit_code, metadata
        FROM observations WHERE session_id = ? AND outcome = 'failed' ORDER BY at DESC LIMIT ?"""
    return db.execute(sql, (session_id, limit)).fetchall()


def failed_within(db: Connection, session_id: str, span: tuple[int, int]) -> list[str]:
    """The beginnings of what failed in a span, but looks, the newest first."""
    sql = """SELECT substr(content, 1, 300) FROM observations WHERE session_id = ? AND at >= ?
        AND at < ? AND outcome = 'failed' AND obs_type NOT IN ('file_read', 'search') ORDER BY at DESC LIMIT 4000"""
    return [row[0] for row in db.execute(sql, (session_id, *span)).fetchall()]


# Files


_TOUCHES = """
SELECT max(o.at) AS last_at, max(o.id) AS newest, {unit} AS unit_id, o.session_id, p.name AS project, s.client,
  sum((o.obs_type = 'file_read') * (1 + o.repeats)) AS reads, sum(o.obs_type IN ('file_write', 'file_edit')) AS edits,
  sum(o.outcome = 'failed') AS failures, sum(o.obs_type NOT IN ('file_read', 'file_write', 'file_edit')) AS others,
  sum(coalesce(o.lines_added, 0)) AS added, sum(coalesce(o.lines_removed, 0)) AS removed
FROM observations o {join} JOIN sessions s ON s.id = o.session_id JOIN projects p ON p.id = s.project_id
WHERE o.file_path IN ({marks}) AND (? IS NULL OR s.project_id = ?)
GROUP BY o.session_id, {unit} ORDER BY last_at DESC, newest DESC
"""


def named(db: Connection, names: Sequence[str]) -> list[str]:
    """Those of some paths that are stored."""
    found = db.execute(f"SELECT DISTINCT file_path FROM observations WHERE file_path IN ({_marks(names)})", names)  # noqa: S608
    return [str(row[0]) for row in found.fetchall()]


def ending(db: Connection, name: str, most: int) -> list[str]:
    """Stored paths that end with a path."""
    sql = """SELECT DISTINCT file_path FROM observations
        WHERE file_path IS NOT NULL AND substr(replace(file_path, char(92), '/'), -length(?1)) = ?1 LIMIT ?2"""
    return [str(row[0]) for row in db.execute(sql, (f"/{name}", most)).fetchall()]


def folder_roots(db: Connection, project: int | None) -> list[str]:
    """Where the checkouts lie that sessions of a project, or any, ran in."""
    found = db.execute("SELECT DISTINCT root FROM project_folders WHERE ?1 IS NULL OR project_id = ?1", (project,))
    return [str(row[0]) for row in found.fetchall()]


def learned_roots(db: Connection, project: int | None) -> list[str]:
    """Where else checkouts of a project, or of any, were seen to lie."""
    if not tables.version(db):
        return []
    found = db.execute("SELECT roots FROM context_projects WHERE ?1 IS NULL OR project_id = ?1", (project,))
    return [root for row in found.fetchall() for root in str(row[0]).split("\n")]


def touches(db: Connection, names: Sequence[str], project: int | None) -> list[tuple[Any, ...]]:
    """What episodes, or sessions where no episode is known, did with the files of some names, the newest first."""
    settled = tables.version(db) > 0
    sql = _TOUCHES.format(
        unit="x.unit_id" if settled else "NULL", marks=_marks(names),
        join="LEFT JOIN unit_prompts x ON x.prompt_id = o.prompt_id" if settled else "",
    )  # fmt: skip
    return [tuple(row) for row in db.execute(sql, (*names, project, project)).fetchall()] if names else []


def marked(db: Connection, unit_id: int, most: int, chars: int) -> list[tuple[int, int, str]]:
    """What was marked as decided in an episode, the newest first: its observation, when, and the words."""
    sql = """SELECT o.id, o.at, substr(o.content, 1, ?) FROM unit_prompts x
        JOIN observations o ON o.prompt_id = x.prompt_id WHERE x.unit_id = ? AND o.obs_type = 'marker'
        AND json_valid(o.metadata) AND json_extract(o.metadata, '$.kind') = 'decision' ORDER BY o.id DESC LIMIT ?"""
    return db.execute(sql, (chars, unit_id, most)).fetchall()
