"""SQL: reads the observations of a session or episode for stance, and detects changes to them.

Takes a connection of `nmem.database.reader`. What retention has swept is read from the episodes' traces.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from sqlite3 import Connection

from capture.labels.calls import NOT_CALLS
from nmem import tables
from nmem.stance.model import Call

CUT = 300
"""Characters of a command that are read."""
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
