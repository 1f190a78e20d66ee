"""Imports the records of an export as rows, redacted and cut like those of hooks, a batch a transaction."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from itertools import groupby
from sqlite3 import Connection
from typing import BinaryIO

from capture.event import Batch, Observation, Prompt
from capture.seal import identity, seal
from capture.storage import store
from capture.storage.rows import write
from capture.storage.session import KNOWN
from nmem.errors import NmemError
from nmem.transfer.incoming import Folders, Report, add_to, find, merge_key, newest_prompt, prompts_after, string
from nmem.transfer.outgoing import FORMAT, Record

_ROWS = 400
"""Of one batch: so long the database is locked at most."""


def store_all(db: Connection, records: Iterable[Record], report: Report, folders: Folders) -> None:
    """Store records of whole sessions, each batch of them in a transaction. Raises sqlite3.Error."""
    for session, rows in _sessions(records):
        session_id = identity(string(session.get("id")))
        report.sessions += find(db, "sessions", "1", id=session_id) is None
        lacking = _lacking(db, session_id, rows, report)
        for batch, pairs in _batches(session, lacking, folders):
            sealed = seal(batch)
            before = newest_prompt(db)
            report.redacted += sum(batch.redactions.values())
            written = write(db, sealed)
            report.known += written.duplicates
            prompts = prompts_after(db, batch.session_id, before)
            report.prompts += prompts
            report.observations += written.stored + written.merged - prompts
            _add(db, batch.session_id, pairs)


def _lacking(db: Connection, session_id: str, rows: Iterator[Record], report: Report) -> Iterator[Record]:
    """The rows that are not here yet; of the others only what may be added to them."""
    some: Pairs = []
    for row in rows:
        table = "prompts" if row.get("type") == "prompt" else "observations"
        key = identity(string(row.get("key")))
        if find(db, table, "1", session_id=session_id, dedup_key=key) is None:
            yield row
            continue
        report.known += 1
        if row.get("pinned") or row.get("repeats"):
            some.append((Observation(0, "", "", dedup_key=key), {**row, "prompt": None}))
        if len(some) >= _ROWS:
            _add(db, session_id, some)
            some.clear()
    _add(db, session_id, some)


def _sessions(records: Iterable[Record]) -> Iterator[tuple[Record, Iterator[Record]]]:
    """Each session and the rows that follow it."""
    session: Record = {}

    def under(record: Record) -> str:
        if record.get("type") == "session":
            session.clear()
            session.update(record)
        return string(session.get("id"))

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
    cwd = folders.here(string(session.get("cwd")))
    batch = Batch(
        string(session.get("client")), string(session.get("id")), at, cwd, string(session.get("origin")) or "import"
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
        _number(row.get("at")) or 0, string(row.get("source")), string(row.get("kind")), string(row.get("content")),
        dedup_key=string(row.get("key")), native_id=string(row.get("native_id")), agent_id=string(row.get("agent_id")),
    )  # fmt: skip


def _observation(row: Record, folders: Folders) -> Observation:
    seen = Observation(_number(row.get("at")) or 0, string(row.get("obs_type")), string(row.get("content")),
                       dedup_key=string(row.get("key")))  # fmt: skip
    seen.outcome = string(row.get("outcome")) or "unknown"
    seen.tool_name, seen.tool_use_id = string(row.get("tool_name")), string(row.get("tool_use_id"))
    seen.agent_id, seen.turn_id = string(row.get("agent_id")), string(row.get("turn"))
    if row.get("file_path"):
        seen.file_path = folders.here(string(row.get("file_path")))
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
            prompt = identity(string(row.get("prompt")))
            last = _number(row.get("last_at"))
            add_to(db, session_id, seen.dedup_key, prompt, pinned=pinned, repeats=repeats, last_at=last)
            merged = row.get("merged")
            for key in merged if isinstance(merged, list) else ():
                merge_key(db, session_id, identity(string(key)), seen.dedup_key)


def _number(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None


_LONGEST = 32 * 1024 * 1024
"""Bytes of one line."""


def read_lines(lines: BinaryIO, name: str, report: Report) -> Iterator[Record]:
    """The records of an export; lines that are none are counted. Raises NmemError for what is no export at all."""
    head = _record(lines.readline(_LONGEST))
    if head is None or head.get("type") != "export":
        raise NmemError(f"{name} is not an export of nmem")
    form = head.get("format")
    if not isinstance(form, int) or form > FORMAT:
        raise NmemError(f"{name} was exported by a newer nmem (format {form}): upgrade nmem")
    while line := lines.readline(_LONGEST):
        record = _record(line)
        if record is None or record.get("type") not in ("session", "prompt", "observation"):
            report.unreadable += bool(line.strip())
            continue
        yield record


def _record(line: bytes) -> Record | None:
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None
