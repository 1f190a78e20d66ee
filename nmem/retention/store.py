"""Answers what is past its lifetime, what of it is of use and what sweeps never delete (SQL, reading only).

Never deleted are records that a person kept, and those needed to understand them: pinned calls, prompts, episodes,
threads and learnings; markers, decisions among them; the evidence of accepted learnings; calls whose labels a person
put right; of each of these the prompt that it answered; and decisions said in passing with their question, unless a
person dismissed them.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from sqlite3 import Connection
from typing import Any

from nmem.settings.kinds import NOTIFICATION, PROMPT, REASONING

_BEHIND = 86_400_000
"""Milliseconds: sessions go on side by side for so long."""
_EVIDENCE = """
SELECT e.observation_id, e.prompt_id FROM learning_evidence e JOIN learnings l ON l.id = e.learning_id
WHERE e.session_id = ? AND (l.state = 'accepted' OR l.rule IS NOT NULL OR 'learning/' || l.id IN
  (SELECT c.item FROM context_choices c WHERE c.project_id = l.project_id AND c.choice IN ('pin', 'include')))
"""
_DECIDED = """
SELECT prompt_id, asked_id, restated_id FROM said_decisions WHERE session_id = ? AND state != 'dismissed'
"""
_UNITS = """
SELECT u.id, u.started_at, u.last_at FROM work_units u LEFT JOIN threads t ON t.id = u.thread_id
WHERE u.session_id = ?1 AND (u.pinned OR t.pinned OR EXISTS (SELECT 1 FROM context_choices c
  WHERE c.choice IN ('pin', 'include') AND c.item IN ('episode/' || u.id, 'thread/' || u.thread_id)))
"""
TAKEN_IN = """
SELECT c.session_id, max(c.updated_at) FROM transcript_cursors c JOIN sessions s ON s.id = c.session_id
WHERE s.origin = 'import' AND c.path NOT GLOB 'live:*' AND c.path NOT GLOB 'titles:*' GROUP BY c.session_id
"""
"""Sessions that an import brought, and when it last found something new of them (ms)."""
_BEFORE = """
SELECT max(at) FROM observations WHERE session_id = ?1 AND at <= ?2
AND id < (SELECT id FROM observations WHERE session_id = ?1 ORDER BY at, id LIMIT 1)
"""
"""When the newest of the calls was that were stored before a session's earliest one (ms)."""
_GUARD = """
SELECT s.seq || '.' || s.state || '.' || s.last_at,
  (SELECT group_concat(u.id || '.' || u.pinned || '.' || u.state || '.' || u.traced_seq || '.' || u.annotated_seq
    || '.' || coalesce(u.thread_id, '') || coalesce((SELECT pinned FROM threads t WHERE t.id = u.thread_id), ''))
    FROM work_units u WHERE u.session_id = s.id),
  (SELECT max(id) FROM corrections), (SELECT count(*) FROM corrections WHERE undone_at IS NOT NULL),
  (SELECT count(*) || '.' || max(at) FROM context_choices),
  (SELECT total(o.pinned) FROM observations o WHERE o.pinned = 1)
FROM sessions s WHERE s.id = ?
"""


@dataclass(slots=True)
class Exempt:
    """What of one session stays."""

    observations: set[int] = field(default_factory=set)
    prompts: set[int] = field(default_factory=set)
    spans: list[tuple[int, int]] = field(default_factory=list)
    """Times of pinned episodes: what was said in them stays, too."""
    units: int = 0

    def said_within(self, at: int) -> bool:
        """Whether something said then belongs to an episode that stays."""
        return any(begin <= at <= end for begin, end in self.spans)


@dataclass(frozen=True, slots=True)
class Kept:
    """What a person's corrections and choices name, of all sessions; read once a sweep and whenever these change."""

    observations: Mapping[str, frozenset[int]]
    """By session."""
    prompts: Mapping[str, frozenset[int]]
    taken_in: Mapping[str, int] = field(default_factory=dict)
    """Sessions that are older than their coming, and when they came: their lifetimes begin then."""


def kept(db: Connection, now: int = 1 << 62) -> Kept:
    """Calls and prompts that corrections or the context's choices name; and when sessions came, as far as by `now`."""
    named: dict[str, set[int]] = {"observation": set(), "obs": set(), "prompt": set()}
    sources = (
        "SELECT target FROM corrections WHERE undone_at IS NULL AND target GLOB 'obs*/*'",
        "SELECT item FROM context_choices WHERE choice IN ('pin', 'include')",
    )
    for sql in sources:
        for (target,) in db.execute(sql).fetchall():
            kind, _, number = str(target).partition("/")
            if kind in named and number.isdigit():
                named[kind].add(int(number))
    calls = named["observation"] | named["obs"]
    stored = _stored(db, now)
    for session_id, at in db.execute(TAKEN_IN).fetchall():
        stored[session_id] = max(at, stored.get(session_id, 0))
    return Kept(_by_session(db, "observations", calls), _by_session(db, "prompts", named["prompt"]), stored)


def _stored(db: Connection, now: int) -> dict[str, int]:
    """Sessions of a clock that was behind, if only for a while, and when they were stored at the earliest.

    Rows are stored in the order of their numbers: a session came after all that have a lower one had begun, and its
    earliest call after those before it.
    """
    found = db.execute("SELECT id, started_at, last_at FROM sessions WHERE origin = 'hook' ORDER BY rowid").fetchall()
    out: dict[str, int] = {}
    latest = 0
    for session_id, started, last in found:
        if latest > started + _BEHIND:
            out[session_id] = latest
        if last > started + _BEHIND:
            before = db.execute(_BEFORE, (session_id, now)).fetchone()[0] or 0
            if before > started + _BEHIND:
                out[session_id] = max(before, out.get(session_id, 0))
        latest = max(latest, started if started <= now else 0)
    return out


def _by_session(db: Connection, table: str, ids: set[int]) -> dict[str, frozenset[int]]:
    found: dict[str, set[int]] = {}
    sql = f"SELECT session_id, id FROM {table} WHERE id IN (SELECT value FROM json_each(?))"  # noqa: S608 - our names
    for session_id, number in db.execute(sql, (json.dumps(sorted(ids)),)).fetchall():
        found.setdefault(session_id, set()).add(number)
    return {session_id: frozenset(those) for session_id, those in found.items()}


def of_session(db: Connection, session_id: str, all_kept: Kept) -> Exempt:
    """What of a session stays."""
    none: frozenset[int] = frozenset()
    out = Exempt(set(all_kept.observations.get(session_id, none)), set(all_kept.prompts.get(session_id, none)))
    for number, prompt_id in db.execute(_EVIDENCE, (session_id,)).fetchall():
        out.observations |= {number} - {None}
        out.prompts |= {prompt_id} - {None}
    for said in db.execute(_DECIDED, (session_id,)).fetchall():
        out.prompts |= {*said} - {None}
    for unit_id, begin, end in db.execute(_UNITS, (session_id,)).fetchall():
        out.units += 1
        out.spans.append((begin, end))
        own = db.execute("SELECT prompt_id FROM unit_prompts WHERE unit_id = ?", (unit_id,)).fetchall()
        out.prompts |= {row[0] for row in own}
        done = "SELECT id FROM observations WHERE prompt_id IN (SELECT prompt_id FROM unit_prompts WHERE unit_id = ?)"
        out.observations |= {row[0] for row in db.execute(done, (unit_id,)).fetchall()}
    out.observations |= _own(db, session_id)
    out.prompts |= _asked(db, session_id, out.observations)
    return out


def _own(db: Connection, session_id: str) -> set[int]:
    """Pinned calls and markers, by their own indexes: they are few."""
    found = db.execute(
        "SELECT id FROM observations WHERE pinned = 1 AND session_id = ?1 AND at >= 0"
        " UNION ALL SELECT id FROM observations WHERE obs_type = 'marker' AND session_id = ?1",
        (session_id,),
    )
    return {row[0] for row in found.fetchall()}


def _asked(db: Connection, session_id: str, observations: set[int]) -> set[int]:
    """The prompts that these calls answered."""
    if not observations:
        return set()
    marks = ",".join(map(str, sorted(observations)))
    found = db.execute(
        f"SELECT DISTINCT prompt_id FROM observations WHERE id IN ({marks}) AND session_id = ?"  # noqa: S608 - numbers
        " AND prompt_id IS NOT NULL",
        (session_id,),
    )
    return {row[0] for row in found.fetchall()}


def guard(db: Connection, session_id: str) -> tuple[object, ...]:
    """What a plan for a session rests on; another value, and it must be made again."""
    row = db.execute(_GUARD, (session_id,)).fetchone()
    return tuple(row) if row else ()


def choices_version(db: Connection) -> tuple[object, ...]:
    """Changes whenever a person corrects or chooses something."""
    return tuple(
        db.execute(
            "SELECT (SELECT max(id) FROM corrections),"
            " (SELECT count(*) FROM corrections WHERE undone_at IS NOT NULL),"
            " (SELECT count(*) || '.' || max(at) FROM context_choices)"
        ).fetchone()
    )


# what is past its lifetime

_STATE = """
SELECT s.state = 'working' AND s.last_at > ?, EXISTS (SELECT 1 FROM session_summaries x WHERE x.session_id = s.id),
  (SELECT count(*) FROM work_units u WHERE u.session_id = s.id),
  (SELECT count(*) FROM work_units u WHERE u.session_id = s.id AND u.state = 'open'),
  (SELECT count(*) FROM work_units u WHERE u.session_id = s.id AND u.obs_count > 0 AND u.traced_seq < u.annotated_seq),
  EXISTS (SELECT 1 FROM prompts p WHERE p.session_id = s.id AND p.source = 'user' AND p.agent_id IS NULL
    AND NOT EXISTS (SELECT 1 FROM unit_prompts x WHERE x.prompt_id = p.id))
FROM sessions s WHERE s.id = ?
"""


def state(db: Connection, session_id: str, since: int) -> tuple[Any, ...] | None:
    """Works since then, is summed up, episodes, open ones, untraced ones, has prompts of no episode; None: is gone."""
    row = db.execute(_STATE, (since, session_id)).fetchone()
    return tuple(row) if row is not None else None


def projects(db: Connection, project: str = "") -> dict[int, str]:
    """Projects and their names: all, or those of this name, key or root."""
    found = db.execute("SELECT id, name FROM projects WHERE ?1 = '' OR ?1 IN (name, key, root) ORDER BY id", (project,))
    return {int(row[0]): str(row[1]) for row in found.fetchall()}


def sessions_before(db: Connection, project_id: int, before: int = 1 << 62) -> list[str]:
    """Sessions that began before a time, the oldest first."""
    found = db.execute(
        "SELECT id FROM sessions WHERE project_id = ? AND started_at < ? ORDER BY started_at, id", (project_id, before)
    )
    return [str(row[0]) for row in found.fetchall()]


def expired(
    db: Connection, session_id: str, columns: str, before: int, cutoffs: Mapping[str, int]
) -> list[tuple[Any, ...]]:
    """Some columns of a session's calls o before a time, that are also before the time of their type."""
    whens = " ".join("WHEN ? THEN ?" for _ in cutoffs)
    given = [each for pair in cutoffs.items() for each in pair]
    condition = f"o.at < CASE o.obs_type {whens} ELSE 0 END" if cutoffs else "0"
    found = db.execute(
        f"SELECT {columns} FROM observations o WHERE o.session_id = ? AND o.at < ?"  # noqa: S608
        f" AND o.obs_type != 'marker' AND {condition} ORDER BY o.id",
        (session_id, before, *given),
    )
    return found.fetchall()


def said(db: Connection, session_id: str, source: str, before: int) -> list[tuple[int, int, str]]:
    """(id, ms, source) of what was said: of users only what has words left, of others what nothing hangs on."""
    which = (
        "p.content != ''"
        if source == "user"
        else (
            "NOT EXISTS (SELECT 1 FROM observations o WHERE o.prompt_id = p.id)"
            " AND NOT EXISTS (SELECT 1 FROM unit_prompts x WHERE x.prompt_id = p.id)"
        )
    )
    return db.execute(
        "SELECT p.id, p.at, p.source FROM prompts p WHERE p.session_id = ? AND p.source = ? AND p.at < ?"  # noqa: S608
        f" AND {which} ORDER BY p.id",
        (session_id, source, before),
    ).fetchall()


def traces(db: Connection, session_id: str) -> list[str]:
    """The traces of a session's episodes."""
    found = db.execute("SELECT obs_trace FROM work_units WHERE session_id = ?", (session_id,))
    return [row[0] for row in found.fetchall()]


def by_day(db: Connection, session_ids: Sequence[str], day: int) -> list[tuple[str, int, int, int]]:
    """(type, the how many-th day of so many ms, how many, when the oldest was) of what some sessions hold."""
    marks = ",".join("?" * len(session_ids))
    kind = f"CASE source WHEN 'user' THEN '{PROMPT}' WHEN 'agent' THEN '{REASONING}' ELSE '{NOTIFICATION}' END"
    out: list[tuple[str, int, int, int]] = []
    for table, type_, where in (("observations", "obs_type", ""), ("prompts", kind, " AND content != ''")):
        out += db.execute(
            f"WITH taken(id, at) AS MATERIALIZED ({TAKEN_IN})"  # noqa: S608
            f" SELECT {type_}, max(t.at, coalesce(k.at, 0)) / {day}, count(*), min(t.at) FROM {table} t"
            f" LEFT JOIN taken k ON k.id = t.session_id WHERE t.session_id IN ({marks}){where} GROUP BY 1, 2",
            session_ids,
        ).fetchall()
    return out


def imported(db: Connection, project: str, since: int, day: int) -> list[tuple[str, str, int, int, int]]:
    """(project, type, day, when it came, how many) of the calls that came by imports since a time."""
    return db.execute(
        f"WITH taken(id, at) AS MATERIALIZED ({TAKEN_IN})"  # noqa: S608 - our words
        f" SELECT p.name, o.obs_type, o.at / {day}, k.at, count(*) FROM observations o JOIN taken k ON k.id ="
        " o.session_id JOIN sessions s ON s.id = o.session_id JOIN projects p ON p.id = s.project_id"
        " WHERE o.obs_type != 'marker' AND ? IN ('', p.name, p.key, p.root) AND k.at >= ? GROUP BY 1, 2, 3, 4",
        (project, since),
    ).fetchall()


# of what use it is


def told(db: Connection, project_id: int, most: int) -> list[tuple[str, str, int]]:
    """(item, files, used) of the newest things that sessions of a project were told, where their use is known."""
    return db.execute(
        "SELECT i.item, i.files, i.used FROM injection_items i JOIN injections j ON j.id = i.injection_id"
        " JOIN sessions s ON s.id = j.session_id WHERE s.project_id = ? AND i.used IS NOT NULL AND NOT j.withheld"
        " ORDER BY i.id DESC LIMIT ?",
        (project_id, most),
    ).fetchall()


def newest_sessions(db: Connection, project_id: int, before: int, most: int) -> list[str]:
    """The newest sessions of a project whose last event was before a time."""
    found = db.execute(
        "SELECT s.id FROM sessions s WHERE s.project_id = ? AND s.last_at < ? ORDER BY s.last_at DESC LIMIT ?",
        (project_id, before, most),
    )
    return [row[0] for row in found.fetchall()]


def units_near(db: Connection, session_id: str) -> set[int]:
    """Episodes that a person pinned, or in which something is pinned or marked."""
    rows = db.execute(
        "SELECT u.id FROM work_units u WHERE u.session_id = ?1 AND (u.pinned OR EXISTS (SELECT 1 FROM unit_prompts x"
        " JOIN observations o ON o.prompt_id = x.prompt_id WHERE x.unit_id = u.id"
        " AND (o.pinned = 1 OR o.obs_type = 'marker')))",
        (session_id,),
    )
    return {int(row[0]) for row in rows.fetchall()}


def evidence(db: Connection, session_id: str) -> set[int]:
    """Calls that are evidence of learnings that are not dismissed or settled."""
    rows = db.execute(
        "SELECT e.observation_id FROM learning_evidence e JOIN learnings l ON l.id = e.learning_id"
        " WHERE e.session_id = ? AND l.state IN ('open', 'accepted', 'snoozed') AND e.observation_id IS NOT NULL",
        (session_id,),
    )
    return {int(row[0]) for row in rows.fetchall()}


def calls(db: Connection, session_id: str) -> list[tuple[Any, ...]]:
    """(id, type, file, episode) of a session's calls."""
    return db.execute(
        "SELECT o.id, o.obs_type, o.file_path, x.unit_id FROM observations o"
        " LEFT JOIN unit_prompts x ON x.prompt_id = o.prompt_id WHERE o.session_id = ?",
        (session_id,),
    ).fetchall()


def units(db: Connection, session_id: str) -> list[tuple[int, int, int]]:
    """(id, turns, what agents said meanwhile) of a session's episodes."""
    return db.execute(
        "SELECT u.id, u.turn_count, (SELECT count(*) FROM prompts p WHERE p.session_id = u.session_id"
        " AND p.source = 'agent' AND p.at >= u.started_at AND p.at <= u.last_at) FROM work_units u"
        " WHERE u.session_id = ?",
        (session_id,),
    ).fetchall()


# whether anybody works


def last_active(db: Connection, upto: int) -> int | None:
    """When a session that may go on had its last event."""
    found: int | None = db.execute(
        "SELECT max(last_at) FROM sessions WHERE state != 'ended' AND last_at <= ?", (upto,)
    ).fetchone()[0]
    return found


def last_recorded(db: Connection, upto: int) -> int | None:
    """When a hook recorded something last."""
    older = "SELECT max(last_at) FROM sessions WHERE last_at <= ? AND origin = 'hook'"
    found: int | None = db.execute(older, (upto,)).fetchone()[0]
    return found
