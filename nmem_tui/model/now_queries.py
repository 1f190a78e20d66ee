"""Queries of the screen Now: which session to show, its newest rows, and the rows a commit added."""

from __future__ import annotations

from functools import cached_property
from sqlite3 import Connection
from typing import TYPE_CHECKING, NamedTuple

from nmem.read import episodes as episode_views
from nmem.read import sessions, stream, views
from nmem.read.episodes import CurrentUnit
from nmem.read.sessions import Clash
from nmem.read.stream import Marks, Query, Slots, Stretch
from nmem.read.views import NowView, StreamRow
from nmem_tui.model.stream import BLOCK

if TYPE_CHECKING:
    from capture.event import Project


class Home:
    """Found when it is first asked for, in a worker: the first frame does not wait for it."""

    def __init__(self, folder: str) -> None:
        self._folder = folder
        self.unrecorded = ""
        """Its name, once another project's session had to be shown for it."""

    @cached_property
    def _project(self) -> Project | None:
        if not self._folder:
            return None
        from capture.project import resolve  # on use: start-up stays short

        return resolve(self._folder)

    @property
    def key(self) -> str:
        """What its sessions are stored under; empty without a folder."""
        return self._project.key if self._project else ""

    def missed(self) -> None:
        """Nothing is recorded of it; that is worth saying of a git checkout, a mere folder may be anyone's."""
        if self._project and (self._project.remote or self._project.branch):
            self.unrecorded = self._project.name


FIRST = 400
SPAN, MOST_SPAN = 3_000, 24_000
"""Rows that a filter looks through at a time: at first, so that a key answers at once, and later."""
_SWITCH_MS = 10 * 60_000


class Tick(NamedTuple):
    """What a commit brought: new slots, the newest ids, and rows worth drawing."""

    slots: Slots
    marks: Marks
    rows: dict[int, StreamRow]


class Opening(NamedTuple):
    """The newest stretch of a stream."""

    session_id: str
    slots: Slots
    marks: Marks
    rows: dict[int, StreamRow]
    before: tuple[int, int] | None
    """Where the next, older stretch ends; None: there is none."""


class Glance(NamedTuple):
    """All that the cards of the Now screen say."""

    view: NowView
    unit: CurrentUnit | None
    clashes: tuple[Clash, ...] = ()
    """Files that another session edits as well."""


def glance(db: Connection, session_id: str, at: int) -> Glance | None:
    """A session at a glance with the episode that it is in; None when it is not there."""
    view = views.now(db, session_id, at)
    if view is None:
        return None
    return Glance(view, episode_views.current(db, session_id), sessions.clashes_of(db, session_id, at))


class Whose(NamedTuple):
    """Which session a screen is about: the chosen one, the one on screen, the project's; and the time (ms)."""

    chosen: str
    current: str
    project: str
    at: int
    home: Home | None = None


def pick(db: Connection, whose: Whose) -> str:
    """Which session to show: the chosen one; else the current one while it lives; else the newest.

    Without a project: the newest of the folder's own where one is recorded, else the newest of all.
    """
    chosen, current, project, at, home = whose
    if chosen:
        return chosen
    key = project or (home.key if home else "")
    newest = next(iter(views.sessions(db, 1, key)), None) if key else None
    if newest is None and not project:
        newest = next(iter(views.sessions(db, 1)), None)
        if home and newest:
            home.missed()
    if newest is None or newest.id == current:
        return newest.id if newest else ""
    shown = views.session(db, current) if current else None
    ours = shown is not None and (shown.root, shown.project) == (newest.root, newest.project)
    if shown and (ours or not key) and shown.state != "ended" and at - shown.last_at < _SWITCH_MS:
        return current
    return newest.id


def opening(db: Connection, session_id: str, query: Query) -> Opening:
    """The newest stretch of a session's stream with the rows that come on screen first."""
    seen = stream.marks(db)
    found = older(db, session_id, None, query, SPAN if query else FIRST)
    return Opening(session_id, found.slots, seen, stream.rows(db, found.slots.key[-BLOCK:]), found.before)


def older(
    db: Connection, session_id: str, before: tuple[int, int] | None, query: Query, size: int = stream.PAGE
) -> Stretch:
    """A page of so many rows before a slot; with a filter what it leaves of about so many that are looked through."""
    if query:
        return stream.stretch(db, session_id, before, query, size)
    slots = stream.page(db, session_id, before, query, size)
    return Stretch(slots, (slots.at[0], slots.key[0]) if len(slots) == size else None)


def tick(db: Connection, session_id: str, seen: Marks, query: Query, stale: list[int]) -> Tick:
    """What was stored since `seen`, and the rows on screen as they are now."""
    newest = stream.marks(db)
    slots = stream.since(db, session_id, seen, query)
    return Tick(slots, newest, stream.rows(db, [*stale, *slots.key[-BLOCK:]]))
