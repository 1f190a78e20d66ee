"""SQL: the stance of a session or of an episode, followed as rows come in; of several sessions; the newest session.

Takes a connection of `nmem.database.reader`; text is as stored. `follow` reads what there is, and `advance` only what
is new: it starts over by itself when something that it has read was changed, labelled anew or taken away.
"""

from __future__ import annotations

from sqlite3 import Connection, Row

from nmem import tables
from nmem.stance import history, rows, telling, usual
from nmem.stance.guidance import Scene, advise
from nmem.stance.model import Advice, Call, Compared, SessionStance, Stance
from nmem.stance.scene import Background, Session
from nmem.stance.trajectory import LONG, SCOPE_BASE, SHORT, sections, shares
from nmem.store.project import meant
from nmem.tables import NOW

FRESH = 60_000
"""Milliseconds that what is known from before is believed."""


class Following:
    """A session, or an episode of it, that is followed; made by `follow`, changed by `advance`."""

    __slots__ = ("check", "last_at", "past", "project", "project_id", "scope_base", "seen", "seq", "session_id",
                 "started_at", "strips", "stuck_at", "swept", "traced", "unit_id")  # fmt: skip

    def __init__(self, where: Row, unit_id: int | None, scope_base: float) -> None:
        self.session_id: str = where["id"]
        self.project: str = where["name"]
        self.project_id: int = where["project_id"]
        self.started_at: int = where["started_at"]
        self.last_at: int = where["last_at"]
        self.unit_id = unit_id
        self.scope_base = scope_base
        self.seen = Session(scope_base)
        self.seq = 0
        self.check: rows.Check = (0, 0)
        self.strips: dict[int, telling.Kept] = {}
        self.swept = False
        self.traced = 0
        self.past = Background()
        self.stuck_at = 0


def follow(
    db: Connection, session_id: str, now: int, unit_id: int | None = None, scope_base: float = SCOPE_BASE
) -> Following | None:
    """Begin with a session, or with one episode of it; None when it is not there. `scope_base` 0 reads as the seed."""
    where = db.execute(
        "SELECT s.id, s.project_id, p.name, s.started_at, s.last_at FROM sessions s"
        " JOIN projects p ON p.id = s.project_id WHERE s.id = ?",
        (session_id,),
    ).fetchone()
    if where is None or (unit_id is not None and _session_of(db, unit_id) != session_id):
        return None
    out = Following(where, unit_id, scope_base)
    _read(db, out)
    _look_back(db, out, now)
    return out


def advance(db: Connection, one: Following, now: int) -> Stance:
    """Take in what is new, and tell the stance as it is now."""
    if one.swept or rows.check(db, one.session_id, 0, one.seq, one.unit_id) != one.check:
        _read(db, one)
    else:
        _take(db, one, rows.calls(db, one.session_id, one.seq, one.unit_id))
    if now - one.past.at > FRESH:
        _look_back(db, one, now)
    return _stance(db, one)


def of_session(db: Connection, session_id: str, now: int, scope_base: float = SCOPE_BASE) -> Stance | None:
    """The stance of a session, or None when it is not there."""
    one = follow(db, session_id, now, scope_base=scope_base)
    return _stance(db, one) if one else None


def of_unit(db: Connection, unit_id: int, now: int, scope_base: float = SCOPE_BASE) -> Stance | None:
    """The stance of one episode, whose lines begin with its own first observation; None when it is not there."""
    session_id = _session_of(db, unit_id)
    one = follow(db, session_id, now, unit_id, scope_base) if session_id else None
    return _stance(db, one) if one else None


def sessions(db: Connection, project: str, limit: int = 20) -> tuple[SessionStance, ...]:
    """The means of a project's newest sessions, the newest first; `project` is a name, key or root."""
    project_id = _project(db, project)
    return () if project_id is None else history.sessions(db, project_id, limit)


def newest(db: Connection, project: str) -> str | None:
    """The session of a project that was active last and has done something; else the last one, or None."""
    project_id = _project(db, project)
    row = db.execute(
        f"SELECT id FROM sessions WHERE project_id = ? ORDER BY last_at > {NOW}, seq > 0 DESC, last_at DESC LIMIT 1",  # noqa: S608
        (project_id,),
    ).fetchone()
    return str(row[0]) if row else None


def _project(db: Connection, project: str) -> int | None:
    found = meant(db, project)
    return found.id if found else None


def _session_of(db: Connection, unit_id: int) -> str | None:
    if not tables.version(db):
        return None
    row = db.execute("SELECT session_id FROM work_units WHERE id = ?", (unit_id,)).fetchone()
    return str(row[0]) if row else None


# what is followed


def _read(db: Connection, one: Following) -> None:
    """Everything from the start."""
    one.seen, one.seq, one.check = Session(one.scope_base), 0, (0, 0)
    one.strips.clear()
    known = rows.calls(db, one.session_id, 0, one.unit_id)
    found = rows.swept(db, one.session_id, known, one.unit_id)
    one.swept = found is not known
    one.traced = len(found) - len(known)
    _take(db, one, found)


def _take(db: Connection, one: Following, calls: list[Call]) -> None:
    for call in calls:
        one.seen.add(call)
    if calls:
        if one.unit_id is not None and not one.seq:
            one.started_at = calls[0].at
        count, total = rows.check(db, one.session_id, one.seq, calls[-1].seq, one.unit_id)
        one.check = one.check[0] + count, one.check[1] + total
        one.seq, one.last_at = calls[-1].seq, calls[-1].at


def _look_back(db: Connection, one: Following, now: int) -> None:
    """What is known from before: of an episode no figures of sessions, which it is too short to be measured by."""
    earlier, steps = history.ended_badly(db, one.project_id, one.last_at, _current(db, one))
    figures: tuple[Compared, ...] = ()
    if one.unit_id is None and (mine := history.of_session(db, one.session_id)) is not None:
        before = history.before(db, one.project_id, one.session_id, one.started_at, usual.SESSIONS)
        figures = usual.compared(mine, before)
    one.past = Background(figures, earlier, (), steps, now)
    one.stuck_at = 0


def _current(db: Connection, one: Following) -> int:
    """The episode that is looked at, or that the session is in."""
    if one.unit_id is not None or not tables.version(db):
        return one.unit_id or 0
    row = db.execute("SELECT id FROM work_units WHERE session_id = ? ORDER BY started_at DESC, id DESC LIMIT 1",
                     (one.session_id,)).fetchone()  # fmt: skip
    return int(row[0]) if row else 0


def _guidance(db: Connection, one: Following) -> tuple[Advice, ...]:
    """What there is to say; the week's stuck stretches are looked up only where the session is stuck now."""
    tries = one.seen.tracker.now()
    past = one.past
    if tries is not None and one.stuck_at != tries.first:
        found = history.stuck(db, one.project_id, one.session_id, tries.first)
        one.past = past = Background(past.usual, past.earlier, found, past.next_steps, past.at)
        one.stuck_at = tries.first
    return advise(Scene(one.session_id, one.seen, past))


# what is told of it


def _stance(db: Connection, one: Following) -> Stance:
    way = one.seen.way
    parts = sections(way)
    counts = way.counts
    both = {name: counts[name] for name in counts if "_" in name}
    strips = telling.strips(db, one.session_id, one.unit_id, way, one.strips)
    return Stance(
        session_id=one.session_id, project=one.project, traced=one.traced, count=len(way.points),
        observations=way.observations,
        placed=way.placed, quadrants=way.quadrants(), points=tuple(way.points),
        phase_5=way.phase.mean(SHORT), phase_20=way.phase.mean(LONG),
        scope_5=way.scope.mean(SHORT), scope_20=way.scope.mean(LONG),
        phase_direction=way.phase.direction, scope_direction=way.scope.direction,
        quadrant=way.quadrant, scope_base=one.scope_base, shifts=telling.shifts(db, way.crossings, parts),
        locus=way.split("internal", "external"), novelty=way.split("routine", "novel"),
        friction=way.split("smooth", "friction"), novelty_friction=both, failed=way.failed,
        guidance=_guidance(db, one), strips=strips,
        stuck=tuple(one.seen.tracker.all(one.session_id)), usual=one.past.usual,
        unit_id=one.unit_id, started_at=one.started_at, last_at=one.last_at,
        signs=shares(way.signs), bare=way.bare,
    )  # fmt: skip
