"""Matches an episode with open learnings, by its files or the words of its request, to warn of them.

Better too few than one that is beside the point: only open learnings that are still warm, and only where the intent
names the command, the file, the module or the question itself, or the episode works on a file that is known to be
stuck.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from sqlite3 import Connection

from capture.storage import store as base
from nmem.learn import read, store
from nmem.learn.commands import normalise
from nmem.learn.learning import FAILED_COMMAND, OPEN, REPEATED_INTENT, STUCK_LOOP, UNRESOLVED_READ, Learning, Warned
from nmem.learn.remedies import SPELLING
from nmem.retrieval import naming
from nmem.text import json_list

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
    for unit_id, learning_id, reason, _ in store.warnings(db, out):
        out[unit_id][learning_id] = reason
    return out


def of_unit(db: Connection, unit_id: int, now: int) -> tuple[Warned, ...]:
    """What an episode is warned of: as settling wrote it, else as it stands while the episode is still open."""
    return read.warned(db, unit_id, now) or current(db, unit_id, now)


def current(db: Connection, unit_id: int, now: int) -> tuple[Warned, ...]:
    """What an open episode runs into as it stands now, the hottest first; reads only, so a screen may ask each turn."""
    if not store.present(db):
        return ()
    project_id = store.project_of_open(db, unit_id)
    unit = None if project_id is None else next(iter(_units(db, project_id, unit_id)), None)
    if project_id is None or unit is None:
        return ()
    found = matches(warm_learnings(db, project_id, now), unit.intent, unit.files)
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
        alike = len(both) >= 3 and len(both) >= ALIKE * len(theirs | asked.tokens)
        return f"asks again: {one.title}"[:120] if alike else ""
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
    found = store.units(db, project_id, _RECENT, unit_id)
    return [
        _Unit(number, intent, frozenset(str(one.get("path")) for one in json_list(files) if isinstance(one, dict)))
        for number, intent, files in found
    ]


def _write(db: Connection, unit_id: int, found: Sequence[tuple[Learning, str]], there: dict[int, str], now: int) -> int:
    """Write what differs; how many are new. An episode or a learning that went meanwhile is passed over."""
    wanted = {one.id: reason for one, reason in found}
    changed = {number: reason for number, reason in wanted.items() if there.get(number) != reason}
    store.put_warnings(db, unit_id, set(there) - set(wanted), changed, now)
    return len(set(wanted) - set(there))
