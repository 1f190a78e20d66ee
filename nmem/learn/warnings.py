"""Matches an episode with open learnings, by its files or the words of its request, to warn of them (SQL).

Better too few than one that is beside the point: only open learnings that are still warm, and only where the intent
names the command, the file, the module or the question itself, or the episode works on a file that is known to be
stuck.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from sqlite3 import Connection, Cursor, Row

from capture.storage import store as base
from nmem.learn import read
from nmem.learn.commands import normalise
from nmem.learn.learning import (
    FAILED_COMMAND,
    OPEN,
    REPEATED_INTENT,
    STUCK_LOOP,
    UNRESOLVED_READ,
    Learning,
    Warned,
)
from nmem.learn.remedies import SPELLING
from nmem.retrieval import naming

ALIKE = 0.6
WARM = 20
"""Heat from which a learning warns."""
MOST = 3
"""Warnings of one episode."""
_RECENT = 7 * 24 * 3_600_000


@dataclass(frozen=True)
class _Unit:
    id: int
    intent: str
    files: frozenset[str]


def warn_open(db: Connection, project_id: int, now: int) -> int:
    """Bring the warnings of a project's recent episodes up to date; how many are new. On a writing connection."""
    warm = warm_learnings(db, project_id, now)
    wanted = {unit.id: matches(warm, unit.intent, unit.files) for unit in _units(db, project_id)}
    there = _there(db, wanted)
    made = 0
    if any(there[unit_id] != {one.id: reason for one, reason in found} for unit_id, found in wanted.items()):
        with base.transaction(db):
            for unit_id, found in wanted.items():
                made += _write(db, unit_id, found, there[unit_id], now)
    return made


def _there(db: Connection, units: Iterable[int]) -> dict[int, dict[int, str]]:
    """The warnings of some episodes as they are written: learning -> what matched."""
    out: dict[int, dict[int, str]] = {unit: {} for unit in units}
    found = db.execute(
        "SELECT unit_id, learning_id, reason FROM unit_warnings WHERE unit_id IN (SELECT value FROM json_each(?))",
        (json.dumps(list(out)),),
    )
    for unit_id, learning_id, reason in found.fetchall():
        out[unit_id][learning_id] = reason
    return out


def of_unit(db: Connection, unit_id: int, now: int) -> tuple[Warned, ...]:
    """What an episode is warned of: as settling wrote it, else as it stands while the episode is still open."""
    return read.warned(db, unit_id, now) or current(db, unit_id, now)


def current(db: Connection, unit_id: int, now: int) -> tuple[Warned, ...]:
    """What an open episode runs into as it stands now, the hottest first; reads only, so a screen may ask each turn."""
    if not read.present(db):
        return ()
    row = (
        _named(db)
        .execute(
            "SELECT s.project_id FROM work_units u JOIN sessions s ON s.id = u.session_id"
            " WHERE u.id = ? AND u.state = 'open'",
            (unit_id,),
        )
        .fetchone()
    )
    unit = next(iter(_units(db, row["project_id"], unit_id)), None) if row else None
    if unit is None:
        return ()
    found = matches(warm_learnings(db, row["project_id"], now), unit.intent, unit.files)
    return tuple(Warned(one, reason, now) for one, reason in found)


def warm_learnings(db: Connection, project_id: int, now: int) -> tuple[Learning, ...]:
    """The open learnings of a project that are hot enough to warn."""
    return tuple(one for one in read.learnings(db, now, project_id, (OPEN,)) if one.heat >= WARM)


def matches(warm: Sequence[Learning], intent: str, files: Iterable[str]) -> list[tuple[Learning, str]]:
    """The learnings that an intent or files run into, the hottest first, each with what matched."""
    asked, touched = _Asked(intent), set(files)
    out = []
    for one in warm:
        reason = _reason(one, asked, touched)
        if reason:
            out.append((one, reason))
    return out[:MOST]


def _reason(one: Learning, asked: _Asked, touched: set[str]) -> str:
    """What of a learning an episode runs into, in words; empty when nothing does."""
    if one.kind in (STUCK_LOOP, UNRESOLVED_READ) and (shared := sorted(set(one.files) & touched)):
        return f"works on {shared[0]}"
    if one.kind == REPEATED_INTENT:
        theirs = set(naming.tokens(one.title))
        both = theirs & asked.tokens
        return (
            f"asks again: {one.title}"[:120]
            if len(both) >= 3 and len(both) >= ALIKE * len(theirs | asked.tokens)
            else ""
        )
    for phrase in phrases(one):
        if f" {phrase.lower()} " in asked.line:
            return f"is to run `{phrase}`"
    for name in names(one):
        if name.lower() in asked.named:
            return f"names {name}"
    return ""


def phrases(one: Learning) -> list[str]:
    """The commands that a learning is about: the one that fails, and the one that works instead."""
    failing = one.key.partition(" | ")[0] if one.kind in (FAILED_COMMAND, STUCK_LOOP) else ""
    meant = (
        [found.key for ran in one.remedy.commands if (found := normalise(ran))]
        if one.remedy and one.remedy.kind == SPELLING
        else []
    )
    return [phrase for phrase in dict.fromkeys([failing, *meant]) if phrase.count(" ") >= 1]


def names(one: Learning) -> list[str]:
    """The file, module or program that a learning is about."""
    found = [
        key.rpartition("/")[2] for mark in _NAMED if mark in one.key for key in [one.key.rpartition(mark)[2].strip()]
    ]
    if one.kind in (STUCK_LOOP, UNRESOLVED_READ):
        found += [path.rpartition("/")[2] for path in one.files]
    return [name for name in found if len(name) >= 4 and ("." in name or "does not exist" not in one.key)]


_NAMED = (" does not exist ", ": no module ", ": no command ", ": no package ", ": no script ", ": no file ")


class _Asked:
    """An intent as it is compared."""

    def __init__(self, intent: str) -> None:
        self.tokens = set(naming.tokens(intent))
        said = [word.strip(".,;:!?()[]*`'\"") for word in intent.lower().split()]
        self.line = f" {' '.join(said)} "
        self.named = set(said) | naming.file_mentions(intent)


def _units(db: Connection, project_id: int, unit_id: int | None = None) -> list[_Unit]:
    cursor = _named(db)
    newest = (
        cursor.execute("SELECT max(last_at) AS at FROM sessions WHERE project_id = ?", (project_id,)).fetchone()["at"]
        or 0
    )
    found = cursor.execute(
        "SELECT u.id, u.intent, u.hot_files FROM work_units u JOIN sessions s ON s.id = u.session_id"
        " WHERE s.project_id = ? AND (u.id = ? OR (? IS NULL AND u.last_at >= ?)) ORDER BY u.last_at DESC LIMIT 50",
        (project_id, unit_id, unit_id, newest - _RECENT),
    ).fetchall()
    return [_Unit(row["id"], row["intent"], frozenset(_paths(row["hot_files"]))) for row in found]


def _named(db: Connection) -> Cursor:
    """A cursor whose rows answer to names, whatever the connection's do."""
    cursor = db.cursor()
    cursor.row_factory = Row
    return cursor


def _paths(text: str) -> list[str]:
    try:
        found = json.loads(text)
    except ValueError:
        return []
    return [str(one.get("path")) for one in found if isinstance(one, dict)] if isinstance(found, list) else []


def _write(db: Connection, unit_id: int, found: Sequence[tuple[Learning, str]], there: dict[int, str], now: int) -> int:
    """Write what differs; how many are new. An episode or a learning that went meanwhile is passed over."""
    wanted = {one.id: reason for one, reason in found}
    for gone in set(there) - set(wanted):
        db.execute("DELETE FROM unit_warnings WHERE unit_id = ? AND learning_id = ?", (unit_id, gone))
    for learning_id, reason in wanted.items():
        if there.get(learning_id) != reason:
            db.execute(
                "INSERT OR REPLACE INTO unit_warnings (unit_id, learning_id, at, reason) SELECT u.id, l.id, ?, ?"
                " FROM work_units u, learnings l WHERE u.id = ? AND l.id = ?",
                (now, reason, unit_id, learning_id),
            )
    return len(set(wanted) - set(there))
