"""Imports the records of an export as rows, redacted and cut like those of hooks, a batch a transaction."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby
from sqlite3 import Connection
from typing import Any

from capture.event import Batch, Observation, Project, Prompt
from capture.project import resolve
from capture.seal import identity, seal
from capture.storage import store
from capture.storage.rows import write
from capture.storage.session import KNOWN
from nmem.transfer.records import Record

_ROWS = 400
"""Of one batch: so long the database is locked at most."""


@dataclass(slots=True)
class Report:
    """What came of an import."""

    sessions: int = 0
    """That were not known here."""
    prompts: int = 0
    observations: int = 0
    known: int = 0
    """Rows that were here already."""
    redacted: int = 0
    episodes: int = 0
    threads: int = 0
    learnings: int = 0
    corrections: int = 0
    unreadable: int = 0
    """Lines that are no record."""
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Folders:
    """Folders of the other machine and what they are here: (old, new)."""

    pairs: tuple[tuple[str, str], ...] = ()

    def here(self, path: str) -> str:
        """A path as it is here."""
        for old, new in self.pairs:
            if path == old or path.startswith(old.rstrip("/") + "/"):
                return new.rstrip("/") + path[len(old.rstrip("/")) :]
        return path

    def project(self, found: dict[str, Any]) -> Project:
        """A project as it is here: by its remote, else by its folder, which may be a checkout of something here."""
        key, root = _text(found.get("key")), _text(found.get("root"))
        here = self.here(root)
        if key == root and here != root and os.path.isdir(here):  # noqa: PTH112 - a string already
            return resolve(here)
        return Project(here if key == root else key, _text(found.get("name")), here, _text(found.get("remote")))


def store_all(db: Connection, records: Iterable[Record], report: Report, folders: Folders) -> None:
    """Store records of whole sessions, each batch of them in a transaction. Raises sqlite3.Error."""
    for session, rows in _sessions(records):
        if not db.execute("SELECT 1 FROM sessions WHERE id = ?", (identity(_text(session.get("id"))),)).fetchone():
            report.sessions += 1
        lacking = _lacking(db, identity(_text(session.get("id"))), rows, report)
        for batch, pairs in _batches(session, lacking, folders):
            sealed = seal(batch)
            before = _newest(db)
            report.redacted += sum(batch.redactions.values())
            written = write(db, sealed)
            report.known += written.duplicates
            prompts = len(batch.prompts) - _known(db, batch, before)
            report.prompts += prompts
            report.observations += written.stored + written.merged - prompts
            _add(db, batch.session_id, pairs)


def _lacking(db: Connection, session_id: str, rows: Iterator[Record], report: Report) -> Iterator[Record]:
    """The rows that are not here yet; of the others only what may be added to them."""
    some: Pairs = []
    for row in rows:
        table = "prompts" if row.get("type") == "prompt" else "observations"
        key = identity(_text(row.get("key")))
        found = db.execute(
            f"SELECT 1 FROM {table} WHERE session_id = ? AND dedup_key = ?", (session_id, key)
        ).fetchone()
        if found is None:
            yield row
            continue
        report.known += 1
        if row.get("pinned") or row.get("repeats"):
            some.append((Observation(0, "", "", dedup_key=key), {**row, "prompt": None}))
        if len(some) >= _ROWS:
            _add(db, session_id, some)
            some.clear()
    _add(db, session_id, some)


def _newest(db: Connection) -> int:
    return int(db.execute("SELECT coalesce(max(id), 0) FROM prompts").fetchone()[0])


def _known(db: Connection, batch: Batch, before: int) -> int:
    """How many prompts of a batch came to nothing new."""
    new = "SELECT count(*) FROM prompts WHERE id > ? AND session_id = ?"
    return len(batch.prompts) - int(db.execute(new, (before, batch.session_id)).fetchone()[0])


def _sessions(records: Iterable[Record]) -> Iterator[tuple[Record, Iterator[Record]]]:
    """Each session and the rows that follow it."""
    session: Record = {}

    def under(record: Record) -> str:
        if record.get("type") == "session":
            session.clear()
            session.update(record)
        return _text(session.get("id"))

    for name, rows in groupby(records, under):
        if name:
            yield dict(session), (row for row in rows if row.get("type") != "session" and row.get("session") == name)


Pairs = list[tuple[Observation, Record]]


def _batches(session: Record, rows: Iterator[Record], folders: Folders) -> Iterator[tuple[Batch, Pairs]]:
    """Batches of a session; one even where it has no rows."""
    pairs: Pairs = []
    batch = _batch(session, folders)
    first = True
    for row in rows:
        if len(batch.prompts) + len(batch.observations) >= _ROWS:
            yield batch, pairs
            batch, pairs, first = _batch(session, folders), [], False
        if row.get("type") == "prompt":
            batch.prompts.append(_prompt(row))
        elif row.get("type") == "observation":
            seen = _observation(row, folders)
            batch.observations.append(seen)
            pairs.append((seen, row))
    if first or batch.prompts or batch.observations:
        yield batch, pairs


def _batch(session: Record, folders: Folders) -> Batch:
    at = _number(session.get("last_at")) or 0
    cwd = folders.here(_text(session.get("cwd")))
    batch = Batch(
        _text(session.get("client")), _text(session.get("id")), at, cwd, _text(session.get("origin")) or "import"
    )
    project = session.get("project")
    batch.project = folders.project(project if isinstance(project, dict) else {})
    batch.session = {name: session[name] for name in KNOWN if name in session and name != "cwd"}
    batch.session["started_at"] = _number(session.get("started_at"))
    if session.get("state") == "ended" or session.get("ended_at"):
        batch.session["ended_at"] = _number(session.get("ended_at")) or at
    else:
        batch.session["state"] = "idle"
    return batch


def _prompt(row: Record) -> Prompt:
    return Prompt(
        _number(row.get("at")) or 0, _text(row.get("source")), _text(row.get("kind")), _text(row.get("content")),
        dedup_key=_text(row.get("key")), native_id=_text(row.get("native_id")), agent_id=_text(row.get("agent_id")),
    )  # fmt: skip


def _observation(row: Record, folders: Folders) -> Observation:
    seen = Observation(_number(row.get("at")) or 0, _text(row.get("obs_type")), _text(row.get("content")),
                       dedup_key=_text(row.get("key")))  # fmt: skip
    seen.outcome = _text(row.get("outcome")) or "unknown"
    seen.tool_name, seen.tool_use_id = _text(row.get("tool_name")), _text(row.get("tool_use_id"))
    seen.agent_id, seen.turn_id = _text(row.get("agent_id")), _text(row.get("turn"))
    if row.get("file_path"):
        seen.file_path = folders.here(_text(row.get("file_path")))
    seen.exit_code, seen.duration_ms = _number(row.get("exit_code")), _number(row.get("duration_ms"))
    seen.lines_added, seen.lines_removed = _number(row.get("lines_added")), _number(row.get("lines_removed"))
    metadata = row.get("metadata")
    seen.metadata = metadata if isinstance(metadata, dict) else {}
    return seen


def _add(db: Connection, session_id: str, pairs: Pairs) -> None:
    """What the store does not take with a row: its turn, its pin, how often it was repeated. Twice is as once."""
    more = [(seen, row) for seen, row in pairs if row.get("pinned") or row.get("repeats") or row.get("prompt")]
    if not more:
        return
    with store.transaction(db):
        for seen, row in more:
            pinned, repeats = int(bool(row.get("pinned"))), _number(row.get("repeats")) or 0
            prompt = identity(_text(row.get("prompt")))
            db.execute(
                "UPDATE observations SET pinned = max(pinned, ?), repeats = max(repeats, ?),"
                " last_at = coalesce(max(coalesce(last_at, 0), ?), last_at), prompt_id = coalesce("
                "(SELECT id FROM prompts WHERE session_id = ? AND dedup_key = ?), prompt_id)"
                " WHERE session_id = ? AND dedup_key = ? AND (? OR prompt_id IS NOT"
                " (SELECT id FROM prompts WHERE session_id = ? AND dedup_key = ?))",
                (pinned, repeats, _number(row.get("last_at")), session_id, prompt, session_id, seen.dedup_key,
                 bool(pinned or repeats), session_id, prompt),
            )  # fmt: skip
            merged = row.get("merged")
            for key in merged if isinstance(merged, list) else ():
                db.execute(
                    "INSERT OR IGNORE INTO merged_keys SELECT session_id, ?, id FROM observations"
                    " WHERE session_id = ? AND dedup_key = ?",
                    (identity(_text(key)), session_id, seen.dedup_key),
                )


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _number(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None
