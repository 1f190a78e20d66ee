"""Groups search hits by episode, the best episode first, as the retrieval engine ranks it.

An episode's relevance and its best row are added up; the episode stands first, and beneath it the rows that say it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from sqlite3 import Connection

from nmem.retrieval import engine
from nmem.search import kinds, rank, store
from nmem.search.clock import Clock
from nmem.search.rank import Ranked
from nmem.search.rows import Row
from nmem.search.store import EPISODES, Narrowed, one_of

MOST = 30
"""Episodes of a project that are taken from the engine."""
_PROJECTS = 40
"""Projects that are asked when none is named: those worked on last."""
_CLOSE = 0.3
"""An episode that says less than this part of what the best one says is left to its rows."""
_BY_ROW = 0.5
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
    return 0.9 + 0.1 * float(0.5 ** (max(0, now - at) / rank.HALF_LIFE))


def ordered(
    found: Sequence[Ranked], units: Mapping[str, int], shares: Mapping[int, float], asked: int = 1
) -> list[Ranked]:
    """Rows by their episodes: the best episode first, each with the rows that say it.

    `found` is best first; `asked` is how many words the query has.
    """
    by_row = _BY_ROW * min(1.0, _LONG / max(1, asked))
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
