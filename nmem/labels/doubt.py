"""Calls that the model cannot label, each as one question to a person (SQL, reading only)."""

from __future__ import annotations

from dataclasses import dataclass
from sqlite3 import Connection

from capture.labels import DIMENSIONS
from capture.labels.calls import NOT_CALLS
from nmem.errors import NmemError
from nmem.labels import read
from nmem.labels.read import Labelled, Word

AMONG = 2_000
"""The newest observations, among which doubtful calls are looked for: a look costs the same in any database."""


@dataclass(frozen=True, slots=True)
class Doubt:
    """A call, and the one word of it that is asked for."""

    call: Labelled
    word: Word


def doubts(db: Connection, db_path: str, limit: int) -> tuple[Doubt, ...]:
    """The newest calls with a word too close to tell, of which no person has said anything."""
    out = []
    for number in _numbers(db, limit):
        try:
            call = read.labelled(db, db_path, number)
        except NmemError:
            continue  # it went meanwhile
        unsure = [word for word in call.words if not word.word and not word.own and word.thinks]
        if unsure:
            out.append(Doubt(call, max(unsure, key=_nearness)))
    return tuple(out)


def waiting(db: Connection, limit: int) -> int:
    """How many there are; counted up to a limit."""
    return len(_numbers(db, limit))


def _nearness(word: Word) -> tuple[float, int]:
    """How near to telling the model is; of equals the dimension that comes first."""
    return abs(word.leaning) / (word.threshold or 1.0), -DIMENSIONS.index(word.dimension)


def _numbers(db: Connection, limit: int) -> list[int]:
    if limit <= 0:
        return []
    kinds = ", ".join(f"'{kind}'" for kind in sorted(NOT_CALLS))
    rows = db.execute(
        "SELECT id FROM (SELECT id, obs_type, label_model, phase + scope + locus + novelty + friction AS told"  # noqa: S608 -- our names
        f" FROM observations ORDER BY id DESC LIMIT ?) WHERE told IS NULL AND obs_type NOT IN ({kinds})"
        " AND label_model != '' AND substr(label_model, 1, 1) != '~' AND instr(label_model, '+') = 0 LIMIT ?",
        (AMONG, limit),
    )
    return [int(row[0]) for row in rows]
