"""Computes the stance of a session or episode, updated as rows arrive; compares it with earlier sessions.

Takes a connection of `nmem.database.reader`; text is as stored. `follow` reads what there is, and `advance` only what
is new: it starts over by itself when something that it has read was changed, labelled anew or taken away.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from sqlite3 import Connection, Row

from nmem.stance import history, store
from nmem.stance.guidance import Scene, advise
from nmem.stance.model import QUADRANTS, Advice, Call, Compared, Point, SessionStance, Shift, Stance, Strip
from nmem.stance.scene import Background, Session
from nmem.stance.trajectory import LONG, SCOPE_BASE, SHORT, SIDES, Crossing, Trajectory, path, sections, shares
from nmem.stance.words import percent
from nmem.store.project import meant

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
        self.check: store.Check = (0, 0)
        self.strips: dict[int, Kept] = {}
        self.swept = False
        self.traced = 0
        self.past = Background()
        self.stuck_at = 0


def follow(
    db: Connection, session_id: str, now: int, unit_id: int | None = None, scope_base: float = SCOPE_BASE
) -> Following | None:
    """Begin with a session, or with one episode of it; None when it is not there. `scope_base` 0 reads as the seed."""
    where = store.place(db, session_id)
    if where is None or (unit_id is not None and store.session_of(db, unit_id) != session_id):
        return None
    out = Following(where, unit_id, scope_base)
    _read(db, out)
    _look_back(db, out, now)
    return out


def advance(db: Connection, one: Following, now: int) -> Stance:
    """Take in what is new, and tell the stance as it is now."""
    if one.swept or store.check(db, one.session_id, 0, one.seq, one.unit_id) != one.check:
        _read(db, one)
    else:
        _take(db, one, store.calls(db, one.session_id, one.seq, one.unit_id))
    if now - one.past.at > FRESH:
        _look_back(db, one, now)
    return _stance(db, one)


def of_session(db: Connection, session_id: str, now: int, scope_base: float = SCOPE_BASE) -> Stance | None:
    """The stance of a session, or None when it is not there."""
    one = follow(db, session_id, now, scope_base=scope_base)
    return _stance(db, one) if one else None


def of_unit(db: Connection, unit_id: int, now: int, scope_base: float = SCOPE_BASE) -> Stance | None:
    """The stance of one episode, whose lines begin with its own first observation; None when it is not there."""
    session_id = store.session_of(db, unit_id)
    one = follow(db, session_id, now, unit_id, scope_base) if session_id else None
    return _stance(db, one) if one else None


def sessions(db: Connection, project: str, limit: int = 20) -> tuple[SessionStance, ...]:
    """The means of a project's newest sessions, the newest first; `project` is a name, key or root."""
    project_id = _project(db, project)
    return () if project_id is None else history.sessions(db, project_id, limit)


def newest(db: Connection, project: str) -> str | None:
    """The session of a project that was active last and has done something; else the last one, or None."""
    return store.newest(db, _project(db, project))


def _project(db: Connection, project: str) -> int | None:
    found = meant(db, project)
    return found.id if found else None


# what is followed


def _read(db: Connection, one: Following) -> None:
    """Everything from the start."""
    one.seen, one.seq, one.check = Session(one.scope_base), 0, (0, 0)
    one.strips.clear()
    known = store.calls(db, one.session_id, 0, one.unit_id)
    found = store.swept(db, one.session_id, known, one.unit_id)
    one.swept = found is not known
    one.traced = len(found) - len(known)
    _take(db, one, found)


def _take(db: Connection, one: Following, calls: list[Call]) -> None:
    for call in calls:
        one.seen.add(call)
    if calls:
        if one.unit_id is not None and not one.seq:
            one.started_at = calls[0].at
        count, total = store.check(db, one.session_id, one.seq, calls[-1].seq, one.unit_id)
        one.check = one.check[0] + count, one.check[1] + total
        one.seq, one.last_at = calls[-1].seq, calls[-1].at


def _look_back(db: Connection, one: Following, now: int) -> None:
    """What is known from before: of an episode no figures of sessions, which it is too short to be measured by."""
    earlier, steps = history.ended_badly(
        db, one.project_id, one.last_at, one.unit_id or store.current(db, one.session_id)
    )
    figures: tuple[Compared, ...] = ()
    if one.unit_id is None and (mine := history.of_session(db, one.session_id)) is not None:
        before = history.before(db, one.project_id, one.session_id, one.started_at, SESSIONS)
        figures = compared(mine, before)
    one.past = Background(figures, earlier, (), steps, now)
    one.stuck_at = 0


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
    told = strips(db, one.session_id, one.unit_id, way, one.strips)
    return Stance(
        session_id=one.session_id, project=one.project, traced=one.traced, count=len(way.points),
        observations=way.observations,
        placed=way.placed, quadrants=way.quadrants(), points=tuple(way.points),
        phase_5=way.phase.mean(SHORT), phase_20=way.phase.mean(LONG),
        scope_5=way.scope.mean(SHORT), scope_20=way.scope.mean(LONG),
        phase_direction=way.phase.direction, scope_direction=way.scope.direction,
        quadrant=way.quadrant, scope_base=one.scope_base, shifts=shifts(db, way.crossings, parts),
        locus=way.split("internal", "external"), novelty=way.split("routine", "novel"),
        friction=way.split("smooth", "friction"), novelty_friction=both, failed=way.failed,
        guidance=_guidance(db, one), strips=told,
        stuck=tuple(one.seen.tracker.all(one.session_id)), usual=one.past.usual,
        unit_id=one.unit_id, started_at=one.started_at, last_at=one.last_at,
        signs=shares(way.signs), bare=way.bare,
    )  # fmt: skip


Parts = Sequence[tuple[int, str]]
"""From which number on the lines stand in which quadrant: nmem.stance.trajectory.sections."""
Kept = tuple[tuple[object, ...], Strip]
"""A strip, and what it was made of."""


def shifts(db: Connection, crossings: list[Crossing], parts: Parts) -> tuple[Shift, ...]:
    """The oldest first, each with the prompt that it came under."""
    said = store.prompts(db, {each.call.prompt_id for each in crossings if each.call.prompt_id is not None})
    starts = [start for start, _ in parts]
    names = ["", *(name for _, name in parts)]
    out = []
    for each in sorted(crossings, key=lambda one: one.call.seq):
        call = each.call
        out.append(Shift(
            each.axis, call.at, call.seq, SIDES[each.axis][not each.above], SIDES[each.axis][each.above],
            call.prompt_id, said.get(call.prompt_id or 0, ""),
            names[bisect_left(starts, call.seq)], names[bisect_right(starts, call.seq)],
        ))  # fmt: skip
    return tuple(out)


def strips(
    db: Connection, session_id: str, unit_id: int | None, way: Trajectory, kept: dict[int, Kept]
) -> tuple[Strip, ...]:
    """The episodes that a session's way goes through, the oldest first, each with its part of it.

    `kept` holds what was told before, for episodes that nothing was added to; empty it when points change.
    """
    heads = store.heads(db, session_id, unit_id)
    unit_of = {row["prompt_id"]: row["id"] for row in heads}
    runs: dict[int, list[list[Point]]] = {row["id"]: [] for row in heads}
    last = None
    for point in way.points:
        unit = unit_of.get(point.prompt_id)
        if unit is not None:
            if unit != last:
                runs[unit].append(mine := [])
            mine.append(point)
        last = unit
    titles = {row["id"]: row for row in heads}
    size: dict[int, tuple[int, int]] = {}
    for prompt_id, unit in unit_of.items():
        calls, failed = way.asked.get(prompt_id, (0, 0))
        size[unit] = size.get(unit, (0, 0))[0] + calls, size.get(unit, (0, 0))[1] + failed
    return tuple(_kept(titles[unit], mine, size[unit], way.scope.base, kept) for unit, mine in runs.items() if mine)


def _kept(head: Row, runs: list[list[Point]], size: tuple[int, int], base: float, kept: dict[int, Kept]) -> Strip:
    """A strip, made anew when it has other points."""
    key = (sum(map(len, runs)), runs[0][0].seq, runs[-1][-1].seq, size, head["title"])
    known = kept.get(head["id"])
    if known is None or known[0] != key:
        kept[head["id"]] = known = key, _strip(head, runs, size, base)
    return known[1]


def _strip(head: Row, runs: list[list[Point]], size: tuple[int, int], base: float) -> Strip:
    way = path((point for run in runs for point in run), base)
    counts = dict.fromkeys(QUADRANTS, 0)
    for part in way:
        counts[part.quadrant] += part.count
    return Strip(head["id"], head["title"], head["started_at"], size[0], shares(counts), way, size[1])


SESSIONS = 20
"""How many earlier sessions count, the newest."""
ENOUGH = 5
CALLS = 20
"""A session with fewer observations says little about shares."""
APART = 0.1
"""A figure nearer than this to the median is usual, however narrow the spread."""
FIGURES = ("think", "diverge", "friction", "novel", "failed")
_SAID = {
    "think": "{value} of the calls think", "diverge": "{value} of the calls widen the search",
    "friction": "{value} of the calls go wrong or are retries", "novel": "{value} of the calls are on new ground",
    "failed": "{value} of the calls failed",
}  # fmt: skip


def compared(session: SessionStance, earlier: Sequence[SessionStance]) -> tuple[Compared, ...]:
    """Every figure that there are enough earlier sessions for; nothing for a session that has hardly begun."""
    if session.observations < CALLS:
        return ()
    full = [each for each in earlier if each.observations >= CALLS][:SESSIONS]
    found = []
    for name in FIGURES:
        value = figure(session, name)
        before = [known for each in full if (known := figure(each, name)) is not None]
        if value is not None and len(before) >= ENOUGH:
            found.append(_compared(name, value, before))
    return tuple(found)


def figure(session: SessionStance, name: str) -> float | None:
    """A share of a session's observations, or None where it is known of none."""
    failed = session.failed / session.observations if session.observations else None
    return {"think": session.think, "diverge": session.diverge, "friction": session.friction, "novel": session.novel,
            "failed": failed}[name]  # fmt: skip


def _compared(name: str, value: float, before: Sequence[float]) -> Compared:
    low, median, high = (quantile(before, part) for part in (0.25, 0.5, 0.75))
    fence = 1.5 * (high - low)
    unusual = not low - fence <= value <= high + fence and abs(value - median) >= APART
    text = _SAID[name].format(value=percent(value)) + f"; usually {percent(median)} here."
    return Compared(name, value, median, low, high, len(before), unusual, text)


def quantile(values: Sequence[float], part: float) -> float:
    """The value that a part (0..1) of the values are below, between neighbours by proportion."""
    ordered = sorted(values)
    place = part * (len(ordered) - 1)
    below = int(place)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (ordered[above] - ordered[below]) * (place - below)
