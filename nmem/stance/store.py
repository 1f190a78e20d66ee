"""Stance's queries: a session's calls and whether they changed, its background, the episodes that its way goes through.

Takes a connection of `nmem.database.reader`. What retention has swept is read from the episodes' traces.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from sqlite3 import Connection, Row

from capture.labels.calls import NOT_CALLS
from nmem import tables
from nmem.episodes.unit import NAMED, TITLED
from nmem.stance.model import Call
from nmem.tables import NOW

CUT = 300
"""Characters of a command that are read."""
TEXT = 200
"""Characters of a title, a prompt and a next step that are told."""
_CHUNK = 400
_OF_UNIT = " AND prompt_id IN (SELECT prompt_id FROM unit_prompts WHERE unit_id = ?)"
KIND = f"obs_type NOT IN ({', '.join(repr(kind) for kind in sorted(NOT_CALLS))})"
"""What is a call."""
CALLS = (
    "SELECT id, seq, at, prompt_id, obs_type, coalesce(file_path, ''), substr(content, 1, {cut}), outcome,"
    " phase, scope, locus, novelty, friction, label_model IS NOT NULL FROM observations"
    " WHERE session_id = ? AND seq > ? AND {kind}{unit}"
    " ORDER BY seq"
).replace("{cut}", str(CUT)).replace("{kind}", KIND)  # fmt: skip
CHECK = (
    "SELECT count(*), coalesce(sum((seq % 1021 + 1) * (id % 65537 * 3 + coalesce(prompt_id, -1) % 65537 * 5"
    " + (outcome = 'failed') * 7 + (outcome = 'ok') * 29 + (label_model IS NULL) * 31"
    " + CAST(coalesce(phase, 2) * 11e6 + coalesce(scope, 2) * 13e6"
    " + coalesce(locus, 2) * 17e6 + coalesce(novelty, 2) * 19e6 + coalesce(friction, 2) * 23e6 AS INTEGER))), 0)"
    " FROM observations WHERE session_id = ? AND seq > ? AND seq <= ?{unit}"
)
"""A whole number, so that the check of a part and that of the rest are together that of all."""
Check = tuple[int, int]


def calls(db: Connection, session_id: str, after: int = 0, unit_id: int | None = None) -> list[Call]:
    """Observations with a higher number than `after`, in their order."""
    unit, values = _of(unit_id)
    return [Call(*row) for row in db.execute(CALLS.replace("{unit}", unit), [session_id, after, *values]).fetchall()]


def check(db: Connection, session_id: str, after: int, upto: int, unit_id: int | None = None) -> Check:
    """Of the numbers after one up to another: a different pair when an observation came, went, moved, turned out
    otherwise, or was labelled anew. Checks of stretches that follow each other add up."""
    unit, values = _of(unit_id)
    count, total = db.execute(CHECK.replace("{unit}", unit), [session_id, after, upto, *values]).fetchone()
    return count, total


def _of(unit_id: int | None) -> tuple[str, list[int]]:
    return (_OF_UNIT, [unit_id]) if unit_id is not None else ("", [])


def swept(db: Connection, session_id: str, known: list[Call], unit_id: int | None = None) -> list[Call]:
    """The observations with those put in that only the traces of the episodes still know; numbered anew if so."""
    if not tables.version(db):
        return known
    there = db.execute("SELECT count(*) FROM observations WHERE session_id = ?", (session_id,)).fetchone()[0]
    made = db.execute("SELECT seq FROM sessions WHERE id = ?", (session_id,)).fetchone()
    if made is None or there >= made[0]:
        return known
    ids = {call.id for call in known}
    lost = [call for call in _traced(db, session_id, unit_id) if call.id not in ids]
    if not lost:
        return known
    ordered = sorted([*known, *lost], key=lambda call: (call.at, call.id))
    return [call._replace(seq=number) for number, call in enumerate(ordered, start=1)]


def counts(db: Connection, session_ids: Sequence[str]) -> dict[str, int]:
    """How many calls each session has, as its stance counts them; of one that a sweep took some from nothing is said,
    since its traces would have to be read."""
    marks = ",".join("?" * len(session_ids))
    sql = f"SELECT session_id, count(*) FROM observations WHERE session_id IN ({marks}) AND {KIND} GROUP BY session_id"  # noqa: S608
    found = dict.fromkeys(session_ids, 0) | dict(tuple(row) for row in db.execute(sql, session_ids).fetchall())
    return {each: number for each, number in found.items() if not forgotten(db, each)}


def forgotten(db: Connection, session_id: str) -> bool:
    """Whether a sweep has taken calls of a session."""
    if not tables.version(db):
        return False
    sql = "SELECT 1 FROM swept_sessions WHERE session_id = ? AND observations"
    return db.execute(sql, (session_id,)).fetchone() is not None


def _traced(db: Connection, session_id: str, unit_id: int | None) -> Iterator[Call]:
    """The observations that the traces of closed episodes tell."""
    found = db.execute(
        "SELECT id, obs_trace, first_prompt_id FROM work_units WHERE session_id = ? AND state = 'closed'", (session_id,)
    )
    for unit, stored, prompt_id in found.fetchall():
        if unit_id is None or unit == unit_id:
            try:
                trace = json.loads(stored)
            except ValueError:
                continue
            yield from (_told(each, prompt_id) for each in trace
                        if isinstance(each, dict) and _whole(each) and each["type"] not in NOT_CALLS)  # fmt: skip


def _whole(told: dict[str, object]) -> bool:
    kinds = (("id", int), ("t", int), ("type", str), ("outcome", str))
    return all(isinstance(told.get(name), kind) for name, kind in kinds)


def _told(told: dict[str, object], prompt_id: int) -> Call:
    number, at, obs_type, outcome = told["id"], told["t"], told["type"], told["outcome"]
    assert isinstance(number, int)
    assert isinstance(at, int)
    scores = told.get("scores")
    known = scores if isinstance(scores, dict) else {}
    values = [known.get(name) for name in ("phase", "scope", "locus", "novelty", "friction")]
    a, b, c, d, e = (float(value) if isinstance(value, int | float) else None for value in values)
    path = told.get("path")
    return Call(number, 0, at, prompt_id, str(obs_type), path if isinstance(path, str) else "", "", str(outcome),
                a, b, c, d, e, int(bool(known)))  # fmt: skip


# what stands before a session


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
  u.next_steps, u.session_id FROM work_units u WHERE u.session_id IN (
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


def means(db: Connection, session_id: str) -> Row:
    """How many calls a session has, how many failed, and the means of its labels."""
    found: Row = db.execute(FIGURES, (session_id,)).fetchone()
    return found


def way(db: Connection, session_id: str) -> list[tuple[float | None, float | None]]:
    """Phase and scope of a session's labelled calls, in their order."""
    return [(row[0], row[1]) for row in db.execute(WAY, (session_id,)).fetchall()]


def session(db: Connection, session_id: str) -> Row | None:
    """A session with what it was about; None when it is not there."""
    found: Row | None = db.execute(f"{SESSION} WHERE s.id = ?", (session_id,)).fetchone()
    return found


def sessions(db: Connection, project_id: int, limit: int) -> list[Row]:
    """The newest sessions of a project that have any observation."""
    query = f"{SESSION} WHERE s.project_id = ? AND s.seq > 0 ORDER BY s.last_at DESC LIMIT ?"
    return db.execute(query, (project_id, limit)).fetchall()


def sessions_before(db: Connection, project_id: int, session_id: str, at: int, limit: int) -> list[Row]:
    """The newest other sessions of a project that began before a time."""
    return db.execute(SESSION + EARLIER, (project_id, session_id, at, limit)).fetchall()


def episodes_before(db: Connection, project_id: int, but: int, at: int, of: int, limit: int) -> list[Row]:
    """The newest episodes up to a time, of the `of` newest sessions, without the one that is looked at."""
    return db.execute(ENDED, (project_id, at, of, but, at, limit)).fetchall()


def tried(
    db: Connection, project_id: int, session_id: str, since: int, at: int, of: int
) -> Iterator[tuple[str, list[Call]]]:
    """What other sessions of the project, `of` at most, did within a time but read and search, each by its id."""
    for (other,) in db.execute(WEEK_SESSIONS, (project_id, since, session_id, at, of)).fetchall():
        yield other, [Call(*one) for one in db.execute(TRIED, (other, since, at))]


# what is followed, and its episodes


def place(db: Connection, session_id: str) -> Row | None:
    """A session's project, and since when and until when it went; None when it is not there."""
    found: Row | None = db.execute(
        "SELECT s.id, s.project_id, p.name, s.started_at, s.last_at FROM sessions s"
        " JOIN projects p ON p.id = s.project_id WHERE s.id = ?",
        (session_id,),
    ).fetchone()
    return found


def newest(db: Connection, project_id: int | None) -> str | None:
    """The session of a project that was active last and has done something; else the last one, or None."""
    row = db.execute(
        f"SELECT id FROM sessions WHERE project_id = ? ORDER BY last_at > {NOW}, seq > 0 DESC, last_at DESC LIMIT 1",  # noqa: S608
        (project_id,),
    ).fetchone()
    return str(row[0]) if row else None


def session_of(db: Connection, unit_id: int) -> str | None:
    """The session of an episode; None when it is not there."""
    if not tables.version(db):
        return None
    row = db.execute("SELECT session_id FROM work_units WHERE id = ?", (unit_id,)).fetchone()
    return str(row[0]) if row else None


def current(db: Connection, session_id: str) -> int:
    """The episode that a session is in; 0 for none."""
    if not tables.version(db):
        return 0
    query = "SELECT id FROM work_units WHERE session_id = ? ORDER BY started_at DESC, id DESC LIMIT 1"
    row = db.execute(query, (session_id,)).fetchone()
    return int(row[0]) if row else 0


def prompts(db: Connection, ids: set[int]) -> dict[int, str]:
    """How some prompts begin, by their numbers."""
    out: dict[int, str] = {}
    wanted = sorted(ids)
    for begin in range(0, len(wanted), _CHUNK):
        some = wanted[begin : begin + _CHUNK]
        marks = ",".join("?" for _ in some)
        out.update(db.execute(f"SELECT id, substr(content, 1, {TEXT}) FROM prompts WHERE id IN ({marks})", some))  # noqa: S608
    return out


def heads(db: Connection, session_id: str, unit_id: int | None) -> list[Row]:
    """Every prompt of the episodes of a session, or of one of them, with its episode."""
    if not tables.version(db):
        return []
    where, value = ("u.id = ?", unit_id) if unit_id is not None else ("u.session_id = ?", session_id)
    return db.execute(
        f"SELECT u.id, substr(coalesce(u.title, u.agent_title, u.heading, u.intent), 1, {TEXT}) AS title,"  # noqa: S608
        " u.started_at, x.prompt_id"
        f" FROM work_units u JOIN unit_prompts x ON x.unit_id = u.id WHERE {where} ORDER BY u.started_at, u.id",
        (value,),
    ).fetchall()
