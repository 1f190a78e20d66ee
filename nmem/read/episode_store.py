"""Episodes, the threads that they stand in, and the questions about both (SQL).

Takes a connection of `nmem.database.reader`, whose rows answer to names, where the tables of meaning are there.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from sqlite3 import Connection, Row
from typing import Any, NamedTuple

from nmem import tables
from nmem.read.store import first_row
from nmem.tables import NOW
from nmem.threads.decisions import numbers, surety

COUNTED = 100_000
"""So many episodes of a list are counted at most."""
_SHORT = 300


# The list, and what it is filtered by


class Filter:
    """A filter as typed: words of story, thread, project or files, `!word`, `is:open`, `thread:x`, `theme:3` ..."""

    KINDS = ("is", "thread", "theme", "project", "file")
    STATES = {  # noqa: RUF012 -- never changed
        "open": "u.state = 'open'", "closed": "u.state = 'closed'", "pinned": "u.pinned",
        "resumed": "u.resumes IS NOT NULL", "committed": "u.commits != '[]'", "narrated": "u.narrator IS NOT NULL",
        "failed": "json_valid(u.outcomes) AND json_extract(u.outcomes, '$.tests') IN ('failed', 0)",
        "reverted": "json_valid(u.outcomes) AND json_extract(u.outcomes, '$.reverted')",
        "abandoned": "json_valid(u.outcomes) AND json_extract(u.outcomes, '$.abandoned')",
        "offered": "EXISTS (SELECT 1 FROM unit_prompts x WHERE x.unit_id = u.id AND x.offered)",
    }  # fmt: skip

    def __init__(self, text: str = "") -> None:
        self.text = text.strip()

    def __bool__(self) -> bool:
        return bool(self.text)

    def where(self) -> tuple[str, list[object]]:
        """Conditions on u, t and p, and their bound values."""
        parts, values = [], list[object]()
        for typed in self.text.split():
            no = typed.startswith("!") and len(typed) > 1
            condition, bound = _condition(typed[1:] if no else typed)
            parts.append(f" AND {'NOT ' if no else ''}coalesce(({condition}), 0)")
            values += bound
        return "".join(parts), values


HITS = 20_000
"""At most so many hits of one word in the narratives count, newest first."""
_TEXTS = ("u.intent", "u.title", "u.agent_title", "u.heading", "t.title", "p.name")
"""What the list shows of an episode: the prompt, the name, and the thread and project that it stands under."""
_FILE = """(json_valid(u.hot_files)
    AND EXISTS (SELECT 1 FROM json_each(u.hot_files) f WHERE f.value ->> 'path' LIKE ? ESCAPE '\\'))"""
_TOLD = ("u.summary", "u.learned", "u.completed", "u.next_steps", "u.notes")


def _condition(word: str) -> tuple[str, list[object]]:
    kind, colon, value = word.partition(":")
    if not colon or not value or kind not in Filter.KINDS:
        return _words(word)
    if kind == "is":
        return next((sql for name, sql in Filter.STATES.items() if name.startswith(value.lower())), "0"), []
    if kind == "theme":
        what, bound = ("m.theme = ?", value) if value.isdecimal() else ("m.label LIKE ? ESCAPE '\\'", _like(value))
        return f"EXISTS (SELECT 1 FROM unit_themes m WHERE m.unit_id = u.id AND m.theme > 0 AND {what})", [bound]  # noqa: S608
    column = {"thread": "t.title", "project": "p.name", "file": "u.hot_files"}[kind]
    return f"{column} LIKE ? ESCAPE '\\'", [_like(value)]


def _words(word: str) -> tuple[str, list[object]]:
    """A word of the story: by the index of narratives, and as it stands in what the list shows, or in a file's path.

    What is written without blanks is one word to the index, so there the narrative itself is searched as well.
    """
    columns = _TEXTS if word.isascii() else (*_TEXTS, *_TOLD)
    hits = f"MATCH ? ORDER BY rowid DESC LIMIT {HITS}"
    found = f"u.id IN (SELECT rowid FROM narratives_fts WHERE narratives_fts {hits})"  # noqa: S608 -- our words
    word = word.replace("\0", "")
    quoted = '"' + word.replace('"', '""') + '"*'
    like = [f"{column} LIKE ? ESCAPE '\\'" for column in columns]
    return " OR ".join([found, *like, _FILE]), [quoted, *[_like(word)] * (len(columns) + 1)]


def _like(text: str) -> str:
    return "%" + text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_") + "%"


_ROW = """
SELECT u.id, u.session_id, u.thread_id, coalesce(t.title, '') AS thread, p.name AS project, u.title, u.agent_title,
  u.heading,
  substr(u.intent, 1, {short}) AS intent, u.state, u.resumes, u.pinned, u.started_at, u.last_at, u.active_ms,
  u.turn_count, u.outcomes, u.commits, u.friction, u.narrator,
  (SELECT n.outcome FROM narrations n WHERE n.unit_id = u.id) AS told_end,
  (SELECT n.marks FROM narrations n WHERE n.unit_id = u.id) AS told_marks,
  (SELECT count(*) FROM unit_prompts x WHERE x.unit_id = u.id AND x.offered) AS offered,
  (SELECT count(*) FROM json_each(u.hot_files) f WHERE f.value ->> 'edits' > 0) AS files
FROM work_units u JOIN sessions s ON s.id = u.session_id JOIN projects p ON p.id = s.project_id
  LEFT JOIN threads t ON t.id = u.thread_id
WHERE u.id IN ({marks})
"""


def rows(db: Connection, ids: Sequence[int]) -> list[Row]:
    """The lines of some episodes in a list."""
    return db.execute(_ROW.format(short=_SHORT, marks=",".join("?" for _ in ids)), ids).fetchall() if ids else []


def newest(db: Connection, project: str = "", thread: int | None = None, since: int = 0, limit: int = 30) -> list[int]:
    """Episodes, the most recently active first; `project` is a name, key or root, `since` in milliseconds."""
    where, values = ["u.last_at >= ?"], list[object]([since])
    if project:
        where.append("? IN (p.name, p.key, p.root)")
    if thread is not None:
        where.append("u.thread_id = ?")
    sql = f"""SELECT u.id FROM work_units u JOIN sessions s ON s.id = u.session_id JOIN projects p ON
        p.id = s.project_id WHERE {" AND ".join(where)} ORDER BY u.last_at > {NOW}, u.last_at DESC, u.id DESC LIMIT ?"""  # noqa: S608
    values += [*([project] if project else []), *([thread] if thread is not None else []), limit]
    return [row[0] for row in db.execute(sql, values).fetchall()]


def of_session(db: Connection, session_id: str, limit: int = -1) -> list[int]:
    """The episodes of a session, the oldest first."""
    sql = "SELECT id FROM work_units WHERE session_id = ? ORDER BY started_at, id LIMIT ?"
    return [row[0] for row in db.execute(sql, (session_id, limit)).fetchall()]


def session_of(db: Connection, unit_id: int) -> str | None:
    """The session of an episode; None where it is not there."""
    row = first_row(db, "SELECT session_id FROM work_units WHERE id = ?", (unit_id,))
    return str(row[0]) if row else None


def earlier(db: Connection, unit_id: int, limit: int) -> list[int]:
    """Episodes of the same project that began before this one, newest first."""
    sql = """SELECT u.id FROM work_units u JOIN sessions s ON s.id = u.session_id JOIN work_units me
        ON me.id = ? JOIN sessions mine ON mine.id = me.session_id WHERE s.project_id = mine.project_id
        AND (u.started_at, u.id) < (me.started_at, me.id) ORDER BY u.started_at DESC, u.id DESC LIMIT ?"""
    return [row[0] for row in db.execute(sql, (unit_id, limit)).fetchall()]


def _source(query: Filter, project: str) -> tuple[str, str, list[object]]:
    """The tables, the conditions, and their values."""
    where, values = query.where()
    if project:
        where, values = f"{where} AND (p.name = ? OR p.key = ? OR p.root = ?)", [*values, project, project, project]
    joined = """FROM work_units u JOIN sessions s
        ON s.id = u.session_id JOIN projects p ON p.id = s.project_id LEFT JOIN threads t ON t.id = u.thread_id"""
    return (joined if where else "FROM work_units u"), where, values


def slots(
    db: Connection, before: tuple[int, int] | None, query: Filter, limit: int, project: str, *, rest: bool = False
) -> list[tuple[int, int, int | None]]:
    """(last_at, id, thread) of the newest episodes before (last_at, id), or of all; None for a thread of one session.

    `rest`: it is the whole rest of the list, as a rule.
    """
    joined, where, values = _source(query, project)
    if where or not rest:
        found = _in_order(db, f"SELECT u.last_at, u.id, u.thread_id {joined}", before, where, values, limit)
    else:  # two indexes have all of it: no row is looked up
        of = dict(db.execute("SELECT id, thread_id FROM work_units").fetchall())
        found = _in_order(db, f"SELECT u.last_at, u.id {joined}", before, "", [], limit)
        found = [(last_at, unit_id, of.get(unit_id)) for last_at, unit_id in found]
    sql = """SELECT thread_id FROM session_threads
        WHERE thread_id IN (SELECT value FROM json_each(?)) GROUP BY thread_id HAVING count(*) > 1"""
    threads = json.dumps([thread for *_, thread in found if thread is not None])
    several = {row[0] for row in db.execute(sql, (threads,)).fetchall()}
    return [(last_at, unit_id, thread if thread in several else None) for last_at, unit_id, thread in found]


def _in_order(
    db: Connection, select: str, before: tuple[int, int] | None, where: str, values: list[object], limit: int
) -> list[Any]:  # fmt: skip
    """Rows after a slot: the newest first, and last those that a clock that was ahead recorded."""
    now = db.execute(f"SELECT {NOW}").fetchone()[0]
    found: list[Any] = []
    for least, most in ((-(2**62), now), (now + 1, 2**62)):
        at, key = most, 2**62
        if before is not None and before[0] >= least:
            at, key = min((at, key), before)
        if before is not None and before[0] > most:
            continue
        found += db.execute(
            f"{select} WHERE (u.last_at, u.id) < (?, ?) AND u.last_at >= ? {where}"
            " ORDER BY u.last_at DESC, u.id DESC LIMIT ?",
            (at, key, least, *values, limit - len(found)),
        ).fetchall()
    return found


def count(db: Connection, query: Filter, project: str = "") -> int:
    """How many episodes match, at most COUNTED."""
    source, where, values = _source(query, project)
    sql = f"SELECT count(*) FROM (SELECT 1 {source} WHERE 1 {where} LIMIT {COUNTED})"  # noqa: S608
    return int(db.execute(sql, values).fetchone()[0])


def stamp(db: Connection) -> tuple[int, int, int]:
    """How many episodes there are, the newest id, and when one was active last: each is a look into an index."""
    sql = """SELECT (SELECT count(*) FROM work_units),
        (SELECT max(id) FROM work_units), (SELECT max(last_at) FROM work_units)"""
    row = db.execute(sql).fetchone()
    return row[0], row[1] or 0, row[2] or 0


# One episode


def current(db: Connection, session_id: str) -> Row | None:
    """The episode that a session is in, with what its story tells of the end, and what it goes on with."""
    sql = """SELECT u.*, coalesce(e.title, e.agent_title, e.heading) AS earlier_title, substr(e.intent, 1,
        200) AS earlier_intent, (SELECT n.outcome FROM narrations n WHERE n.unit_id = u.id) AS told_end, (SELECT n.marks
        FROM narrations n WHERE n.unit_id = u.id) AS told_marks FROM work_units u LEFT JOIN work_units e ON
        e.id = u.resumes WHERE u.session_id = ? ORDER BY u.state = 'open' DESC, u.started_at DESC, u.id DESC LIMIT 1"""
    return first_row(db, sql, (session_id,))


def whole(db: Connection, unit_id: int) -> Row | None:
    """One episode with all its columns, and the branch and the client of its session."""
    sql = """SELECT u.*, s.branch AS branch, s.client AS client
        FROM work_units u JOIN sessions s ON s.id = u.session_id WHERE u.id = ?"""
    return first_row(db, sql, (unit_id,))


def resuming(db: Connection, unit_id: int) -> list[int]:
    """The episodes that go on with it."""
    found = db.execute("SELECT id FROM work_units WHERE resumes = ? ORDER BY started_at LIMIT 9", (unit_id,))
    return [row[0] for row in found.fetchall()]


def previous(db: Connection, unit: Row) -> int | None:
    """The episode before it in its session."""
    sql = """SELECT id
        FROM work_units WHERE session_id = ? AND (started_at, id) < (?, ?) ORDER BY started_at DESC, id DESC LIMIT 1"""
    row = first_row(db, sql, (unit["session_id"], unit["started_at"], unit["id"]))
    return row[0] if row else None


def judged(db: Connection, unit_id: int) -> list[Row]:
    """What was decided about each of its prompts."""
    return db.execute("SELECT * FROM unit_prompts WHERE unit_id = ?", (unit_id,)).fetchall()


def prompts(db: Connection, session_id: str) -> list[tuple[int, int]]:
    """When the person said something in a session, and in which episode that is."""
    sql = """SELECT p.at, u.unit_id FROM prompts p
        JOIN unit_prompts u ON u.prompt_id = p.id WHERE p.session_id = ? AND p.source = 'user' ORDER BY p.at, p.id"""
    return db.execute(sql, (session_id,)).fetchall()


def actions(db: Connection, session_id: str, unit_id: int) -> int:
    """How many calls there are in an episode."""
    sql = """SELECT count(*) FROM observations
        WHERE session_id = ? AND prompt_id IN (SELECT prompt_id FROM unit_prompts WHERE unit_id = ?)"""
    return int(db.execute(sql, (session_id, unit_id)).fetchone()[0])


def done_since(db: Connection, session_id: str, seq: int, unit_id: int) -> list[tuple[Any, ...]]:
    """The calls of an episode after one, as `nmem.episodes.tally.Seen` takes them."""
    sql = """
    SELECT o.seq, o.id, o.at, o.obs_type, NULL, CASE WHEN instr(coalesce(o.metadata, ''), '"refused":') THEN 'failed'
      ELSE o.outcome END, o.duration_ms, o.metadata,
      CASE WHEN o.obs_type LIKE 'git%' OR o.obs_type = 'test' THEN o.content ELSE '' END, NULL, NULL, NULL, NULL, NULL
    FROM observations o WHERE o.session_id = ? AND o.seq > ?
      AND o.prompt_id IN (SELECT prompt_id FROM unit_prompts WHERE unit_id = ?) ORDER BY o.seq"""
    return [tuple(row) for row in db.execute(sql, (session_id, seq, unit_id)).fetchall()]


def place(db: Connection, prompt_id: int) -> tuple[Any, ...] | None:
    """Where a prompt stands: its episode, whether it opens that, label, score, reason, by whom, whether offered."""
    sql = """SELECT x.unit_id, u.first_prompt_id = x.prompt_id, x.label, x.score, x.reason, x.decided_by, x.offered
        FROM unit_prompts x JOIN work_units u ON u.id = x.unit_id WHERE x.prompt_id = ?"""
    row = first_row(db, sql, (prompt_id,))
    return tuple(row) if row else None


# Threads


TITLE_STORED = 80
"""Characters of a title that are stored; what is longer was cut there, wherever that was."""


def cut_title(title: str) -> str:
    """A title as a person reads it: one that was cut ends with a whole word and an ellipsis."""
    title = " ".join(title.split())
    if len(title) < TITLE_STORED - 1 or title.endswith("…"):
        return title
    return (title.rpartition(" ")[0].rstrip(" ,;:–-") or title) + "…"


class Thread(NamedTuple):
    """One line of work over sessions."""

    id: int
    project_id: int
    title: str
    sessions: int
    state: str
    chosen: bool
    """A person chose it for the next session of its project."""


class Link(NamedTuple):
    """A decision whether two threads are one line of work."""

    id: int
    earlier_id: int
    earlier: str
    earlier_at: int
    later_id: int
    later: str
    later_at: int
    project: str
    score: float
    linked: bool
    certainty: str
    """high, likely or uncertain."""
    outcome: str
    """correct or incorrect, once somebody said so."""
    reasoning: str
    summary: str
    unit_id: int
    """The episode that the later thread begins with; 0: none."""
    sure: str = ""
    """How sure nmem is of it, in a word."""
    because: str = ""
    """What speaks for a link, in a few words."""

    @property
    def asked(self) -> bool:
        """Whether it is an open question that a person can answer."""
        return self.certainty == "uncertain" and not self.outcome


_LINK = """
SELECT l.id, l.earlier_thread_id, a.title AS earlier, a.last_at AS earlier_at, l.later_thread_id, b.title AS later,
  b.created_at AS later_at, p.name AS project, l.algorithmic_score, l.decision, l.certainty, l.outcome, l.outcome_by,
  l.llm_reasoning, l.summary, l.components, l.agreement,
  (SELECT u.id FROM work_units u WHERE u.thread_id = b.id ORDER BY u.started_at, u.id LIMIT 1) AS unit_id
FROM episode_links l JOIN threads a ON a.id = l.earlier_thread_id JOIN threads b ON b.id = l.later_thread_id
  JOIN projects p ON p.id = b.project_id
"""


def _linked(row: Row) -> bool:
    """The decision, or the person's word against it."""
    decided = row["decision"] == "link"
    return not decided if row["outcome"] == "incorrect" and row["outcome_by"] == "person" else decided


def _link(row: Row) -> Link:
    linked = _linked(row)
    agreed = None if row["agreement"] is None else bool(row["agreement"])
    return Link(
        row["id"], row["earlier_thread_id"], row["earlier"], row["earlier_at"], row["later_thread_id"], row["later"],
        row["later_at"], row["project"], row["algorithmic_score"], linked,
        row["certainty"], (row["outcome"] or "") if row["outcome_by"] == "person" else "",
        row["llm_reasoning"] or "", row["summary"] or "", row["unit_id"] or 0,
        *surety(linked, row["certainty"], numbers(row["components"]), agreed),
    )  # fmt: skip


def thread(db: Connection, thread_id: int | None) -> Thread | None:
    """One thread."""
    sql = """SELECT t.id, t.project_id, t.title, (SELECT count(*) FROM session_threads x WHERE x.thread_id = t.id),
        t.state, EXISTS (SELECT 1 FROM thread_choices c WHERE c.project_id = t.project_id AND c.thread_id = t.id)
        FROM threads t WHERE t.id = ?"""
    row = first_row(db, sql, (thread_id,))
    return Thread(row[0], row[1], row[2], row[3], row[4], bool(row[5])) if row else None


def links(db: Connection, thread_id: int | None) -> tuple[Link, ...]:
    """The decisions about a thread, on either side; those that link first."""
    sql = f"""{_LINK} WHERE l.earlier_thread_id = ?1 OR l.later_thread_id = ?1
        ORDER BY l.decision = 'link' DESC, l.certainty, l.at DESC LIMIT 20"""
    return tuple(map(_link, db.execute(sql, (thread_id,)).fetchall())) if thread_id is not None else ()


# Questions


A_WEEK, WEEKS = 10, 4
"""Questions of one kind that are put at a time: the likeliest of a week, of the newest weeks that have some."""


def _few(key: str, at: str, score: str, source: str) -> str:
    """SQL that selects the questions put at a time, out of all in `source`."""
    week = f"{at} / {7 * 24 * 3_600_000}"
    return f"""SELECT key FROM (SELECT {key} AS key, dense_rank() OVER (ORDER BY {week} DESC) AS week,
        row_number() OVER (PARTITION BY {week} ORDER BY {score} DESC, {key} DESC) AS place FROM {source})
        WHERE place <= {A_WEEK} AND week <= {WEEKS}"""  # noqa: S608 - our words and numbers


_ASKED = _few("x.prompt_id", "p.at", "x.score", "unit_prompts x JOIN prompts p ON p.id = x.prompt_id WHERE x.offered")
_UNSURE = "l.certainty = 'uncertain' AND l.outcome_by IS NOT 'person'"
_UNSURE_FEW = _few("l.id", "b.created_at", "l.algorithmic_score",
                   f"episode_links l JOIN threads b ON b.id = l.later_thread_id WHERE {_UNSURE}")  # fmt: skip


def offers(db: Connection, limit: int) -> list[Row]:
    """The prompts at which an episode was nearly cut, and what the episode is about: the newest first."""
    sql = f"""SELECT p.id, p.session_id, p.at, substr(p.content, 1, 2000) AS content, x.unit_id, x.score,
        x.reason, j.name AS project, coalesce(u.title, u.agent_title, u.heading, substr(u.intent, 1, 400)) AS name
        FROM unit_prompts x JOIN prompts p
        ON p.id = x.prompt_id JOIN work_units u ON u.id = x.unit_id JOIN sessions s ON s.id = p.session_id
        JOIN projects j ON j.id = s.project_id WHERE x.prompt_id IN ({_ASKED}) ORDER BY p.id DESC LIMIT ?"""  # noqa: S608
    return db.execute(sql, (limit,)).fetchall()


def said_before(db: Connection, session_id: str, source: str, at: int) -> Row | None:
    """What a source said last before a moment."""
    sql = """SELECT at, substr(content, 1, 1200) AS content FROM prompts WHERE session_id = ?
        AND source = ? AND at < ? AND kind NOT IN ('subagent', 'thinking') ORDER BY at DESC, id DESC LIMIT 1"""
    return first_row(db, sql, (session_id, source, at))


def doubtful(db: Connection, limit: int = 100, only: Iterable[int] | None = None) -> tuple[Link, ...]:
    """Uncertain decisions on links that no person judged yet, newest first: as many as are asked, or of `only` all."""
    few = _UNSURE_FEW if only is None else "SELECT value FROM json_each(?2)"
    sql = f"{_LINK} WHERE {_UNSURE} AND l.id IN ({few}) ORDER BY l.at DESC, l.id DESC LIMIT ?1"
    values = (limit,) if only is None else (limit, json.dumps(list(only)))
    return tuple(map(_link, db.execute(sql, values).fetchall()))


def asked(db: Connection) -> tuple[int, int]:
    """How many questions are put to the person: on boundaries, on links."""
    sql = f"SELECT (SELECT count(*) FROM ({_ASKED})), (SELECT count(*) FROM ({_UNSURE_FEW}))"  # noqa: S608 - our words
    row = db.execute(sql).fetchone() if tables.version(db) else (0, 0)
    return int(row[0]), int(row[1])
