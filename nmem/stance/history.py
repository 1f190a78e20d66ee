"""SQL: reads a session's background: other sessions' figures, episodes that ended badly, stuck stretches.

Takes a connection of `nmem.database.reader`. Everything is as of the time that is asked for: what came later is not
looked at, so an old session reads as it did then. What is read is bounded by numbers of sessions and episodes.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from sqlite3 import Connection, Row

from nmem import tables
from nmem.episodes import open_ends
from nmem.episodes.titles import NAMED, TITLED
from nmem.stance import rows
from nmem.stance.model import Call, SessionStance, Share, Stuck
from nmem.stance.rows import KIND
from nmem.stance.scene import WEEK, Earlier
from nmem.stance.stuck import Tracker
from nmem.stance.trajectory import shares, tally

SESSIONS = 50
"""How many earlier sessions of a project are searched."""
UNITS = 300
_TEXT = 200

FIGURES = """
SELECT count(*) AS observations, total(phase IS NOT NULL OR scope IS NOT NULL) AS count,
  avg(phase) AS phase, avg(scope) AS scope, avg(phase < 0) AS think, avg(scope < 0) AS diverge,
  avg(friction > 0) AS friction, avg(novelty > 0) AS novel, total(outcome = 'failed') AS failed
FROM observations WHERE session_id = ? AND KIND
""".replace("KIND", KIND)
WAY = """
SELECT phase, scope FROM observations WHERE session_id = ? AND KIND AND (phase IS NOT NULL OR scope IS NOT NULL)
ORDER BY seq
""".replace("KIND", KIND)
SESSION = """
SELECT s.id, s.client, s.started_at, s.last_at, coalesce(TITLED, NAMED) AS intent FROM sessions s
""".replace("NAMED", NAMED).replace("TITLED", TITLED)
EARLIER = " WHERE s.project_id = ? AND s.id != ? AND s.started_at < ? ORDER BY s.last_at DESC LIMIT ?"
ENDED = """
SELECT u.id, coalesce(u.title, u.agent_title, u.heading, u.intent) AS title, u.last_at, u.outcomes, u.hot_files,
  u.next_steps,
  u.session_id FROM work_units u WHERE u.session_id IN (
  SELECT s.id FROM sessions s WHERE s.project_id = ? AND s.started_at < ? ORDER BY s.last_at DESC LIMIT ?
) AND u.id != ? AND u.last_at < ? ORDER BY u.last_at DESC LIMIT ?
"""
WEEK_SESSIONS = """
SELECT s.id FROM sessions s WHERE s.project_id = ? AND s.last_at >= ? AND s.id != ? AND s.started_at < ?
ORDER BY s.last_at DESC LIMIT ?
"""
TRIED = """
SELECT id, seq, at, prompt_id, obs_type, coalesce(file_path, ''), substr(content, 1, 300), outcome FROM observations
WHERE session_id = ? AND at >= ? AND at < ? AND obs_type NOT IN ('file_read', 'search') ORDER BY seq
"""


def figures(db: Connection, row: Row) -> SessionStance:
    """The means of one session; `row` is of the query for sessions."""
    if rows.forgotten(db, row["id"]):
        return _from_traces(db, row)
    got = db.execute(FIGURES, (row["id"],)).fetchone()
    places: dict[str, Share] = shares(tally(map(tuple, db.execute(WAY, (row["id"],)))))
    return SessionStance(
        row["id"], row["client"], row["started_at"], row["last_at"], row["intent"] or "", got["observations"],
        int(got["count"]), sum(each.number for each in places.values()), got["phase"], got["scope"], places,
        got["think"], got["diverge"], got["friction"], got["novel"], int(got["failed"]),
    )  # fmt: skip


def _from_traces(db: Connection, row: Row) -> SessionStance:
    """The same of a session of which something is known by its trace only."""
    calls = rows.swept(db, row["id"], rows.calls(db, row["id"]))
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
    row = db.execute(f"{SESSION} WHERE s.id = ?", (session_id,)).fetchone()
    return figures(db, row) if row else None


def sessions(db: Connection, project_id: int, limit: int = 20) -> tuple[SessionStance, ...]:
    """The means of the newest sessions of a project, the newest first; those without any observation are left out."""
    found = db.execute(f"{SESSION} WHERE s.project_id = ? AND s.seq > 0 ORDER BY s.last_at DESC LIMIT ?",
                       (project_id, limit)).fetchall()  # fmt: skip
    return tuple(figures(db, row) for row in found)


def up_to(db: Connection, session_id: str, limit: int) -> tuple[SessionStance, ...]:
    """The means of a session and of those of its project that began before it, the newest first."""
    mine = db.execute("SELECT project_id, started_at FROM sessions WHERE id = ?", (session_id,)).fetchone()
    own = of_session(db, session_id)
    return () if own is None else (own, *before(db, mine[0], session_id, mine[1], limit - 1))


def before(db: Connection, project_id: int, session_id: str, at: int, limit: int) -> tuple[SessionStance, ...]:
    """The means of sessions of the project that began before a time, the newest first."""
    found = db.execute(SESSION + EARLIER, (project_id, session_id, at, limit)).fetchall()
    return tuple(figures(db, row) for row in found)


def ended_badly(db: Connection, project_id: int, at: int, but: int = 0) -> tuple[tuple[Earlier, ...], tuple[str, ...]]:
    """Episodes of the project up to a time that were abandoned, reverted, or ended with failing tests, and the next
    steps of the newest of the last seven days that told some; `but` is the episode that is looked at."""
    if not tables.version(db):
        return (), ()
    out: list[Earlier] = []
    steps: tuple[str, ...] = ()
    for row in db.execute(ENDED, (project_id, at, SESSIONS, but, at, UNITS)).fetchall():
        if not steps and at - row["last_at"] < WEEK:
            steps = tuple(open_ends.left(db, row["session_id"], row["last_at"], _texts(row["next_steps"])))
        end = _end(row["outcomes"])
        files = _changed(row["hot_files"]) if end else frozenset()
        if files:
            out.append(Earlier(row["id"], row["title"][:_TEXT], row["last_at"], end, files))
    return tuple(out), steps


def stuck(db: Connection, project_id: int, session_id: str, at: int) -> tuple[Stuck, ...]:
    """The stuck stretches of other sessions of the project within the seven days before a time."""
    since = at - WEEK
    found: list[Stuck] = []
    for row in db.execute(WEEK_SESSIONS, (project_id, since, session_id, at, SESSIONS)).fetchall():
        tracker = Tracker()
        for one in db.execute(TRIED, (row[0], since, at)):
            tracker.add(Call(*one))
        found += tracker.all(row[0])
    return tuple(sorted(found, key=lambda each: each.started_at))


def _json(stored: str | None) -> object:
    try:
        return json.loads(stored) if stored else None
    except ValueError:
        return None


def _texts(stored: str | None) -> tuple[str, ...]:
    found = _json(stored)
    return tuple(str(each)[:_TEXT] for each in found if each) if isinstance(found, list) else ()


def _end(stored: str) -> str:
    known = _json(stored)
    if not isinstance(known, dict):
        return ""
    tests, end = open_ends.ending(known)
    if end in ("reverted", "abandoned"):
        return end
    return "with failing tests" if tests == "failed" else ""


def _changed(stored: str) -> frozenset[str]:
    known = _json(stored)
    files = [each for each in known if isinstance(each, dict)] if isinstance(known, list) else []
    return frozenset(str(each["path"]) for each in files if each.get("edits") and each.get("path"))
