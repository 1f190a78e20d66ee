"""Bounded walks over the text indexes (SQL): the newest matching ids, block by block, within the time limit."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from sqlite3 import Connection

from nmem.search.blocks import FOREVER, Block, by_time, widening
from nmem.search.clock import Clock


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
_TOP = 2**61
EVERYWHERE = (Block(0, _TOP, FOREVER),)
_LISTED = 2_000
"""Ids that are listed before their rows are looked at; where more match, the rows of stretches are."""
_AT_ONCE = 100


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

    def stop(self) -> None:
        """Time is over; what came until then stays."""
        self.complete, self.cut = False, True


def quoted(*alternatives: str) -> str:
    """Any of these words or phrases, as the index is asked; no character in them has a meaning of its own."""
    marks = ['"' + one.replace('"', " ").replace("\0", " ") + '"' for one in alternatives]
    return marks[0] if len(marks) == 1 else "(" + " OR ".join(marks) + ")"


def both(*expressions: str) -> str:
    """All of these expressions."""
    return " AND ".join(expressions)


def walk(
    db: Connection, source: Source, match: str, where: Where, order: Sequence[Block], limit: int, clock: Clock,
    *, timed: bool = False, rare: bool = False,
) -> Found:  # fmt: skip
    """At most `limit` of the newest ids that match; with `timed`, the newest by their time, else nearly so.

    `order` is walked as it stands, a statement a stretch. The exact order, and conditions on sessions, cost a look at
    each row: the order is then of blocks, and of `rare` words all ids are listed first, and only the newest looked at.
    """
    walker = _Walker(db, source, match, where, order, limit, clock, timed)
    found = walker.found
    looked = timed or where.sessions
    with clock.watching(db, found.stop):
        if not (looked and rare and walker.listed()):
            walker.stretches(widening(order, 1 if timed else 4) if looked else ((one, -FOREVER) for one in order))
    if timed:
        found.ids.sort(key=lambda pair: (-pair[1], -pair[0]))
    del found.ids[limit:]
    return found


@dataclass(slots=True)
class _Walker:
    """One walk over one index."""

    db: Connection
    source: Source
    match: str
    where: Where
    order: Sequence[Block]
    limit: int
    clock: Clock
    timed: bool
    found: Found = field(default_factory=Found)

    def stretches(self, steps: Iterable[tuple[Block, int]]) -> None:
        """Stretch by stretch, each with the latest moment of what is left; they may overlap."""
        sql = _statement(self.source, self.where, timed=self.timed)
        for block, newest_left in steps:
            most = -1 if self.timed else self.limit
            self._take(sql, (self.match, block.first, block.last, *self.where.values, most))
            self.found.ids[:] = dict.fromkeys(self.found.ids)
            if self._enough(newest_left):
                return

    def listed(self) -> bool:
        """All ids that match, then a look at the rows of the newest; False where too many match."""
        self.clock.check()
        every = _statement(self.source, Where(), timed=False)
        matching = self.db.execute(every, (self.match, 0, _TOP, _LISTED + 1)).fetchall()
        if len(matching) > _LISTED:
            return False
        ids, source = by_time([row[0] for row in matching], self.order), self.source
        joined = f" CROSS JOIN sessions s ON s.id = {source.session}" if self.where.sessions else ""
        sql = f"SELECT o.id, {source.at} FROM {source.table} o{joined} WHERE o.id IN ({{}}){self.where.sql}"  # noqa: S608
        for start in range(0, len(ids), _AT_ONCE):
            some = [number for number, _ in ids[start : start + _AT_ONCE]]
            self._take(sql.format(",".join("?" * len(some))) + " ORDER BY o.id DESC", (*some, *self.where.values))
            if self._enough(max((newest for _, newest in ids[start + _AT_ONCE :][:1]), default=-FOREVER)):
                break
        return True

    def _take(self, sql: str, values: Sequence[object]) -> None:
        self.clock.check()
        self.found.ids.extend(self.db.execute(sql, values))

    def _enough(self, newest_left: int) -> bool:
        """Whether the limit is reached; by time only when no row that was not looked at can be among the newest."""
        ids = self.found.ids
        if len(ids) < self.limit:
            return False
        if self.timed and sorted((at for _, at in ids), reverse=True)[self.limit - 1] <= newest_left:
            return False
        self.found.complete = False
        return True


def _statement(source: Source, where: Where, *, timed: bool) -> str:
    head = f"SELECT {source.id}, {source.at if timed else 0} FROM {source.index} f"  # noqa: S608 -- our names
    if timed or where:
        head += f" CROSS JOIN {source.table} o ON o.id = {source.id}"
    if where.sessions:
        head += f" CROSS JOIN sessions s ON s.id = {source.session}"
    return f"{head} WHERE f.{source.index} MATCH ? AND {source.range}{where.sql} ORDER BY f.rowid DESC LIMIT ?"


def browse(db: Connection, source: Source, where: Where, limit: int, clock: Clock, *, index: str) -> Found:
    """The newest rows that fulfil conditions, without any word; by an index, "" for whichever finds few."""
    by = f" INDEXED BY {index}" if index else ""
    joined = f" CROSS JOIN sessions s ON s.id = {source.session}" if where.sessions else ""
    sql = (
        f"SELECT o.id, {source.at} FROM {source.table} o{by}{joined} WHERE 1{where.sql}"  # noqa: S608 -- our names
        f" ORDER BY {source.at} DESC, o.id DESC LIMIT ?"
    )
    found = Found()
    with clock.watching(db, found.stop):
        found.ids.extend(db.execute(sql, (*where.values, limit)))
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
