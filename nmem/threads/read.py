"""Reads threads for screens and the command line: a reading connection in, frozen dataclasses out.

Text is as stored: whoever prints it passes it through `nmem.text.printable`. Times are milliseconds.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from sqlite3 import Connection
from typing import Any

from nmem.learn import skill_use
from nmem.learn.skill_use import Skill
from nmem.tables import NOW
from nmem.text import texts
from nmem.threads import config, decisions
from nmem.threads.decisions import LINKED, Decision, Tuning

_FIELDS = (
    "id", "project", "title", "created_at", "last_at", "clients", "timeout_minutes", "explicit", "turn_count",
    "session_count", "primary_unit_id", "state", "micro", "meso", "macro", "compacted_at", "pinned",
)  # fmt: skip
FAMILY = 20
"""Threads that a cross-thread episode may span."""


@dataclass(frozen=True, slots=True)
class Thread:
    """One line of work across sessions and clients."""

    id: int
    project: str
    title: str
    created_at: int
    last_at: int
    clients: tuple[str, ...]
    """The channels it ran through."""
    timeout_minutes: float
    """The one in force: its own, the client's or the default."""
    explicit: bool
    """A person or their client chose it."""
    turn_count: int
    session_count: int
    primary_unit_id: int | None
    state: str
    """open or closed."""
    micro: str
    meso: str
    macro: str
    compacted_at: int | None
    pinned: bool
    cross_thread_episodes: tuple[int, ...]
    """Ids of the decisions that link it with other threads."""

    @property
    def summary(self) -> str:
        """One to three sentences when it was condensed, else its title."""
        return self.micro or self.title


@dataclass(frozen=True, slots=True)
class SessionOf:
    """A session of a thread."""

    id: str
    client: str
    branch: str
    started_at: int
    last_at: int
    how: str
    """new, timeout (within it), resume, chosen."""
    turns: int


@dataclass(frozen=True, slots=True)
class Turn:
    """A raw turn: what was asked, and what it led to. The observations are reachable by prompt_id."""

    prompt_id: int
    session_id: str
    unit_id: int | None
    at: int
    text: str
    actions: int
    failures: int


@dataclass(frozen=True, slots=True)
class CrossThread:
    """A cross-thread episode: all threads that links join to one, oldest first."""

    threads: tuple[int, ...]
    decisions: tuple[Decision, ...]
    summary: str


@dataclass(frozen=True, slots=True)
class ThreadView:
    """Everything about one thread: summaries, skills, links and what they join, sessions. Raw turns: `turns`."""

    thread: Thread
    sessions: tuple[SessionOf, ...]
    decisions: tuple[Decision, ...]
    cross: CrossThread | None
    skills: tuple[Skill, ...]
    titles: dict[int, str]
    """Of the threads that were compared with it."""


_SELECT = (
    "SELECT t.id, p.name, t.title, t.created_at, t.last_at, t.clients, t.timeout_minutes, t.explicit, t.turn_count,"
    " (SELECT count(*) FROM session_threads x WHERE x.thread_id = t.id), t.primary_unit_id, t.state,"
    " coalesce(t.micro, ''), coalesce(t.meso, ''), coalesce(t.macro, ''), t.compacted_at, t.pinned"
    " FROM threads t JOIN projects p ON p.id = t.project_id"
)


def _thread(db: Connection, row: Sequence[Any], known: config.Config) -> Thread:
    values: dict[str, Any] = dict(zip(_FIELDS, row, strict=True))
    clients = texts(values["clients"])
    values["clients"] = clients
    if values["timeout_minutes"] is None:
        values["timeout_minutes"] = known.timeout(clients[0] if len(clients) == 1 else "")
    values["explicit"], values["pinned"] = bool(values["explicit"]), bool(values["pinned"])
    links = db.execute(
        f"SELECT id FROM episode_links WHERE (earlier_thread_id = ?1 OR later_thread_id = ?1) AND {LINKED} ORDER BY id",  # noqa: S608
        (values["id"],),
    ).fetchall()
    return Thread(**values, cross_thread_episodes=tuple(link[0] for link in links))


_SINGLE = "(SELECT count(*) FROM (SELECT 1 FROM session_threads x WHERE x.thread_id = t.id LIMIT 2)) < 2"


def threads(
    db: Connection, project: str = "", since: int = 0, limit: int = 200, *, singles: bool = True
) -> list[Thread]:
    """Threads with turns, the most recently active first; `project` is a name, a key or a root folder.

    `singles`: also those of one session.
    """
    where = " AND (p.name = ? OR p.key = ? OR p.root = ?)" if project else ""
    where += "" if singles else f" AND NOT {_SINGLE}"
    rows = db.execute(
        f"{_SELECT} WHERE t.turn_count > 0 AND t.last_at >= ?{where}"
        f" ORDER BY t.last_at > {NOW}, t.last_at DESC, t.id DESC"
        " LIMIT ?",
        (since, *([project] * 3 if project else []), limit),
    ).fetchall()
    known = config.load()
    return [_thread(db, row, known) for row in rows]


def single(db: Connection, project: str = "", since: int = 0) -> int:
    """How many threads with turns are of one session."""
    where = " AND (p.name = ? OR p.key = ? OR p.root = ?)" if project else ""
    row = db.execute(
        "SELECT count(*) FROM threads t JOIN projects p ON p.id = t.project_id"  # noqa: S608 - our words
        f" WHERE t.turn_count > 0 AND t.last_at >= ?{where} AND {_SINGLE}",
        (since, *([project] * 3 if project else [])),
    ).fetchone()
    return int(row[0])


def thread(db: Connection, thread_id: int) -> Thread | None:
    """One thread."""
    row = db.execute(f"{_SELECT} WHERE t.id = ?", (thread_id,)).fetchone()
    return _thread(db, row, config.load()) if row else None


def view(db: Connection, thread_id: int, now: int) -> ThreadView | None:
    """All about one thread."""
    found = thread(db, thread_id)
    if found is None:
        return None
    decided = decisions.of_thread(db, thread_id)
    shown = skill_use.of_thread(db, thread_id, now)
    others = {one.earlier_thread_id for one in decided} | {one.later_thread_id for one in decided}
    titles = db.execute(
        "SELECT id, title FROM threads WHERE id IN (SELECT value FROM json_each(?))", (json.dumps(sorted(others)),)
    )
    return ThreadView(
        found, sessions(db, thread_id), tuple(decided), cross(db, thread_id), shown, dict(map(tuple, titles.fetchall()))
    )


def sessions(db: Connection, thread_id: int) -> tuple[SessionOf, ...]:
    """The sessions of a thread, oldest first."""
    rows = db.execute(
        "SELECT s.id, s.client, coalesce(s.branch, ''), s.started_at, s.last_at, x.how,"
        " (SELECT count(*) FROM prompts p WHERE p.session_id = s.id AND p.source = 'user' AND p.agent_id IS NULL"
        "   AND p.kind IN ('prompt', 'late'))"
        " FROM session_threads x JOIN sessions s ON s.id = x.session_id"
        " WHERE x.thread_id = ? ORDER BY s.started_at, s.id",
        (thread_id,),
    )
    return tuple(SessionOf(*row) for row in rows.fetchall())


def turns(db: Connection, thread_id: int, after: tuple[int, int] = (-1, 0), limit: int = 100) -> list[Turn]:
    """A page of the raw turns of a thread in order; `after` is (at, prompt_id) of the last one seen."""
    rows = db.execute(
        "SELECT p.id, p.session_id, u.unit_id, p.at, p.content,"
        " (SELECT count(*) FROM observations o WHERE o.prompt_id = p.id),"
        " (SELECT count(*) FROM observations o WHERE o.prompt_id = p.id AND o.outcome = 'failed')"
        " FROM session_threads x JOIN prompts p ON p.session_id = x.session_id"
        " LEFT JOIN unit_prompts u ON u.prompt_id = p.id WHERE x.thread_id = ? AND p.source = 'user'"
        " AND p.agent_id IS NULL AND p.kind IN ('prompt', 'late') AND (p.at, p.id) > (?, ?)"
        " ORDER BY p.at, p.id LIMIT ?",
        (thread_id, *after, limit),
    )
    return [Turn(*row) for row in rows.fetchall()]


def cross(db: Connection, thread_id: int) -> CrossThread | None:
    """The cross-thread episode that a thread is part of: what links join, directly or through others."""
    seen, waiting, joined = {thread_id}, [thread_id], {}
    while waiting and len(seen) < FAMILY:
        here = waiting.pop(0)
        for each in decisions.of_thread(db, here):
            if each.linked:
                joined[each.id] = each
                for other in (each.earlier_thread_id, each.later_thread_id):
                    if other not in seen:
                        seen.add(other)
                        waiting.append(other)
    if not joined:
        return None
    rows = db.execute(
        f"SELECT id FROM threads WHERE id IN ({', '.join('?' * len(seen))}) ORDER BY created_at, id",  # noqa: S608
        sorted(seen),
    ).fetchall()
    decided = tuple(joined[number] for number in sorted(joined))
    summary = " ".join(dict.fromkeys(each.summary for each in decided if each.summary))
    return CrossThread(tuple(row[0] for row in rows), decided, summary[:2000])


def project_of(db: Connection, thread_id: int) -> int | None:
    """The project that a thread belongs to."""
    row = db.execute("SELECT project_id FROM threads WHERE id = ?", (thread_id,)).fetchone()
    return int(row[0]) if row else None


def tunings(db: Connection, limit: int = 50) -> list[Tuning]:
    """The history of the linking formula, the newest first."""
    return decisions.tunings(db, limit)
