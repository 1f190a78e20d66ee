"""Bounded walks over the text indexes (SQL): the newest matching ids, block by block, within the time limit."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from sqlite3 import Connection

from nmem.search.blocks import FOREVER, Block, Walk
from nmem.search.clock import Clock, interrupted


@dataclass(frozen=True, slots=True)
class Source:
    """A table and one text index over it. `id` and `range` turn the index's rowids into ids and back."""

    name: str
    table: str
    index: str
    at: str = "o.at"
    by_time: str = ""
    id: str = "f.rowid"
    range: str = "f.rowid BETWEEN ? AND ?"
    session: str = "o.session_id"
    by_session: str = ""


OBSERVATIONS = Source("observations", "observations", "observations_fts", by_time="observations_by_time",
                      by_session="observations_by_session_time")  # fmt: skip
PROMPTS = Source("prompts", "prompts", "prompts_fts", by_time="prompts_by_time", by_session="prompts_by_session")
OUTPUTS = Source("outputs", "observations", "search_outputs_fts")
EPISODES = Source("episodes", "work_units", "narratives_fts", at="o.last_at", by_time="work_units_by_time",
                  by_session="work_units_by_session")  # fmt: skip
DOCS = Source("docs", "search_docs", "search_docs_fts")
_KEYS = "f.rowid BETWEEN ? * 2 AND ? * 2 + 1 AND f.rowid % 2 = {bit}"
UNSPACED = (
    Source("unspaced prompts", "prompts", "search_unspaced_fts", id="f.rowid / 2", range=_KEYS.format(bit=0)),
    Source("unspaced observations", "observations", "search_unspaced_fts", id="f.rowid / 2",
           range=_KEYS.format(bit=1)),
)  # fmt: skip
_SESSIONS = 60
EVERYWHERE = (Block(0, 2**61, FOREVER),)


@dataclass(frozen=True, slots=True)
class Where:
    """Conditions on the row `o` and its session `s`, each beginning with AND, and their bound values."""

    sql: str = ""
    values: tuple[object, ...] = ()
    sessions: bool = False
    """Whether they speak of `s`."""

    def __bool__(self) -> bool:
        return bool(self.sql)

    def __and__(self, other: Where) -> Where:
        return Where(self.sql + other.sql, self.values + other.values, self.sessions or other.sessions)


@dataclass(slots=True)
class Found:
    """Ids and their times (0 when nobody asked), and whether that is all there are."""

    ids: list[tuple[int, int]] = field(default_factory=list)
    complete: bool = True
    cut: bool = False
    """Time was over before the limit was reached."""


def quoted(*alternatives: str) -> str:
    """Any of these words or phrases, as the index is asked; no character in them has a meaning of its own."""
    marks = ['"' + one.replace('"', " ").replace("\0", " ") + '"' for one in alternatives]
    return marks[0] if len(marks) == 1 else "(" + " OR ".join(marks) + ")"


def both(*expressions: str) -> str:
    """All of these expressions."""
    return " AND ".join(expressions)


def walk(
    db: Connection, source: Source, match: str, where: Where, order: Sequence[Block], limit: int, clock: Clock,
    *, timed: bool = False,
) -> Found:  # fmt: skip
    """At most `limit` of the newest ids that match; with `timed`, the newest by their time, else nearly so.

    Where ids were given out in the order of time both are the same; the exact order costs a look at every match of a
    block.
    """
    found = Found()
    sql = _statement(source, where, timed=timed)
    steps = Walk(order, width=1 if timed else 4)
    most = -1 if timed else limit
    with clock.watching(db):
        for first, last in steps.ranges():
            if clock.over():
                found.complete, found.cut = False, True
                break
            left = most if timed else limit - len(found.ids)
            if not _take(db, sql, (match, first, last, *where.values, left), found):
                break
            if len(found.ids) >= limit and (not timed or _settled(found, limit, steps.newest_left)):
                found.complete = False
                break
    if timed:
        found.ids.sort(key=lambda pair: (-pair[1], -pair[0]))
        del found.ids[limit:]
    return found


def _take(db: Connection, sql: str, values: Sequence[object], found: Found) -> bool:
    """Add the rows of one statement; False when the time was over in the middle, and what came until then stays."""
    try:
        for row in db.execute(sql, values):
            found.ids.append((row[0], row[1]))
    except sqlite3.OperationalError as error:
        if not interrupted(error):
            raise
        found.complete, found.cut = False, True
        return False
    return True


def _settled(found: Found, limit: int, newest_left: int) -> bool:
    """Whether no row that was not walked can be among the newest."""
    times = sorted((at for _, at in found.ids), reverse=True)
    return times[limit - 1] > newest_left


def _statement(source: Source, where: Where, *, timed: bool) -> str:
    head = f"SELECT {source.id}, {source.at if timed else 0} FROM {source.index} f"  # noqa: S608 -- our names
    if timed or where:
        head += f" CROSS JOIN {source.table} o ON o.id = {source.id}"
    if where.sessions:
        head += f" CROSS JOIN sessions s ON s.id = {source.session}"
    return f"{head} WHERE f.{source.index} MATCH ? AND {source.range}{where.sql} ORDER BY f.rowid DESC LIMIT ?"


def browse(db: Connection, source: Source, where: Where, limit: int, clock: Clock, *, index: str = "") -> Found:
    """The newest rows that fulfil conditions, without any word."""
    by = f" INDEXED BY {index or source.by_time}" if index or source.by_time else ""
    joined = f" CROSS JOIN sessions s ON s.id = {source.session}" if where.sessions else ""
    sql = (
        f"SELECT o.id, {source.at} FROM {source.table} o{by}{joined} WHERE 1{where.sql}"  # noqa: S608 -- our names
        f" ORDER BY {source.at} DESC, o.id DESC LIMIT ?"
    )
    found = Found()
    with clock.watching(db):
        _take(db, sql, (*where.values, limit), found)
    found.complete = found.complete and len(found.ids) < limit
    return found


def browse_sessions(
    db: Connection, source: Source, where: Where, places: Where, limit: int, clock: Clock
) -> Found | None:
    """The newest rows of the newest sessions of a project or client; None when these are not sure to hold them."""
    chosen = db.execute(
        f"SELECT s.id, s.last_at FROM sessions s WHERE 1{places.sql} ORDER BY s.last_at DESC LIMIT ?",  # noqa: S608
        (*places.values, _SESSIONS),
    ).fetchall()
    mine = Where(f" AND o.session_id IN ({','.join('?' * len(chosen))})", tuple(row[0] for row in chosen))
    found = browse(db, source, mine & where, limit, clock, index=source.by_session)
    if len(chosen) == _SESSIONS and (len(found.ids) < limit or found.ids[-1][1] < chosen[-1][1]):
        return None
    return found


def among(db: Connection, source: Source, match: str, ids: Iterable[tuple[int, int]], clock: Clock) -> Found:
    """Of a few rows that were found otherwise, those that match."""
    found = Found()
    sql = f"SELECT rowid FROM {source.index} WHERE {source.index} MATCH ? AND rowid = ?"  # noqa: S608 -- our names
    for number, at in ids:
        if clock.over():
            found.complete, found.cut = False, True
            break
        if db.execute(sql, (match, number)).fetchone() is not None:
            found.ids.append((number, at))
    return found


def anywhere(db: Connection, match: str) -> bool:
    """Whether any text of any index matches."""
    return any(
        db.execute(f"SELECT 1 FROM {one.index} WHERE {one.index} MATCH ? LIMIT 1", (match,)).fetchone()  # noqa: S608
        for one in (OBSERVATIONS, PROMPTS, OUTPUTS, EPISODES, DOCS)
    )


def short_trigrams(db: Connection, text: str, most: int = 48) -> list[str]:
    """Of the unspaced texts, the commonest three characters that begin with these one or two."""
    found = db.execute(
        "SELECT term FROM search_unspaced_terms WHERE term >= ? AND term < ? ORDER BY doc DESC LIMIT ?",
        (text, text + "\U0010ffff", most),
    )
    return [row[0] for row in found.fetchall()]
