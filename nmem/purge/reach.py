"""Finds the rows that a purge deletes, and the sessions that lose some of theirs (SQL, reading only).

Nothing here takes a lock. What comes while a large database is looked through is looked at again by the purge, which
knows from `upto` where to begin.

In columns of fixed vocabulary (client, kind, state ...) a value of which every word is nmem's own says nothing: who
purges the word `user` does not mean each row whose source is `user`.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from sqlite3 import Connection
from typing import Any

from capture.clients import CLIENTS
from capture.event import OBS_TYPES
from capture.redaction.detectors import TOKENS
from nmem.errors import NmemError
from nmem.purge.selection import Matcher, Selection
from nmem.sessions import copies
from nmem.store import registry
from nmem.store.project import several, unknown
from nmem.text import printable

IN = "IN (SELECT value FROM json_each(?))"
_PAGE = 20_000
"""Ids looked through at once."""


@dataclass
class Reach:
    """Ids of what goes as facts, and of what was made of them."""

    observations: set[int] = field(default_factory=set)
    prompts: set[int] = field(default_factory=set)
    sessions: set[str] = field(default_factory=set)
    """Those that go as a whole."""
    projects: set[int] = field(default_factory=set)
    """Those that go as a whole."""
    learnings: set[int] = field(default_factory=set)
    tasks: set[int] = field(default_factory=set)
    traced: set[Entry] = field(default_factory=set)
    """Calls of which a sweep left the trace only."""
    copies: set[str] = field(default_factory=set)
    """Sessions whose transcript was copied and says the chosen words: the copy goes."""
    uncopied: set[str] = field(default_factory=set)
    """Sessions whose transcript was not copied yet and says the chosen words: it never is."""
    touched: set[str] = field(default_factory=set)
    """Sessions that stay and lose something: what was made of them is made anew."""
    words: set[str] = field(default_factory=set)
    """What was found of the chosen words: must be nowhere afterwards."""
    upto: dict[str, int] = field(default_factory=dict)
    """Up to which id facts were looked through for words."""

    def facts(self, table: str) -> set[int]:
        """The ids of one of the tables of facts."""
        return {"observations": self.observations, "prompts": self.prompts}[table]

    @property
    def empty(self) -> bool:
        """Whether no fact is reached."""
        facts = self.observations or self.prompts or self.traced
        return not (facts or self.sessions or self.projects or self.learnings or self.tasks)


def find(db: Connection, chosen: Selection, stopped: Callable[[], bool] = lambda: False) -> Reach:
    """What a selection reaches. Raises NmemError for ids, sessions and projects that are not there."""
    reach = Reach()
    whole, rows = _named(db, chosen, reach)
    scope = _scope(db, chosen)
    if not chosen.narrow:
        _wholes(db, chosen, reach, whole, rows, scope)
    else:
        _rows(db, chosen, reach, whole, rows, scope, stopped)
    _settled(db, chosen, reach)
    if chosen.everywhere:
        reach.tasks |= _tasks(db, chosen, reach)
        words, regexes = chosen.matcher.needles(reach.words), bool(chosen.regexes)

        def says(data: bytes) -> bool:
            return words.within(data) or (regexes and chosen.matcher(data))

        reach.copies, reach.uncopied = copies.saying(db, says, stopped), copies.uncopied(db, says, stopped)
    return reach


def _tasks(db: Connection, chosen: Selection, reach: Reach) -> set[int]:
    """Tasks that say the chosen words: each goes whole. What a session answered is only taken out of its task."""
    watch(db, chosen)
    says = {column: says_sql(chosen, "tasks", column) for column in text_columns(db, "tasks")}
    own = " OR ".join(test for column, test in says.items() if column != "output")
    answered = f"({says['output']}) AND coalesce(session_id, '') NOT {IN}"
    found = db.execute(f"SELECT id FROM tasks WHERE {own} OR {answered}", (_ids(reach.touched | reach.sessions),))  # noqa: S608
    return {int(row[0]) for row in found}


def again(db: Connection, chosen: Selection, reach: Reach) -> Reach:
    """Add what has come since `find`: within the transaction that purges."""
    if reach.sessions and not chosen.by_words:
        reach = _settled(db, chosen, reach)
    if chosen.by_words and not chosen.ids:
        scope = _scope(db, chosen)
        for table in FACTS:
            _search(db, chosen, reach, table, _where(chosen, table, scope), reach.upto.get(table, 0), lambda: False)
    return _settled(db, chosen, reach)


def _named(db: Connection, chosen: Selection, reach: Reach) -> tuple[set[str], dict[str, set[int]]]:
    """What ids name: whole sessions, and single rows."""
    whole: set[str] = set()
    rows: dict[str, set[int]] = {"observations": set(), "prompts": set()}
    for kind, rest in chosen.ids:
        if kind == "session":
            whole.add(_session(db, rest))
            continue
        number = int(rest)
        table = {"obs": "observations", "prompt": "prompts", "episode": "work_units", "thread": "threads",
                 "learning": "learnings", "task": "tasks"}[kind]  # fmt: skip
        if kind == "obs" and (gone := _swept(db, number)):
            reach.traced |= gone
            continue
        if number >= 1 << 63 or db.execute(f"SELECT 1 FROM {table} WHERE id = ?", (number,)).fetchone() is None:  # noqa: S608
            raise NmemError(f"there is no {kind}/{rest}")
        if kind in ("obs", "prompt"):
            rows[table].add(number)
        elif kind == "thread":
            found = db.execute("SELECT session_id FROM session_threads WHERE thread_id = ?", (number,))
            whole |= {row[0] for row in found}
        elif kind == "learning":
            reach.learnings.add(number)
        elif kind == "task":
            reach.tasks.add(number)
        else:
            reach.traced |= _episode(db, number, rows)
    return whole, rows


def _swept(db: Connection, number: int) -> set[Entry]:
    """An action whose row is gone, by its trace."""
    there = number >= 1 << 63 or db.execute("SELECT 1 FROM observations WHERE id = ?", (number,)).fetchone()
    return set() if there else traced_call(db, number)


def _episode(db: Connection, number: int, rows: dict[str, set[int]]) -> set[Entry]:
    """All that was said and done in an episode; what is traced of it."""
    session_id, begun = db.execute("SELECT session_id, started_at FROM work_units WHERE id = ?", (number,)).fetchone()
    until = db.execute(
        "SELECT min(started_at) FROM work_units WHERE session_id = ? AND (started_at, id) > (?, ?)",
        (session_id, begun, number),
    ).fetchone()[0]
    own = {row[0] for row in db.execute("SELECT prompt_id FROM unit_prompts WHERE unit_id = ?", (number,))}
    said = db.execute(
        "SELECT id FROM prompts WHERE session_id = ? AND source != 'user' AND at >= ? AND at < ?",
        (session_id, begun, until if until is not None else 1 << 62),
    )
    rows["prompts"] |= own | {row[0] for row in said}
    done = db.execute(f"SELECT id FROM observations WHERE prompt_id {IN}", (_ids(own),))  # noqa: S608
    rows["observations"] |= {row[0] for row in done}
    return traced_answers(db, str(session_id), own)


def _session(db: Connection, written: str) -> str:
    """A session by its id, or by the beginning of it."""
    if not written:
        raise NmemError("no session is named: --session needs the beginning of an id")
    end = written[:-1] + chr(min(ord(written[-1]) + 1, sys.maxunicode))
    found = db.execute("SELECT id FROM sessions WHERE id >= ? AND id < ? ORDER BY id != ? LIMIT 2",
                       (written, end, written)).fetchall()  # fmt: skip
    if found and (found[0][0] == written or len(found) == 1):
        return str(found[0][0])
    raise NmemError(f"{'several sessions begin with' if found else 'there is no session'} {printable(written)}")


def _scope(db: Connection, chosen: Selection) -> tuple[set[int] | None, set[str] | None]:
    """The projects and the sessions that are named; None where none is."""
    projects = None
    if chosen.projects:
        projects = set()
        for name in chosen.projects:
            found = db.execute("SELECT id FROM projects WHERE ? IN (name, root, key, 'project/' || id)", (name,))
            ids = {int(row[0]) for row in found}
            if not ids and not _tasks_of(db, [name]):
                raise _unknown(db, name)
            if len(ids) > 1:
                listed = "SELECT coalesce(nullif(root, ''), key) FROM projects WHERE ? IN (name, root, key) ORDER BY id"
                folders = db.execute(listed, (name,)).fetchall()
                raise several(name, [str(row[0]) for row in folders])
            projects |= ids
    sessions = {_session(db, name) for name in chosen.sessions} if chosen.sessions else None
    return projects, sessions


def _tasks_of(db: Connection, names: Iterable[str]) -> set[int]:
    """Tasks of projects by their names, but for those at work; a project may have tasks and no session yet."""
    found = db.execute(
        f"SELECT id FROM tasks WHERE project {IN} AND state NOT IN ('running', 'needs-input')",  # noqa: S608
        (_ids(names),),
    )
    return {int(row[0]) for row in found}


def _unknown(db: Connection, name: str) -> NmemError:
    """Nothing of this name can go: there is none, or all that there is of it is at work."""
    works = db.execute("SELECT id FROM tasks WHERE project = ? LIMIT 1", (name,)).fetchone()
    if works:
        return NmemError(f"task/{works[0]} is running: `nmem task cancel {works[0]}` first")
    return unknown(db, name)


def _wholes(
    db: Connection, chosen: Selection, reach: Reach, whole: set[str], rows: dict[str, set[int]],
    scope: tuple[set[int] | None, set[str] | None],
) -> None:  # fmt: skip
    """Nothing narrower was said: what is named goes as it is, where the other means agree."""
    projects, sessions = scope
    if chosen.ids:
        allowed = _allowed(db, projects, sessions)
        reach.sessions |= whole if allowed is None else whole & allowed
        for table, ids in rows.items():
            kept = ids if allowed is None else {
                number for number in ids
                if db.execute(f"SELECT session_id FROM {table} WHERE id = ?", (number,)).fetchone()[0] in allowed  # noqa: S608
            }  # fmt: skip
            reach.facts(table).update(kept)
        reach.traced = {one for one in reach.traced if allowed is None or one[0] in allowed}
        return
    found = _allowed(db, projects, sessions)
    reach.sessions |= found or set()
    if projects is not None and sessions is None:
        reach.projects |= projects
        called = db.execute(f"SELECT name FROM projects WHERE id {IN}", (_ids(projects),))  # noqa: S608
        reach.tasks |= _tasks_of(db, {*chosen.projects, *(row[0] for row in called)})


def _allowed(db: Connection, projects: set[int] | None, sessions: set[str] | None) -> set[str] | None:
    """The sessions in which something may go; None: all."""
    if projects is None:
        return sessions
    found = {row[0] for row in db.execute(f"SELECT id FROM sessions WHERE project_id {IN}", (_ids(projects),))}  # noqa: S608
    return found if sessions is None else found & sessions


def _where(chosen: Selection, table: str, scope: tuple[set[int] | None, set[str] | None]) -> tuple[str, list[object]]:
    """The conditions that SQL can tell, of a table x."""
    projects, sessions = scope
    parts, values = ["1"], list[object]()
    if sessions is not None:
        parts.append(f"x.session_id {IN}")
        values.append(_ids(sessions))
    if projects is not None:
        parts.append(f"x.session_id IN (SELECT id FROM sessions WHERE project_id {IN})")  # noqa: S608
        values.append(_ids(projects))
    if chosen.before is not None:
        parts.append("x.at < ?")
        values.append(chosen.before)
    if chosen.since is not None:
        parts.append("x.at >= ?")
        values.append(chosen.since)
    if chosen.files:
        parts.append(f"x.file_path {IN}" if table == "observations" else "0")
        values += [_ids(chosen.files)] if table == "observations" else []
    return " AND ".join(parts), values


def _rows(
    db: Connection, chosen: Selection, reach: Reach, whole: set[str], rows: dict[str, set[int]],
    scope: tuple[set[int] | None, set[str] | None], stopped: Callable[[], bool],
) -> None:  # fmt: skip
    """Single rows, for which everything that was said holds."""
    for table in FACTS:
        where, values = _where(chosen, table, scope)
        if chosen.ids:
            where += f" AND (x.id {IN} OR x.session_id {IN})"
            values += [_ids(rows[table]), _ids(whole)]
        if chosen.by_words:
            _search(db, chosen, reach, table, (where, values), 0, stopped)
        else:
            found = db.execute(f"SELECT x.id FROM {table} x WHERE {where}", values)  # noqa: S608
            reach.facts(table).update(row[0] for row in found)
    reach.traced = set(_traced(db, chosen, reach, whole, _allowed(db, *scope)))
    if chosen.ids:
        reach.learnings.clear()
        reach.tasks.clear()


def _traced(
    db: Connection, chosen: Selection, reach: Reach, whole: set[str], allowed: set[str] | None
) -> Iterator[Entry]:
    """Entries of traces for which everything that was said holds; their words are noted."""
    says = chosen.matcher
    watch(db, chosen)
    test = says.sql("t.trace") if chosen.by_words else "1"
    if chosen.files:
        test += f" AND t.session_id IN (SELECT session_id FROM swept_files WHERE file_path {IN})"  # noqa: S608
    for session_id, row in entries(db, test, [_ids(chosen.files)] if chosen.files else ()):
        entry = (session_id, row[ID])
        if (
            (allowed is not None and session_id not in allowed)
            or (chosen.ids and session_id not in whole and entry not in reach.traced)
            or (chosen.before is not None and row[AT] >= chosen.before)
            or (chosen.since is not None and row[AT] < chosen.since)
            or (chosen.files and row[PATH] not in chosen.files)
            or (chosen.by_words and not entry_says(row, says))
        ):
            continue
        for value in row if chosen.by_words else ():
            reach.words |= says.found(value)
        yield entry


def _search(
    db: Connection, chosen: Selection, reach: Reach, table: str, where: tuple[str, list[object]], after: int,
    stopped: Callable[[], bool],
) -> None:  # fmt: skip
    """Rows of a table that say the chosen words, page by page: no reader holds the database's log up."""
    said, values = where
    says, hits = chosen.matcher, reach.facts(table)
    watch(db, chosen)
    own = own_words(db)
    columns = list(text_columns(db, table))
    test = " OR ".join(says_sql(chosen, table, column, "x.") for column in columns)
    sql = f"SELECT x.id, {', '.join(columns)} FROM {table} x WHERE x.id > ? AND x.id <= ? AND {said} AND ({test})"  # noqa: S608
    newest = _newest(db, table)
    while after < newest and not stopped():
        for row in map(tuple, db.execute(sql, (after, after + _PAGE, *values)).fetchall()):
            hits.add(row[0])
            for column, value in zip(columns, row[1:], strict=True):
                if says(value) and not (fixed(table, column) and all_own(own, value)):
                    reach.words |= says.found(value)
        after += _PAGE
    reach.upto[table] = max(reach.upto.get(table, 0), newest)


def _newest(db: Connection, table: str) -> int:
    return int(db.execute(f"SELECT coalesce(max(id), 0) FROM {table}").fetchone()[0])  # noqa: S608


def _settled(db: Connection, chosen: Selection, reach: Reach) -> Reach:
    """What follows: rows of whole sessions are theirs, sessions that are left empty go too, others are touched.

    A session whose id says the chosen words goes: every row of it says them.
    """
    of: set[str] = set()
    if chosen.everywhere:
        watch(db, chosen)
        found = db.execute(f"SELECT id FROM sessions WHERE {says_sql(chosen, 'sessions', 'id')}")  # noqa: S608
        reach.sessions |= {row[0] for row in found}
    for table in FACTS:
        ids = reach.facts(table)
        found = db.execute(f"SELECT DISTINCT session_id FROM {table} WHERE id {IN}", (_ids(ids),))  # noqa: S608
        of |= {row[0] for row in found}
    of |= {session_id for session_id, _ in reach.traced}
    if chosen.by_time and not chosen.by_words and not chosen.files and not chosen.ids:
        span = (1 << 62 if chosen.before is None else chosen.before, chosen.since or 0)
        left = db.execute(
            "SELECT value FROM json_each(?) WHERE value NOT IN (SELECT session_id FROM prompts WHERE at >= ? OR at < ?"
            " UNION SELECT session_id FROM observations WHERE at >= ? OR at < ?)",
            (_ids(of), *span, *span),
        )
        reach.sessions |= {row[0] for row in left}
    for table in FACTS:
        ids = reach.facts(table)
        if reach.sessions and ids:
            gone = db.execute(
                f"SELECT id FROM {table} WHERE id {IN} AND session_id {IN}",  # noqa: S608
                (_ids(ids), _ids(reach.sessions)),
            )
            ids -= {row[0] for row in gone}
    reach.traced = {one for one in reach.traced if one[0] not in reach.sessions}
    reach.touched = of - reach.sessions
    return reach


def _ids(values: Iterable[object]) -> str:
    return json.dumps(list(values))


Entry = tuple[str, int]
"""Of a trace: session and id of the observation that it stands for."""
ID, AT, TYPE, PATH, PROMPT = 0, 1, 3, 4, 9
_SIZE = 10
"""Fields that each entry has at least."""


def entries(db: Connection, where: str = "1", values: Iterable[object] = ()) -> Iterator[tuple[str, list[Any]]]:
    """Session and row of each entry of the traces t that a condition tells, in their order."""
    sql = f"SELECT t.session_id, t.trace FROM swept_traces t WHERE {where} ORDER BY t.session_id, t.part"  # noqa: S608
    for session_id, stored in db.execute(sql, tuple(values)).fetchall():
        for row in entry_rows(stored):
            yield str(session_id), row


def traced_call(db: Connection, number: int) -> set[Entry]:
    """The entry of an observation of which only the trace is left."""
    sql = "instr(t.trace, ?)"
    return {(session_id, number) for session_id, row in entries(db, sql, (f"[{number},",)) if row[ID] == number}


def traced_answers(db: Connection, session_id: str, prompts: set[int]) -> set[Entry]:
    """The entries of what answered some prompts."""
    return {
        (session_id, row[ID]) for _, row in entries(db, "t.session_id = ?", (session_id,)) if row[PROMPT] in prompts
    }


def entry_says(row: Iterable[object], matcher: Matcher) -> bool:
    """Whether an entry says the chosen words."""
    return any(matcher(value) for value in row if isinstance(value, str))


def stored_trace(stored: str) -> dict[str, Any] | None:
    """A trace as it was written; None where it cannot be read as one."""
    try:
        told = json.loads(stored)
    except ValueError:
        return None
    return told if isinstance(told, dict) else None


def entry_rows(stored: str) -> list[list[Any]]:
    """The entries of a trace that are whole."""
    rows = (stored_trace(stored) or {}).get("rows", [])
    return [row for row in rows if isinstance(row, list) and len(row) >= _SIZE] if isinstance(rows, list) else []


FACTS = ("observations", "prompts")
"""Looked through for words without a lock."""
_MORE = (
    "accept acceptEdits auto bypass bypassPermissions clear compact day default dont dontAsk entropy errors exit "
    "github high id late leapt logout lost obs optimize other password plan rebuild recovered redaction resume secret "
    "seen settle spooled startup swept text tool unsound vacuum"
)
"""Words of nmem and of its clients that no definition below has."""


def watch(db: Connection, chosen: Selection) -> None:
    """Give SQL the functions purge_says(value) and purge_own(value)."""
    words = own_words(db)
    db.create_function("purge_says", 1, chosen.matcher, deterministic=True)
    db.create_function("purge_own", 1, lambda value: all_own(words, value), deterministic=True)


def says_sql(chosen: Selection, table: str, column: str, of: str = "") -> str:
    """The test of a column as SQL, after `watch`; `of` is an alias of the table with its dot."""
    said = chosen.matcher.sql(of + column)
    return f"({said} AND NOT purge_own({of}{column}))" if fixed(table, column) else said


def text_columns(db: Connection, name: str) -> dict[str, tuple[bool, str | None]]:
    """The columns of a table that can hold text: whether each must hold something, and what when nothing is said."""
    known = registry.BY_NAME.get(name)
    packed = known.packed.split() if known else ()
    return {
        row[1]: (bool(row[3]), row[4])
        for row in db.execute(f"PRAGMA main.table_info({name})")
        if row[2].upper() not in ("INTEGER", "REAL") and row[1] not in packed
    }


def saying(db: Connection, chosen: Selection, tables: Iterable[str]) -> dict[str, int]:
    """How many values of some tables say the chosen words, by table.column."""
    watch(db, chosen)
    out = {}
    for table in tables:
        for name in text_columns(db, table):
            test = says_sql(chosen, table, name)
            if number := db.execute(f"SELECT count(*) FROM {table} WHERE {test}").fetchone()[0]:  # noqa: S608
                out[f"{table}.{name}"] = int(number)
    return out


def fixed(table: str, column: str) -> bool:
    """Whether a column holds words of a fixed vocabulary."""
    known = registry.BY_NAME.get(table)
    return known is not None and column in known.words.split()


def own_words(db: Connection) -> frozenset[str]:
    """nmem's own words: of the tables' definitions with their comments, of the clients and of what calls are."""
    said = [row[0] or "" for row in db.execute("SELECT sql FROM main.sqlite_master")]
    events = [name for client in CLIENTS for name in _events(client)]
    kinds = [kind for kind, *_ in TOKENS]
    return frozenset(_split(" ".join((*said, *CLIENTS, *events, *OBS_TYPES, *kinds, _MORE))))


def all_own(words: frozenset[str], value: object) -> bool:
    """Whether every word of a value is one of some, or a number."""
    return isinstance(value, str) and all(word.isdecimal() or word in words for word in _split(value))


def _events(client: str) -> list[str]:
    return [*__import__(f"capture.clients.{client}", fromlist=["EVENTS"]).EVENTS]


def _split(text: str) -> list[str]:
    return re.findall(r"[^\W_]+", text)
