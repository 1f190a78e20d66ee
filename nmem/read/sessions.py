"""Lists sessions: where each ran, its state, last activity, prompts, what a person says of it, who is at work.

A session is *working* while its agent is at a turn, *waiting* when it is the person's turn, and then over: *failed*
where the last test that it ran failed, or the task that it was run for did; else *done*. Clients that do not tell of
their end, and those that were killed, wait for a day; imported sessions, which nobody sits at, for half an hour.

A *clash* is a file that two sessions of a project edited within the last half hour while one of them works and the
other is not over; the same file of another checkout is one as well, of a milder kind.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from sqlite3 import Connection, Row
from typing import Any, NamedTuple

from nmem.context.places import LATELY, Edit, edits
from nmem.dispatch import task as tasks
from nmem.episodes.store import IDLE
from nmem.episodes.unit import shown
from nmem.read import store
from nmem.read.episodes import outcome_of
from nmem.sessions import marks
from nmem.text import json_list

WORKING, WAITING, DONE, FAILED = STATES = ("working", "waiting", "done", "failed")
SORTS = ("last", "started", "prompts", "project", "state")
ARCHIVED, CURRENT, ALL = "archived", "current", "all"
_MADE = 40
"""Titles that are made for one list; settling makes them all."""
WAITS = 24 * 3_600_000
"""Milliseconds for which a session that does not say that it is over waits for its person."""


class Listed(NamedTuple):
    """One session in a list. Times are milliseconds; texts as stored."""

    id: str
    client: str
    project: str
    root: str
    branch: str
    cwd: str
    transcript_path: str
    state: str
    """working, waiting, done or failed."""
    started_at: int
    last_at: int
    prompts: int
    name: str = ""
    """The person's name for it, else the title that was found."""
    named: bool = False
    """Whether the name is the person's."""
    tags: tuple[str, ...] = ()
    archived: bool = False
    copied_at: int = 0
    """When its transcript was copied; 0 where no copy is kept."""
    clashes: int = 0
    """Files that it and another session edited lately."""


def sessions(
    db: Connection, now: int, project: str = "", client: str = "", *, states: Sequence[str] = (),
    tags: Sequence[str] = (), which: str = CURRENT, sort: str = "last", limit: int = 0,
) -> list[Listed]:  # fmt: skip
    """The sessions of a project (its key) or of all, sorted; `limit` 0: all of them. A list has `tags` all."""
    wanted = {each.lstrip("#").lower() for each in tags}
    found = [_listed(row, now) for row in store.listed(db, project, client, which)]
    found = [one for one in found if (not states or one.state in states) and wanted <= set(one.tags)]
    found.sort(key=_KEYS[sort])
    many = clashes(edits(db, now)) if any(one.state == WORKING for one in found) else {}
    found = [one._replace(clashes=len(many[one.id])) if one.id in many else one for one in found]
    return _with_names(db, found[:limit] if limit else found)


def session(db: Connection, session_id: str, now: int) -> Listed | None:
    """One of them, archived or not; None when it is not there."""
    return next(iter(_with_names(db, [_listed(row, now) for row in store.listed(db, "", "", ALL, session_id)])), None)


_KEYS: Mapping[str, Any] = {
    "last": lambda one: -one.last_at,
    "started": lambda one: -one.started_at,
    "prompts": lambda one: (-one.prompts, -one.last_at),
    "project": lambda one: (one.project.lower(), -one.last_at),
    "state": lambda one: (STATES.index(one.state), -one.last_at),
}


def _listed(row: Row, now: int) -> Listed:
    said = marks.read(row["given"], row["tags"], row["archived"])
    values: list[Any] = [
        *tuple(row)[:7], _state(row, now), row["started_at"], row["last_at"], row["prompts"], said.name,
        bool(said.name), said.tags, said.archived, row["copied_at"] or 0,
    ]  # fmt: skip
    return Listed(*values)


def _state(row: Row, now: int) -> str:
    quiet = now - row["last_at"]
    if row["task"] == tasks.NEEDS_INPUT:
        return WAITING
    if row["state"] == "working" and quiet < IDLE:
        return WORKING
    if row["state"] != "ended" and quiet < (WAITS if row["origin"] == "hook" else IDLE):
        return WAITING
    broke = row["task"] in (tasks.FAILED, tasks.TIMED_OUT)
    return FAILED if broke or outcome_of(row["outcomes"], None).tests == "failed" else DONE


def _with_names(db: Connection, some: list[Listed]) -> list[Listed]:
    """The same with a name each: a person's own stays; the newest that are not settled get a title, others their words.

    To make a title of a prompt takes a millisecond or two, and after an import there are thousands.
    """
    found = store.names_of(db, [one.id for one in some if not one.named])
    untitled = [one.id for one in some if not found.get(one.id, (True,))[0]]
    late = frozenset(untitled[_MADE:])
    names = {each: opening if each in late else shown(None, name, opening) for each, (name, opening) in found.items()}
    return [one if one.named else one._replace(name=names.get(one.id, "")) for one in some]


# Who is at work, on what


class Clash(NamedTuple):
    """A file that another session edited lately as well."""

    file: str
    session: str
    client: str
    at: int
    """When the other one edited it last."""
    same_checkout: bool
    """Whether it is the very file on the disk, not that of another worktree."""


class AtWork(NamedTuple):
    """A session that works, on what, with whom, on which files, and who else does."""

    session: Listed
    on: str
    """The title of its current episode."""
    task: int | None
    """The task of nmem's that it runs for."""
    helpers: int
    """Subagents of it that did something lately."""
    files: tuple[str, ...]
    """Those it edited lately, the newest first."""
    clashes: tuple[Clash, ...]


def at_work(db: Connection, now: int, project: str = "") -> list[AtWork]:
    """The sessions of a project (its key) or of all that work now, the most recently active first."""
    return of_work(db, sessions(db, now, project, states=(WORKING,), which=ALL), now)


def of_work(db: Connection, some: Sequence[Listed], now: int) -> list[AtWork]:
    """What some sessions are at."""
    lately = edits(db, now)
    found = clashes(lately)
    known = store.at_work(db, [one.id for one in some], now - LATELY)
    out = []
    for one in some:
        row = known[one.id]
        title, heading, intent = json_list(row["unit"]) or ("", "", "")
        files = tuple(dict.fromkeys(each.name for each in lately if each.session_id == one.id))
        on = shown(title, heading, intent or "") or one.name
        out.append(AtWork(one, on, row["task"], row["helpers"], files, found.get(one.id, ())))
    return out


def clashes_of(db: Connection, session_id: str, now: int) -> tuple[Clash, ...]:
    """The clashes of one session; most often none."""
    return clashes(edits(db, now)).get(session_id, ())


def clashes(lately: Sequence[Edit]) -> dict[str, tuple[Clash, ...]]:
    """The clashes of each session that has any, those of the same checkout first, then the newest."""
    by_file: dict[tuple[int, str], list[Edit]] = {}
    for one in lately:
        by_file.setdefault((one.project_id, one.name), []).append(one)
    out: dict[str, dict[tuple[str, str], Clash]] = {}
    for (_, name), some in by_file.items():
        for one in some:
            for other in some:
                if one.session_id == other.session_id or "working" not in (one.state, other.state):
                    continue
                clash = Clash(name, other.session_id, other.client, other.at, one.place == other.place)
                before = out.setdefault(one.session_id, {}).setdefault((name, other.session_id), clash)
                if clash.same_checkout and not before.same_checkout:
                    out[one.session_id][name, other.session_id] = clash
    return {
        session: tuple(sorted(each.values(), key=lambda clash: (not clash.same_checkout, -clash.at)))
        for session, each in out.items()
    }
