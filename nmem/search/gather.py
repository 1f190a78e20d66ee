"""Gathers candidate rows: the strictest reading of a query first, looser ones if it finds too little."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from sqlite3 import Connection

from nmem.search import blocks, fts
from nmem.search.blocks import Block
from nmem.search.clock import Clock
from nmem.search.conditions import Narrowed, with_files
from nmem.search.fts import DOCS, EPISODES, OBSERVATIONS, OUTPUTS, PROMPTS, UNSPACED, Found, Source, Where
from nmem.search.meaning import Meaning, Meant
from nmem.search.vocabulary import LONGEST

ENOUGH = 30
"""Hits after which words that hold the typed ones are not tried."""
FEW = 5
"""Hits after which rows with only some of the words are not tried."""
_LIMITS = {"docs": 60, "episodes": 80, "prompts": 100, "outputs": 50, "observations": 160}
_PHRASES = 40
_LOOSE = 40
_ALWAYS = 3
"""Selections of a query's words that are tried however much the ones before gave: the pairs and the rarest word."""
_HELD = " AND EXISTS (SELECT 1 FROM observations_fts f WHERE f.observations_fts MATCH ? AND f.rowid = o.id)"
"""The condition that a pinned row has the words: few rows are pinned, many have common words."""
_FEW_TEXTS, _RARE = 15_000, 60_000
"""Words in fewer texts are sought in one range of ids; of those in fewer than the second all ids are listed first."""
ALL, PARTS, SOME = 0, 1, 2
"""How strictly a row was asked for: every word, every word or a word that holds it, some of the words."""


@dataclass(slots=True)
class Gathered:
    """Ids by table with the strictest reading that found each."""

    tiers: dict[tuple[str, int], int] = field(default_factory=dict)
    times: dict[tuple[str, int], int] = field(default_factory=dict)
    complete: bool = True
    """Every row that has all the words is in it."""
    cut: bool = False
    """Time was over before everything was walked and read."""
    meant: Meaning | None = None
    """The words with the longer ones that hold them, where these were asked for."""

    def add(self, source: Source, found: Found, tier: int) -> int:
        """Take up what a walk found; how much of it is new."""
        before = len(self.tiers)
        for number, at in found.ids:
            self.tiers.setdefault((source.table, number), tier)
            self.times[source.table, number] = at
        self.complete = self.complete and (found.complete or tier != ALL)
        self.cut = self.cut or found.cut
        return len(self.tiers) - before

    def says(self, words: int) -> bool:
        """Whether a row has all of so many words; one alone also where it is part of a longer one."""
        found = self.tiers.values()
        return ALL in found or (words == 1 and PARTS in found)


@dataclass(slots=True)
class Gatherer:
    """One search's walks."""

    db: Connection
    narrow: Narrowed
    meaning: Meaning
    clock: Clock
    timed: bool = False
    """The newest are wanted, exactly; else the best, of which new ones are preferred."""
    limit: int = 0
    """Of each source, when timed."""
    out: Gathered = field(default_factory=Gathered)
    _orders: dict[str, Sequence[Block]] = field(default_factory=dict)

    def gather(self) -> Gathered:
        """Walk everything that the filters leave."""
        left = [(source, where) for source in (DOCS, EPISODES, PROMPTS, OUTPUTS, OBSERVATIONS)
                if (where := self.narrow.where(source)) is not None]  # fmt: skip
        if any(one.word.unspaced for one in self.meaning.words):
            self._unspaced()
        strict = sum([self._walk(source, where, self.meaning.all(), ALL) for source, where in left])
        if strict < ENOUGH and not self.clock.over():
            with self.clock.watching(self.db, lambda: setattr(self.out, "cut", True)):
                self.meaning = self.out.meant = self.meaning.wider(self.db)
            if any(one.parts for one in self.meaning.words):
                wider = self.meaning.all(parts=True)
                strict += sum([self._walk(source, where, wider, PARTS) for source, where in left])
        if not self.timed and len(self.meaning.words) > 1:
            self._loosely(left, strict)
        return self.out

    def _loosely(self, left: Sequence[tuple[Source, Where]], strict: int) -> None:
        """The words as they follow each other, where many rows have them all; some of them, where few have."""
        for source, where in left if self.meaning.phrase else ():
            if not self.out.complete and source in (PROMPTS, OBSERVATIONS, EPISODES):
                found = fts.walk(self.db, source, self.meaning.whole(), where, self._order(source, _FEW_TEXTS),
                                 _PHRASES, self.clock, rare=True)  # fmt: skip
                self.out.add(source, Found(found.ids), ALL)
        some = 0
        for number, words in enumerate(_selections(self.meaning.words) if strict < FEW else ()):
            if number > _ALWAYS and strict + some >= FEW:
                return
            match, most = self.meaning.some(words), min(one.most for one in words)
            some += sum([self._walk(source, where, match, SOME, _LOOSE, most) for source, where in left])

    def _walk(
        self, source: Source, where: Where, match: str, tier: int, limit: int = 0, most: int | None = None
    ) -> int:
        if self.clock.over():
            self.out.cut = True
            return 0
        limit = self.limit if self.timed else limit or _LIMITS[source.name]
        match = with_files(match, self.narrow, source)
        most = self.meaning.most if most is None else most
        if self.narrow.filters.pinned and source is OBSERVATIONS and most >= _FEW_TEXTS:
            held = Where(_HELD, (match,))
            found = fts.browse(self.db, source, where & held, limit, self.clock, index="observations_pinned")
            return self.out.add(source, found, tier)
        found = fts.walk(self.db, source, match, where, self._order(source, most), limit, self.clock,
                         timed=self.timed, rare=most < _RARE)  # fmt: skip
        return self.out.add(source, found, tier)

    def _order(self, source: Source, most: int) -> Sequence[Block]:
        """The stretches to walk, as `fts.walk` takes them; one for all ids where that is the quickest."""
        if source.table not in ("observations", "prompts"):
            return fts.EVERYWHERE
        if not self.timed and most < _FEW_TEXTS and not self._counting():
            return fts.EVERYWHERE
        if source.table not in self._orders:
            narrow = self.narrow
            found = blocks.blocks(self.db, source.table, narrow.filters.since, narrow.projects, narrow.clients)
            by_row = self.timed or narrow.projects or narrow.clients
            self._orders[source.table] = found if by_row else blocks.newest_first(found)
        return self._orders[source.table]

    def _counting(self) -> bool:
        """Whether words are just being counted anew: until then nobody knows which are rare."""
        sql = "SELECT 1 FROM search_state WHERE source IN ('observations', 'prompts') AND done < indexed"
        return self.db.execute(sql).fetchone() is not None

    def _unspaced(self) -> None:
        """Words of scripts without blanks are parts of what the other indexes take for one word."""
        asked = []
        for one in self.meaning.words:
            text = one.word.text.replace('"', " ")[:LONGEST]
            if len(text) >= 3:
                asked.append(fts.quoted(text))
            elif one.word.unspaced:
                asked.append(fts.quoted(*(fts.short_trigrams(self.db, text) or [text])))
        for source in UNSPACED:
            where = self.narrow.where(source)
            if where is not None and asked:
                base = PROMPTS if source.table == "prompts" else OBSERVATIONS
                found = fts.walk(self.db, source, fts.both(*asked), where, self._order(source, _FEW_TEXTS),
                                 self.limit or _LIMITS[base.name], self.clock, timed=self.timed, rare=True)  # fmt: skip
                self.out.add(base, found, ALL)


def _selections(words: Sequence[Meant]) -> Iterable[Sequence[Meant]]:
    """Pairs of the words that say most, then each of these alone."""
    rare = sorted(words, key=lambda one: -one.idf)
    rare = [one for one in rare if one.n or len(one.near) > 1][:4]
    if len(rare) > 2:
        yield from ((rare[a], rare[b]) for a, b in ((0, 1), (0, 2), (1, 2)))
    yield from ((one,) for one in rare[:3])


NEWEST = 2_000
"""Rows of a table that were not taken in yet and are read at most."""
SIGNS = 20_000
"""Rows of a table that are looked through for signs."""
_MOST = 200
GLANCED = (PROMPTS, OBSERVATIONS)


def fresh(db: Connection, source: Source, narrow: Narrowed, meaning: Meaning, clock: Clock, most: int) -> Found | None:
    """Of the rows after the last that was taken in, those that hold every word as a part; None when there are none."""
    where = narrow.where(source)
    done = db.execute("SELECT done FROM search_state WHERE source = ?", (source.name,)).fetchone()[0]
    top = db.execute(f"SELECT max(id) FROM {source.table}").fetchone()[0] or 0  # noqa: S608 -- our names
    if where is None or top <= done:
        return None
    pieces = [piece for one in meaning.words for piece in one.word.tokens]
    texts = "o.content || ' ' || coalesce(o.file_path, '')" if source is OBSERVATIONS else "o.content"
    held = f"instr(lower({texts}), ?)"
    return _holding(db, source, where, max(done, top - NEWEST), held, pieces, clock, most)


def glance(db: Connection, source: Source, where: Where, meaning: Meaning, clock: Clock, most: int) -> Found:
    """Of the newest rows, those that hold signs which no index has: emoji, punctuation."""
    top = db.execute(f"SELECT max(id) FROM {source.table}").fetchone()[0] or 0  # noqa: S608 -- our names
    held = "(instr(o.content, ?) OR instr(o.file_path, ?))" if source is OBSERVATIONS else "instr(o.content, ?)"
    return _holding(db, source, where, max(0, top - SIGNS), held, [one.text for one in meaning.signs], clock, most)


def _holding(
    db: Connection, source: Source, where: Where, after: int, held: str, pieces: list[str], clock: Clock, most: int
) -> Found:  # fmt: skip
    """The rows after an id that hold all pieces, by a plain look at their texts; the last stored first.

    `held` asks for one piece. With `most`, so many of the newest by their time.
    """
    joined = f" CROSS JOIN sessions s ON s.id = {source.session}" if where.sessions else ""
    holds = f" AND {held}" * len(pieces)
    sql = (
        f"SELECT o.id, {source.at} FROM {source.table} o{joined} WHERE o.id > ?{where.sql}{holds}"  # noqa: S608
        " ORDER BY o.id DESC LIMIT ?"
    )
    found = Found(complete=after == 0)
    asked = [piece for piece in pieces for _ in range(held.count("?"))]
    with clock.watching(db, found.stop):
        found.ids.extend(db.execute(sql, (after, *where.values, *asked, -1 if most else _MOST)))
    if most and len(found.ids) > most:
        found.ids.sort(key=lambda pair: (-pair[1], -pair[0]))
        del found.ids[most:]
        found.complete = False
    return found
