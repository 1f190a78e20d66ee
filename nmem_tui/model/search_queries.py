"""Queries of the screen Search: a page of hits, one hit in full, and example queries that find something here."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from sqlite3 import Connection

from nmem.ask import hits as asking
from nmem.errors import NmemError
from nmem.learn import places
from nmem.learn import read as learned
from nmem.read import episodes as episode_views
from nmem.read import listing, stories, stream, views
from nmem.read.episodes import EpisodeRow
from nmem.read.listing import Observation, SessionSummary
from nmem.read.stories import Story
from nmem.read.stream import Marks
from nmem.read.views import SessionRow, StreamRow
from nmem.search import decisions, kinds
from nmem.search.decisions import Decision
from nmem.search.examples import Example
from nmem.search.examples import examples as found_examples
from nmem.search.rank import NEWEST, RELEVANCE
from nmem.search.search import Hit, Results, search
from nmem_tui.model import tasks_queries
from nmem_tui.model.learnings import Detail, detail

PAGE = 40
MOST = 2_000
"""Hits that are kept in the list."""
_BEFORE, _AFTER = 4, 6
_PROMPT = 600


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is looked for: a text, in which order, as of when; no two are the same one."""

    text: str
    newest: bool
    at: int
    project: str = ""
    """The project that the cockpit was opened for: nothing else is searched, unless the text names another."""

    @property
    def order(self) -> str:
        """As the search calls it."""
        return NEWEST if self.newest else RELEVANCE


@dataclass(frozen=True, slots=True)
class Found:
    """A page of what was looked for."""

    wanted: Wanted
    results: Results
    newest: Marks
    """What was recorded last before it was looked for."""


@dataclass(frozen=True, slots=True)
class Moment:
    """A call or a saying: itself, what it was asked for, and what went on around it."""

    row: StreamRow
    session: SessionRow | None
    done: Observation | None = None
    """The call in full; nothing of a saying."""
    asked: StreamRow | None = None
    """The prompt that the call was made for."""
    episode: EpisodeRow | None = None
    around: tuple[StreamRow, ...] = ()


@dataclass(frozen=True, slots=True)
class Past:
    """A session, with what was told of it."""

    session: SessionRow
    summary: SessionSummary | None
    episodes: tuple[EpisodeRow, ...]


@dataclass(frozen=True, slots=True)
class Shown:
    """A hit in full; `thing` is None when it is gone."""

    hit: Hit
    thing: Moment | Story | Detail | Past | Decision | tasks_queries.Detail | None


def number(hit: Hit) -> int:
    """The number in its id; 0 of a session."""
    _, _, rest = hit.id.partition("/")
    return int(rest) if rest.isdecimal() else 0


def key(hit: Hit) -> int:
    """Of a call or a saying: its key in the stream."""
    return 2 * number(hit) + hit.id.startswith("obs/")


def is_moment(hit: Hit) -> bool:
    """Whether it is a row of a session's stream."""
    return hit.kind in (kinds.PROMPT, kinds.REASONING, kinds.OBSERVATION, kinds.MARKER)


def find(db: Connection, wanted: Wanted, cursor: str, stopped: Callable[[], bool]) -> Found:
    """A page of hits, written decisions before the first; what nobody waits for any more ends early."""
    projects = _projects(db, wanted.project)
    if asking.asks(wanted.text):
        last = stream.marks(db)
        return Found(wanted, asking.results(db, wanted.text, wanted.at, projects[0] if projects else None), last)
    began, last = time.monotonic(), stream.marks(db)
    decided = [] if cursor else decisions.OPEN.find(db, wanted.text, wanted.at, projects)
    if decisions.alone(wanted.text, wanted.at):
        only = decisions.only(wanted.text, wanted.at, wanted.order, decided, time.monotonic() - began)
        return Found(wanted, only, last)
    found = search(
        db, wanted.text, wanted.at, order=wanted.order, limit=PAGE, cursor=cursor, stopped=stopped, projects=projects
    )
    return Found(wanted, decisions.joined(found, decided), last)


def _projects(db: Connection, name: str) -> tuple[int, ...]:
    """The project of a name; -1 is one of which nothing is recorded."""
    if not name:
        return ()
    try:
        return (places.named(db, name)[0],)
    except NmemError:
        return (-1,)


def examples(db: Connection, at: int, project: str, stopped: Callable[[], bool]) -> list[Example]:
    """Queries that find something here."""
    return found_examples(db, at, stopped, _projects(db, project))


def shown(db: Connection, hit: Hit, at: int) -> Shown:
    """A hit in full."""
    if hit.kind == decisions.KIND:
        return Shown(hit, decisions.OPEN.shown(hit))
    if is_moment(hit):
        return Shown(hit, _moment(db, hit))
    if hit.kind == kinds.EPISODE:
        return Shown(hit, stories.story(db, number(hit)))
    if hit.kind == kinds.LEARNING:
        one = learned.learning(db, number(hit), at)
        return Shown(hit, detail(db, one) if one else None)
    if hit.kind == kinds.SESSION:
        return Shown(hit, _past(db, hit.id.partition("/")[2]))
    if hit.kind == kinds.TASK:
        return Shown(hit, tasks_queries.found(db, number(hit), at))
    return Shown(hit, None)


def _moment(db: Connection, hit: Hit) -> Moment | None:
    here = key(hit)
    row = stream.rows(db, [here], whole=True).get(here)
    if row is None:
        return None
    done = listing.observation(db, number(hit)) if here % 2 else None
    asked = done.prompt_id if done else None
    unit = done.unit_id if done else listing.unit_of(db, number(hit))
    return Moment(
        row, views.session(db, hit.session_id), done,
        stream.rows(db, [2 * asked], text=_PROMPT).get(2 * asked) if asked else None,
        episode_views.rows(db, [unit]).get(unit) if unit else None,
        tuple(stream.around(db, hit.session_id, (row.at, here), _BEFORE, _AFTER)),
    )  # fmt: skip


def _past(db: Connection, session_id: str) -> Past | None:
    row = views.session(db, session_id)
    if row is None:
        return None
    return Past(row, listing.summary(db, session_id), tuple(listing.of_session(db, session_id)))


def episode_of(found: Shown | None) -> int:
    """The episode that a hit is, or is in; 0 when there is none, or it is not known yet."""
    if found is None:
        return 0
    if isinstance(found.thing, Story):
        return found.thing.row.id
    return found.thing.episode.id if isinstance(found.thing, Moment) and found.thing.episode else 0
