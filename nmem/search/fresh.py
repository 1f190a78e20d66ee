"""Searches rows not indexed yet, and characters in no index, directly (SQL)."""

from __future__ import annotations

import sqlite3
from sqlite3 import Connection

from nmem.search.clock import Clock, interrupted
from nmem.search.conditions import Narrowed
from nmem.search.fts import OBSERVATIONS, PROMPTS, Found, Source, Where
from nmem.search.meaning import Meaning

NEWEST = 2_000
"""Rows of a table that were not taken in yet and are read at most."""
SIGNS = 20_000
"""Rows of a table that are looked through for signs."""
_MOST = 200
SOURCES = (PROMPTS, OBSERVATIONS)


def fresh(db: Connection, source: Source, narrow: Narrowed, meaning: Meaning, clock: Clock, most: int) -> Found | None:
    """Of the rows after the last that was taken in, those that hold every word as a part; None when there are none."""
    where = narrow.where(source)
    done = db.execute("SELECT done FROM search_state WHERE source = ?", (source.name,)).fetchone()[0]
    top = db.execute(f"SELECT max(id) FROM {source.table}").fetchone()[0] or 0  # noqa: S608 -- our names
    if where is None or top <= done:
        return None
    pieces = [piece for one in meaning.words for piece in one.word.tokens]
    return _holding(db, source, where, max(done, top - NEWEST), pieces, clock, most)


def glance(db: Connection, source: Source, narrow: Narrowed, meaning: Meaning, clock: Clock, most: int) -> Found | None:
    """Of the newest rows, those that hold signs which no index has: emoji, punctuation."""
    where = narrow.where(source)
    if where is None:
        return None
    top = db.execute(f"SELECT max(id) FROM {source.table}").fetchone()[0] or 0  # noqa: S608 -- our names
    return _holding(db, source, where, max(0, top - SIGNS), [one.text for one in meaning.signs], clock, most)


def _holding(
    db: Connection, source: Source, where: Where, after: int, pieces: list[str], clock: Clock, most: int
) -> Found:  # fmt: skip
    """The rows after an id that hold all pieces, by a plain look at their texts; the last stored first.

    With `most`, so many of the newest by their time.
    """
    text = "o.content || ' ' || coalesce(o.file_path, '')" if source.table == "observations" else "o.content"
    joined = f" CROSS JOIN sessions s ON s.id = {source.session}" if where.sessions else ""
    holds = f" AND instr(lower({text}), ?)" * len(pieces)
    sql = (
        f"SELECT o.id, {source.at} FROM {source.table} o{joined} WHERE o.id > ?{where.sql}{holds}"  # noqa: S608
        " ORDER BY o.id DESC LIMIT ?"
    )
    found = Found(complete=after == 0)
    try:
        with clock.watching(db):
            for row in db.execute(sql, (after, *where.values, *pieces, -1 if most else _MOST)):
                found.ids.append((row[0], row[1]))
    except sqlite3.OperationalError as error:
        if not interrupted(error):
            raise
        found.complete, found.cut = False, True
    if most and len(found.ids) > most:
        found.ids.sort(key=lambda pair: (-pair[1], -pair[0]))
        del found.ids[most:]
        found.complete = False
    return found
