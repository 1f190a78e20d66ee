"""Keeps short traces of deleted calls (SQL), so that episodes can still be counted, drawn and found by file.

A trace of a session is JSON: `rows` are [id, at, seq, type, path, outcome, duration_ms, metadata, content, prompt_id,
phase, scope, locus, novelty, friction], of which metadata is kept where it tells of commits, pushes and interruptions
and content where it is a git command; `said` are [id, at] of what an agent said. Read by annotating on the hook's
path, where `json` is not imported.
"""

from __future__ import annotations

from capture.storage.sqlite import Error

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from sqlite3 import Connection
    from typing import Any

COLUMNS = (
    "o.id, o.at, o.seq, o.obs_type, o.file_path, o.outcome, o.duration_ms,"
    " CASE WHEN instr(coalesce(o.metadata, ''), '\"commit\":') + instr(coalesce(o.metadata, ''), '\"push\":')"
    " + instr(coalesce(o.metadata, ''), '\"interrupted\":') THEN o.metadata END,"
    " CASE WHEN o.obs_type LIKE 'git%' THEN o.content ELSE '' END, o.prompt_id,"
    " o.phase, o.scope, o.locus, o.novelty, o.friction"
)
"""Of observations `o`, in the order of a trace's row."""
_ID, _AT, _SEQ, _TYPE, _PATH, _OUTCOME, _DURATION, _METADATA, _CONTENT, _PROMPT = range(10)


class Gone:
    """One observation of which only the trace is left."""

    __slots__ = ("at", "content", "duration_ms", "file_path", "id", "metadata", "obs_type", "outcome", "prompt_id",
                 "scores", "seq")  # fmt: skip

    def __init__(self, row: list[Any]) -> None:
        (self.id, self.at, self.seq, self.obs_type, self.file_path, self.outcome, self.duration_ms, self.metadata,
         self.content, self.prompt_id, *self.scores) = row  # fmt: skip

    def seen(self) -> tuple[Any, ...]:
        """The columns that an episode's counts are made of."""
        return (self.seq, self.id, self.at, self.obs_type, self.file_path, self.outcome, self.duration_ms,
                self.metadata, self.content, *self.scores)  # fmt: skip


def write(db: Connection, session_id: str, rows: Iterable[tuple[Any, ...]], said: Iterable[tuple[int, int]],
          keys: Iterable[str]) -> None:  # fmt: skip
    """Keep the trace of what goes, inside the transaction in which it goes.

    By its `keys` it is known when an import brings it once more: triggers pass it over.
    """
    from capture.jsonio import dumps  # on use: start-up stays short

    told = dumps({"rows": [list(row) for row in rows], "said": [list(one) for one in said]})
    newest = "SELECT max(part) FROM (SELECT session_id, part FROM swept_traces UNION ALL SELECT session_id, part"
    part = db.execute(f"{newest} FROM swept_keys) WHERE session_id = ?", (session_id,)).fetchone()[0] or 0
    db.execute("INSERT INTO swept_traces (session_id, part, trace) VALUES (?, ?, ?)", (session_id, part + 1, told))
    names = "".join(f"\n{key}" for key in keys) + "\n"
    db.execute("INSERT INTO swept_keys VALUES (?, ?, ?)", (session_id, part + 1, names))


def keys(db: Connection, session_id: str) -> tuple[frozenset[str], int]:
    """Keys of what is gone of a session; and before when (ms) anything may be gone that left none."""
    found = db.execute(
        "SELECT k.keys FROM swept_traces t LEFT JOIN swept_keys k ON k.session_id = t.session_id AND k.part = t.part"
        " WHERE t.session_id = ?",
        (session_id,),
    ).fetchall()
    none = any(row[0] is None for row in found)
    row = db.execute("SELECT newest FROM swept_sessions WHERE session_id = ?", (session_id,)).fetchone()
    known = frozenset(key for (part,) in found for key in (part or "").split("\n") if key)
    return known, row[0] + 60_000 if none and row else 0


def _parts(db: Connection, session_id: str) -> Iterator[dict[str, Any]]:
    from capture.jsonio import loads  # on use: start-up stays short

    found = db.execute("SELECT trace FROM swept_traces WHERE session_id = ? ORDER BY part", (session_id,)).fetchall()
    for (stored,) in found:
        try:
            told = loads(stored)
        except ValueError:
            continue  # damaged: what it told is lost, and nothing else
        if isinstance(told, dict):
            yield told


def gone(db: Connection, session_id: str) -> list[Gone]:
    """The observations of a session that only its trace tells of, in their order."""
    found = [Gone(row) for part in _parts(db, session_id) for row in part.get("rows", [])]
    return sorted(found, key=lambda one: (one.seq, one.id))


def said(db: Connection, session_id: str) -> list[tuple[int, int]]:
    """(id, ms) of what an agent said and is gone."""
    return [(one[0], one[1]) for part in _parts(db, session_id) for one in part.get("said", [])]


def of_unit(db: Connection, session_id: str, unit_id: int) -> list[Gone]:
    """The observations of an episode that only the trace tells of."""
    found = gone(db, session_id)
    if not found:
        return []
    prompts = {row[0] for row in db.execute("SELECT prompt_id FROM unit_prompts WHERE unit_id = ?", (unit_id,))}
    return [one for one in found if one.prompt_id in prompts]


def asked_by(db: Connection, session_id: str, prompts: Mapping[Any, Any]) -> None:
    """Of some observations another prompt is the one they answered: id -> prompt's. Inside a transaction."""
    from capture.jsonio import dumps, loads  # on use: start-up stays short

    sql = "SELECT part, trace FROM swept_traces WHERE session_id = ?"
    for part, stored in db.execute(sql, (session_id,)).fetchall():
        try:
            told = loads(stored)
        except ValueError:
            continue  # damaged: as in _parts
        rows = told.get("rows", []) if isinstance(told, dict) else []
        wrong = [row for row in rows if prompts.get(row[_ID], row[_PROMPT]) != row[_PROMPT]]
        for row in wrong:
            row[_PROMPT] = prompts[row[_ID]]
        if wrong:
            put(db, session_id, part, dumps(told))


def put(db: Connection, session_id: str, part: int, told: str) -> None:
    """Store a part of a session's trace, as JSON, in the place of what was there. Inside a transaction."""
    db.execute("UPDATE swept_traces SET trace = ? WHERE session_id = ? AND part = ?", (told, session_id, part))


def traces(db: Connection, sessions: Iterable[str]) -> tuple[int, int]:
    """How many calls of how many of these sessions are known by their trace only."""
    try:
        told = dict(db.execute("SELECT session_id, observations FROM swept_sessions WHERE observations").fetchall())
    except Error:
        return 0, 0  # of a database without meaning yet
    found = [told[each] for each in sessions if each in told]
    return sum(found), len(found)


def swept(db: Connection, session_id: str) -> bool:
    """Whether anything of a session is known by its trace only."""
    return db.execute("SELECT 1 FROM swept_sessions WHERE session_id = ?", (session_id,)).fetchone() is not None


Told = tuple[int, int, int | None, str, str, str, int, int, int, int, int, int]
"""last_at, newest id, episode, session, project, client, reads, edits, failures, others, added, removed: as those of
nmem.read.file_history; how many lines is not traced."""


def named(db: Connection, names: Sequence[str]) -> list[str]:
    """Those of some paths that traces tell of."""
    marks = ",".join("?" * len(names))
    found = db.execute(f"SELECT DISTINCT file_path FROM swept_files WHERE file_path IN ({marks})", tuple(names))  # noqa: S608
    return [str(row[0]) for row in found.fetchall()]


def ending(db: Connection, name: str, limit: int) -> list[str]:
    """Paths that traces tell of and that end like this."""
    found = db.execute(
        "SELECT DISTINCT file_path FROM swept_files WHERE substr(replace(file_path, char(92), '/'), -length(?1)) = ?1"
        " LIMIT ?2",
        (f"/{name}", limit),
    )
    return [str(row[0]) for row in found.fetchall()]


def touches(db: Connection, names: Sequence[str], project: int | None) -> list[Told]:
    """What traces tell of these files, an episode each."""
    if not names:
        return []
    marks = ",".join("?" * len(names))
    sessions = db.execute(
        "SELECT DISTINCT g.session_id, p.name, s.client FROM swept_files g JOIN sessions s ON s.id = g.session_id"  # noqa: S608
        f" JOIN projects p ON p.id = s.project_id WHERE g.file_path IN ({marks}) AND (? IS NULL OR s.project_id = ?)",
        (*names, project, project),
    ).fetchall()
    return [told for session_id, name, client in sessions
            for told in _of_session(db, str(session_id), str(name), str(client), frozenset(names))]  # fmt: skip


def _of_session(db: Connection, session_id: str, project: str, client: str, names: frozenset[str]) -> list[Told]:
    units = {row[0]: row[1] for row in db.execute(
        "SELECT x.prompt_id, x.unit_id FROM unit_prompts x JOIN prompts p ON p.id = x.prompt_id"
        " WHERE p.session_id = ?", (session_id,)
    ).fetchall()}  # fmt: skip
    by: dict[int | None, list[int]] = {}
    for one in gone(db, session_id):
        if one.file_path not in names:
            continue
        sums = by.setdefault(units.get(one.prompt_id), [0, 0, 0, 0, 0, 0])
        sums[0], sums[1] = max(sums[0], one.at), max(sums[1], one.id)
        read, edited = one.obs_type == "file_read", one.obs_type in ("file_write", "file_edit")
        for place, holds in ((2, read), (3, edited), (4, one.outcome == "failed"), (5, not read and not edited)):
            sums[place] += holds
    return [(last, newest, unit, session_id, project, client, reads, edits, failures, others, 0, 0)
            for unit, (last, newest, reads, edits, failures, others) in by.items()]  # fmt: skip
