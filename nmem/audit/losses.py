"""Finds losses: calls of a transcript that are missing in the memory, and failed hooks.

Transcripts are read, nothing is stored: `nmem import` takes in what is missing.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from sqlite3 import Connection
from stat import S_ISREG

from capture.event import TOOL_ERROR, TOOL_RESULT
from capture.project import resolve
from capture.transcript import READABLE
from capture.transcript import reader as reader_of
from capture.transcript.batches import batch
from capture.transcript.reading import Source
from capture.transcript.records import records
from nmem.audit import NOTE, OK, WRONG, Finding, store
from nmem.store import trace

SESSIONS, DEEP_SESSIONS = 5, 200
"""Newest sessions whose transcripts are read."""
_LARGEST, _DEEP_LARGEST = 2_000_000, 100_000_000
"""Bytes of a transcript that is read."""
_SECONDS = 1.0
"""Reading stops after so long, unless asked to look deep."""
_QUIET = 600_000
"""Milliseconds after which a session's turn is over, so that everything of it should be there."""
_EARLIER = 5_000
_MANY = 0.05


@dataclass(frozen=True, slots=True)
class Loss:
    """One session: calls in its transcript, and those of them that are not stored."""

    session_id: str
    client: str
    path: str
    calls: int
    missing: tuple[str, ...]
    """Their ids in the transcript."""


def losses(db: Connection, now: int, deep: bool = False) -> tuple[Loss, ...]:
    """The newest recorded sessions beside their transcripts. Raises sqlite3.Error."""
    rows = store.recorded(db, now - _QUIET, DEEP_SESSIONS if deep else SESSIONS)
    out, until = [], time.monotonic() + _SECONDS
    for session_id, client, path, started, cwd in rows:
        if client not in READABLE or not 0 < _size(path) <= (_DEEP_LARGEST if deep else _LARGEST):
            continue
        if not deep and time.monotonic() > until:
            break
        swept, unkeyed = trace.keys(db, session_id)
        keys = dict(_keys(client, path, session_id, cwd, max(started - _EARLIER, unkeyed)))
        stored = store.keys(db, session_id) | swept
        missing = tuple(name for key, name in keys.items() if key not in stored and name not in stored)
        out.append(Loss(session_id, client, path, len(keys), missing))
    return tuple(out)


def _size(path: str) -> int:
    try:
        found = Path(path).stat()
        return found.st_size if S_ISREG(found.st_mode) else 0
    except OSError:
        return 0


def _keys(client: str, path: str, session_id: str, cwd: str, since: int) -> Iterator[tuple[str, str]]:
    """The keys of a transcript's calls, as its rows would have them, with the client's own ids."""
    reader = reader_of(Source(client, path, session_id, cwd))
    project = resolve(cwd)
    for begin, _, record in records(path, 0):
        for event in reader.feed(record, begin) if record is not None else ():
            if event.kind not in (TOOL_RESULT, TOOL_ERROR) or event.at < since or not event.tool_use_id:
                continue
            made = batch(event, project, "hook")
            if made is not None and made.observations:
                yield made.observations[0].dedup_key, event.tool_use_id


def findings(db: Connection, now: int, deep: bool = False) -> list[Finding]:
    """Sessions with calls that are not stored, what transcripts had to make up for, and hooks that failed."""
    found = losses(db, now, deep)
    out = [_session(one) for one in found if one.missing]
    out += _recovered(db)
    calls = sum(one.calls for one in found)
    if calls and not any(one.missing for one in found):
        said = f"all {calls:,} calls in the transcripts of {len(found)} newest sessions are stored"
        out.append(Finding("captured", OK, said))
    return out


def _session(one: Loss) -> Finding:
    part = len(one.missing) / one.calls
    said = f"{len(one.missing)} of {one.calls} calls of session {one.session_id} are not stored ({part:.0%})"
    severity = WRONG if part > _MANY and len(one.missing) > 1 else NOTE
    mend = f"nmem import {one.path} --client {one.client}"
    return Finding("captured", severity, said, mend, one.client, examples=(f"session/{one.session_id}",))


def _recovered(db: Connection) -> list[Finding]:
    """Calls that hooks missed and transcripts gave back: stored, but a hook does not run as it should."""
    number = store.counter(db, "recovered")
    if number is None:
        return []
    whole = store.newest(db, "observations")
    said = f"{number:,} calls that no hook reported were read from transcripts (of {whole:,} stored)"
    if number > _MANY * max(whole, 20):
        return [Finding("captured", NOTE, said, "nmem doctor shows which hook does not run: see round trip")]
    return [Finding("captured", OK, said)]
