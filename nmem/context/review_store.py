"""What a person reviews of contexts: pins and choices, what sessions were told, the database as of a past moment.

Tables: context_choices, pins_everywhere, injections and their items. No hook loads this module.
As of a moment temporary views over the tables hide everything later: whatever reads over such a connection, ranking,
episodes, learnings or threads, sees only what was there, and no reader has to be careful. What was made later of
earlier facts (a narrative, a summary, a remedy) shows once everything that it was made of was there. The file itself
is never written: views and candidates are temporary.
"""

# ruff: noqa: S608 - every name in these statements is our own
from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from sqlite3 import Connection
from typing import Any

from capture.storage.schema import statements
from nmem import database
from nmem.context.store import PINS
from nmem.store import registry
from nmem.store.schema.found import CANDIDATES

# pins and choices

PROJECTS = {
    "obs": "SELECT s.project_id FROM observations o JOIN sessions s ON s.id = o.session_id WHERE o.id = ?",
    "episode": "SELECT s.project_id FROM work_units u JOIN sessions s ON s.id = u.session_id WHERE u.id = ?",
    "thread": "SELECT project_id FROM threads WHERE id = ?",
    "prompt": "SELECT s.project_id FROM prompts p JOIN sessions s ON s.id = p.session_id WHERE p.id = ?",
    "learning": "SELECT project_id FROM learnings WHERE id = ?",
}
"""Kinds that can be pinned -> what finds the project of one."""


def project_of(db: Connection, item: str) -> int | None:
    """The project of what can be pinned; None for what is gone, or cannot be."""
    kind, _, number = item.partition("/")
    row = db.execute(PROJECTS[kind], (int(number),)).fetchone() if kind in PROJECTS else None
    return int(row[0]) if row else None


def put_pin(db: Connection, kind: str, number: int, pinned: int) -> None:
    """Set or take the pin of something that carries its own."""
    db.execute(f"UPDATE {PINS[kind]} SET pinned = ? WHERE id = ?", (pinned, number))


def pinned(db: Connection, kind: str, numbers: Sequence[int]) -> set[int]:
    """Which of some observations, episodes or threads are pinned."""
    query = f"SELECT id FROM {PINS[kind]} WHERE pinned AND id IN (SELECT value FROM json_each(?))"
    return {row[0] for row in db.execute(query, (json.dumps(list(numbers)),))}


def choice(db: Connection, project_id: int, item: str) -> str | None:
    """What a person said about an item of a project."""
    look = "SELECT choice FROM context_choices WHERE project_id = ? AND item = ?"
    row = db.execute(look, (project_id, item)).fetchone()
    return str(row[0]) if row else None


def put_choice(db: Connection, project_id: int, item: str, said: str | None, at: int) -> None:
    """Keep what a person said about an item; nothing: forget it."""
    if said:
        new = "INSERT OR REPLACE INTO context_choices (project_id, item, choice, at) VALUES (?, ?, ?, ?)"
        db.execute(new, (project_id, item, said, at))
    else:
        db.execute("DELETE FROM context_choices WHERE project_id = ? AND item = ?", (project_id, item))


def told_everywhere(db: Connection, item: str) -> bool:
    """Whether a pin is told in every project, while it is pinned."""
    return db.execute("SELECT 1 FROM pins_everywhere WHERE item = ?", (item,)).fetchone() is not None


def put_everywhere(db: Connection, item: str, project_id: int, at: int) -> None:
    """Keep that a pin of a project is told everywhere since a time."""
    db.execute("INSERT OR REPLACE INTO pins_everywhere (item, project_id, at) VALUES (?, ?, ?)", (item, project_id, at))


def take_home(db: Connection, item: str) -> None:
    """Keep that a pin is told in its own project alone."""
    db.execute("DELETE FROM pins_everywhere WHERE item = ?", (item,))


def remove_marker(db: Connection, number: int) -> bool:
    """Take a marker away; False where it is gone."""
    return bool(db.execute("DELETE FROM observations WHERE id = ? AND obs_type = 'marker'", (number,)).rowcount)


# what sessions were told

_FROM = (
    "FROM injections j JOIN sessions s ON s.id = j.session_id LEFT JOIN prompts p ON p.id = j.prompt_id"
    " WHERE j.text != ''"
)
_COLUMNS = (
    "SELECT j.id, j.at, j.session_id, j.client, j.event, coalesce(substr(p.content, 1, 400), ''), j.reason, j.tokens,"
    " j.withheld, (SELECT count(*) FROM injection_items i WHERE i.injection_id = j.id AND i.kind != 'ask'),"
    " (SELECT count(*) FROM injection_items i WHERE i.injection_id = j.id AND i.used = 1),"
    " (SELECT count(*) FROM injection_items i WHERE i.injection_id = j.id AND i.used = 0)"
)


def tellings(db: Connection, project_id: int, limit: int) -> list[tuple[Any, ...]]:
    """What was told in a project, the newest first, and how many items of each were of use, and were not."""
    query = f"{_COLUMNS} {_FROM} AND s.project_id = ? ORDER BY j.at DESC, j.id DESC LIMIT ?"
    return [tuple(row) for row in db.execute(query, (project_id, limit)).fetchall()]


def telling(db: Connection, number: int) -> tuple[Any, ...] | None:
    """One of them, its text last."""
    row = db.execute(f"{_COLUMNS}, j.text {_FROM} AND j.id = ?", (number,)).fetchone()
    return tuple(row) if row else None


def items(db: Connection, number: int) -> list[tuple[Any, ...]]:
    """Its items."""
    rows = db.execute(
        "SELECT item, kind, score, reason, text, files, tokens, used, used_how, used_at FROM injection_items"
        " WHERE injection_id = ? ORDER BY position",
        (number,),
    )
    return [tuple(row) for row in rows.fetchall()]


def counted(db: Connection, project_id: int) -> tuple[int, int, int, int, int]:
    """How many tellings, sessions and items there were in a project, how many of these were of use, and were not."""
    told, sessions = db.execute(
        "SELECT count(*), count(DISTINCT j.session_id) FROM sessions s CROSS JOIN injections j ON j.session_id = s.id"
        " WHERE s.project_id = ? AND j.text != ''",
        (project_id,),
    ).fetchone()
    every, used, unused = db.execute(
        "SELECT count(*), total(i.used = 1), total(i.used = 0) FROM sessions s CROSS JOIN injections j"
        " ON j.session_id = s.id CROSS JOIN injection_items i ON i.injection_id = j.id"
        " WHERE s.project_id = ? AND j.text != '' AND NOT j.withheld AND i.kind != 'ask'",
        (project_id,),
    ).fetchone()
    return told, sessions, every, int(used), int(unused)


def compared(db: Connection, project_id: int | None) -> list[tuple[str, int, int]]:
    """Sessions that were told something or kept without: whether kept, and whether begun since any was."""
    first = db.execute("SELECT min(at) FROM injections WHERE withheld").fetchone()[0]
    rows = db.execute(
        "SELECT s.id, max(j.withheld), min(s.started_at) >= ? FROM injections j JOIN sessions s ON s.id = j.session_id"
        " WHERE j.text != '' AND EXISTS (SELECT 1 FROM injection_items WHERE injection_id = j.id AND kind != 'ask')"
        " AND (? IS NULL OR s.project_id = ?) GROUP BY s.id ORDER BY s.started_at, s.id",
        ((first or 1 << 62) - 60_000, project_id, project_id),
    )
    return [tuple(row) for row in rows.fetchall()]


def late(db: Connection) -> int:
    """Selections that took too long."""
    row = db.execute("SELECT value FROM counters WHERE name = 'context_late'").fetchone()
    return row[0] if row else 0


def judged(db: Connection, session_id: str, withheld: int) -> tuple[int, int]:
    """Of how many items of a session it is known whether they were of use, and of how many they were."""
    known, used = db.execute(
        "SELECT count(i.used), total(i.used) FROM injections j JOIN injection_items i ON i.injection_id = j.id"
        " WHERE j.session_id = ? AND j.withheld = ?",
        (session_id, withheld),
    ).fetchone()
    return known, int(used)


def asked(db: Connection, session_id: str) -> int:
    """How often a person asked for something in a session."""
    count = "SELECT count(*) FROM prompts WHERE session_id = ? AND source = 'user' AND kind = 'prompt'"
    return int(db.execute(count, (session_id,)).fetchone()[0])


def calls(db: Connection, session_id: str) -> Iterator[tuple[str, str | None, str, int]]:
    """The calls of a session in their order: type, file, outcome, how often it was repeated."""
    query = "SELECT obs_type, file_path, outcome, repeats FROM observations WHERE session_id = ? ORDER BY seq"
    yield from db.execute(query, (session_id,))


def is_prepared(db: Connection, project_id: int) -> bool:
    """Whether anything of a project was prepared to be told."""
    look = "SELECT 1 FROM context_projects WHERE project_id = ?"
    return db.execute(look, (project_id,)).fetchone() is not None


def branch(db: Connection, project_id: int, at: int) -> str:
    """The branch of the project's newest session: the cockpit shows what is told on that one as well."""
    row = db.execute(
        "SELECT branch FROM sessions WHERE project_id = ? AND started_at <= ? ORDER BY last_at DESC LIMIT 1",
        (project_id, at),
    ).fetchone()
    return str(row[0] or "") if row else ""


# the database as of a past moment

END = 1 << 62
_NOW = "(SELECT at FROM temp.moment)"
_OVER = f"(SELECT last_at FROM main.sessions WHERE id = t.session_id) < {_NOW}"
"""A session is over: all that was made of it was made of the past."""


def _changed(kind: str, target: str) -> str:
    """Whether a person changed it so later: what it was before is not told by anybody."""
    return (
        f"EXISTS (SELECT 1 FROM main.corrections c WHERE c.at >= {_NOW} AND c.kind = '{kind}'"
        f" AND c.target = '{target}/' || t.{'session_id' if target == 'session' else 'id'} AND c.undone_at IS NULL)"
    )


_IN_THREAD = f"(SELECT created_at FROM main.threads WHERE id = t.thread_id) < {_NOW}"
_BEFORE = {
    table.name: table.asof.format(at=table.at, now=_NOW)
    for table in registry.TABLES
    if table.asof not in ("", registry.ALWAYS)
}
"""Which rows were there."""


def _when(condition: str, column: str, otherwise: str = "NULL") -> str:
    return f"CASE WHEN {condition} THEN {column} ELSE {otherwise} END"


def _unpinned(kind: str) -> str:
    """A pin set after the moment was not there; one taken away since is not known any more."""
    return (
        f"pinned AND NOT EXISTS (SELECT 1 FROM main.corrections c WHERE c.at >= {_NOW} AND c.kind = 'pin'"
        f" AND c.target = '{kind}/' || t.id AND c.undone_at IS NULL)"
    )


_SESSION = f"last_at < {_NOW}"
_THREAD = f"last_at < {_NOW}"
_OCCURRED = f"FROM main.learning_evidence e WHERE e.learning_id = t.id AND e.at < {_NOW}"
_LEARNED = (
    f"last_at < {_NOW} AND NOT EXISTS"
    f" (SELECT 1 FROM main.learning_evidence e WHERE e.learning_id = t.id AND e.at >= {_NOW})"
)
_REMEDIED = (
    "NOT EXISTS (SELECT 1 FROM json_each(iif(json_valid(t.remedy), t.remedy, '{}'), '$.observation_ids') j"
    f" LEFT JOIN main.observations o ON o.id = j.value WHERE o.id IS NULL OR o.at >= {_NOW})"
)
"""All that a remedy was read from was there; a later one may hide an earlier, never the other way round."""
_AS_IT_WAS: dict[str, dict[str, str]] = {
    "sessions": {
        **{name: _when(_SESSION, name) for name in ("branch", "ended_at", "end_reason", "context_tokens",
           "context_at")},
        "state": _when(_SESSION, "state", "'working'"),
        "last_at": f"min(last_at, {_NOW})",
        "seq": f"coalesce((SELECT max(seq) FROM main.observations o WHERE o.session_id = t.id AND o.at < {_NOW}), 0)",
    },
    "observations": {
        "last_at": _when(f"last_at < {_NOW}", "last_at"),
        "repeats": _when(f"coalesce(last_at, 0) < {_NOW}", "repeats", "0"),
        "pinned": _unpinned("obs"),
    },
    "work_units": {
        **{name: _when(_OVER, name) for name in ("ended_at", "checkpoint", "client_summary", "heading", "summary",
           "learned", "completed", "next_steps", "notes", "files_read", "files_edited", "narrator", "narrated_at",
           "friction")},
        **{name: _when(_OVER, name, "'[]'") for name in ("hot_files", "commits", "obs_trace")},
        **{name: _when(_OVER, name, "'{}'") for name in ("phase_signature", "fingerprint", "outcomes")},
        **{name: _when(_OVER, name, "0") for name in ("active_ms", "turn_count", "obs_count")},
        "state": _when(_OVER, "state", "'open'"),
        "last_at": f"min(last_at, {_NOW})",
        "last_prompt_id": _when(_OVER, "last_prompt_id", "first_prompt_id"),
        "title": _when(f"{_OVER} AND NOT {_changed('rename', 'episode')}", "title"),
        "thread_id": _when(_IN_THREAD, "thread_id"),
        "pinned": _unpinned("episode"),
    },
    "threads": {
        **{name: _when(_THREAD, name) for name in ("micro", "meso", "macro", "compacted_at", "primary_unit_id")},
        "state": _when(_THREAD, "state", "'open'"),
        "last_at": f"min(last_at, {_NOW})",
        "turn_count": _when(_THREAD, "turn_count", "0"),
        "title": _when(f"NOT {_changed('rename', 'thread')}", "title", "''"),
        "pinned": _unpinned("thread"),
    },
    "learnings": {
        "files": _when(_LEARNED, "files", "'[]'"),
        "remedy": _when(_REMEDIED, "remedy"),
        "rule": _when(f"state_at < {_NOW}", "rule"),
        "last_at": f"(SELECT coalesce(max(e.at), t.first_at) {_OCCURRED})",
        "sessions": f"(SELECT count(DISTINCT e.session_id) {_OCCURRED} AND e.role = 'occurrence')",
        "occurrences": f"(SELECT count(*) {_OCCURRED} AND e.role = 'occurrence')",
        "state": _when(f"state_at < {_NOW}", "state", "'open'"),
        "state_at": _when(f"state_at < {_NOW}", "state_at"),
    },
    "injection_items": {name: _when(f"used_at < {_NOW}", name) for name in ("used", "used_how", "used_at")},
}  # fmt: skip
"""Columns that were otherwise then."""
_MADE = {
    "context_usefulness": "SELECT s.project_id, i.item, count(*) AS given, total(i.used) AS used FROM injection_items i"
    " JOIN injections j ON j.id = i.injection_id AND NOT j.withheld JOIN sessions s ON s.id = j.session_id"
    " WHERE i.used IS NOT NULL GROUP BY s.project_id, i.item"
}
"""Tables that are counted from others: counted anew from what was there."""
UNVEILED = frozenset(table.name for table in registry.TABLES if table.asof == registry.ALWAYS) | {"retrieval_docs"}
"""Tables that may be read as they are: names and folders of projects are no history; how many episodes there are and
have a word is counted of all, and their documents say which were there; what was swept is told from traces of sessions
that were over. A test holds that whatever selects context reads no other."""


@contextmanager
def as_of(path: str, at: int = END) -> Iterator[Connection]:
    """A connection to the database as it stood at a moment, without candidates yet. Raises NmemError, NoDatabase."""
    db = database.reader(path)
    try:
        db.row_factory = None
        db.execute("PRAGMA query_only=0")  # for what is temporary: the file itself is opened for reading only
        db.execute("PRAGMA temp_store=MEMORY")
        _veil(db)
        move(db, at)
        yield db
    finally:
        db.close()


def move(db: Connection, at: int) -> None:
    """To another moment; candidates are gone."""
    db.execute("UPDATE temp.moment SET at = ?", (at,))
    for statement in statements(CANDIDATES):
        words = statement.split("(", 1)[0].split()
        if words[1] == "TABLE":
            db.execute(f"DELETE FROM temp.{words[2]}")


def _veil(db: Connection) -> None:
    db.execute("CREATE TEMP TABLE moment (at INTEGER NOT NULL)")
    db.execute("INSERT INTO temp.moment VALUES (0)")
    for table, condition in _BEFORE.items():
        changed = _AS_IT_WAS.get(table, {})
        columns = [row[1] for row in db.execute(f"PRAGMA main.table_info({table})").fetchall()]
        if columns:
            shown = ", ".join(f"{changed[name]} AS {name}" if name in changed else name for name in columns)
            db.execute(f"CREATE TEMP VIEW {table} AS SELECT {shown} FROM main.{table} t WHERE {condition}")
    for table, query in _MADE.items():
        db.execute(f"CREATE TEMP VIEW {table} AS {query}")
    for statement in statements(CANDIDATES):
        made = statement.replace("CREATE TABLE ", "CREATE TEMP TABLE ", 1)
        db.execute(made.replace(" INDEX ", " INDEX temp.", 1) if " INDEX " in made.split("(", 1)[0] else made)
