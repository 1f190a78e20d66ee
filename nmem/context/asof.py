"""Opens the database as of a past moment (SQL): temporary views over its tables hide everything later.

Whatever reads over such a connection, ranking, episodes, learnings or threads, sees only what was there: no reader
has to be careful. What was made later of earlier facts (a narrative, a summary, a remedy) shows once everything that
it was made of was there. The file itself is never written: views and candidates are temporary.
"""

# ruff: noqa: S608 - every name in these statements is our own
from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from sqlite3 import Connection

from capture.storage.schema import statements
from nmem import database
from nmem.store import registry
from nmem.store.schema.found import CANDIDATES

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
    " WHERE i.used IS NOT NULL GROUP BY s.project_id, i.item",
}
"""Tables that are counted from others: counted anew from what was there."""
UNVEILED = frozenset(table.name for table in registry.TABLES if table.asof == registry.ALWAYS) | {"retrieval_docs"}
"""Tables that may be read as they are: names and folders of projects are no history; how many episodes there are and
have a word is counted of all, and their documents say which were there; what was swept is told from traces of sessions
that were over. A test holds that whatever selects context reads no other."""


@contextmanager
def opened(path: str, at: int = END) -> Iterator[Connection]:
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
