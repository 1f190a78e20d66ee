"""Answers what purges ran, what one would take and how far history is redacted; cleans the database's files (SQL).

Every step of the cleaning is a short transaction, so that hooks come in between; only VACUUM is one long one, and only
where words were really found in the file, or the file is small. Hooks that come meanwhile spool what they have.
"""

from __future__ import annotations

import json
import sqlite3
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from sqlite3 import Connection
from typing import Any, NamedTuple

from capture.storage.store import transaction
from nmem.purge.journal import Table
from nmem.purge.needles import Needles
from nmem.purge.reach import AT, ID, IN, PATH, TYPE, Reach, entries
from nmem.retention import journal as upkeep

_PAGES = 200
"""Pages of an index merged in one transaction."""
_WAITS = 8.0
"""Seconds for which readers are asked to let go of the write-ahead log."""
SMALL = 64 << 20
"""Bytes of a database that is rewritten at once: a second."""


def prepare(db: Connection) -> None:
    """Before a transaction that purges: what is deleted is overwritten, and nothing goes to temporary files."""
    db.execute("PRAGMA temp_store=MEMORY")
    db.execute("PRAGMA secure_delete=ON")
    db.execute("PRAGMA foreign_keys=ON")
    db.execute("PRAGMA recursive_triggers=ON")


def merge(db: Connection, stopped: Callable[[], bool] = lambda: False) -> int:
    """Write every text index anew, so that nothing of deleted rows is left in it; how many steps. It can be stopped."""
    steps = 0
    for name in upkeep.INDEXES:
        pages = -_PAGES  # negative: all of the index, also what needs no merging
        while not stopped():
            with transaction(db):
                worked = upkeep.merge_index(db, name, pages)
            steps += 1
            if not worked:
                break
            pages = _PAGES
    return steps


def free_pages(db: Connection) -> int:
    """Overwrite pages that hold nothing any more, some megabytes at a time; how many. Others may write in between."""
    total = int(db.execute("PRAGMA freelist_count").fetchone()[0])
    if not total:
        return 0
    size = int(db.execute("PRAGMA page_size").fetchone()[0])
    with transaction(db):
        db.execute("CREATE TABLE IF NOT EXISTS purge_blank (blank BLOB)")
    try:
        while (left := int(db.execute("PRAGMA freelist_count").fetchone()[0])) > 1:
            with transaction(db):
                db.execute("INSERT INTO purge_blank VALUES (zeroblob(?))", (max(1, min(left - 1, 1000)) * (size - 4),))
    finally:
        while db.execute("SELECT 1 FROM purge_blank LIMIT 1").fetchone():
            with transaction(db):
                db.execute("DELETE FROM purge_blank WHERE rowid = (SELECT min(rowid) FROM purge_blank)")
        with transaction(db):
            db.execute("DROP TABLE purge_blank")
    return total


def fold(db: Connection, seconds: float = _WAITS) -> bool:
    """Fold the write-ahead log back and cut it to nothing; False while a reader holds on to it."""
    until = time.monotonic() + seconds
    while True:
        with suppress(sqlite3.OperationalError):
            busy = db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]
            if not busy:
                return True
        if time.monotonic() > until:
            return False
        time.sleep(0.05)


def size(db: Connection) -> int:
    """Bytes of the database."""
    whole, _, each = upkeep.pages(db)
    return whole * each


Key = tuple[str, str, int]
"""Session, key and time of a purged record: an import or a hook does not store the same again."""


def sessions_and_projects(db: Connection, found: Reach) -> tuple[list[str], list[int]]:
    """The sessions that lose something or go, and their projects."""
    sessions = sorted(found.sessions | found.touched)
    rows = db.execute("SELECT DISTINCT project_id FROM sessions WHERE id IN (SELECT value FROM json_each(?))",
                      (json.dumps(sessions),))  # fmt: skip
    return sessions, sorted({int(row[0]) for row in rows} | found.projects)


def definitions(db: Connection) -> bytes:
    """The tables' own definitions: the file always has their words."""
    return "\n".join(row[0] or "" for row in db.execute("SELECT sql FROM sqlite_master")).encode()


KEPT, UNDONE, GONE = "kept", "undone", "gone"
TARGET = "purge"


def add(db: Connection, now: int, how: Sequence[str], counts: Mapping[str, int], until: int) -> int:
    """A new purge; its number."""
    made = db.execute("INSERT INTO purges (at, how, counts, keep_until) VALUES (?, ?, ?, ?)",
                      (now, json.dumps(how), json.dumps(counts), until))  # fmt: skip
    return int(made.lastrowid or 0)


def note(db: Connection, number: int, **values: object) -> None:
    """What became of a purge, by column."""
    sets = ", ".join(f"{name} = ?" for name in values)
    db.execute(f"UPDATE purges SET {sets} WHERE id = ?", (*values.values(), number))  # noqa: S608 - our names


def put_last(db: Connection, number: int) -> None:
    """Its correction comes after all that were there when it ran."""
    newest = db.execute("SELECT coalesce(max(id), 0) FROM purge_old_corrections").fetchone()[0]
    db.execute("UPDATE corrections SET id = max(id, ?) WHERE target = ?", (newest + 1, f"{TARGET}/{number}"))


def set_gone(db: Connection, number: int, now: int) -> None:
    """Its window is closed. Of one that had none the correction stays: it is passed over by name."""
    db.execute("UPDATE purges SET state = ?, ended_at = ? WHERE id = ? AND state = ?", (GONE, now, number, KEPT))
    db.execute(
        "DELETE FROM corrections WHERE target = ? AND NOT EXISTS"
        " (SELECT 1 FROM purges WHERE id = ? AND at = keep_until)",
        (f"{TARGET}/{number}", number),
    )


def kept(db: Connection, upto: int | None = None) -> list[int]:
    """Purges whose window is not closed; with a time, those of them that are cleaned and whose window is over then."""
    where = "state = ?" + (" AND cleaned = 1 AND keep_until <= ?" if upto is not None else "")
    given = (KEPT,) if upto is None else (KEPT, upto)
    return [row[0] for row in db.execute(f"SELECT id FROM purges WHERE {where}", given).fetchall()]  # noqa: S608


def kept_since(db: Connection, number: int, now: int) -> int | None:
    """When a purge ran that can be undone still; None: it cannot."""
    found = "SELECT at FROM purges WHERE id = ? AND state = ? AND keep_until > ?"
    row = db.execute(found, (number, KEPT, now)).fetchone()
    return int(row[0]) if row else None


def uncleaned(db: Connection) -> list[tuple[int, bool]]:
    """Purges whose words may be in files still, and whether they never had a window."""
    found = db.execute("SELECT id, at = keep_until FROM purges WHERE cleaned = 0").fetchall()
    return [(row[0], bool(row[1])) for row in found]


def newest(db: Connection, limit: int) -> list[tuple[Any, ...]]:
    """(id, at, how, counts, state, keep_until, cleaned) of purges, the newest first."""
    return db.execute("SELECT id, at, how, counts, state, keep_until, cleaned FROM purges ORDER BY id DESC LIMIT ?",
                      (limit,)).fetchall()  # fmt: skip


def waiting(db: Connection, now: int) -> bool:
    """Whether there is something to do. False where there are no tables of it yet."""
    try:
        row = db.execute(
            "SELECT 1 FROM purges WHERE cleaned = 0 OR (state = 'kept' AND keep_until <= ?) LIMIT 1", (now,)
        ).fetchone()
    except sqlite3.Error:
        return False
    return row is not None


def purged_keys(db: Connection, found: Reach) -> list[Key]:
    """The keys of the records that a purge deletes."""
    out: list[Key] = []
    sessions = json.dumps(sorted(found.sessions))
    for table, ids in (("observations", found.observations), ("prompts", found.prompts)):
        rows = db.execute(
            f"SELECT session_id, dedup_key, at FROM {table} WHERE dedup_key IS NOT NULL AND ("  # noqa: S608 - our names
            "id IN (SELECT value FROM json_each(?)) OR session_id IN (SELECT value FROM json_each(?)))",
            (json.dumps(sorted(ids)), sessions),
        )
        out += [(str(row[0]), str(row[1]), int(row[2])) for row in rows]
    return out


def keep_keys(db: Connection, number: int, keys: list[Key], words: Needles) -> None:
    """Store the keys in the purge's transaction; a key that contains a purged word is left out."""
    told = [each for each in keys if not words.within(f"{each[0]}\n{each[1]}".encode())]
    db.executemany("INSERT OR REPLACE INTO purged_keys VALUES (?, ?, ?, ?)", [(*each, number) for each in told])


def drop_keys(db: Connection, number: int) -> None:
    """Its records may be stored again."""
    db.execute("DELETE FROM purged_keys WHERE purge_id = ?", (number,))


def hollow(db: Connection) -> None:
    """Delete imported sessions of which all records were purged."""
    db.execute(
        "DELETE FROM sessions WHERE id IN (SELECT session_id FROM purged_keys) AND origin = 'import'"
        " AND NOT EXISTS (SELECT 1 FROM prompts p WHERE p.session_id = sessions.id)"
        " AND NOT EXISTS (SELECT 1 FROM observations o WHERE o.session_id = sessions.id)"
    )


EXCERPT = 200


@dataclass(frozen=True, slots=True)
class Item:
    """One row that goes, as text that still has to be made printable."""

    id: str
    """obs/12, prompt/5, session/ID, project/2, learning/4, task/7."""
    at: int
    kind: str
    text: str


def rows_by_kind(db: Connection, found: Reach) -> dict[str, int]:
    """How many rows go, by kind: see nmem.purge.said."""
    of = json.dumps(sorted(found.sessions))
    out = {"session": len(found.sessions), "project": len(found.projects), "learning": len(found.learnings),
           "task": len(found.tasks)}  # fmt: skip
    for kind, table, ids in (("obs", "observations", found.observations), ("prompt", "prompts", found.prompts)):
        whole = db.execute(
            f"SELECT count(*) FROM {table} WHERE session_id IN (SELECT value FROM json_each(?))",  # noqa: S608
            (of,),
        ).fetchone()[0]
        out[kind] = whole + len(ids)
    out["trace"] = len(found.traced)
    return {kind: number for kind, number in out.items() if number}


_ITEMS = (
    ("obs/", "observations", "SELECT id, at, obs_type, content FROM observations WHERE"),
    ("prompt/", "prompts", "SELECT id, at, source || ' ' || kind, content FROM prompts WHERE"),
)


def items(db: Connection, found: Reach, most: int, *, each: bool) -> tuple[Item, ...]:
    """The first rows that go, the newest first: `most` of each kind, or else of all together."""
    out: list[Item] = []
    named: dict[str, tuple[Iterable[object], str]] = {
        "session/": (found.sessions, "SELECT id, last_at, client, cwd FROM sessions WHERE id"),
        "project/": (found.projects, "SELECT id, created_at, 'project', name || ' ' || root FROM projects WHERE id"),
        "learning/": (found.learnings, "SELECT id, last_at, kind, title FROM learnings WHERE id"),
        "task/": (found.tasks, "SELECT id, created_at, state, prompt FROM tasks WHERE id"),
    }
    for kind, (ids, sql) in named.items():
        rows = db.execute(f"{sql} IN (SELECT value FROM json_each(?)) LIMIT ?", (json.dumps(list(ids)), most))  # noqa: S608
        out += [_item(kind, tuple(row)) for row in rows]
    of = json.dumps(sorted(found.sessions))
    for kind, table, sql in _ITEMS:
        ids = json.dumps(sorted(found.facts(table), reverse=True))
        rows = db.execute(
            f"{sql} id IN (SELECT value FROM json_each(?)) OR session_id IN"  # noqa: S608
            " (SELECT value FROM json_each(?)) ORDER BY at DESC, id DESC LIMIT ?",
            (ids, of, most),
        )
        out += [_item(kind, tuple(row)) for row in rows]
    traced = [
        Item(f"obs/{row[ID]}", row[AT], str(row[TYPE]), str(row[PATH] or ""))
        for session_id, row in (entries(db) if found.traced else ())
        if (session_id, row[ID]) in found.traced
    ]
    out += traced[-most:] if each else traced
    return tuple(sorted(out, key=lambda one: (one.at, one.id), reverse=True)[: None if each else most])


def _item(kind: str, row: tuple[object, ...]) -> Item:
    number, at, word, text = row
    return Item(f"{kind}{number}", int(str(at)), str(word), str(text)[:EXCERPT])


_DERIVED = {
    "episodes told": "SELECT count(*) FROM work_units WHERE summary IS NOT NULL AND session_id IN ({})",
    "session summaries": "SELECT count(*) FROM session_summaries WHERE session_id IN ({})",
    "threads summed up": "SELECT count(DISTINCT t.id) FROM threads t JOIN session_threads s ON s.thread_id = t.id"
                         " WHERE t.micro IS NOT NULL AND s.session_id IN ({})",
    "learnings that rest on it": "SELECT count(DISTINCT learning_id) FROM learning_evidence WHERE session_id IN ({})",
    "notes that learnings are made of": "SELECT count(*) FROM learning_findings WHERE session_id IN ({})",
    "corrections that can be undone": "SELECT count(*) FROM corrections WHERE"
                                          " iif(json_valid(payload), json_extract(payload, '$.session'), NULL) IN ({})",
    "items told to sessions": "SELECT count(*) FROM injection_items WHERE item IN"
                                 " (SELECT 'episode/' || id FROM work_units WHERE session_id IN ({}))",
}  # fmt: skip


def derived(db: Connection, found: Reach) -> tuple[tuple[int, ...], dict[str, int]]:
    """Episodes that go or are told anew, and how much goes of what was made of them, by kind, in words."""
    of = json.dumps(sorted(found.sessions | found.touched))
    each = "SELECT value FROM json_each(?)"
    units = db.execute(f"SELECT id FROM work_units WHERE session_id IN ({each}) ORDER BY id", (of,))  # noqa: S608
    numbers = tuple(row[0] for row in units)
    counts = {name: int(db.execute(sql.format(each), (of,)).fetchone()[0]) for name, sql in _DERIVED.items()}
    return numbers, {name: number for name, number in counts.items() if number}


def transcripts(db: Connection, found: Reach) -> tuple[str, ...]:
    """The clients' own files of the sessions that lose something or say the words: these are theirs, and stay."""
    of = json.dumps(sorted(found.sessions | found.touched | found.uncopied))
    rows = db.execute("SELECT DISTINCT transcript_path FROM sessions WHERE transcript_path != ''"
                      " AND id IN (SELECT value FROM json_each(?)) ORDER BY 1", (of,))  # fmt: skip
    return tuple(row[0] for row in rows if Path(row[0]).exists())


@dataclass
class Lies:
    """Where things lie; ids as they are stored."""

    files: set[str] = field(default_factory=set)
    prompts: set[int] = field(default_factory=set)
    episodes: set[int] = field(default_factory=set)
    sessions: set[str] = field(default_factory=set)
    threads: set[int] = field(default_factory=set)
    projects: dict[int, str] = field(default_factory=dict)


def lies(db: Connection, named: Iterable[tuple[str, str]]) -> Lies:
    """Where what some ids name lies."""
    of: dict[str, list[object]] = {}
    for kind, rest in named:
        of.setdefault(kind, []).append(rest if kind == "session" else min(int(rest), (1 << 63) - 1))
    out = Lies(sessions=set(map(str, of.get("session", ()))))
    calls = db.execute(f"SELECT session_id, prompt_id, file_path FROM observations WHERE id {IN}",  # noqa: S608
                       (json.dumps(of.get("obs", [])),)).fetchall()  # fmt: skip
    out.files = {row[2] for row in calls if row[2]}
    out.prompts = {row[1] for row in calls if row[1]} | {int(str(one)) for one in of.get("prompt", ())}
    told = json.dumps(of.get("prompt", []))
    out.sessions |= {row[0] for row in calls}
    out.sessions |= {row[0] for row in db.execute(f"SELECT session_id FROM prompts WHERE id {IN}", (told,))}  # noqa: S608
    units = db.execute(f"SELECT id, session_id FROM work_units WHERE id {IN} OR id IN"  # noqa: S608
                       f" (SELECT unit_id FROM unit_prompts WHERE prompt_id {IN})",
                       (json.dumps(of.get("episode", [])), json.dumps(sorted(out.prompts)))).fetchall()  # fmt: skip
    out.episodes = {row[0] for row in units}
    out.sessions |= {row[1] for row in units}
    if "session" not in of:
        linked = db.execute(f"SELECT DISTINCT thread_id FROM session_threads WHERE session_id {IN}",  # noqa: S608
                            (json.dumps(sorted(out.sessions)),))  # fmt: skip
        out.threads = {row[0] for row in linked}
    out.projects = _projects_of(db, of, out)
    return out


def _projects_of(db: Connection, of: dict[str, list[object]], lies: Lies) -> dict[int, str]:
    rows = db.execute(
        "SELECT id, name FROM projects WHERE id IN"  # noqa: S608 -- our names
        f" (SELECT project_id FROM sessions WHERE id {IN} UNION SELECT project_id FROM learnings WHERE id {IN}"
        f" UNION SELECT project_id FROM threads WHERE id {IN}) ORDER BY id",
        (json.dumps(sorted(lies.sessions)), json.dumps(of.get("learning", [])), json.dumps(of.get("thread", []))),
    )
    return {int(row[0]): str(row[1]) for row in rows}


class Over(NamedTuple):
    """A going over history."""

    number: int
    rules: str
    upto: str
    ended_at: int | None


def last_pass(db: Connection) -> Over | None:
    """The last one; None: there was none."""
    row = db.execute("SELECT id, rules, upto, ended_at FROM history_redactions ORDER BY id DESC LIMIT 1").fetchone()
    return Over(*row) if row is not None else None


def add_pass(db: Connection, now: int, rules: str, ended_at: int | None = None) -> int:
    """A new going over history; its number."""
    sql = "INSERT INTO history_redactions (at, rules, ended_at) VALUES (?, ?, ?)"
    return int(db.execute(sql, (now, rules, ended_at)).lastrowid or 0)


def set_upto(db: Connection, number: int, upto: str, strings: int, rows: int, counts: Mapping[str, int]) -> None:
    """How far a pass is, and what it looked at and took out since it was last said."""
    row = db.execute("SELECT counts FROM history_redactions WHERE id = ?", (number,)).fetchone()
    sums = Counter(json.loads(row[0]) if row else {})
    sums.update(counts)
    db.execute(
        "UPDATE history_redactions SET upto = ?, strings = strings + ?, rows = rows + ?, counts = ? WHERE id = ?",
        (upto, strings, rows, json.dumps(sums), number),
    )


def end_pass(db: Connection, number: int, now: int) -> int:
    """The pass came to its end; how many rows it changed."""
    db.execute("UPDATE history_redactions SET ended_at = ? WHERE id = ?", (now, number))
    return int(db.execute("SELECT rows FROM history_redactions WHERE id = ?", (number,)).fetchone()[0])


def set_rules(db: Connection, rules: str) -> None:
    """The rules that the last pass went by."""
    db.execute("UPDATE history_redactions SET rules = ? WHERE id = (SELECT max(id) FROM history_redactions)", (rules,))


def redact_again(db: Connection, since: int) -> None:
    """What an undo has put back was stored under the rules of then: go over it again. Inside a transaction."""
    db.execute("UPDATE history_redactions SET ended_at = NULL, upto = '{}' WHERE at >= ?", (since,))


def withheld(db: Connection, kind: str) -> int:
    """How many texts were stored as nothing but their kind."""
    return int(db.execute("SELECT sum(count) FROM redactions WHERE kind = ?", (kind,)).fetchone()[0] or 0)


def projects(db: Connection) -> list[tuple[int, tuple[str, ...]]]:
    """The number of each project, and all its names: in words, its root, its key."""
    found = db.execute("SELECT id, name, root, key FROM projects ORDER BY id").fetchall()
    return [(int(row[0]), (row[1], row[2], row[3])) for row in found]


_OWNERS = {
    "session_id": "{}",
    "unit_id": "SELECT id FROM work_units WHERE session_id IN ({})",
    "injection_id": "SELECT id FROM injections WHERE session_id IN ({})",
}
"""Columns that say whose a row is, and the rows there."""


def owned_by(table: Table, number: int, others: Sequence[int]) -> str | None:
    """Which rows of a table are of a project (0: of all but the `others`), as an SQL condition that is "" for all.

    None: none of them. Rows of which nobody says whose they are belong to everybody: they may quote any project.
    """
    numbers = ", ".join(map(str, others or (number,)))
    sessions = f"SELECT id FROM sessions WHERE project_id {'NOT ' * (not number)}IN ({numbers})"  # noqa: S608
    if not number and not others:
        return ""
    if "project_id" in table.columns:
        return f"(project_id {'NOT ' * (not number)}IN ({numbers}) OR project_id IS NULL)"
    if table.name == "projects":
        return None if number else ""
    for column, rows in _OWNERS.items():
        if column in table.columns:
            return f"({column} IN ({rows.format(sessions)}) OR {column} IS NULL)"
    return ""


def rows_of(db: Connection, table: str, own: str) -> int:
    """How many rows of a table a condition tells."""
    return int(db.execute(f"SELECT count(*) FROM {table} {f'WHERE {own}' * bool(own)}").fetchone()[0])  # noqa: S608


def ends(db: Connection, table: str) -> tuple[int, int] | None:
    """The lowest and the highest id of a table; None: it is empty."""
    low, high = db.execute(f"SELECT min(id), max(id) FROM {table}").fetchone()  # noqa: S608
    return None if low is None else (low, high)


Row = tuple[list[object], dict[str, object]]
"""The key, and the texts by column."""


def page(
    db: Connection, table: Table, columns: Sequence[str], own: str, after: list[object] | None, upto: int, most: int
) -> list[Row]:
    """The next rows of a table, with some columns; of a table with ids, those below `upto`, where it is one."""
    keys = ", ".join(table.key)
    said = [f"({keys}) > ({', '.join('?' * len(table.key))})"] if after else []
    said += [own] if own else []
    said += [f"id < {upto}"] if upto else []
    where = f"WHERE {' AND '.join(said)}" if said else ""
    sql = f"SELECT {keys}, {', '.join(columns)} FROM {table.name} {where} ORDER BY {keys} LIMIT {most}"  # noqa: S608
    size = len(table.key)
    return [(list(row[:size]), dict(zip(columns, row[size:], strict=True)))
            for row in map(tuple, db.execute(sql, after or []).fetchall())]  # fmt: skip


def change(db: Connection, table: Table, key: list[object], row: dict[str, object], changed: dict[str, str]) -> None:
    """One row, unless it has become another since; where a key itself holds a secret and can be made anew, it goes."""
    match = " AND ".join(f"{name} IS ?" for name in (*table.key, *changed))
    values = [*key, *(row[name] for name in changed)]
    if any(name in table.key for name in changed):
        db.execute(f"DELETE FROM {table.name} WHERE {match}", values)  # noqa: S608 - names of tables
        return
    told = ", narrated_at = narrated_at + 1" if table.name == "work_units" else ""
    sets = ", ".join(f"{name} = ?" for name in changed)
    db.execute(f"UPDATE OR IGNORE {table.name} SET {sets}{told} WHERE {match}", [*changed.values(), *values])  # noqa: S608


def sessions_of(db: Connection, table: str, ids: Sequence[object]) -> set[str]:
    """The sessions of some facts."""
    sql = f"SELECT session_id FROM {table} WHERE id IN (SELECT value FROM json_each(?))"  # noqa: S608
    return {row[0] for row in db.execute(sql, (json.dumps(ids),)).fetchall()}


def made_stale(db: Connection) -> None:
    """The search counts its words anew, and what sessions are told is made anew for every project."""
    db.execute("UPDATE search_state SET done = 1 WHERE source = 'stale'")
    db.execute("UPDATE context_projects SET taken = taken + 1")
