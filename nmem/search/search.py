"""Runs one search: typed text in; hits with snippets, facets and remarks out, also as JSON; never an error."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from sqlite3 import Connection

from nmem.decisions import store as decided
from nmem.episodes import open_ends
from nmem.hours import utc
from nmem.retention import journal
from nmem.search import fts, gather, index_store, kinds, rank
from nmem.search.clock import Clock
from nmem.search.fts import Found
from nmem.search.gather import ALL, Gathered, Gatherer, narrowed
from nmem.search.match import Matcher, Snippet, snippet
from nmem.search.meaning import Meaning, absent, meaning, unasked
from nmem.search.query import Query, parse, standing, toggled
from nmem.search.rank import NEWEST, RELEVANCE, Cursor, Ranked, Related, key, ordered, related, units
from nmem.search.rows import Facet, Facets, Row, facets, rows
from nmem.search.store import DOCS, EPISODES, OBSERVATIONS, PROMPTS, Narrowed, Source, Where
from nmem.search.text import fold

PAGE = 20
MOST = 200
"""Hits of a page at most."""
SECONDS = 0.065
"""How long one search may take; what was found until then is shown, and that it is not all."""
_WALKING = 0.5
"""The share of the time after which nothing more is looked for."""
_SHOWING = 0.9
"""The share of the time after which no more is asked about what was found."""
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


NEAREST = "no row has all of these words; these come nearest"


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
    db: Connection, query: Query, cursor: Cursor, limit: int, clock: Clock, projects: tuple[int, ...], *,
    tried: bool = True,
) -> Results:  # fmt: skip
    """A page; `tried`: where nothing is found it is tried which filter empties it."""
    narrow, meant = narrowed(db, query.filters, cursor.before, projects), meaning(db, query)
    clock.share(_WALKING)
    near = Related()
    if cursor.order == RELEVANCE and not narrow.unknown and meant.words:
        near = related(db, query.about, narrow, cursor.now, clock)
    gathered = _gathered(db, query, narrow, meant, cursor, limit, clock)
    said = gathered.says(len(query.wanted))
    gathered.add(EPISODES, Found([(number, near.times[number]) for number in near.shares]), ALL)
    found = _rows(db, gathered, cursor, limit, clock)
    clock.share(_SHOWING)
    matcher = Matcher(meant)
    ranked = _ranked(found, matcher, meant, cursor)
    if near.shares:
        belong = units(db, [one.row for one in ranked])
        ranked = ordered(ranked, belong, near.shares, len(query.wanted))
    page = cursor.page(ranked, limit)
    hits = _hits(db, page, matcher, clock)
    whole = gathered.complete and len(found) == len(gathered.tiers)
    counts = facets((one.row for one in ranked), whole=whole)
    further = cursor.further(ranked, page, more=not whole)
    asked = not (narrow.unknown or gathered.cut or clock.over())
    remarks = _dropped(db, query, gathered.meant or meant, clock) if asked else []
    remarks += [NEAREST] if ranked and query.wanted and not (said or gathered.cut) else []
    remarks += _remarks(query, narrow, gathered, ranked, limit, whole=whole)
    if not ranked and asked and tried:
        remarks += _emptied(db, query, cursor, limit, clock, projects, alone=not remarks)
    remarks += _forgotten(db)
    return Results(
        query, cursor.order, hits, len(ranked), not whole, counts, tuple(remarks), further, round(clock.spent(), 4)
    )


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
    most = _few(limit, cursor)
    for source in gather.GLANCED if meant.signs else (OBSERVATIONS, PROMPTS, EPISODES, DOCS):
        where = narrow.where(source)
        if where is not None and meant.signs:
            out.add(source, gather.glance(db, source, where, meant, clock, most), ALL)
        elif where is not None:
            out.add(source, _browsed(db, source, where, narrow, most, clock), ALL)
    return out


def _browsed(db: Connection, source: Source, where: Where, narrow: Narrowed, most: int, clock: Clock) -> Found:
    pinned = narrow.filters.pinned and source is not DOCS
    if where.sessions and not pinned:
        found = fts.browse_sessions(db, source, where, narrow.places(source), most, clock)
        if found is not None:
            return found
    return fts.browse(db, source, where, most, clock, index=_PINNED[source.table] if pinned else source.by_time)


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
        read = rows(db, table, [number for _, number in keys[:most]], clock)
        gathered.cut |= len(read) < min(most, len(keys)) and clock.over()
        out += read
    return out


_PINNED = {"observations": "observations_pinned", "work_units": "work_units_pinned", "prompts": ""}
"""The index of a table's pins; those of prompts are few and kept elsewhere."""
_OPENING = 300


def _headed(row: Row) -> str:
    """What weighs as a row's title: for an episode its title with the beginning of what was asked."""
    if row.kind in ("prompt", "reasoning"):
        return ""
    return f"{row.title}\n{row.text[:_OPENING]}" if row.kind == kinds.EPISODE else row.path or row.title


def _ranked(found: Sequence[Row], matcher: Matcher, meant: Meaning, cursor: Cursor) -> list[Ranked]:
    """Rows in order; the same text said or done several times is one hit, unless the newest are wanted."""
    ranked = []
    for row in found:
        value = rank.score(row, matcher.look(row.text), matcher.weights(fold(_headed(row))), meant, cursor.now)
        ranked.append(Ranked(row, round(value, 4), row.pinned))
    if cursor.order == NEWEST:
        return sorted(ranked, key=lambda one: key(one.row))
    return _merged(sorted(ranked, key=lambda one: (-one.score, -one.row.at, one.row.id)))


def _hits(db: Connection, page: Sequence[Ranked], matcher: Matcher, clock: Clock) -> tuple[Hit, ...]:
    """A page as it is shown."""
    later = decided.superseded(db, [one.row.id for one in page])
    known: dict[str, list[open_ends.Row]] = {}
    out = []
    for one in page:
        row = one.row
        shown = snippet(_true(db, row, matcher, known, clock), matcher)
        out.append(Hit(row.id, row.kind, row.type, row.at, row.session_id, row.project, row.client, row.path,
                       row.outcome, one.pinned, shown, round(one.score, 4), one.times, one.episode, one.beneath,
                       later[row.id].told if row.id in later else ""))  # fmt: skip
    return tuple(out)


def _true(db: Connection, row: Row, matcher: Matcher, known: dict[str, list[open_ends.Row]], clock: Clock) -> str:
    """A row's text; of a story without its ends, where the query is about these without those that are closed."""
    if not row.left:
        return row.text
    rest = row.text.replace(row.left, "")
    said = zip(matcher.weights(fold(rest)), matcher.weights(fold(row.text)), strict=True)
    if clock.over() or all(less or not more for less, more in said):
        return rest
    ends = open_ends.left(db, row.session_id, row.at, row.left.split("\n"), known=known)
    return row.text.replace(row.left, "\n".join(ends))


def _merged(ranked: Sequence[Ranked]) -> list[Ranked]:
    first: dict[tuple[str, int, str], Ranked] = {}
    for one in ranked:
        best = first.setdefault((one.row.kind, one.row.project_id, one.row.text), one)
        if best is not one:
            best.times += 1
            best.pinned = best.pinned or one.pinned
    return list(first.values())


def _remarks(
    query: Query, narrow: Narrowed, gathered: Gathered, ranked: Sequence[Ranked], limit: int, *, whole: bool
) -> list[str]:
    out = [*query.mistaken, *(f"nothing stored matches {one}" for one in narrow.unknown)]
    if not whole and query.wanted and not any(word.tokens for word in query.wanted):
        out.append("punctuation is not indexed: only the newest texts were searched")
    elif gathered.cut:
        out.append("the time limit ended the search before all was searched: the newest came first")
    elif not whole and query.wanted and len(ranked) >= limit:
        out.append(f"there are more: the newest of each kind were ranked, {len(ranked)} in all")
    return out


def _emptied(
    db: Connection, query: Query, cursor: Cursor, limit: int, clock: Clock, projects: tuple[int, ...], *, alone: bool
) -> list[str]:  # fmt: skip
    """Which filter leaves nothing: each is left out once, and what is found then is counted.

    That none does is told where each was tried to the end, and `alone`: no other remark says why nothing is found.
    """
    counted, every = [], True
    filters = standing(query.text)
    for one in filters:
        rest = parse(toggled(query.text, one), cursor.now)
        if not rest or clock.over():
            every = False
            continue
        found = _search(db, rest, cursor if rest.wanted else cursor.by_time(), limit, clock, projects, tried=False)
        every = every and not (clock.over() or found.more)
        if found.found:
            counted.append(f"without {one}: {found.found}{'+' if found.more else ''}")
    if counted:
        return [f"a filter leaves nothing: {', '.join(counted)} found"]
    return ["to leave out any one filter finds nothing either"] if filters and every and alone else []


def _dropped(db: Connection, query: Query, meant: Meaning, clock: Clock) -> list[str]:
    """Which words had no part in what was found."""
    none = [word for word in absent(db, meant) if not any(word in one for one in query.mistaken)]
    little = unasked(query, meant)
    near: list[str] = []
    with clock.watching(db, lambda: None):
        # one by one: the words found before the clock breaks off stay
        near += (word for one in none if not clock.over() and (word := index_store.nearest(db, fold(one))))
    meant_so = f"; did you mean: {', '.join(near)}?" if near else ""
    return [
        *([f"no record contains: {', '.join(none)}{meant_so}"] if none else []),
        *([f"too common to search for: {', '.join(little)}"] if little else []),
    ]


def _forgotten(db: Connection) -> list[str]:
    """What cannot be found any more, and where it is told still."""
    lost = journal.gone(db)
    return [f"{lost.said}: their episodes are searched, and `nmem show FILE` shows them"] if lost.said else []


Json = dict[str, object]


def index(found: Results) -> Json:
    """Results as JSON takes them; what is empty is left out, but the hits."""
    return {"found": found.found, "hits": [hit(one) for one in found.hits]} | _filled({
        "more": found.more,
        "facets": _filled({"type": _counts(found.facets.kinds + found.facets.types),
                           "project": _counts(found.facets.projects), "client": _counts(found.facets.clients)}),
        "remarks": list(found.remarks),
        "next": found.next,
    })  # fmt: skip


def hit(one: Hit) -> Json:
    """One line of the index: enough to choose by."""
    type_ = one.type if one.kind == "obs" else one.kind
    at = utc(one.at).strftime("%Y-%m-%dT%H:%MZ")
    return _filled({
        "id": one.id, "type": type_, "at": at, "project": one.project, "text": one.snippet.text,
        "path": "" if one.path in one.snippet.text else one.path, "failed": one.outcome == "failed",
        "pinned": one.pinned, "times": one.times if one.times > 1 else 0,
        "superseded_by": one.superseded, "beneath": f"episode/{one.episode}" if one.beneath else "",
    })  # fmt: skip


def _counts(counts: tuple[Facet, ...]) -> Json:
    return {one.value: one.count for one in counts}


def _filled(form: Json) -> Json:
    return {name: value for name, value in form.items() if value}
