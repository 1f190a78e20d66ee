"""Records every row that a transaction changes, and puts a purge's rows back byte for byte (SQL).

Temporary triggers on all ordinary tables note a row as it was before its first change, and the keys of rows that came.
They lie in memory, and what a table's own triggers and foreign keys do is noted like anything else. Text indexes are no
ordinary tables: the triggers that keep them put them right again.

What was made since of the sessions concerned goes again. A row that has come since under a number of an old one gets a
new number: the old one was there first, and a person may have noted it. Between a purge and its undo another one, or a
sweep, may have taken what rows of the first refer to: those are left out.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from sqlite3 import Connection, Error

from nmem.episodes import annotate, units
from nmem.purge.needles import Needles
from nmem.search.text import UNSPACED_GLOB
from nmem.store import registry, trace

LEFT = registry.names(lambda table: not table.noted) | {registry.SCHEMA}
"""Counters, and what is made of facts and made anew: noted only while chosen words are taken out of them."""
_FRAME = 400

Frame = tuple[str, str, list[tuple[object, ...]]]
"""Table, "old" or "new", rows: whole ones, or keys of those that came."""


@dataclass(frozen=True, slots=True)
class Table:
    """An ordinary table: its columns, and those of its key."""

    name: str
    columns: tuple[str, ...]
    key: tuple[str, ...]

    @property
    def old(self) -> str:
        """Where its rows as they were are kept."""
        return f"purge_old_{self.name}"

    @property
    def new(self) -> str:
        """Where the keys of rows that came are kept."""
        return f"purge_new_{self.name}"


def tables(db: Connection, left: Iterable[str] = LEFT) -> list[Table]:
    """The ordinary tables of a database, but for `left`, parents before their children where it knows."""
    virtual = [row[0] for row in db.execute(
        "SELECT name FROM main.sqlite_master WHERE type = 'table' AND sql LIKE 'CREATE VIRTUAL%'")]  # fmt: skip
    skip = {*left, *virtual, *(f"{name}_{part}" for name in virtual
            for part in ("data", "idx", "content", "docsize", "config"))}  # fmt: skip
    names = [row[0] for row in db.execute(
        "SELECT name FROM main.sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY rowid"
    ) if row[0] not in skip]  # fmt: skip
    return [_table(db, name) for name in names]


def _table(db: Connection, name: str) -> Table:
    info = db.execute(f"PRAGMA main.table_info({name})").fetchall()
    keys = [row[1] for row in sorted((row for row in info if row[5]), key=lambda row: row[5])]
    return Table(name, tuple(row[1] for row in info), tuple(keys) or ("rowid",))


class Journal:
    """The changes of one transaction. `begin` before it, `end` after it."""

    def __init__(self, db: Connection) -> None:
        self.db = db
        self.tables = tables(db)
        self.left: list[Table] = []

    def begin(self) -> None:
        """Watch every table; outside a transaction."""
        self.end()
        for table in self.tables:
            self._watch(table)

    @contextmanager
    def every(self) -> Iterator[None]:
        """Watch those in LEFT as well, inside the transaction: what changes in them meanwhile is put back, too."""
        self.left = [table for table in tables(self.db, ()) if table.name in LEFT and table.key != ("rowid",)]
        for table in self.left:
            self._watch(table)
        yield
        for table in self.left:
            self._unwatch(table)

    def _watch(self, table: Table) -> None:
        keys, columns = ", ".join(table.key), ", ".join(table.columns)
        olds = ", ".join(f"old.{column}" for column in table.columns)
        same = " AND ".join(f"{key} IS new.{key}" for key in table.key)
        news = ", ".join(f"new.{key}" for key in table.key)
        self.db.execute(f"CREATE TEMP TABLE {table.old} ({columns}, PRIMARY KEY ({keys}))")
        self.db.execute(f"CREATE TEMP TABLE {table.new} ({keys}, PRIMARY KEY ({keys}))")
        gone = " AND ".join(f"{key} IS old.{key}" for key in table.key)
        # no OR IGNORE: what an outer INSERT OR REPLACE says would be done here as well
        keep = (
            f"INSERT INTO {table.old} SELECT {olds} WHERE NOT EXISTS (SELECT 1 FROM {table.new} WHERE {gone})"  # noqa: S608
            f" AND NOT EXISTS (SELECT 1 FROM {table.old} WHERE {gone});"
        )
        came = (
            f"INSERT INTO {table.new} SELECT {news} WHERE NOT EXISTS (SELECT 1 FROM {table.old} WHERE {same})"  # noqa: S608
            f" AND NOT EXISTS (SELECT 1 FROM {table.new} WHERE {same});"
        )
        made = f"CREATE TEMP TRIGGER purge_{{}}_{table.name} {{}} ON main.{table.name} BEGIN {{}} END"
        self.db.execute(made.format("d", "BEFORE DELETE", keep))
        self.db.execute(made.format("u", "BEFORE UPDATE", keep))
        self.db.execute(made.format("i", "AFTER INSERT", came))

    def _unwatch(self, table: Table) -> None:
        for kind in "dui":
            self.db.execute(f"DROP TRIGGER IF EXISTS temp.purge_{kind}_{table.name}")

    def end(self) -> None:
        """Watch no longer, and forget what was noted."""
        for table in (*self.tables, *self.left):
            self._unwatch(table)
            for name in (table.old, table.new):
                with suppress(Error):
                    self.db.execute(f"DROP TABLE IF EXISTS temp.{name}")

    def counts(self) -> dict[str, int]:
        """Rows that are gone, by table."""
        out = {}
        for table in self.tables:
            number = self.db.execute(f"SELECT count(*) FROM {self.gone(table)}").fetchone()[0]  # noqa: S608
            if number:
                out[table.name] = int(number)
        return out

    def numbers(self, table: Table) -> list[int]:
        """The ids of the rows of a table that are gone."""
        return [row[0] for row in self.db.execute(f"SELECT g.id FROM {self.gone(table)}")]  # noqa: S608

    def gone(self, table: Table) -> str:
        """The rows of a table that are gone, as they were: a subquery named g."""
        same = " AND ".join(f"t.{key} IS g.{key}" for key in table.key)
        return f"{table.old} g WHERE NOT EXISTS (SELECT 1 FROM main.{table.name} t WHERE {same})"  # noqa: S608

    def frames(self) -> Iterator[Frame]:
        """All that was noted, some rows at a time."""
        for table in (*self.tables, *self.left):
            for kind, name in (("old", table.old), ("new", table.new)):
                found = self.db.execute(f"SELECT * FROM temp.{name} ORDER BY rowid")  # noqa: S608
                while rows := found.fetchmany(_FRAME):
                    yield table.name, kind, [tuple(row) for row in rows]

    def texts(self, most: int) -> list[str] | None:
        """Every text of the rows as they were; None when there are more than `most` rows."""
        out: list[str] = []
        rows = 0
        for _, kind, found in self.frames():
            if kind == "old":
                rows += len(found)
                if rows > most:
                    return None
                out += [value for row in found for value in row if isinstance(value, str)]
        return out


Rows = list[tuple[object, ...]]
NUMBERED = tuple(table.name for table in registry.TABLES if table.numbered)
"""Facts whose numbers may be used again once they are gone."""
_KEPT = {"corrections", *registry.names(lambda table: table.ever)}
"""Rows that came with the purge and stay: that it was, and what it took from a team for ever."""
_LAST = ("search_docs",)
"""Kept by triggers on others: put right after these."""


class Taken:
    """What a purge took, read from its trash."""

    def __init__(self, frames: Iterable[object]) -> None:
        stream = iter(frames)
        head = next(stream)
        assert isinstance(head, dict)
        self.sessions: list[str] = head["sessions"]
        """Those that lost something or went."""
        self.projects: list[int] = head["projects"]
        self.words = Needles.unpacked(head["words"])
        """What must be in no file."""
        self.columns: dict[str, tuple[str, ...]] = head["columns"]
        self.files: list[tuple[str, bytes, int]] = head["files"]
        """Path, content and mode of what was taken out of folders."""
        self.gone: dict[str, list[int]] = head["gone"]
        """Numbers of facts that went, by table."""
        self.old: dict[str, Rows] = {}
        self.new: dict[str, Rows] = {}
        for frame in stream:
            assert isinstance(frame, tuple)
            (self.old if frame[1] == "old" else self.new).setdefault(frame[0], []).extend(frame[2])


def put_back(db: Connection, taken: Taken) -> int:
    """Everything as it was; how many rows cannot be, as what they belong to is gone by now.

    Inside a transaction, with `foreign_keys` on.
    """
    db.execute("PRAGMA recursive_triggers=ON")
    db.execute("PRAGMA defer_foreign_keys=ON")
    db.execute("DROP TABLE IF EXISTS temp.purge_t")
    db.execute("CREATE TEMP TABLE purge_t (id PRIMARY KEY)")
    db.executemany("INSERT INTO purge_t VALUES (?)", [(one,) for one in taken.sessions])
    known = {table.name: table for table in tables(db, ())}
    for name in NUMBERED:
        if taken.gone.get(name):
            _renumber(db, known[name], taken)
    _unmake(db, taken, known)
    names = [name for name in known if name in taken.old and name not in _LAST]
    db.execute("INSERT OR REPLACE INTO upkeep VALUES ('undo', 0, '')")
    for name in (*names, *(name for name in _LAST if name in taken.old)):
        swept = _swept_since(db, taken, name)
        for row in taken.old[name]:
            if row[taken.columns[name].index("id") if swept else 0] not in swept:
                _row(db, known[name], taken.columns[name], row)
    db.execute("DELETE FROM upkeep WHERE name = 'undo'")
    _retold(db, taken)
    left = loosen(db, known, taken.old, taken.columns)
    _indexed(db, taken)
    for project_id in taken.projects:
        db.execute("INSERT INTO context_projects (project_id, taken) SELECT id, 1 FROM projects WHERE id = ?"
                   " ON CONFLICT (project_id) DO UPDATE SET taken = taken + 1", (project_id,))  # fmt: skip
    db.execute("UPDATE search_state SET done = 1 WHERE source = 'stale'")
    return left.total()


def _swept_since(db: Connection, taken: Taken, name: str) -> set[object]:
    """Facts that the purge only changed and that went otherwise since: a trace tells of them, their row stays gone."""
    if name not in ("observations", "prompts"):
        return set()
    at, went = taken.columns[name].index("id"), set(taken.gone.get(name, ()))
    changed = [row[at] for row in taken.old[name] if row[at] not in went]
    there = db.execute(f"SELECT id FROM {name} WHERE id IN (SELECT value FROM json_each(?))", (json.dumps(changed),))  # noqa: S608
    return set(changed) - {row[0] for row in there.fetchall()}


def _retold(db: Connection, taken: Taken) -> None:
    """Traces of what was swept since belong to the prompts that they belonged to, and are counted as they are."""
    at = {name: place for place, name in enumerate(taken.columns.get("observations", ()))}
    asked = {row[at["id"]]: row[at["prompt_id"]] for row in taken.old.get("observations", ())}
    for session_id in taken.sessions:
        trace.asked_by(db, session_id, asked)


def _renumber(db: Connection, table: Table, taken: Taken) -> None:
    """Rows that have come since move behind the old ones, where a number is used again."""
    gone = taken.gone.get(table.name, [])
    first = db.execute(
        f"SELECT min(id) FROM {table.name} WHERE id IN (SELECT value FROM json_each(?))",  # noqa: S608 - our names
        (json.dumps(gone),),
    ).fetchone()[0]
    if first is None:
        return
    last = max(gone)
    shift = last - first + 1
    refers = [
        (name, row[3]) for (name,) in db.execute("SELECT name FROM main.sqlite_master WHERE type = 'table'").fetchall()
        for row in db.execute(f"PRAGMA main.foreign_key_list({name})").fetchall() if row[2] == table.name
    ]  # fmt: skip
    text = {"prompts": ", content = content", "observations": ", content = content, metadata = metadata"}
    for (number,) in db.execute(f"SELECT id FROM {table.name} WHERE id >= ? ORDER BY id DESC", (first,)).fetchall():  # noqa: S608
        to = number + shift
        db.execute(f"UPDATE {table.name} SET id = ?{text.get(table.name, '')} WHERE id = ?", (to, number))  # noqa: S608
        for name, column in refers:
            db.execute(f"UPDATE {name} SET {column} = ? WHERE {column} = ?", (to, number))  # noqa: S608
        kind = {"prompts": "prompt", "observations": "obs"}.get(table.name)
        if kind:
            for name, column in (("injection_items", "item"), ("corrections", "target")):
                db.execute(f"UPDATE {name} SET {column} = ? WHERE {column} = ?", (f"{kind}/{to}", f"{kind}/{number}"))  # noqa: S608
    if table.name == "observations":
        db.execute("UPDATE work_units SET traced_seq = 0 WHERE session_id IN"
                   " (SELECT session_id FROM observations WHERE id > ?)", (last,))  # fmt: skip


def _unmake(db: Connection, taken: Taken, known: dict[str, Table]) -> None:
    """What came with the purge, and what was made since of the sessions concerned, goes."""
    # Rows of episodes first: they are found by the episodes.
    for made in sorted((table for table in registry.TABLES if table.remade), key=lambda table: table.of != "unit"):
        name, table = made.name, known[made.name]
        keys = [taken.columns[name].index(key) for key in table.key] if name in taken.columns else []
        held = {tuple(row[at] for at in keys) for row in taken.old.get(name, [])}
        columns = ", ".join(table.key)
        match = " AND ".join(f"{key} IS ?" for key in table.key)
        of = made.rows_of("(SELECT id FROM purge_t)")
        for row in db.execute(f"SELECT {columns} FROM {name} WHERE {of}").fetchall():  # noqa: S608 - our names
            if tuple(row) not in held:
                db.execute(f"DELETE FROM {name} WHERE {match}", tuple(row))  # noqa: S608
    for name, rows in taken.new.items():
        if name in known and name not in _KEPT:
            match = " AND ".join(f"{key} IS ?" for key in known[name].key)
            db.executemany(f"DELETE FROM {name} WHERE {match}", rows)  # noqa: S608


def _row(db: Connection, table: Table, columns: tuple[str, ...], row: tuple[object, ...]) -> None:
    """One row as it was: what is there of it is changed, what stands in its place gives way."""
    values = dict(zip(columns, row, strict=True))
    match = " AND ".join(f"{key} IS ?" for key in table.key)
    keys = [values[key] for key in table.key]
    known = [name for name in columns if name in table.columns]
    there = db.execute(f"SELECT {', '.join(known)} FROM {table.name} WHERE {match}", keys).fetchone()  # noqa: S608
    if there is None:
        marks = ", ".join("?" * len(known))
        db.execute(
            f"INSERT OR REPLACE INTO {table.name} ({', '.join(known)}) VALUES ({marks})",  # noqa: S608
            [values[name] for name in known],
        )
        return
    changed = [name for name, now in zip(known, tuple(there), strict=True) if name not in table.key
               and (now != values[name] or type(now) is not type(values[name]))]  # fmt: skip
    if changed:
        sets = ", ".join(f"{name} = ?" for name in changed)
        db.execute(f"UPDATE OR REPLACE {table.name} SET {sets} WHERE {match}",  # noqa: S608
                   [*(values[name] for name in changed), *keys])  # fmt: skip


def _indexed(db: Connection, taken: Taken) -> None:
    """The indexes that settling fills upwards get the rows back that lie below what it has done."""
    for source, bit in (("prompts", 0), ("observations", 1)):
        if source not in taken.old:
            continue
        upto = db.execute("SELECT indexed FROM search_state WHERE source = ?", (source,)).fetchone()[0]
        at = taken.columns[source].index("id")
        ids = [(row[at],) for row in taken.old[source] if int(row[at]) <= upto]  # type: ignore[call-overload]
        db.executemany(
            "INSERT INTO search_unspaced_fts(rowid, text) SELECT id * 2 + ?2, content || '  '"  # noqa: S608 - our names
            f" FROM {source} WHERE id = ?1 AND content GLOB ?3"
            " AND NOT EXISTS (SELECT 1 FROM search_unspaced_fts_docsize WHERE id = ?1 * 2 + ?2)",
            [(number, bit, UNSPACED_GLOB) for (number,) in ids],
        )
        if source == "observations":
            db.executemany(
                "INSERT INTO search_outputs_fts(rowid, response) SELECT id, response FROM search_outputs"
                " WHERE id = ?1 AND NOT EXISTS (SELECT 1 FROM search_outputs_fts_docsize WHERE id = ?1)",
                ids,
            )


LooseRows = Mapping[str, Sequence[tuple[object, ...]]]
"""What was put back, by table."""
_ROUNDS = 8
"""What goes in one may be what rows of the next refer to; no chain of tables is longer."""


def loosen(
    db: Connection, known: Mapping[str, Table], rows: LooseRows, columns: Mapping[str, tuple[str, ...]]
) -> Counter[str]:
    """Nothing that was put back refers to nothing; how many rows had to be left out, by table. Inside a transaction."""
    out: Counter[str] = Counter()
    sessions = _prompts(db)
    for _ in range(_ROUNDS):
        again = False
        for name in (name for name in known if name in rows):
            if name != "work_units":
                again |= _loosen(db, known[name], rows[name], columns[name], out)
        again |= _units(db, out, sessions)
        if not again:
            break
    for session_id in sorted(sessions):
        for unit in units.of_session(db, session_id):
            annotate.recount(db, unit, trace=unit.state == units.CLOSED)
        db.execute("DELETE FROM session_signatures WHERE session_id = ?", (session_id,))
        annotate.sign_session(db, session_id)
    return out


def _prompts(db: Connection) -> set[str]:
    """Actions whose prompt is gone belong to the one before, or to none; the sessions that this changes."""
    of = (
        "session_id IN (SELECT id FROM purge_t) AND prompt_id IS NOT NULL AND prompt_id NOT IN (SELECT id FROM prompts)"
    )
    found = {str(row[0]) for row in db.execute(f"SELECT DISTINCT session_id FROM observations WHERE {of}")}  # noqa: S608
    db.execute(
        "UPDATE observations SET prompt_id = (SELECT p.id FROM observations x JOIN prompts p"  # noqa: S608 - our words
        " ON p.session_id = x.session_id AND p.source = 'user' AND p.agent_id IS NULL WHERE x.id = observations.id"
        f" ORDER BY p.at > x.at, abs(p.at - x.at), p.id LIMIT 1) WHERE {of}"
    )
    return found


def _loosen(
    db: Connection, table: Table, rows: Sequence[tuple[object, ...]], columns: tuple[str, ...], out: Counter[str]
) -> bool:
    """Rows of one table; whether any was left out."""
    match = " AND ".join(f"{key} IS ?" for key in table.key)
    bound = {row[1] for row in db.execute(f"PRAGMA main.table_info({table.name})") if row[3] or row[5]}
    before = out.total()
    for _, _, parent, column, target, *_ in db.execute(f"PRAGMA main.foreign_key_list({table.name})").fetchall():
        if column not in columns:
            continue
        for key in _dangling(db, table, rows, columns, (parent, column, target or "id")):
            if column in bound:
                out[table.name] += db.execute(f"DELETE FROM main.{table.name} WHERE {match}", key).rowcount  # noqa: S608
            else:
                db.execute(f"UPDATE main.{table.name} SET {column} = NULL WHERE {match}", key)  # noqa: S608
    return out.total() > before


def _dangling(
    db: Connection, table: Table, rows: Sequence[tuple[object, ...]], columns: tuple[str, ...], to: tuple[str, str, str]
) -> list[tuple[object, ...]]:
    """Keys of rows that refer by a column to what is not there."""
    parent, column, target = to
    at, keys = columns.index(column), [columns.index(key) for key in table.key]
    match = " AND ".join(f"{key} IS ?" for key in table.key)
    there: dict[object, bool] = {None: True}
    out = []
    for row in rows:
        if row[at] not in there:
            found = db.execute(f"SELECT 1 FROM main.{parent} WHERE {target} = ?", (row[at],))  # noqa: S608
            there[row[at]] = found.fetchone() is not None
        key = tuple(row[place] for place in keys)
        if not there[row[at]]:
            still = f"SELECT 1 FROM main.{table.name} WHERE {match} AND {column} IS ?"  # noqa: S608
            if db.execute(still, (*key, row[at])).fetchone():
                out.append(key)
    return out


def _units(db: Connection, out: Counter[str], sessions: set[str]) -> bool:
    """Episodes fit the prompts that are there; those without any are left out."""
    found = db.execute(
        "SELECT id, session_id FROM work_units WHERE session_id IN (SELECT id FROM purge_t) AND ("
        "first_prompt_id NOT IN (SELECT id FROM prompts) OR last_prompt_id NOT IN (SELECT id FROM prompts)"
        " OR session_id NOT IN (SELECT id FROM sessions))"
    ).fetchall()
    db.execute("UPDATE work_units SET thread_id = NULL WHERE thread_id NOT IN (SELECT id FROM threads)"
               " AND session_id IN (SELECT id FROM purge_t)")  # fmt: skip
    for number, session_id in map(tuple, found):
        units.tidy(db, session_id, {number}, {})
        units.straighten(db, session_id)
        sessions.add(str(session_id))
        out["work_units"] += units.get(db, number) is None
    return bool(found)
