"""Runs one search: typed text in; hits with snippets, facets and remarks out; never an error."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from sqlite3 import Connection

from nmem.decisions import read as decided
from nmem.episodes import open_ends
from nmem.search import episodes, fts, gather, kinds, rank, vocabulary
from nmem.search import facets as counting
from nmem.search.clock import Clock
from nmem.search.conditions import Narrowed, narrowed
from nmem.search.facets import Facets
from nmem.search.fts import DOCS, EPISODES, OBSERVATIONS, PROMPTS, Found, Source, Where
from nmem.search.gather import ALL, Gathered, Gatherer
from nmem.search.match import Matcher
from nmem.search.meaning import Meaning, absent, meaning, unasked
from nmem.search.page import NEWEST, RELEVANCE, Cursor, key
from nmem.search.query import Query, parse
from nmem.search.rows import Row, rows
from nmem.search.snippet import Snippet, snippet
from nmem.search.text import fold

PAGE = 20
MOST = 200
"""Hits of a page at most."""
SECONDS = 0.065
"""How long one search may take; what was found until then is shown, and that it is not all."""
_WALKING = 0.5
"""The share of the time after which nothing more is looked for."""
_FETCHED = {"search_docs": (40, 0.55), "work_units": (60, 0.6), "prompts": (80, 0.68), "observations": (150, 0.8)}
"""By table: rows that are read at most, and the share of the time after which no more are."""


@dataclass(frozen=True, slots=True)
class Hit:
    """One thing found. Text is printable; times are milliseconds."""

    id: str
    kind: str
    type: str
    at: int
    session_id: str
    project: str
    client: str
    path: str
    outcome: str
    pinned: bool
    snippet: Snippet
    score: float
    times: int = 1
    """How many hits said the same; this is the best of them."""
    episode: int = 0
    """The episode that it belongs to; 0 for none."""
    beneath: bool = False
    """It says what its episode, which stands above it, is about."""
    superseded: str = ""
    """What replaced the decision that it says, in words; empty where that still holds."""


@dataclass(frozen=True, slots=True)
class Results:
    """A page of hits."""

    query: Query
    order: str
    hits: tuple[Hit, ...] = ()
    found: int = 0
    """How many there are, as far as was looked."""
    more: bool = False
    """There are more than `found`."""
    facets: Facets = field(default_factory=Facets)
    remarks: tuple[str, ...] = ()
    """What a person should know: that the time was over, that no row has all words."""
    next: str = ""
    """What to pass as `cursor` for the page after this one; empty on the last."""
    seconds: float = 0.0


def search(
    db: Connection, text: str, now: int, *, order: str = RELEVANCE, limit: int = PAGE, cursor: str = "",
    seconds: float = SECONDS, stopped: Callable[[], bool] | None = None, outer: Callable[[], bool] | None = None,
    projects: tuple[int, ...] = (),
) -> Results:  # fmt: skip
    """Find what a text asks for, on a reading connection.

    `order` is RELEVANCE or NEWEST; `cursor` is the `next` of an earlier page. `stopped` ends it early, when somebody
    has typed on; `outer` says when the time of all that the caller does is over, and watches the connection again
    afterwards. `projects` are the ids of those that it is about, where the text itself names none. Raises ValueError
    for a cursor that is none, sqlite3.Error when the database cannot be read.
    """
    clock = Clock(seconds, stopped, outer)
    begin = Cursor.of(cursor, order, now)
    limit = max(1, min(limit, MOST))
    named, db.row_factory = db.row_factory, None
    try:
        query = parse(text, begin.now)
        return _search(db, query, begin if query.wanted else begin.by_time(), limit, clock, projects)
    finally:
        db.row_factory = named


def _search(
    db: Connection, query: Query, cursor: Cursor, limit: int, clock: Clock, projects: tuple[int, ...]
) -> Results:  # fmt: skip
    narrow, meant = narrowed(db, query.filters, cursor.before, projects), meaning(db, query)
    clock.share(_WALKING)
    near = episodes.Related()
    if cursor.order == RELEVANCE and not narrow.unknown and meant.words:
        near = episodes.related(db, query.about, narrow, cursor.now, clock)
    gathered = _gathered(db, query, narrow, meant, cursor, limit, clock)
    gathered.add(EPISODES, Found([(number, near.times[number]) for number in near.shares]), ALL)
    found = _rows(db, gathered, cursor, limit, clock)
    matcher = Matcher(meant)
    scored = _scored(found, matcher, meant, cursor)
    if near.shares:
        scored = _by_episode(db, scored, near, len(query.wanted))
    page = cursor.page(scored, limit)
    whole = gathered.complete and len(found) == len(gathered.tiers)
    gathered.cut |= clock.over() and not whole
    further = cursor.further(scored, page, more=not whole)
    later = decided.superseded(db, [hit.id for hit, _ in page])
    hits = tuple(
        replace(
            hit,
            snippet=snippet(_true(db, row, matcher), matcher),
            superseded=later[hit.id].told if hit.id in later else "",
        )
        for hit, row in page
    )
    counts = counting.facets((row for _, row in scored), whole=whole)
    remarks = (
        *_remarks(query, narrow, gathered, scored, limit, whole=whole),
        *(() if narrow.unknown or clock.over() else _dropped(db, query, meant)),
        *_forgotten(db),
    )
    return Results(query, cursor.order, hits, len(scored), not whole, counts, remarks, further, round(clock.spent(), 4))


def _gathered(
    db: Connection, query: Query, narrow: Narrowed, meant: Meaning, cursor: Cursor, limit: int, clock: Clock
) -> Gathered:
    out = Gathered()
    if narrow.unknown or not query:
        return out
    if not meant.words:
        return _unworded(db, narrow, meant, cursor, limit, clock)
    timed = cursor.order == NEWEST
    out = Gatherer(db, narrow, meant, clock, timed, _few(limit, cursor), out).gather()
    most = _few(limit, cursor) if timed else 0
    for source in gather.GLANCED:
        if (found := gather.fresh(db, source, narrow, meant, clock, most)) is not None:
            out.add(source, found, ALL)
    return out


def _unworded(db: Connection, narrow: Narrowed, meant: Meaning, cursor: Cursor, limit: int, clock: Clock) -> Gathered:
    """Filters alone: the newest that fulfil them. Signs alone: the newest texts that hold them."""
    out = Gathered()
    for source in (DOCS, EPISODES, PROMPTS, OBSERVATIONS):
        if meant.signs:
            found = (
                gather.glance(db, source, narrow, meant, clock, _few(limit, cursor))
                if source in gather.GLANCED
                else None
            )
        else:
            where = narrow.where(source)
            found = None if where is None else _browsed(db, source, where, narrow, _few(limit, cursor), clock)
        if found is not None:
            out.add(source, found, ALL)
    return out


def _browsed(db: Connection, source: Source, where: Where, narrow: Narrowed, most: int, clock: Clock) -> Found:
    pinned = narrow.filters.pinned and source is OBSERVATIONS
    if where.sessions and not pinned:
        found = fts.browse_sessions(db, source, where, narrow.places(source), most, clock)
        if found is not None:
            return found
    return fts.browse(db, source, where, most, clock, index="observations_pinned" if pinned else "")


def _few(limit: int, cursor: Cursor) -> int:
    """Rows of each source for a page by time: enough for it, and for facets that say something."""
    return max(limit, 50) + 1 + cursor.overlap


def _rows(db: Connection, gathered: Gathered, cursor: Cursor, limit: int, clock: Clock) -> list[Row]:
    """The rows of what was gathered: the strictest readings first, then the newest."""
    out: list[Row] = []
    newest = cursor.order == NEWEST
    for table, (usual, share) in _FETCHED.items():
        clock.share(share)
        most = usual
        keys = [each for each in gathered.tiers if each[0] == table]
        if newest:
            keys.sort(key=lambda each: (-gathered.times[each], -each[1]))
            most = _few(limit, cursor)
        else:
            keys.sort(key=lambda each: (gathered.tiers[each], -each[1]))
        out += rows(db, table, (number for _, number in keys[:most]), clock)
    return out


_OPENING = 300
Scored = list[tuple[Hit, Row]]


def _headed(row: Row) -> str:
    """What weighs as a row's title: for an episode its title with the beginning of what was asked."""
    if row.kind in ("prompt", "reasoning"):
        return ""
    return f"{row.title}\n{row.text[:_OPENING]}" if row.kind == kinds.EPISODE else row.path or row.title


def _scored(found: Sequence[Row], matcher: Matcher, meant: Meaning, cursor: Cursor) -> Scored:
    """Hits in order; the same text said or done several times is one hit, unless the newest are wanted."""
    scored: Scored = []
    for row in found:
        title = matcher.look(_headed(row))
        value = rank.score(row, matcher.look(row.text), title, meant, cursor.now)
        hit = Hit(row.id, row.kind, row.type, row.at, row.session_id, row.project, row.client, row.path, row.outcome,
                  row.pinned, Snippet(""), round(value, 4))  # fmt: skip
        scored.append((hit, row))
    if cursor.order == NEWEST:
        return sorted(scored, key=lambda pair: key(pair[1]))
    return _merged(sorted(scored, key=lambda pair: (-pair[0].score, -pair[0].at, pair[0].id)))


def _by_episode(db: Connection, scored: Scored, near: episodes.Related, asked: int) -> Scored:
    """The same hits, each beneath its episode, the episodes that speak most of the query first."""
    hits = {row.id: hit for hit, row in scored}
    belong = episodes.units(db, [row for _, row in scored])
    placed = episodes.ordered([(hit.score, row) for hit, row in scored], belong, near.shares, asked)
    return [
        (replace(hits[one.row.id], score=round(one.score, 4), episode=one.episode, beneath=one.beneath), one.row)
        for one in placed
    ]


def _true(db: Connection, row: Row, matcher: Matcher) -> str:
    """A row's text; of a story without the ends that are not open any more, where the query is about these."""
    if not row.left:
        return row.text
    rest = row.text.replace(row.left, "")
    if all(
        less or not more for less, more in zip(matcher.look(rest).weights, matcher.look(row.text).weights, strict=True)
    ):
        return rest
    return row.text.replace(row.left, "\n".join(open_ends.left(db, row.session_id, row.at, row.left.split("\n"))))


def _merged(scored: Scored) -> Scored:
    first: dict[tuple[str, int, str], int] = {}
    out: Scored = []
    for hit, row in scored:
        same = (hit.kind, row.project_id, row.text)
        if same in first:
            best, its = out[first[same]]
            out[first[same]] = (replace(best, times=best.times + 1, pinned=best.pinned or hit.pinned), its)
        else:
            first[same] = len(out)
            out.append((hit, row))
    return out


def _remarks(
    query: Query, narrow: Narrowed, gathered: Gathered, scored: Scored, limit: int, *, whole: bool
) -> list[str]:
    out = [*query.mistaken, *(f"nothing stored matches {one}" for one in narrow.unknown)]
    if scored and gathered.tiers and ALL not in gathered.tiers.values() and len(query.wanted) > 1:
        out.append("no record has all the words: these have some of them, or words that contain them")
    if not whole and query.wanted and not any(word.tokens for word in query.wanted):
        out.append("punctuation is not indexed: only the newest texts were searched")
    elif gathered.cut:
        out.append("the time limit ended the search before all was searched: the newest came first")
    elif not whole and query.wanted and len(scored) >= limit:
        out.append(f"there are more: the newest of each kind were ranked, {len(scored)} in all")
    return out


def _dropped(db: Connection, query: Query, meant: Meaning) -> list[str]:
    """Which words had no part in what was found."""
    none = [word for word in absent(db, meant) if not any(word in one for one in query.mistaken)]
    little = unasked(query, meant)
    near = [word for one in none if (word := vocabulary.nearest(db, fold(one)))]
    return [
        *([f"no record contains: {', '.join(none)}"] if none else []),
        *([f"did you mean: {', '.join(near)}"] if near else []),
        *([f"too common to search for: {', '.join(little)}"] if little else []),
    ]


def _forgotten(db: Connection) -> list[str]:
    """What cannot be found any more, and where it is told still."""
    from nmem.retention.read import gone

    lost = gone(db)
    return [f"{lost.said}: their episodes are searched, and `nmem show FILE` shows them"] if lost.said else []
