"""Updates the retrieval index with new and changed episodes (SQL). Background work, in short transactions.

An episode is indexed when its story is told, and again when it is told anew. Documents are read and weighed outside the
transaction; a hook waits for the write lock a few milliseconds at most.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from json import dumps
from sqlite3 import Connection
from sys import byteorder

from capture.storage.store import transaction
from nmem.retrieval.documents import RULES, Document, document
from nmem.retrieval.engine import WEIGHT

BATCH = 40
"""Episodes indexed in one transaction."""
_DEAD = 0.5
"""The part of a project's numbers that may belong to no document any more before it is indexed anew."""
_LEAST_DEAD = 50
_SIZE = array("I").itemsize
_PLACE = int(byteorder == "little")
"""Where a posting's document begins: its weight is the lowest byte."""

_DUE = """
SELECT u.id, s.project_id, u.last_at, u.narrated_at
FROM work_units u INDEXED BY work_units_standing CROSS JOIN sessions s ON s.id = u.session_id
LEFT JOIN retrieval_docs d ON d.unit_id = u.id
WHERE u.narrated_at IS NOT NULL
AND (d.unit_id IS NULL OR d.told_at != u.narrated_at OR d.project_id != s.project_id)
ORDER BY u.last_at DESC, u.id DESC LIMIT ?
"""


@dataclass(frozen=True, slots=True)
class Due:
    """An episode that is not indexed as it is told now."""

    unit_id: int
    project_id: int
    at: int
    told_at: int


def keep(db: Connection, stopped: Callable[[], bool] = lambda: False) -> int:
    """Index what is due, on a writing connection outside a transaction; how many episodes were indexed."""
    _drop_outdated(db)
    done = 0
    while not stopped():
        batch = [Due(*row) for row in db.execute(_DUE, (BATCH,)).fetchall()]
        if not batch:
            break
        made = [(one, document(db, one.unit_id)) for one in batch]
        with transaction(db):
            for project_id in sorted({one.project_id for one in batch}):
                _add(db, project_id, [pair for pair in made if pair[0].project_id == project_id])
        done += len(batch)
    return done


def forget(db: Connection, project_ids: Iterable[int]) -> None:
    """Drop the index of projects, and their themes that are made of it, within the caller's transaction.

    `keep` makes the index again from what is still there.
    """
    for project_id in project_ids:
        for table in ("retrieval_docs", "retrieval_postings", "retrieval_projects", "unit_themes"):
            db.execute(f"DELETE FROM {table} WHERE project_id = ?", (project_id,))  # noqa: S608 - our names


def forget_changed(db: Connection) -> None:
    """Drop the index of projects that something was taken from, within the caller's transaction: no word stays."""
    rows = db.execute("SELECT project_id FROM context_projects WHERE taken != known").fetchall()
    forget(db, [row[0] for row in rows])


def _drop_outdated(db: Connection) -> None:
    """Drop the index of projects that other rules made, or whose numbers mostly belong to no document any more."""
    rows = db.execute(
        "SELECT p.project_id FROM retrieval_projects p WHERE p.rules != ? OR p.last_doc -"
        " (SELECT count(*) FROM retrieval_docs d WHERE d.project_id = p.project_id) > max(?, ? * p.last_doc)",
        (RULES, _LEAST_DEAD, _DEAD),
    ).fetchall()
    if rows:
        with transaction(db):
            forget(db, [row[0] for row in rows])


def _add(db: Connection, project_id: int, made: list[tuple[Due, Document]]) -> None:
    """Append documents to a project's postings, in place of those that the same episodes had."""
    row = db.execute("SELECT last_doc FROM retrieval_projects WHERE project_id = ?", (project_id,)).fetchone()
    last = int(row[0]) if row else 0
    before = _numbers(db, project_id, [one.unit_id for one, _ in made])
    new: dict[str, array[int]] = {}
    for one, found in made:
        last += 1
        for word, weight in found.bag.items():
            new.setdefault(word, array("I")).append(last << 8 | max(1, round(weight * WEIGHT)))
        db.execute(
            "INSERT OR REPLACE INTO retrieval_docs (unit_id, project_id, doc, at, told_at, result)"
            " VALUES (?, ?, ?, ?, ?, ?)",
            (one.unit_id, project_id, last, one.at, one.told_at, found.result),
        )
    _take_out(db, project_id, before, list(new))
    db.executemany(
        "INSERT INTO retrieval_postings (project_id, word, docs, postings) VALUES (?, ?, ?, ?)"
        " ON CONFLICT (project_id, word) DO UPDATE SET docs = docs + excluded.docs,"
        " postings = CAST(postings || excluded.postings AS BLOB)",
        [(project_id, word, len(packed), packed.tobytes()) for word, packed in sorted(new.items())],
    )
    db.execute(
        "INSERT INTO retrieval_projects (project_id, last_doc, rules) VALUES (?, ?, ?)"
        " ON CONFLICT (project_id) DO UPDATE SET last_doc = excluded.last_doc",
        (project_id, last, RULES),
    )


def _numbers(db: Connection, project_id: int, episodes: list[int]) -> list[int]:
    """The numbers that episodes have in a project's index, where they are in it."""
    rows = db.execute(
        "SELECT doc FROM retrieval_docs WHERE project_id = ? AND unit_id IN (SELECT value FROM json_each(?))",
        (project_id, dumps(episodes)),
    )
    return [row[0] for row in rows.fetchall()]


def _take_out(db: Connection, project_id: int, numbers: list[int], words: list[str]) -> None:
    """Take numbers out of the postings of words: an episode that is told anew would count twice, and its rare words
    would count as common. Postings of words that it has no more stay behind, and no row answers to them.
    """
    if not numbers:
        return
    rows = db.execute(
        "SELECT word, docs, postings FROM retrieval_postings WHERE project_id = ?"
        " AND word IN (SELECT value FROM json_each(?))",
        (project_id, dumps(words)),
    ).fetchall()
    changed = []
    for word, docs, packed in rows:
        left = without(packed, numbers)
        if len(left) < len(packed):
            changed.append((docs - (len(packed) - len(left)) // _SIZE, left, project_id, word))
    db.executemany("UPDATE retrieval_postings SET docs = ?, postings = ? WHERE project_id = ? AND word = ?", changed)


def without(packed: bytes, numbers: Iterable[int]) -> bytes:
    """Postings without those of some documents."""
    for number in numbers:
        wanted = number.to_bytes(_SIZE - 1, byteorder)
        at = packed.find(wanted)
        while at >= 0 and at % _SIZE != _PLACE:
            at = packed.find(wanted, at + 1)
        if at >= 0:
            packed = packed[: at - _PLACE] + packed[at - _PLACE + _SIZE :]
    return packed
