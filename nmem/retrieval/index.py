"""Updates the retrieval index with new and changed episodes. Background work, in short transactions.

An episode is indexed when its story is told, and again when it is told anew. Documents are read and weighed outside the
transaction; a hook waits for the write lock a few milliseconds at most.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable
from json import dumps
from sqlite3 import Connection
from sys import byteorder

from capture.storage.store import transaction
from nmem.retrieval import store
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
Due = tuple[int, int, int, int]
"""Episode, project, time and when it was told, of an episode that is not indexed as it is told now."""


def keep(db: Connection, stopped: Callable[[], bool] = lambda: False) -> int:
    """Index what is due, on a writing connection outside a transaction; how many episodes were indexed."""
    _drop_outdated(db)
    done = 0
    while not stopped():
        made = [(one, document(db, one[0])) for one in store.due(db, BATCH)]
        if not made:
            break
        with transaction(db):
            for project_id in sorted({one[1] for one, _ in made}):
                _add(db, project_id, [pair for pair in made if pair[0][1] == project_id])
        done += len(made)
    return done


def _drop_outdated(db: Connection) -> None:
    """Drop the index of projects that other rules made, or whose numbers mostly belong to no document any more."""
    if found := store.outdated(db, RULES, _LEAST_DEAD, _DEAD):
        with transaction(db):
            store.forget(db, found)


def _add(db: Connection, project_id: int, made: list[tuple[Due, Document]]) -> None:
    """Append documents to a project's postings, in place of those that the same episodes had."""
    last = store.last_number(db, project_id)
    before = store.numbers(db, project_id, [one[0] for one, _ in made])
    new: dict[str, array[int]] = {}
    for (unit_id, _, at, told_at), found in made:
        last += 1
        for word, weight in found.bag.items():
            new.setdefault(word, array("I")).append(last << 8 | max(1, round(weight * WEIGHT)))
        store.put(db, (unit_id, project_id, last, at, told_at, found.result))
    _take_out(db, project_id, before, list(new))
    store.append(db, project_id, [(word, len(packed), packed.tobytes()) for word, packed in sorted(new.items())])
    store.indexed(db, project_id, last, RULES)


def _take_out(db: Connection, project_id: int, numbers: list[int], words: list[str]) -> None:
    """Take numbers out of the postings of words: an episode that is told anew would count twice, and its rare words
    would count as common. Postings of words that it has no more stay behind, and no row answers to them.
    """
    if not numbers:
        return
    changed = []
    for word, docs, packed in store.counted_postings(db, project_id, dumps(words)):
        left = without(packed, numbers)
        if len(left) < len(packed):
            changed.append((docs - (len(packed) - len(left)) // _SIZE, left, project_id, word))
    store.replace(db, changed)


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
