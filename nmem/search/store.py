"""What a search asks of stored rows (SQL): filters as conditions, the ids that match, and the rows behind ids.

Tables: `observations`, `prompts`, `work_units` and `search_docs` with the text indexes over them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from sqlite3 import Connection

from capture.event import OBS_TYPES
from nmem.search import kinds
from nmem.search.query import Filters
from nmem.search.text import fold

TEXT = 32_000
"""Characters of a text that are looked at: all that capture keeps of a prompt."""


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


def one_of(column: str, values: Sequence[object]) -> Where:
    """The condition that a column has one of some values; of `{}` in an expression they take the place."""
    marks = ",".join("?" * len(values))
    test = column.replace("{}", marks) if "{}" in column else f"{column} IN ({marks})"
    return Where(f" AND {test}", tuple(values) * max(1, column.count("{}")))


def _among(column: str, values: Sequence[object]) -> Where:
    return one_of(column, values) if values else Where()


def quoted(*alternatives: str) -> str:
    """Any of these words or phrases, as the index is asked; no character in them has a meaning of its own."""
    marks = ['"' + one.replace('"', " ").replace("\0", " ") + '"' for one in alternatives]
    return marks[0] if len(marks) == 1 else "(" + " OR ".join(marks) + ")"


def both(*expressions: str) -> str:
    """All of these expressions."""
    return " AND ".join(expressions)


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
_UNPLACED = "o.kind = 'task' AND o.project_id IS NULL AND o.title"
"""A task of a folder where nothing was recorded when it was queued: its title is the name of its project."""


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
        found = _TYPES[source.name](self.filters)
        if found is None:
            return None
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


def _if(wanted: bool, test: str) -> Where:
    return Where(f" AND {test}") if wanted else Where()


def _naming(text: str, files: Sequence[str]) -> Where:
    """The condition that a text names one of some files."""
    either = " OR ".join([f"instr(lower({text}), ?)"] * len(files))
    return Where(f" AND ({either})", tuple(map(fold, files))) if files else Where()


def _said(filters: Filters) -> Where | None:
    sayings = [sql for kind, sql in _SAID.items() if not filters.type or kind in filters.type]
    if filters.file or filters.failed or not sayings:
        return None
    return Where(f" AND ({' OR '.join(sayings)})") & _if(filters.pinned, _PINNED_PROMPTS)


def _done(filters: Filters) -> Where | None:
    every = not filters.type or kinds.OBSERVATION in filters.type
    types = [one for one in filters.type if one in OBS_TYPES and not every]
    if not every and not types:
        return None
    found = _among("o.obs_type", types) & _naming("o.file_path", filters.file)
    return found & _if(filters.failed, "o.outcome = 'failed'") & _if(filters.pinned, "o.pinned = 1")


def _stories(filters: Filters) -> Where | None:
    if filters.type and kinds.EPISODE not in filters.type:
        return None
    found = _naming("coalesce(o.files_edited, '') || o.hot_files", filters.file)
    return found & _if(filters.failed, _STORIES_FAILED) & _if(filters.pinned, "o.pinned = 1")


def _docs(filters: Filters) -> Where | None:
    asked = [one for one in filters.type if one in (kinds.SESSION, kinds.LEARNING, kinds.TASK, "recall")]
    if filters.type and not asked:
        return None
    found = _if(filters.failed, _FAILED_TASKS) & _among("o.kind", asked) & _if(filters.pinned, _PINNED_LEARNINGS)
    return found & _naming("o.body", filters.file)


_TYPES = {
    PROMPTS.name: _said, OBSERVATIONS.name: _done, OUTPUTS.name: _done, EPISODES.name: _stories, DOCS.name: _docs,
    "unspaced prompts": _said, "unspaced observations": _done,
}  # fmt: skip


def having(match: str) -> Where:
    """The condition that an observation has words: for a walk over few rows, where the words are in many."""
    held = " AND EXISTS (SELECT 1 FROM observations_fts f WHERE f.observations_fts MATCH ? AND f.rowid = o.id)"
    return Where(held, (match,))


def holding(source: Source, after: int, pieces: Sequence[str], *, signs: bool) -> Where:
    """The condition that the texts of a row after an id hold all pieces: signs as they stand, words in any case."""
    if signs:
        held = "(instr(o.content, ?) OR instr(o.file_path, ?))" if source is OBSERVATIONS else "instr(o.content, ?)"
    else:
        texts = "o.content || ' ' || coalesce(o.file_path, '')" if source is OBSERVATIONS else "o.content"
        held = f"instr(lower({texts}), ?)"
    asked = (piece for piece in pieces for _ in range(held.count("?")))
    return Where(" AND o.id > ?" + f" AND {held}" * len(pieces), (after, *asked))


Ids = Iterable[tuple[int, int]]
"""Ids of rows, each with its time."""


def matching(
    db: Connection, source: Source, match: str, where: Where, ids: tuple[int, int], most: int, *, timed: bool
) -> Ids:  # fmt: skip
    """The ids in a range that match, the highest first; without `timed` and conditions the rows are not looked at."""
    head = f"SELECT {source.id}, {source.at if timed else 0} FROM {source.index} f"  # noqa: S608 -- our names
    if timed or where:
        head += f" CROSS JOIN {source.table} o ON o.id = {source.id}"
    if where.sessions:
        head += f" CROSS JOIN sessions s ON s.id = {source.session}"
    sql = f"{head} WHERE f.{source.index} MATCH ? AND {source.range}{where.sql} ORDER BY f.rowid DESC LIMIT ?"
    return db.execute(sql, (match, *ids, *where.values, most))


def fulfilling(
    db: Connection, source: Source, where: Where, most: int = -1, *, newest: bool = False, index: str = ""
) -> Ids:  # fmt: skip
    """The ids of rows that fulfil conditions, the last stored first, or the `newest`; by an index that is named."""
    by = f" INDEXED BY {index}" if index else ""
    joined = f" CROSS JOIN sessions s ON s.id = {source.session}" if where.sessions else ""
    order = f"{source.at} DESC, o.id DESC" if newest else "o.id DESC"
    return db.execute(
        f"SELECT o.id, {source.at} FROM {source.table} o{by}{joined} WHERE 1{where.sql}"  # noqa: S608 -- our names
        f" ORDER BY {order} LIMIT ?",
        (*where.values, most),
    )


def newest_sessions(db: Connection, places: Where, most: int) -> list[tuple[str, int]]:
    """The sessions of a project or client that were last worked on, with when."""
    sql = f"SELECT s.id, s.last_at FROM sessions s WHERE 1{places.sql} ORDER BY s.last_at DESC LIMIT ?"  # noqa: S608
    return db.execute(sql, (*places.values, most)).fetchall()


def anywhere(db: Connection, match: str) -> bool:
    """Whether any text of any index matches."""
    return any(
        db.execute(f"SELECT 1 FROM {one.index} WHERE {one.index} MATCH ? LIMIT 1", (match,)).fetchone()  # noqa: S608
        for one in (OBSERVATIONS, PROMPTS, OUTPUTS, EPISODES, DOCS)
    )


_SELECT = {
    "observations": "SELECT id, at, session_id, obs_type, outcome, pinned, file_path, substr(content, 1, {text}),"
                    " iif(outcome = 'failed' AND json_valid(metadata), json_extract(metadata, '$.response'), '')"
                    " FROM observations WHERE id IN ({marks}) ORDER BY id DESC",
    "prompts": "SELECT id, at, session_id, source, kind, substr(content, 1, {text}),"
               " EXISTS (SELECT 1 FROM context_choices c JOIN sessions s ON s.project_id = c.project_id"
               " WHERE s.id = prompts.session_id AND c.item = 'prompt/' || prompts.id AND c.choice = 'pin')"
               " FROM prompts WHERE id IN ({marks}) ORDER BY id DESC",
    "work_units": "SELECT id, last_at, session_id, pinned, coalesce(title, agent_title, heading, intent), state,"
                  " intent, summary, learned, completed, next_steps, notes, files_edited FROM work_units"
                  " WHERE id IN ({marks}) ORDER BY id DESC",
    "search_docs": "SELECT d.id, d.at, coalesce(d.session_id, ''), d.kind, d.ref, d.title, substr(d.body, 1, {text}),"
                   " p.name, coalesce(d.project_id, 0), EXISTS (SELECT 1 FROM context_choices c"
                   " WHERE c.project_id = d.project_id"
                   " AND c.item = d.kind || '/' || d.ref AND c.choice = 'pin'), t.client, t.state"
                   " FROM search_docs d LEFT JOIN projects p ON p.id = d.project_id"
                   " LEFT JOIN tasks t ON d.kind = 'task' AND t.id = CAST(d.ref AS INTEGER) WHERE d.id IN ({marks})"
                   " ORDER BY d.id DESC",
}  # fmt: skip


def raw(db: Connection, table: str, wanted: Sequence[int]) -> Iterable[Sequence[object]]:
    """The columns of some ids, the highest first."""
    return db.execute(_SELECT[table].format(text=TEXT, marks=",".join("?" * len(wanted))), wanted)


def places(db: Connection, sessions: Iterable[str]) -> dict[str, tuple[str, str, int]]:
    """Project and client of sessions, and the project's id."""
    wanted = sorted(sessions)
    found = db.execute(
        "SELECT s.id, p.name, s.client, p.id FROM sessions s JOIN projects p ON p.id = s.project_id"  # noqa: S608
        f" WHERE s.id IN ({','.join('?' * len(wanted))})",
        wanted,
    )
    return {row[0]: (row[1], row[2], row[3]) for row in found}


def project_names(db: Connection) -> list[tuple[int | str, str]]:
    """Projects by id with their names; those that only tasks name, by their names."""
    return db.execute("SELECT id, name FROM projects UNION ALL SELECT DISTINCT o.title, o.title FROM search_docs o"
                      " WHERE o.kind = 'task' AND o.project_id IS NULL").fetchall()  # fmt: skip


def client_names(db: Connection) -> list[tuple[str, str]]:
    """Clients of sessions and tasks, each twice."""
    return db.execute("SELECT client, client FROM sessions UNION SELECT client, client FROM tasks").fetchall()


def latest_projects(db: Connection, most: int) -> list[int]:
    """The projects that were worked on last."""
    rows = db.execute(
        "SELECT project_id, max(at) FROM retrieval_docs GROUP BY project_id ORDER BY 2 DESC LIMIT ?", (most,)
    )
    return [row[0] for row in rows.fetchall()]


_OF_PROMPTS = """
SELECT p.id, coalesce(u.unit_id, (SELECT x.unit_id FROM prompts q JOIN unit_prompts x ON x.prompt_id = q.id
  WHERE q.session_id = p.session_id AND q.source = 'user' AND q.at <= p.at ORDER BY q.at DESC, q.id DESC LIMIT 1))
FROM prompts p LEFT JOIN unit_prompts u ON u.prompt_id = p.id WHERE p.id IN ({marks})
"""
_OF_OBSERVATIONS = """
SELECT o.id, u.unit_id FROM observations o JOIN unit_prompts u ON u.prompt_id = o.prompt_id WHERE o.id IN ({marks})
"""
_UNITS = {"prompts": _OF_PROMPTS, "observations": _OF_OBSERVATIONS}


def units_of(db: Connection, table: str, ids: Sequence[int]) -> dict[int, int]:
    """Prompt or observation -> the episode that it belongs to."""
    found = db.execute(_UNITS[table].format(marks=",".join("?" * len(ids))), ids)
    return {number: unit_id for number, unit_id in found.fetchall() if unit_id}


def newest_prompts(db: Connection) -> list[str]:
    """How the newest prompts begin."""
    rows = db.execute("SELECT substr(content, 1, 300) FROM prompts WHERE source = 'user' ORDER BY id DESC LIMIT 8")
    return [str(row[0]) for row in rows.fetchall()]


def commonest(db: Connection, column: str, newest: int, *, failed: bool = False) -> str:
    """The commonest value among the newest observations: of those that failed, or of those that have one."""
    condition = "outcome = 'failed'" if failed else f"{column} <> ''"
    row = db.execute(
        f"SELECT {column} FROM (SELECT obs_type, outcome, coalesce(file_path, '') AS file_path FROM observations"  # noqa: S608 -- our names
        f" ORDER BY id DESC LIMIT {newest}) WHERE {condition} GROUP BY 1 ORDER BY count(*) DESC, 1 LIMIT 1"
    ).fetchone()
    return str(row[0]) if row else ""
