"""Tells a session's background: other sessions' figures, episodes that ended badly, stuck stretches.

Takes a connection of `nmem.database.reader`. Everything is as of the time that is asked for: what came later is not
looked at, so an old session reads as it did then. What is read is bounded by numbers of sessions and episodes.
"""

from __future__ import annotations

from collections.abc import Sequence
from sqlite3 import Connection, Row

from nmem import tables
from nmem.episodes import open_ends
from nmem.stance import store
from nmem.stance.model import SessionStance, Share, Stuck
from nmem.stance.scene import WEEK, Earlier
from nmem.stance.stuck import Tracker
from nmem.stance.trajectory import shares, tally
from nmem.text import json_list, json_object

SESSIONS = 50
"""How many earlier sessions of a project are searched."""
UNITS = 300


def figures(db: Connection, row: Row) -> SessionStance:
    """The means of one session; `row` is of the query for sessions."""
    if store.forgotten(db, row["id"]):
        return _from_traces(db, row)
    got = store.means(db, row["id"])
    places: dict[str, Share] = shares(tally(store.way(db, row["id"])))
    return SessionStance(
        row["id"], row["client"], row["started_at"], row["last_at"], row["intent"] or "", got["observations"],
        int(got["count"]), sum(each.number for each in places.values()), got["phase"], got["scope"], places,
        got["think"], got["diverge"], got["friction"], got["novel"], int(got["failed"]),
    )  # fmt: skip


def _from_traces(db: Connection, row: Row) -> SessionStance:
    """The same of a session of which something is known by its trace only."""
    calls = store.swept(db, row["id"], store.calls(db, row["id"]))
    placed = [(one.phase, one.scope) for one in calls if one.phase is not None or one.scope is not None]
    places: dict[str, Share] = shares(tally(placed))
    phases, scopes = [one for one, _ in placed if one is not None], [one for _, one in placed if one is not None]
    friction = [one.friction for one in calls if one.friction is not None]
    novel = [one.novelty for one in calls if one.novelty is not None]
    return SessionStance(
        row["id"], row["client"], row["started_at"], row["last_at"], row["intent"] or "", len(calls), len(placed),
        sum(each.number for each in places.values()), _mean(phases), _mean(scopes), places,
        _mean([each < 0 for each in phases]), _mean([each < 0 for each in scopes]),
        _mean([each > 0 for each in friction]), _mean([each > 0 for each in novel]),
        sum(one.outcome == "failed" for one in calls),
    )  # fmt: skip


def _mean(values: Sequence[float]) -> float | None:
    return sum(values) / len(values) if values else None


def of_session(db: Connection, session_id: str) -> SessionStance | None:
    """The means of a session, or None when it is not there."""
    row = store.session(db, session_id)
    return figures(db, row) if row else None


def sessions(db: Connection, project_id: int, limit: int = 20) -> tuple[SessionStance, ...]:
    """The means of the newest sessions of a project, the newest first; those without any observation are left out."""
    return tuple(figures(db, row) for row in store.sessions(db, project_id, limit))


def up_to(db: Connection, session_id: str, limit: int) -> tuple[SessionStance, ...]:
    """The means of a session and of those of its project that began before it, the newest first."""
    mine, own = store.place(db, session_id), of_session(db, session_id)
    if mine is None or own is None:
        return ()
    return (own, *before(db, mine["project_id"], session_id, mine["started_at"], limit - 1))


def before(db: Connection, project_id: int, session_id: str, at: int, limit: int) -> tuple[SessionStance, ...]:
    """The means of sessions of the project that began before a time, the newest first."""
    return tuple(figures(db, row) for row in store.sessions_before(db, project_id, session_id, at, limit))


def ended_badly(db: Connection, project_id: int, at: int, but: int = 0) -> tuple[tuple[Earlier, ...], tuple[str, ...]]:
    """Episodes of the project up to a time that were abandoned, reverted, or ended with failing tests, and the next
    steps of the newest of the last seven days that told some; `but` is the episode that is looked at."""
    if not tables.version(db):
        return (), ()
    out: list[Earlier] = []
    steps: tuple[str, ...] = ()
    for row in store.episodes_before(db, project_id, but, at, SESSIONS, UNITS):
        if not steps and at - row["last_at"] < WEEK:
            told = tuple(str(each)[: store.TEXT] for each in json_list(row["next_steps"]) if each)
            steps = tuple(open_ends.left(db, row["session_id"], row["last_at"], told))
        end = _end(row["outcomes"])
        files = _changed(row["hot_files"]) if end else frozenset()
        if files:
            out.append(Earlier(row["id"], row["title"][: store.TEXT], row["last_at"], end, files))
    return tuple(out), steps


def stuck(db: Connection, project_id: int, session_id: str, at: int) -> tuple[Stuck, ...]:
    """The stuck stretches of other sessions of the project within the seven days before a time."""
    since = at - WEEK
    found: list[Stuck] = []
    for other, calls in store.tried(db, project_id, session_id, since, at, SESSIONS):
        tracker = Tracker()
        for one in calls:
            tracker.add(one)
        found += tracker.all(other)
    return tuple(sorted(found, key=lambda each: each.started_at))


def _end(stored: str) -> str:
    tests, end = open_ends.ending(json_object(stored))
    if end in ("reverted", "abandoned"):
        return end
    return "with failing tests" if tests == "failed" else ""


def _changed(stored: str) -> frozenset[str]:
    files = [each for each in json_list(stored) if isinstance(each, dict)]
    return frozenset(str(each["path"]) for each in files if each.get("edits") and each.get("path"))
