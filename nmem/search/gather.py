"""Gathers candidate rows within the filters: the strictest reading of a query first, looser ones where it finds few."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from sqlite3 import Connection

from nmem.search import fts, index_store, store
from nmem.search.clock import Clock
from nmem.search.fts import Found
from nmem.search.index_store import LONGEST, Block
from nmem.search.meaning import Meaning, Meant
from nmem.search.query import Filters
from nmem.search.store import DOCS, EPISODES, OBSERVATIONS, OUTPUTS, PROMPTS, UNSPACED, Narrowed, Source, Where
from nmem.search.text import fold, tokens

ENOUGH = 30
"""Hits after which words that hold the typed ones are not tried."""
FEW = 5
"""Hits after which rows with only some of the words are not tried."""
_LIMITS = {"docs": 60, "episodes": 80, "prompts": 100, "outputs": 50, "observations": 160}
_PHRASES = 40
_LOOSE = 40
_ALWAYS = 3
"""Selections of a query's words that are tried however much the ones before gave: the pairs and the rarest word."""
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
            held = where & store.having(match)
            found = fts.browse(self.db, source, held, limit, self.clock, index="observations_pinned")
            return self.out.add(source, found, tier)
        found = fts.walk(self.db, source, match, where, self._order(source, most), limit, self.clock,
                         timed=self.timed, rare=most < _RARE)  # fmt: skip
        return self.out.add(source, found, tier)

    def _order(self, source: Source, most: int) -> Sequence[Block]:
        """The stretches to walk, as `fts.walk` takes them; one for all ids where that is the quickest."""
        if source.table not in ("observations", "prompts"):
            return fts.EVERYWHERE
        if not self.timed and most < _FEW_TEXTS and not index_store.counting(self.db):
            return fts.EVERYWHERE
        if source.table not in self._orders:
            narrow = self.narrow
            found = index_store.blocks(self.db, source.table, narrow.filters.since, narrow.projects, narrow.clients)
            by_row = self.timed or narrow.projects or narrow.clients
            self._orders[source.table] = found if by_row else fts.newest_first(found)
        return self._orders[source.table]

    def _unspaced(self) -> None:
        """Words of scripts without blanks are parts of what the other indexes take for one word."""
        asked = []
        for one in self.meaning.words:
            text = one.word.text.replace('"', " ")[:LONGEST]
            if len(text) >= 3:
                asked.append(store.quoted(text))
            elif one.word.unspaced:
                asked.append(store.quoted(*(index_store.short_trigrams(self.db, text) or [text])))
        for source in UNSPACED:
            where = self.narrow.where(source)
            if where is not None and asked:
                base = PROMPTS if source.table == "prompts" else OBSERVATIONS
                found = fts.walk(self.db, source, store.both(*asked), where, self._order(source, _FEW_TEXTS),
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
_FILES_PAIRED = 40
GLANCED = (PROMPTS, OBSERVATIONS)


def fresh(db: Connection, source: Source, narrow: Narrowed, meaning: Meaning, clock: Clock, most: int) -> Found | None:
    """Of the rows after the last that was taken in, those that hold every word as a part; None when there are none."""
    where = narrow.where(source)
    done, top = index_store.state(db, source.name)[0], index_store.top(db, source.table)
    if where is None or top <= done:
        return None
    pieces = [piece for one in meaning.words for piece in one.word.tokens]
    return _holding(db, source, where, max(done, top - NEWEST), pieces, clock, most)


def glance(db: Connection, source: Source, where: Where, meaning: Meaning, clock: Clock, most: int) -> Found:
    """Of the newest rows, those that hold signs which no index has: emoji, punctuation."""
    after, signs = max(0, index_store.top(db, source.table) - SIGNS), [one.text for one in meaning.signs]
    return _holding(db, source, where, after, signs, clock, most, signs=True)


def _holding(
    db: Connection, source: Source, where: Where, after: int, pieces: list[str], clock: Clock, most: int, *,
    signs: bool = False,
) -> Found:  # fmt: skip
    """The rows after an id that hold all pieces, the last stored first; with `most`, so many of the newest by time."""
    where &= store.holding(source, after, pieces, signs=signs)
    found = Found(complete=after == 0)
    with clock.watching(db, found.stop):
        found.ids.extend(store.fulfilling(db, source, where, -1 if most else _MOST))
    if most and len(found.ids) > most:
        found.ids.sort(key=lambda pair: (-pair[1], -pair[0]))
        del found.ids[most:]
        found.complete = False
    return found


def narrowed(
    db: Connection, filters: Filters, before: int | None = None, within: tuple[int, ...] = ()
) -> Narrowed:  # fmt: skip
    """Resolve names of projects and clients, which may be given by a part, to those that are stored.

    `within` are the projects that are meant where the filters name none.
    """
    projects = _named(store.project_names(db), filters.project) if filters.project else list(within)
    ids = [each for each in projects if isinstance(each, int)]
    queued = [each for each in projects if isinstance(each, str)]
    clients = _named(store.client_names(db), filters.client) if filters.client else []
    unknown = [f"project:{','.join(filters.project)}"] if filters.project and not projects else []
    if filters.client and not clients:
        unknown.append(f"client:{','.join(filters.client)}")
    return Narrowed(filters, tuple(ids), tuple(queued), tuple(map(str, clients)), tuple(unknown),
                    _files(db, filters.file), before)  # fmt: skip


def _named(stored: Sequence[tuple[object, str]], wanted: Sequence[str]) -> list[object]:
    """Keys whose name is one of these; where none is, those whose name holds one."""
    rows = [(key, fold(name)) for key, name in stored]
    asked = [fold(one) for one in wanted]
    exact = [key for key, name in rows if name in asked]
    return exact or [key for key, name in rows if any(one in name for one in asked)]


def _files(db: Connection, wanted: Sequence[str]) -> str:
    """`file:` in the index's words: narrows the walk where the words that it may mean are few enough to be listed."""
    out = []
    for value in wanted:
        pieces = tokens(fold(value))
        if len(pieces) == 1:
            ends = [one.term for one in index_store.containing(db, pieces[0], _FILES_PAIRED)]
            if not ends or len(ends) == _FILES_PAIRED:
                return ""
            out.append(store.quoted(pieces[0], *ends))
        elif len(pieces) > 2:
            out.append(store.quoted(*pieces[1:-1]) if len(pieces) == 3 else store.quoted(" ".join(pieces[1:-1])))
        else:
            return ""
    return "{file_path} : (" + " OR ".join(out) + ")" if out else ""


def with_files(match: str, narrow: Narrowed, source: Source) -> str:
    """A match that also asks for the words of `file:`, where the index has paths."""
    return store.both(f"({match})", narrow.files) if narrow.files and source is OBSERVATIONS else match
