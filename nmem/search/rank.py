"""Scores search hits, BM25 times weights for age, kind, outcome and pin; pages of them stay stable as rows arrive.

An episode's relevance, by the retrieval engine, and its best row are added up; the episode stands first, and beneath it
the rows that say it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from sqlite3 import Connection

from nmem.retrieval import engine
from nmem.search import kinds, store
from nmem.search.clock import Clock
from nmem.search.match import Matched
from nmem.search.meaning import Meaning
from nmem.search.rows import Row
from nmem.search.store import EPISODES, Narrowed, one_of

_K, _B = 1.2, 0.35
_USUAL_LENGTH = {"observations": 14, "prompts": 60, "work_units": 120, "search_docs": 80}
"""Words of a usual text; long texts are not held against a kind that has them."""
HALF_LIFE = 21 * 86_400_000
"""Milliseconds after which the part of a score that ages is halved."""
_AGELESS = 0.6
"""The part that does not age."""
_PHRASE, _LITERAL, _TITLE = 1.35, 4.0, 1.5
_UNSEEN = 0.05
"""What a row is worth that the index found by a form of a word that is not recognised here."""
_COVERAGE = 1.5
"""A row with half of the words is worth less than half of one with all of them: the share to this power."""


@dataclass(slots=True)
class Ranked:
    """A row's place in the list."""

    row: Row
    score: float
    pinned: bool
    """A person pinned this row or a row with the same text."""
    times: int = 1
    episode: int = 0
    beneath: bool = False


def score(row: Row, found: Matched, titled: Sequence[float], meaning: Meaning, now: int) -> float:
    """A hit's worth; `titled`: the weights of the words in what is its title."""
    base = relevance(row.table, found, meaning)
    if found.phrase:
        base *= _PHRASE
    if found.literal:
        base *= _LITERAL
    if any(titled):
        base *= 1 + (_TITLE - 1) * _share(titled, meaning)
    return base * recency(row.at, now) * weight(row)


def relevance(table: str, found: Matched, meaning: Meaning) -> float:
    """BM25 of the query's words in a text, times how much of the query is in it."""
    if not meaning.words:
        return 1.0
    long = 1 - _B + _B * min(4.0, found.words / _USUAL_LENGTH[table])
    total = 0.0
    for one, times in zip(meaning.words, found.weights, strict=True):
        if times:
            total += one.idf * times * (_K + 1) / (times + _K * long)
    return float(total * _share(found.weights, meaning) ** _COVERAGE) or _UNSEEN


def _share(weights: Sequence[float], meaning: Meaning) -> float:
    """How much of what a query says is there, rare words counting for more."""
    said = there = 0.0
    for one, times in zip(meaning.words, weights, strict=True):
        said += one.idf
        there += one.idf * min(1.0, times)
    return there / said if said else 1.0


def recency(at: int, now: int) -> float:
    """1 for now, slowly down to the part that does not age."""
    return float(_AGELESS + (1 - _AGELESS) * 0.5 ** (max(0, now - at) / HALF_LIFE))


def weight(row: Row) -> float:
    """What kind, outcome and pin are worth."""
    by = row.type if row.kind == kinds.OBSERVATION else row.kind
    value = kinds.WEIGHTS.get(by, kinds.USUAL)
    if row.outcome == "failed":
        value *= kinds.FAILED
    return value * kinds.PINNED if row.pinned else value


RELEVANCE, NEWEST = "relevance", "newest"
_FORM = re.compile(r"(relevance|newest)\.(\d{1,6})\.(\d{1,15})\.(\d{1,15})(?:\.(\d)\.(\d{1,18}))?\Z")
_TABLES = ("search_docs", "work_units", "prompts", "observations")
Key = tuple[int, int, int]
"""What hits are ordered by when the newest come first: no two have the same."""


def key(row: Row) -> Key:
    """A row's place in time; of one millisecond, by its table, and the last stored first."""
    return -row.at, _TABLES.index(row.table), -row.number


@dataclass(frozen=True, slots=True)
class Cursor:
    """Where a page begins.

    By relevance: after `skip` hits, as of `now`: what is later does not count. By time: after the hit with the key
    (`at`, `table`, `number`); `skip` of that millisecond are found again.
    """

    order: str
    now: int
    skip: int = 0
    at: int = 0
    table: int = 0
    number: int = 0

    @classmethod
    def of(cls, text: str, order: str, now: int) -> Cursor:
        """The cursor that a text is; the first page for none. Raises ValueError."""
        if order not in (RELEVANCE, NEWEST):
            raise ValueError(f"order: {order!r} is neither relevance nor newest")
        if not text:
            return cls(order, now)
        found = _FORM.match(text)
        if found is None:
            raise ValueError("cursor: pass the `next` of an earlier page of the same query, unchanged")
        return cls(found[1], int(found[4]), int(found[2]), int(found[3]), int(found[5] or 0), int(found[6] or 0))

    def by_time(self) -> Cursor:
        """The same page, of an order by time."""
        return self if self.order == NEWEST else replace(self, order=NEWEST)

    @property
    def before(self) -> int | None:
        """Nothing later is wanted."""
        if self.order == NEWEST:
            return self.at or None
        return self.now if self.skip else None

    @property
    def overlap(self) -> int:
        """Hits of earlier pages that are found again."""
        return self.skip if self.order == NEWEST else 0

    def page(self, ranked: Sequence[Ranked], limit: int) -> Sequence[Ranked]:
        """The hits of this page, of all in order."""
        return ranked[(first := self._first(ranked)) : first + limit]

    def _first(self, ranked: Sequence[Ranked]) -> int:
        if self.order == RELEVANCE or not self.number:
            return self.skip
        last = -self.at, self.table, -self.number
        return sum(key(one.row) <= last for one in ranked)

    def further(self, ranked: Sequence[Ranked], page: Sequence[Ranked], *, more: bool) -> str:
        """The cursor of the page after this one, empty when there is none; `more`: not all hits are in `ranked`."""
        if not page or (self._first(ranked) + len(page) >= len(ranked) and not (more and self.order == NEWEST)):
            return ""
        if self.order == RELEVANCE:
            return f"{RELEVANCE}.{self.skip + len(page)}.0.{self.now}"
        at, table, number = key(page[-1].row)
        same = sum(one.row.at == -at for one in page) + (self.skip if -at == self.at else 0)
        return f"{NEWEST}.{same}.{-at}.{self.now}.{table}.{-number}"


MOST = 30
"""Episodes of a project that are taken from the engine."""
_PROJECTS = 40
"""Projects that are asked when none is named: those worked on last."""
_CLOSE = 0.3
"""An episode that says less than this part of what the best one says is left to its rows."""
_BESIDE = 0.5
"""What the best row adds to an episode's place, beside 1 for the best episode; of a long query less (`_LONG`)."""
_LONG = 8.0
"""Words of a query that rows are looked for by; the longer a query, the less they are all of it."""
_BENEATH = 3
"""Rows that stand beneath an episode before the next one; more of them follow after all episodes."""


@dataclass(slots=True)
class Related:
    """Episodes by relevance, 1 for the best."""

    shares: dict[int, float] = field(default_factory=dict)
    times: dict[int, int] = field(default_factory=dict)


def related(db: Connection, text: str, narrow: Narrowed, now: int, clock: Clock) -> Related:
    """The episodes that speak of a text, as far as the filters let them through. Raises sqlite3.Error."""
    out = Related()
    where = narrow.where(EPISODES)
    if where is None or narrow.filters.type or not text:
        return out
    found: list[engine.Found] = []
    for project_id in narrow.projects or store.latest_projects(db, _PROJECTS):
        found += engine.related(db, project_id, text, MOST)
        if clock.over():
            break
    best = max((one.score * _fresh(one.at, now) for one in found), default=0.0)
    if best <= 0.0:
        return out
    near = {one.unit_id: one.score * _fresh(one.at, now) / best for one in found if one.score >= _CLOSE * best}
    if near and (where.sql or where.sessions):
        kept = store.fulfilling(db, EPISODES, one_of("o.id", list(near)) & where)
        allowed = {row[0] for row in kept}
        near = {number: share for number, share in near.items() if number in allowed}
    out.shares = dict(sorted(near.items(), key=lambda pair: -pair[1])[:MOST])
    out.times = {one.unit_id: one.at for one in found}
    return out


def _fresh(at: int, now: int) -> float:
    """Of two that say the same the later one comes first."""
    return 0.9 + 0.1 * float(0.5 ** (max(0, now - at) / HALF_LIFE))


def ordered(
    found: Sequence[Ranked], units: Mapping[str, int], shares: Mapping[int, float], asked: int = 1
) -> list[Ranked]:
    """Rows by their episodes: the best episode first, each with the rows that say it.

    `found` is best first; `asked` is how many words the query has.
    """
    by_row = _BESIDE * min(1.0, _LONG / max(1, asked))
    most = max((one.score for one in found), default=0.0) or 1.0
    groups: dict[int | str, list[Ranked]] = {}
    for one in found:
        one.score /= most
        groups.setdefault(units.get(one.row.id) or one.row.id, []).append(one)
    worth = {
        key: (shares.get(key, 0.0) if isinstance(key, int) else ones[0].score) + by_row * ones[0].score
        for key, ones in groups.items()
    }
    out: list[Ranked] = []
    rest: list[Ranked] = []
    for key in sorted(groups, key=lambda each: (-worth[each], -groups[each][0].row.at, str(each))):
        own = [one for one in groups[key] if one.row.kind == kinds.EPISODE]
        said = [one for one in groups[key] if one.row.kind != kinds.EPISODE]
        for one in groups[key]:
            one.episode = key if isinstance(key, int) else 0
            one.score = worth[key] * (one.score if one.row.kind != kinds.EPISODE else 1.0)
        for one in said[:_BENEATH]:
            one.beneath = bool(own)
        out += own + said[:_BENEATH]
        rest += said[_BENEATH:]
    return out + sorted(rest, key=lambda one: (-one.score, -one.row.at, one.row.id))


def units(db: Connection, rows: Sequence[Row]) -> dict[str, int]:
    """Id of a hit -> the episode that it belongs to."""
    out = {row.id: row.number for row in rows if row.table == EPISODES.table}
    for table in ("prompts", "observations"):
        ids = {row.number: row.id for row in rows if row.table == table}
        out |= {ids[number]: unit_id for number, unit_id in store.units_of(db, table, list(ids)).items()}
    return out
