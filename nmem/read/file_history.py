"""The history of a file: the episodes that read, changed or failed on it, newest first.

A file is known by several names: relative to its project, and absolute in other checkouts of it. A connection's rows
must answer to names, as those of `nmem.database.reader` do.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from sqlite3 import Connection

from nmem import tables
from nmem.context.places import absolute, forward
from nmem.read import episodes, store
from nmem.read.episodes import EpisodeRow
from nmem.store import trace

_NAMES = 40
_DECISIONS = 4
_TEXT = 400


@dataclass(frozen=True, slots=True)
class Decision:
    """What was marked as decided in the same episode."""

    id: int
    """Of its observation."""
    at: int
    text: str


@dataclass(frozen=True, slots=True)
class Touch:
    """One episode's dealings with the file; a session's, where no episode is known."""

    last_at: int
    newest: int
    """The id of the newest observation of the file in it."""
    unit_id: int | None
    session_id: str
    project: str
    client: str
    reads: int
    edits: int
    failures: int
    others: int
    """Commands and other calls that named it."""
    added: int
    removed: int
    episode: EpisodeRow | None = None
    decisions: tuple[Decision, ...] = ()


@dataclass(frozen=True, slots=True)
class History:
    """A page of what happened to a file."""

    names: tuple[str, ...]
    """The stored names that were taken for it."""
    touches: tuple[Touch, ...] = ()
    total: int = 0
    more: bool = False
    forgotten: int = 0
    """Calls among those counted here that are known by their trace only."""


def history(
    db: Connection, path: str, project: int | None = None, limit: int = 20, before: tuple[int, int] | None = None,
) -> History:  # fmt: skip
    """What happened to a file, the newest first; `before` is the (last_at, newest) of the last one of an earlier page.

    A path that is stored nowhere as it stands is taken for the end of one: `api.py` is every file of that name.
    """
    names = _names(db, path, project)
    found = [Touch(*one) for one in store.touches(db, names, project)]
    traced = [Touch(*one) for one in trace.touches(db, names, project)] if tables.version(db) else []
    if traced:
        found = _merged(found, traced)
    rest = [one for one in found if before is None or (one.last_at, one.newest) < before]
    page = rest[:limit]
    known = episodes.rows(db, [one.unit_id for one in page if one.unit_id is not None])
    told = tuple(_told(db, one, known.get(one.unit_id or 0)) for one in page)
    calls = sum(one.reads + one.edits + one.others for one in traced)
    return History(tuple(names), told, len(found), len(rest) > limit, calls)


def _merged(there: list[Touch], gone: list[Touch]) -> list[Touch]:
    """What rows and traces tell of the same episode is one."""
    by: dict[tuple[int | None, str], Touch] = {}
    for one in (*there, *gone):
        key = (one.unit_id, one.session_id)
        before = by.get(key)
        by[key] = one if before is None else replace(
            before, last_at=max(before.last_at, one.last_at), newest=max(before.newest, one.newest),
            reads=before.reads + one.reads, edits=before.edits + one.edits,
            failures=before.failures + one.failures, others=before.others + one.others,
        )  # fmt: skip
    return sorted(by.values(), key=lambda one: (one.last_at, one.newest), reverse=True)


def beside(path: str, cwd: str, root: str) -> str:
    """A path as a person gives it in a folder, relative to the project's root where it lies in it."""
    whole = os.path.normpath(os.path.join(cwd, os.path.expanduser(path)))  # noqa: PTH111,PTH118 -- need not exist
    inside = root and (whole == root or whole.startswith(root.rstrip("/\\") + os.sep))
    return forward(os.path.relpath(whole, root)) if inside else forward(path)


def within(db: Connection, path: str, project: int | None) -> str:
    """A path in a project that is not the folder's, relative to a checkout of it."""
    names = (beside(path, root, root) for root in roots(db, project))
    return next((one for one in names if not absolute(one)), path)


def _names(db: Connection, path: str, project: int | None) -> list[str]:
    name = forward(path).removeprefix("./")
    names = [name] if absolute(name) else [name, *(f"{root}/{name}" for root in roots(db, project))]
    exact = store.named(db, names)
    if tables.version(db):
        exact = list(dict.fromkeys([*exact, *trace.named(db, names)]))
    if exact or absolute(name) or not name:
        return exact
    traced = trace.ending(db, name, _NAMES) if tables.version(db) else []
    return list(dict.fromkeys([*store.ending(db, name, _NAMES), *traced]))


def roots(db: Connection, project: int | None) -> list[str]:
    """Where checkouts of a project were seen to lie."""
    out = [*store.folder_roots(db, project), *store.learned_roots(db, project)]
    named = (
        (forward(root) or root.replace("\\", "/")).rstrip("/") for root in out
    )  # a worktree alone has no other name
    return [root for root in dict.fromkeys(named) if root][:_NAMES]


def checkouts(db: Connection, session_id: str) -> list[str]:
    """Where checkouts of a session's project were seen to lie, and every folder that sessions of it ran in."""
    project = store.project_of(db, session_id)
    return [] if project is None else list(dict.fromkeys([*roots(db, project), *store.folder_roots(db, project)]))


def _told(db: Connection, one: Touch, episode: EpisodeRow | None) -> Touch:
    return replace(one, episode=episode, decisions=marked(db, one.unit_id) if one.unit_id is not None else ())


def marked(db: Connection, unit_id: int) -> tuple[Decision, ...]:
    """What was marked as decided in an episode, the newest first."""
    return tuple(Decision(*row) for row in store.marked(db, unit_id, _DECISIONS, _TEXT))
