"""Reads episodes for the cockpit and the command line: the current one, and the list of all.

Every function takes a connection of `nmem.database.reader` and gives frozen dataclasses; a database without the tables
of meaning has no episodes. Text is as stored: whoever prints it passes it through `nmem.text.printable`.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from sqlite3 import Connection, Row
from typing import Any

from nmem import tables
from nmem.episodes import open_ends
from nmem.episodes.titles import shown
from nmem.read import outcome, views
from nmem.read import threads as thread_views
from nmem.read.episode_filter import Filter
from nmem.read.outcome import Outcome as Outcome  # noqa: PLC0414 - shown with its episode
from nmem.read.threads import Thread
from nmem.read.views import Effort, HotFile
from nmem.tables import NOW
from nmem.text import json_list

PAGE = 1000
_SHORT = 300


@dataclass(frozen=True, slots=True)
class CurrentUnit:
    """The episode that a session is in, counted up to now."""

    id: int
    name: str
    """The person's own name for it, else its opening prompt."""
    titled: bool
    started_at: int
    active_ms: int
    turns: int
    cut_reason: str
    cut_confidence: float
    cut_by: str
    resumes: str
    """The name of the earlier episode that it goes on with, if it does."""
    pinned: bool
    effort: Effort
    hot: tuple[HotFile, ...]
    outcome: Outcome
    thread: Thread | None
    done: tuple[str, ...] = ()
    """What its story says was done, told at the end of a turn."""
    left: tuple[str, ...] = ()
    """What fails or is open, as far as nothing closed it since."""


@dataclass(frozen=True, slots=True)
class EpisodeRow:
    """One line of the list."""

    id: int
    session_id: str
    thread_id: int | None
    thread: str
    project: str
    name: str
    state: str
    resumes: bool
    pinned: bool
    started_at: int
    last_at: int
    active_ms: int
    turns: int
    outcome: Outcome
    friction: float | None
    narrated: bool
    offered: int
    """Places in it where it was nearly cut."""
    files: int = 0
    """Files that it changed."""


@dataclass(frozen=True, slots=True)
class Slot:
    """Where an episode stands in the list."""

    last_at: int
    id: int
    thread_id: int | None
    """A line of work over several sessions; None: the session is by itself."""


@dataclass(frozen=True, slots=True)
class Stamp:
    """Changes when the list may have changed."""

    units: int = 0
    newest_id: int = 0
    newest_at: int = 0


@dataclass(frozen=True, slots=True)
class Page:
    """A stretch of the list, newest first; `total` counts all that match, at most COUNTED; `more`: not counted."""

    slots: tuple[Slot, ...]
    total: int
    stamp: Stamp
    rows: dict[int, EpisodeRow] = field(default_factory=dict)
    more: bool = False


COUNTED = 100_000


def present(db: Connection) -> bool:
    """Whether the tables of meaning are there."""
    return tables.version(db) > 0


# the current one


def current(db: Connection, session_id: str) -> CurrentUnit | None:
    """The episode that a session is in, or None when none is known."""
    if not present(db):
        return None
    row = db.execute(
        "SELECT u.*, coalesce(e.title, e.agent_title, e.heading) AS earlier_title,"
        " substr(e.intent, 1, 200) AS earlier_intent,"
        " (SELECT n.outcome FROM narrations n WHERE n.unit_id = u.id) AS told_end,"
        " (SELECT n.marks FROM narrations n WHERE n.unit_id = u.id) AS told_marks"
        " FROM work_units u"
        " LEFT JOIN work_units e ON e.id = u.resumes WHERE u.session_id = ?"
        " ORDER BY u.state = 'open' DESC, u.started_at DESC, u.id DESC LIMIT 1",
        (session_id,),
    ).fetchone()
    if row is None:
        return None
    since = row["started_at"]
    return CurrentUnit(
        row["id"], shown(row["title"] or row["agent_title"], row["heading"], row["intent"]), bool(row["title"]),
        since, row["active_ms"], row["turn_count"], row["cut_reason"], row["cut_confidence"], row["cut_by"],
        shown(None, row["earlier_title"], row["earlier_intent"] or ""),
        bool(row["pinned"]), views.effort(db, session_id, since), views.hot_files(db, session_id, since=since),
        _outcome(db, row), thread_views.get(db, row["thread_id"]), _texts(row["completed"]),
        tuple(_left(db, row)),
    )  # fmt: skip


def _outcome(db: Connection, row: Row) -> Outcome:
    """How an episode of these columns stands: one that goes on, as of now."""
    if row["state"] == "open":
        return outcome.standing(db, row["id"])
    return outcome.stored(row["outcomes"], row["commits"], ended=row["told_end"], marks=row["told_marks"])


def _texts(stored: str | None) -> tuple[str, ...]:
    found = json_list(stored)
    return tuple(str(each) for each in found) if isinstance(found, list) else ()


def _left(db: Connection, row: Row) -> list[str]:
    """The open ends of its story without those that were closed since."""
    ends = _texts(row["next_steps"])
    told_at = min(row["last_at"], row["narrated_at"] or row["last_at"])
    names, db.row_factory = db.row_factory, None
    try:
        return open_ends.left(db, row["session_id"], told_at, ends)
    finally:
        db.row_factory = names


# the list


def page(
    db: Connection, before: Slot | None, query: Filter, limit: int = PAGE, project: str = "", *, counted: bool = True
) -> Page:
    """The newest `limit` episodes before a slot, or of all; without `counted` those of a full page stand for all."""
    if not present(db):
        return Page((), 0, Stamp())
    source, where, values = _source(query, project)
    slots = _slots(db, _in_order(db, f"SELECT u.last_at, u.id, u.thread_id {source}", before, where, values, limit))
    more = before is None and len(slots) == limit
    total = number(db, query, project) if more and counted else len(slots)
    first = rows(db, [slot.id for slot in slots[:64]]) if before is None else {}
    return Page(slots, total, stamp(db), first, more and not counted)


def older(db: Connection, before: Slot, query: Filter, project: str = "", limit: int = COUNTED) -> tuple[Slot, ...]:
    """The newest `limit` episodes before a slot: the whole rest of the list, as a rule."""
    if not present(db):
        return ()
    source, where, values = _source(query, project)
    if where:
        return _slots(db, _in_order(db, f"SELECT u.last_at, u.id, u.thread_id {source}", before, where, values, limit))
    # two indexes have all of it: no row is looked up
    threads = dict(db.execute("SELECT id, thread_id FROM work_units").fetchall())
    found = _in_order(db, f"SELECT u.last_at, u.id {source}", before, "", [], limit)
    return _slots(db, [(last_at, unit_id, threads.get(unit_id)) for last_at, unit_id in found])


def _slots(db: Connection, found: Sequence[Any]) -> tuple[Slot, ...]:
    """Slots of (last_at, id, thread_id); a thread of one session is none to group by."""
    several = {
        row[0]
        for row in db.execute(
            "SELECT thread_id FROM session_threads WHERE thread_id IN (SELECT value FROM json_each(?))"
            " GROUP BY thread_id HAVING count(*) > 1",
            (json.dumps([thread for *_, thread in found if thread is not None]),),
        ).fetchall()
    }
    return tuple(Slot(last_at, unit_id, thread if thread in several else None) for last_at, unit_id, thread in found)


def _in_order(
    db: Connection, select: str, before: Slot | None, where: str, values: list[object], limit: int
) -> list[Any]:  # fmt: skip
    """Rows after a slot: the newest first, and last those that a clock that was ahead recorded."""
    now = db.execute(f"SELECT {NOW}").fetchone()[0]
    found: list[Any] = []
    for least, most in ((-(2**62), now), (now + 1, 2**62)):
        at, key = most, 2**62
        if before is not None and before.last_at >= least:
            at, key = min((at, key), (before.last_at, before.id))
        if before is not None and before.last_at > most:
            continue
        found += db.execute(
            f"{select} WHERE (u.last_at, u.id) < (?, ?) AND u.last_at >= ? {where}"
            " ORDER BY u.last_at DESC, u.id DESC LIMIT ?",
            (at, key, least, *values, limit - len(found)),
        ).fetchall()
    return found


def number(db: Connection, query: Filter, project: str = "") -> int:
    """How many episodes match, at most COUNTED."""
    source, where, values = _source(query, project)
    sql = f"SELECT count(*) FROM (SELECT 1 {source} WHERE 1 {where} LIMIT {COUNTED})"  # noqa: S608
    return int(db.execute(sql, values).fetchone()[0])


def _source(query: Filter, project: str) -> tuple[str, str, list[object]]:
    """The tables, the conditions, and their values."""
    where, values = query.where()
    if project:
        where, values = f"{where} AND (p.name = ? OR p.key = ? OR p.root = ?)", [*values, project, project, project]
    joined = (
        "FROM work_units u JOIN sessions s ON s.id = u.session_id JOIN projects p ON p.id = s.project_id"
        " LEFT JOIN threads t ON t.id = u.thread_id"
    )
    return (joined if where else "FROM work_units u"), where, values


def stamp(db: Connection) -> Stamp:
    """What tells a changed list from an unchanged one, at the cost of an index."""
    if not present(db):
        return Stamp()
    return Stamp(
        *(
            value or 0  # each by itself: the largest are one look into an index
            for value in db.execute(
                "SELECT (SELECT count(*) FROM work_units), (SELECT max(id) FROM work_units),"
                " (SELECT max(last_at) FROM work_units)"
            ).fetchone()
        )
    )


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


def _row(db: Connection, row: Row) -> EpisodeRow:
    return EpisodeRow(
        row["id"], row["session_id"], row["thread_id"], row["thread"], row["project"],
        shown(row["title"] or row["agent_title"], row["heading"], row["intent"]),
        row["state"], row["resumes"] is not None, bool(row["pinned"]), row["started_at"], row["last_at"],
        row["active_ms"], row["turn_count"], _outcome(db, row), row["friction"],
        bool(row["narrator"]), row["offered"], row["files"],
    )  # fmt: skip


def rows(db: Connection, ids: Sequence[int]) -> dict[int, EpisodeRow]:
    """The rows of at most a few hundred episodes."""
    if not ids or not present(db):
        return {}
    sql = _ROW.format(short=_SHORT, marks=",".join("?" for _ in ids))
    return {row["id"]: _row(db, row) for row in db.execute(sql, list(ids)).fetchall()}


def siblings(db: Connection, unit_id: int, limit: int = 200) -> list[EpisodeRow]:
    """The episodes of the same session, in the order of time."""
    found = db.execute(
        "SELECT id FROM work_units WHERE session_id = (SELECT session_id FROM work_units WHERE id = ?)"
        " ORDER BY started_at, id LIMIT ?",
        (unit_id, limit),
    ).fetchall()
    ids = [row["id"] for row in found]
    known = rows(db, ids)
    return [known[each] for each in ids]


def earlier(db: Connection, unit_id: int, limit: int = 300) -> list[EpisodeRow]:
    """Episodes of the same project that began before this one, newest first: what it may go on with."""
    found = db.execute(
        "SELECT u.id FROM work_units u JOIN sessions s ON s.id = u.session_id JOIN work_units me ON me.id = ?"
        " JOIN sessions mine ON mine.id = me.session_id WHERE s.project_id = mine.project_id"
        " AND (u.started_at, u.id) < (me.started_at, me.id) ORDER BY u.started_at DESC, u.id DESC LIMIT ?",
        (unit_id, limit),
    ).fetchall()
    ids = [row["id"] for row in found]
    known = rows(db, ids)
    return [known[each] for each in ids]
