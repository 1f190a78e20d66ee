"""Indexes new texts for search, a block of ids and a short transaction at a time.

Called by settling. It can be stopped anywhere and goes on where it was; hooks wait at most for one stretch.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from sqlite3 import Connection

from capture.storage.store import transaction
from nmem.search import index_store
from nmem.search.index_store import BITS, STRETCH

_STEPS = {"observations": STRETCH, "prompts": STRETCH // 4, "search_docs": STRETCH // 4, "work_units": STRETCH // 4}


def refresh(
    db: Connection, stopped: Callable[[], bool] = lambda: False,
    progress: Callable[[int, int], None] = lambda _done, _all: None,
) -> int:  # fmt: skip
    """Take in what is new, on a writing connection outside a transaction; how many texts there were.

    `progress` gets, after each stretch, how many observations are indexed and how many wait at most.
    """
    index_store.with_room(db)
    _heal(db)
    if index_store.state(db, "stale")[0]:
        with transaction(db):  # texts were deleted, and what only they held must not be offered any more
            index_store.forget(db)
    taken, begun = 0, min(index_store.state(db, "observations"))
    last = max(begun + 1, index_store.top(db, "observations"))
    for source, step in _STEPS.items():
        while not stopped():
            upto, found = _stretch(db, source, step)
            taken += found
            if not upto:
                break
            if source == "observations":
                progress(upto - begun, last - begun)
    return taken


def leaving(db: Connection, source: str, ids: Iterable[int]) -> None:
    """Uncount the words of observations or prompts that the caller's transaction is about to delete.

    Who deletes a few says so, and nothing else is counted anew because of them.
    """
    done, indexed = index_store.state(db, source)
    texts, credit = list[str](), 0
    for number in ids:
        found = index_store.texts_between(db, source, number - 1, number)
        texts += found if number <= done else []
        credit += len(found) if number <= max(done, indexed) else 0
    index_store.uncount(db, source, texts, credit)


def _heal(db: Connection) -> None:
    wrong = index_store.overtaken(db)
    if not wrong and not index_store.state(db, "rebuild")[0]:
        return
    with transaction(db):
        if wrong:
            index_store.forget(db, wrong)
        index_store.rebuild(db)


def _stretch(db: Connection, source: str, step: int) -> tuple[int, int]:
    """Up to which id a stretch was taken in, 0 at the end, and how many texts were counted."""
    done, indexed = index_store.state(db, source)
    after = min(done, indexed) if source in BITS else done
    upto = index_store.stretch_end(db, source, after, step)
    if upto is None:
        return 0, 0
    if source in BITS and after < max(done, indexed) < upto:
        upto = max(done, indexed)  # what is behind comes up to the rest first
    texts = index_store.texts_between(db, source, done, upto) if upto > done else []
    counted = index_store.counted(texts)
    known = index_store.known_ids(db, counted)
    with transaction(db):
        if index_store.state(db, source) != (done, indexed):
            return upto, len(texts)  # somebody else took it in meanwhile
        index_store.add(db, counted, known)
        if source in BITS and upto > indexed:
            index_store.take_in(db, source, indexed, upto)
        index_store.taken_in(db, source, upto, len(texts))
    return upto, len(texts)
