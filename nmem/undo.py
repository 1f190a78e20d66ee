"""Takes corrections back, the newest first, whatever they are of: episodes, threads, learnings, labels, pins.

Each part of the house puts its own back; a correction's kind or target says whose it is.
"""

from __future__ import annotations

from sqlite3 import Connection

from nmem import pins
from nmem.episodes import corrections_log as log
from nmem.episodes.corrections_log import Entry
from nmem.errors import NmemError
from nmem.learn.written import Written


def undo(db: Connection, now: int) -> str:
    """Take back the newest correction that is not undone; what it was, in words.

    Several calls go several steps back. Raises NmemError when nothing is left to undo, and sqlite3.Error.
    """
    with Written(db) as last:
        entry = log.newest(db)
        if entry is None:
            raise NmemError("there is nothing to undo")
        note = pins.take_back(db, entry, now) if pins.ours(entry) else _take_back(db, entry, last)
        log.undone(db, entry.id, now)
    return f"{describe(entry)} ({note})" if note else describe(entry)


def history(db: Connection, limit: int = 20) -> list[Entry]:
    """Corrections, the newest first, also undone ones."""
    return log.entries(db, limit)


def describe(entry: Entry) -> str:
    """What a person did, in a few words."""
    if pins.ours(entry):
        return pins.describe(entry)
    if _of(entry) == "learning":
        from nmem.learn import undo as learnings

        return learnings.describe(entry)
    if _of(entry) == "observation":
        from nmem.labels import corrections as labels

        return labels.describe(entry)
    if entry.kind in ("link", "unlink"):
        joined = "one line of work" if entry.kind == "link" else "not one line of work"
        return f"threads {entry.payload.get('earlier', '?')} and {entry.payload.get('later', '?')} are {joined}"
    if entry.kind == "thread":
        return f"{entry.target.replace('/', ' ')} into thread {entry.payload.get('thread', '?')}"
    from nmem.episodes import undo as episodes

    return episodes.describe(entry)


def _take_back(db: Connection, entry: Entry, last: Written) -> str:
    """Put back what was, files `last`; what the person should know beside it, if anything."""
    if _of(entry) == "learning":
        from nmem.learn import undo as learnings

        return learnings.take_back(db, entry, last)
    if _of(entry) == "observation":
        from nmem.labels import corrections as labels

        return labels.take_back(db, entry)
    if entry.kind in ("link", "unlink"):
        from nmem.threads import outcomes

        outcomes.undo(db, entry.target, entry.before)
    elif entry.kind == "thread":
        from nmem.threads import steering

        steering.undo(db, entry.target, entry.before)
    else:
        from nmem.episodes import undo as episodes

        episodes.take_back(db, entry)
    return ""


def _of(entry: Entry) -> str:
    """What a correction is of: the word before the slash of its target."""
    return entry.target.partition("/")[0]
