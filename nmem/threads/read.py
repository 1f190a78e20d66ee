"""Reads threads for screens and the command line: a reading connection in, frozen dataclasses out.

Text is as stored: whoever prints it passes it through `nmem.text.printable`. Times are milliseconds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from sqlite3 import Connection
from typing import Any

from nmem.learn import skill_use
from nmem.learn.skill_use import Skill
from nmem.text import texts
from nmem.threads import config, links_store
from nmem.threads.decisions import Decision

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


def _thread(db: Connection, row: Sequence[Any], known: config.Config) -> Thread:
    values: dict[str, Any] = dict(zip(links_store.THREAD, row, strict=True))
    clients = texts(values["clients"])
    values["clients"] = clients
    if values["timeout_minutes"] is None:
        values["timeout_minutes"] = known.timeout(clients[0] if len(clients) == 1 else "")
    values["explicit"], values["pinned"] = bool(values["explicit"]), bool(values["pinned"])
    return Thread(**values, cross_thread_episodes=tuple(links_store.links_of(db, values["id"])))


def threads(
    db: Connection, project: str = "", since: int = 0, limit: int = 200, *, singles: bool = True
) -> list[Thread]:
    """Threads with turns, the most recently active first; `project` is a name, a key or a root folder.

    `singles`: also those of one session.
    """
    rows = links_store.threads(db, project, since, limit, singles=singles)
    known = config.load()
    return [_thread(db, row, known) for row in rows]


def thread(db: Connection, thread_id: int) -> Thread | None:
    """One thread."""
    row = links_store.thread(db, thread_id)
    return _thread(db, row, config.load()) if row else None


def view(db: Connection, thread_id: int, now: int) -> ThreadView | None:
    """All about one thread."""
    found = thread(db, thread_id)
    if found is None:
        return None
    decided = links_store.decisions_of(db, thread_id)
    shown = skill_use.of_thread(db, thread_id, now)
    others = {one.earlier_thread_id for one in decided} | {one.later_thread_id for one in decided}
    titles = links_store.titles(db, others)
    return ThreadView(found, sessions(db, thread_id), tuple(decided), cross(db, thread_id), shown, titles)


def sessions(db: Connection, thread_id: int) -> tuple[SessionOf, ...]:
    """The sessions of a thread, oldest first."""
    return tuple(SessionOf(*row) for row in links_store.sessions(db, thread_id))


def turns(db: Connection, thread_id: int, after: tuple[int, int] = (-1, 0), limit: int = 100) -> list[Turn]:
    """A page of the raw turns of a thread in order; `after` is (at, prompt_id) of the last one seen."""
    return [Turn(*row) for row in links_store.turns(db, thread_id, after, limit)]


def cross(db: Connection, thread_id: int) -> CrossThread | None:
    """The cross-thread episode that a thread is part of: what links join, directly or through others."""
    seen, waiting, joined = {thread_id}, [thread_id], {}
    while waiting and len(seen) < FAMILY:
        here = waiting.pop(0)
        for each in links_store.decisions_of(db, here):
            if each.linked:
                joined[each.id] = each
                for other in (each.earlier_thread_id, each.later_thread_id):
                    if other not in seen:
                        seen.add(other)
                        waiting.append(other)
    if not joined:
        return None
    decided = tuple(joined[number] for number in sorted(joined))
    summary = " ".join(dict.fromkeys(each.summary for each in decided if each.summary))
    return CrossThread(tuple(links_store.titles(db, seen)), decided, summary[:2000])
