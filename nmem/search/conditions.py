"""Translates search filters into conditions on rows (SQL); looks up names, skips tables that cannot hold a hit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from sqlite3 import Connection

from capture.event import OBS_TYPES
from nmem.search import kinds, vocabulary
from nmem.search.fts import DOCS, EPISODES, OBSERVATIONS, OUTPUTS, PROMPTS, Source, Where, both, quoted
from nmem.search.query import Filters
from nmem.search.text import fold, tokens

_SAID = {kinds.PROMPT: "o.source = 'user'", kinds.REASONING: "o.source = 'agent'"}
_STORIES_FAILED = "json_valid(o.outcomes) AND json_extract(o.outcomes, '$.tests') IN ('failed', 0)"
_PINNED_PROMPTS = (
    "o.id IN (SELECT CAST(substr(item, 8) AS INTEGER)"
    " FROM context_choices WHERE choice = 'pin' AND item GLOB 'prompt/*')"
)
_PINNED_LEARNINGS = (
    "o.kind = 'learning' AND o.ref IN"
    " (SELECT substr(item, 10) FROM context_choices WHERE choice = 'pin' AND item GLOB 'learning/*')"
)
_A_TASK = "o.kind = 'task' AND EXISTS (SELECT 1 FROM tasks t WHERE t.id = CAST(o.ref AS INTEGER) AND t.{})"
_FAILED_TASKS = _A_TASK.format("state IN ('failed', 'timed-out')")
_CLIENT = (
    "(EXISTS (SELECT 1 FROM sessions s WHERE s.id = o.session_id AND s.client IN ({}))"  # noqa: S608 -- our words
    " OR (" + _A_TASK.format("client IN ({})") + "))"
)
_CLIENTS = "SELECT client, client FROM sessions UNION SELECT client, client FROM tasks"
_UNPLACED = "o.kind = 'task' AND o.project_id IS NULL AND o.title"
"""A task of a folder where nothing was recorded when it was queued: its title is the name of its project."""
_PROJECTS = (
    "SELECT id, name FROM projects UNION ALL"
    " SELECT DISTINCT o.title, o.title FROM search_docs o WHERE o.kind = 'task' AND o.project_id IS NULL"
)
_FILES_PAIRED = 40


@dataclass(frozen=True, slots=True)
class Narrowed:
    """The filters of a query, resolved against the database."""

    filters: Filters
    projects: tuple[int, ...] = ()
    queued: tuple[str, ...] = ()
    """Projects that only tasks name: nothing was recorded of them yet."""
    clients: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()
    """Filters that nothing stored answers to: there can be no hit."""
    files: str = ""
    """The words of `file:` as the index of observations is asked; empty where it cannot help."""
    before: int | None = None
    """Nothing later is wanted: an earlier page ended there."""

    def where(self, source: Source) -> Where | None:
        """Conditions for a source; None when it cannot hold a hit."""
        if self.unknown or (self.queued and not self.projects and source is not DOCS):
            return None
        kept = _TYPES[source.name](self.filters)
        if kept is None:
            return None
        found = Where("".join(f" AND {one}" for one in kept[0]), kept[1])
        if self.filters.since is not None:
            found &= Where(f" AND {source.at} >= ?", (self.filters.since,))
        if self.filters.until is not None:
            found &= Where(f" AND {source.at} < ?", (self.filters.until,))
        if self.before is not None:
            found &= Where(f" AND {source.at} <= ?", (self.before,))
        return found & self.places(source)

    def places(self, source: Source) -> Where:
        """The part of the conditions that speaks of project and client."""
        if source is DOCS:  # a learning belongs to a project, and to no session; a task names its client
            return self._of_projects() & _among(_CLIENT, self.clients)
        placed = _among("s.project_id", self.projects) & _among("s.client", self.clients)
        return Where(placed.sql, placed.values, sessions=bool(placed))

    def _of_projects(self) -> Where:
        """A learning or task of the projects; of those that only tasks name, the tasks."""
        known = _among("o.project_id", self.projects)
        if not self.queued:
            return known
        named = f"({_UNPLACED} IN ({','.join('?' * len(self.queued))}))"
        either = f"({known.sql.removeprefix(' AND ')} OR {named})" if self.projects else named
        return Where(f" AND {either}", (*known.values, *self.queued))


def _among(column: str, values: Sequence[object]) -> Where:
    if not values:
        return Where()
    marks = ",".join("?" * len(values))
    test = column.replace("{}", marks) if "{}" in column else f"{column} IN ({marks})"
    return Where(f" AND {test}", tuple(values) * max(1, column.count("{}")))


def narrowed(
    db: Connection, filters: Filters, before: int | None = None, within: tuple[int, ...] = ()
) -> Narrowed:  # fmt: skip
    """Resolve names of projects and clients, which may be given by a part, to those that are stored.

    `within` are the projects that are meant where the filters name none.
    """
    projects = _named(db, _PROJECTS, filters.project) if filters.project else list(within)
    ids = [each for each in projects if isinstance(each, int)]
    queued = [each for each in projects if isinstance(each, str)]
    clients = _named(db, _CLIENTS, filters.client) if filters.client else []
    unknown = [f"project:{','.join(filters.project)}"] if filters.project and not projects else []
    if filters.client and not clients:
        unknown.append(f"client:{','.join(filters.client)}")
    return Narrowed(filters, tuple(ids), tuple(queued), tuple(map(str, clients)), tuple(unknown),
                    _files(db, filters.file), before)  # fmt: skip


def _named(db: Connection, sql: str, wanted: Sequence[str]) -> list[object]:
    """Keys whose name is one of these; where none is, those whose name holds one."""
    if not wanted:
        return []
    rows = [(row[0], fold(row[1])) for row in db.execute(sql).fetchall()]
    asked = [fold(one) for one in wanted]
    exact = [key for key, name in rows if name in asked]
    return exact or [key for key, name in rows if any(one in name for one in asked)]


def _files(db: Connection, wanted: Sequence[str]) -> str:
    """`file:` in the index's words: narrows the walk where the words that it may mean are few enough to be listed."""
    out = []
    for value in wanted:
        pieces = tokens(fold(value))
        if len(pieces) == 1:
            ends = [one.term for one in vocabulary.containing(db, pieces[0], _FILES_PAIRED)]
            if not ends or len(ends) == _FILES_PAIRED:
                return ""
            out.append(quoted(pieces[0], *ends))
        elif len(pieces) > 2:
            out.append(quoted(*pieces[1:-1]) if len(pieces) == 3 else quoted(" ".join(pieces[1:-1])))
        else:
            return ""
    return "{file_path} : (" + " OR ".join(out) + ")" if out else ""


Kept = tuple[list[str], tuple[object, ...]]


def _said(filters: Filters) -> Kept | None:
    if filters.file or filters.failed:
        return None
    sayings = [sql for kind, sql in _SAID.items() if not filters.type or kind in filters.type]
    if not sayings:
        return None
    return [f"({' OR '.join(sayings)})", *([_PINNED_PROMPTS] if filters.pinned else [])], ()


def _done(filters: Filters) -> Kept | None:
    sql, values = list[str](), list[object]()
    types = [one for one in filters.type if one in OBS_TYPES]
    if filters.type and kinds.OBSERVATION not in filters.type:
        if not types:
            return None
        sql.append(f"o.obs_type IN ({','.join('?' * len(types))})")
        values += types
    if filters.file:
        sql.append("(" + " OR ".join(["instr(lower(o.file_path), ?)"] * len(filters.file)) + ")")
        values += [fold(one) for one in filters.file]
    sql += ["o.outcome = 'failed'"] if filters.failed else []
    sql += ["o.pinned = 1"] if filters.pinned else []
    return sql, tuple(values)


def _stories(filters: Filters) -> Kept | None:
    if filters.type and kinds.EPISODE not in filters.type:
        return None
    sql, values = list[str](), list[object]()
    if filters.file:
        files = "instr(lower(coalesce(o.files_edited, '') || o.hot_files), ?)"
        sql.append("(" + " OR ".join([files] * len(filters.file)) + ")")
        values += [fold(one) for one in filters.file]
    sql += [_STORIES_FAILED] if filters.failed else []
    sql += ["o.pinned = 1"] if filters.pinned else []
    return sql, tuple(values)


def _docs(filters: Filters) -> Kept | None:
    asked = [one for one in filters.type if one in (kinds.SESSION, kinds.LEARNING, kinds.TASK, "recall")]
    if filters.type and not asked:
        return None
    sql, values = list[str](), list[object]()
    sql += [_FAILED_TASKS] if filters.failed else []
    if asked:
        sql.append(f"o.kind IN ({','.join('?' * len(asked))})")
        values += asked
    sql += [_PINNED_LEARNINGS] if filters.pinned else []
    if filters.file:
        sql.append("(" + " OR ".join(["instr(lower(o.body), ?)"] * len(filters.file)) + ")")
        values += [fold(one) for one in filters.file]
    return sql, tuple(values)


_TYPES = {
    PROMPTS.name: _said, OBSERVATIONS.name: _done, OUTPUTS.name: _done, EPISODES.name: _stories, DOCS.name: _docs,
    "unspaced prompts": _said, "unspaced observations": _done,
}  # fmt: skip


def with_files(match: str, narrow: Narrowed, source: Source) -> str:
    """A match that also asks for the words of `file:`, where the index has paths."""
    return both(f"({match})", narrow.files) if narrow.files and source is OBSERVATIONS else match
