"""What the screen Stance asks of the database, each in one visit: a session with its stance, the project's sessions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from sqlite3 import Connection
from typing import NamedTuple

from nmem.read import views
from nmem.read.views import SessionRow
from nmem.stance import read
from nmem.stance.model import SessionStance, Stance
from nmem.stance.read import Following
from nmem_tui.home import Home
from nmem_tui.model.reading import pick
from nmem_tui.model.stance_chart import Trace, trace

SESSIONS = 200


class Wanted(NamedTuple):
    """Which session to read: the chosen one, the one on screen, the project's; and the time (ms)."""

    chosen: str
    current: str
    project: str
    at: int
    home: Home | None = None


@dataclass(frozen=True, slots=True)
class Reading:
    """A session, its stance, its trajectory made ready for the chart's width, and what goes on from there."""

    session: SessionRow
    stance: Stance
    trace: Trace
    following: Following


def reading(db: Connection, wanted: Wanted, one: Following | None, cells: int) -> Reading | None:
    """The stance of the session that the cockpit shows; None when there is no session.

    `one` is what an earlier reading left: only what is new is read. It belongs to one reading at a time.
    """
    row = views.session(db, pick(db, wanted.chosen, wanted.current, wanted.project, wanted.at, wanted.home))
    found = go_on(db, row.id, one, wanted.at) if row else None
    return Reading(row, found[0], trace(found[0], cells), found[1]) if row and found else None


def go_on(db: Connection, session_id: str, one: Following | None, at: int) -> tuple[Stance, Following] | None:
    """The stance of a session, and what the next reading goes on from; None when there is no such session."""
    if one is None or one.session_id != session_id:
        one = read.follow(db, session_id, at)
    return (read.advance(db, one, at), one) if one else None


def sessions(db: Connection, project: str) -> Sequence[SessionStance]:
    """The newest sessions of a project."""
    return read.sessions(db, project, SESSIONS)
