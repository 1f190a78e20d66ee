"""Undoes a person's corrections of every kind, newest first: episodes, sessions, threads, learnings, labels, pins.

Each part of the house puts its own back; a correction's kind or target says whose it is.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from dataclasses import dataclass
from sqlite3 import Connection
from typing import Protocol

from capture.storage.store import file, transaction
from nmem import settle_start
from nmem.audit import future, review
from nmem.context import candidate_store, choosing, pins
from nmem.decisions import change as decided
from nmem.errors import NmemError
from nmem.learn.files import Written
from nmem.recall import changes
from nmem.search import index_store
from nmem.sessions import marks
from nmem.store import changed_settings
from nmem.store import corrections as log
from nmem.store.corrections import UNDONE_HERE, Entry
from nmem.store.store import back_to_saved, release, save
from nmem.text import printable


class _Own(Protocol):
    """A module with corrections of its own."""

    def ours(self, entry: Entry) -> bool: ...
    def describe(self, entry: Entry) -> str: ...
    def take_back(self, db: Connection, entry: Entry, now: int) -> str: ...


_OWN: tuple[_Own, ...] = (pins, choosing, review, future, changes, changed_settings, decided, marks)
_LEFT = "could not be undone, and is left as it is: "
_CUT = frozenset(("split", "merge", "move"))
"""Corrections after which prompts are in other episodes."""


def undone(db: Connection, now: int) -> str:
    """The same as `undo`, as a sentence: `undone: …`, or `not undone: …` where nothing of it could be taken back."""
    said = undo(db, now)
    what, left, why = said.partition(f" ({_LEFT}")
    return f"not undone: {why.removesuffix(')')}; it stays: {what}" if left else f"undone: {said}"


def undo(db: Connection, now: int) -> str:
    """Take back the newest correction that is not undone, with what was asked for together with it; what it was.

    Several calls go several steps back; what cannot be taken back is said and passed over, so it stands in nobody's
    way. Raises NmemError when nothing is left to undo, once for a purge for good, and sqlite3.Error.
    """
    if final := _passed_over(db, now):
        raise NmemError(final)
    with Written(db) as last:
        entry = log.newest(db)
        if entry is None:
            raise NmemError("nothing to undo")
        if entry.id < 0 and entry.kind not in UNDONE_HERE:
            raise NmemError(
                f"the remaining corrections were made on another machine and cannot be undone here: {describe(entry)}"
            )
        every = log.alike(db, entry)
        notes = []
        for each in every:
            notes.append(_tried(db, each, last, now))
            log.undone(db, each.id, now)
    _retell(db, every, now)
    if candidate_store.behind(db):
        settle_start.start(file(db))
    told = list(dict.fromkeys(note for note in notes if note))
    what = _after(entry) if not any(notes) else describe(entry)
    said = what if len(every) == 1 else f"{len(every)} at once: {what} …"
    return f"{said} ({'; '.join(told)})" if told else said


@dataclass(frozen=True, slots=True)
class Next:
    """What the next undo takes back."""

    id: int
    at: int
    """When it was done, in milliseconds."""
    what: str
    steps: int
    """Undos that can follow one another, this one among them."""
    folders: tuple[str, ...]
    """Those whose files it changes: of a project, or of a client's memory of it."""


def foreseen(db: Connection) -> Next | None:
    """What the next undo takes back; None: nothing is left."""
    entry = log.newest(db)
    if entry is None:
        return None
    every = log.alike(db, entry)
    number = len(every)
    what = describe(entry) if number == 1 else f"{number} at once: {describe(entry)} …"
    roots = (each.payload.get("root") for each in every if changes.ours(each) or _of(each) == "learning")
    return Next(entry.id, entry.at, what, log.steps(db), tuple(dict.fromkeys(str(root) for root in roots if root)))


def _passed_over(db: Connection, now: int) -> str:
    """What is said where the newest is a purge for good, which is passed over: nothing older is taken back unasked."""
    from nmem.purge import run  # on use: start-up stays short

    with transaction(db):
        entry = log.newest(db)
        if entry is None or not run.for_good(entry):
            return ""
        log.undone(db, entry.id, now)
        before = log.newest(db)
    then = f"the next undo reverts: {describe(before)}" if before else "nothing else is left to undo"
    return f"nothing was undone: {describe(entry)}; {then}"


def _retell(db: Connection, entries: Iterable[Entry], now: int) -> None:
    """What was told anew when prompts went elsewhere is told anew now that they are back: what is read next is true."""
    sessions = {str(each.payload.get("session", "")) for each in entries if each.kind in _CUT}
    if sessions:
        from nmem.episodes import narrations, storytelling  # on use: start-up stays short

        for session_id in sorted(sessions):
            storytelling.retell(db, narrations.outdated(db, session_id), now)


def _tried(db: Connection, entry: Entry, last: Written, now: int) -> str:
    """Take one back, or leave everything as it is and say why."""
    for again in (True, False):
        save(db)
        try:
            note = _taken(db, entry, last, now)
        except (sqlite3.DatabaseError, NmemError, KeyError, TypeError, ValueError) as error:
            if _later(db, entry, error, now):
                raise
            back_to_saved(db)
            if again and "malformed" in str(error):
                index_store.rebuild(db)  # an index that settling keeps is broken, not what a person did
                continue
            note = f"{_LEFT}{error}"
        release(db)
        return note
    raise AssertionError


def _taken(db: Connection, entry: Entry, last: Written, now: int) -> str:
    """Take one back; what the person should know beside it. Raises what `_tried` catches."""
    if entry.damaged:
        raise NmemError("its saved data is damaged")
    own = _own(entry)
    return own.take_back(db, entry, now) if own else _take_back(db, entry, last, now)


def _later(db: Connection, entry: Entry, error: Exception, now: int) -> bool:
    """Whether it may well succeed another time: the database is not to be had, or a purge's trash is still kept."""
    if _of(entry) != "purge" or not isinstance(error, NmemError):
        return isinstance(error, sqlite3.OperationalError)
    from nmem.purge import run  # on use: start-up stays short

    return run.kept(db, entry, now)


def history(db: Connection, limit: int = 20) -> list[Entry]:
    """Corrections, the newest first, also undone ones."""
    return log.entries(db, limit)


def describe(entry: Entry) -> str:
    """What a person did, in a few words."""
    if own := _own(entry):
        return own.describe(entry)
    if _of(entry) == "learning":
        from nmem.learn import accept  # on use: start-up stays short

        return accept.describe(entry)
    if _of(entry) == "observation":
        from nmem.labels import corrections as labels  # on use: start-up stays short

        return labels.describe(entry)
    if _of(entry) == "purge":
        from nmem.purge import run  # on use: start-up stays short

        return run.describe(entry)
    if entry.kind in ("link", "unlink"):
        joined = "one line of work" if entry.kind == "link" else "not one line of work"
        return f"threads {entry.payload.get('earlier', '?')} and {entry.payload.get('later', '?')} are {joined}"
    if entry.kind == "next":
        from nmem.threads import steering  # on use: start-up stays short

        return steering.describe_next(entry.payload)
    if entry.kind == "thread":
        return f"{entry.target.replace('/', ' ')} into thread {entry.payload.get('thread', '?')}"
    from nmem.episodes import undo as episodes  # on use: start-up stays short

    return episodes.describe(entry)


def _after(entry: Entry) -> str:
    """What was undone; of a session that went to the archive or came from there, what it is now."""
    again = {"archived": "listed", "back from the archive": "archived"}.get(str(entry.payload.get("done", "")))
    if again is None or not marks.ours(entry):
        return describe(entry)
    return f"session {printable(entry.target.partition('/')[2][:8])} is {again} again"


def _own(entry: Entry) -> _Own | None:
    """The module that knows a correction by itself."""
    return next((each for each in _OWN if each.ours(entry)), None)


def _take_back(db: Connection, entry: Entry, last: Written, now: int) -> str:
    """Put back what was, files `last`; what the person should know beside it, if anything."""
    if _of(entry) == "learning":
        from nmem.learn import accept  # on use: start-up stays short

        return accept.take_back(db, entry, last)
    if _of(entry) == "observation":
        from nmem.labels import corrections as labels  # on use: start-up stays short

        return labels.take_back(db, entry)
    if _of(entry) == "purge":
        from nmem.purge import run  # on use: start-up stays short

        return run.take_back(db, entry, now)
    if entry.kind in ("link", "unlink"):
        from nmem.threads import outcomes  # on use: start-up stays short

        outcomes.undo(db, entry.target, entry.before)
    elif entry.kind == "next":
        from nmem.threads import steering  # on use: start-up stays short

        return steering.undo_next(db, entry.target, entry.payload, entry.before)
    elif entry.kind == "thread":
        from nmem.threads import steering  # on use: start-up stays short

        steering.undo(db, entry.target, entry.before)
    else:
        from nmem.episodes import undo as episodes  # on use: start-up stays short

        episodes.take_back(db, entry)
    return ""


def _of(entry: Entry) -> str:
    """What a correction is of: the word before the slash of its target."""
    return entry.target.partition("/")[0]
