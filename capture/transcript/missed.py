"""At the end of a turn: what the transcript has and no hook told of, stored with the place read up to in one go.

A hook's places are its own: an import reads everything, a hook only what was written since nmem saw the session.
"""

from __future__ import annotations

import os

from capture.transcript import READABLE
from capture.transcript.cursor import LIVE, Cursor, fingerprint, load, save
from capture.transcript.reading import Reader, Source

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from sqlite3 import Connection

    from capture.event import Event
    from capture.seal import Sealed

_EARLIER = 5_000
"""Milliseconds before a session's first event that still belong to it: the client's clock and ours differ a little."""
_ORDERED = 500
"""How many of the newest calls are put in order: SQLite takes only so many at once."""
_SESSION_EVENTS = frozenset(("session_start", "post_compact"))


def catch_up(db: Connection, client: str, path: str, session_id: str, max_bytes: int) -> None:
    """Read on in the session's file, and in those of its subagents."""
    row = db.execute("SELECT started_at FROM sessions WHERE id = ?", (session_id,)).fetchone()
    floor = row[0] - _EARLIER if row else 0
    if client not in READABLE:
        return
    _file(db, Source(client, path, session_id), floor, max_bytes)
    if client == "claude" and path.endswith(".jsonl"):
        for inner in _subagents(path[: -len(".jsonl")]):
            _file(db, Source(client, inner, session_id), floor, max_bytes)


def _subagents(folder: str) -> list[str]:
    """The files of a session's subagents."""
    inner = os.path.join(folder, "subagents")
    try:
        names = os.listdir(inner)
    except OSError:
        return []
    return sorted(os.path.join(inner, name) for name in names if name.endswith(".jsonl"))


def _file(db: Connection, source: Source, floor: int, max_bytes: int) -> None:
    row = db.execute("SELECT offset FROM transcript_cursors WHERE path = ?", (LIVE + source.path,)).fetchone()
    try:
        size = os.stat(source.path).st_size
    except OSError:
        return
    if row and row[0] == size:
        return
    cursor = load(db, source.path, source.session_id, live=True)
    _read(db, source, cursor, floor, max_bytes)


def _read(db: Connection, source: Source, cursor: Cursor, floor: int, max_bytes: int) -> None:
    """Turn new records into rows; a subagent's and a turn's last text count, for the turn is over."""
    from capture.event import TOOL_ERROR, TOOL_RESULT
    from capture.jsonio import dumps, loads
    from capture.transcript import reader as reader_of
    from capture.transcript.records import records

    reader = reader_of(source)
    if cursor.state:
        state = loads(cursor.state)
        reader.restore(state if isinstance(state, dict) else {})
    events: list[Event] = []
    start, end = cursor.offset, cursor.offset
    for begin, after, record in records(source.path, start):
        if record is not None:
            events += reader.feed(record, begin)
        end = after
        if reader.resume_at(end) - start > max_bytes:
            break
    else:
        events += reader.turn_end()
    if end == start:
        return
    calls: list[Event] = []
    others: list[Event] = []
    for event in events:
        if event.at >= floor and event.kind not in _SESSION_EVENTS:
            (calls if event.kind in (TOOL_RESULT, TOOL_ERROR) else others).append(event)
    cursor.offset, cursor.head = reader.resume_at(end), fingerprint(source.path)
    cursor.session_id, cursor.state = source.session_id, dumps(reader.state())
    _store(db, reader, cursor, calls, others)


def _store(db: Connection, reader: Reader, cursor: Cursor, calls: list[Event], others: list[Event]) -> None:
    """Both kinds in one transaction each: what is stored of the calls was lost by a hook, and is counted."""
    from time import time_ns

    from capture.storage.store import count, write_many
    from capture.transcript import mend

    now = time_ns() // 1_000_000
    recovered = write_many(db, _sealed(db, reader, calls)).stored if calls else 0

    def rest() -> Iterator[Sealed]:
        yield from _sealed(db, reader, others)
        if len(reader.called) > 1:
            mend.order(db, reader.source.session_id, reader.called[-_ORDERED:])
        yield _status(reader, now)
        save(db, cursor, now)
        if recovered:
            count(db, "recovered", recovered)

    write_many(db, rest())


def _status(reader: Reader, now: int) -> Sealed:
    from capture.seal import seal
    from capture.transcript.batches import status

    return seal(status(reader, now, "hook"))


def _sealed(db: Connection, reader: Reader, events: list[Event]) -> Iterator[Sealed]:
    """Rows of events; called inside the transaction that stores them."""
    from capture.project import resolve
    from capture.seal import seal
    from capture.transcript import mend
    from capture.transcript.batches import batch

    if not events:
        return
    project = resolve(reader.source.cwd or events[0].cwd)
    for event in events:
        made = batch(event, project, "hook")
        if made is None:
            continue
        sealed = seal(made)
        yield sealed
        mend.outcomes(db, sealed.batch)
