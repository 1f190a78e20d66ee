"""Stores at the end of a turn what a transcript has and hooks missed, and corrects order and outcomes.

A hook reads only what was written since nmem saw the session, from where it or an import stopped, a slice at a time.
What it has no time for is left to settling (`catch_up_rest`), which reads on from the same place.
"""

from __future__ import annotations

import os
from time import monotonic, time_ns

from capture.event import TOOL_ERROR, TOOL_RESULT
from capture.jsonio import dumps, loads
from capture.transcript import READABLE
from capture.transcript import cursor as places
from capture.transcript.cursor import Cursor, fingerprint
from capture.transcript.reading import Reader, Source

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from sqlite3 import Connection

    from capture.event import Event
    from capture.seal import Sealed

_SLICE = 64 << 10
"""Bytes that are stored together: redacting and storing so many takes some milliseconds."""
_RECENT = 50
"""Files that settling looks at, those that a hook read last."""
_EARLIER = 5_000
"""Milliseconds before a session's first event that still belong to it: the client's clock and ours differ a little."""
_ORDERED = 500
"""How many of the newest calls are put in order: SQLite takes only so many at once."""
_LARGEST = 16_000_000
"""A document is read as a whole: one of more bytes is left to an import."""
_SESSION_EVENTS = frozenset(("session_start", "post_compact"))
SECONDS = 0.05
"""How long a hook reads on at most; a single record may take longer."""


def catch_up(db: Connection, client: str, path: str, session_id: str, seconds: float = SECONDS) -> bool:
    """Store what a transcript has since the last time and no hook told of: thinking, late prompts, usage, lost calls.

    Whether something is left after `seconds`: it is for `catch_up_rest`. With nothing new it costs one query and one
    stat. Raises sqlite3.Error or OSError.
    """
    until = monotonic() + seconds
    floor = max(0, places.started(db, session_id) - _EARLIER)
    if client not in READABLE:
        return False
    files = [path]
    if client == "claude" and path.endswith(".jsonl"):
        files += _subagents(path[: -len(".jsonl")])
    return any(_file(db, Source(client, each, session_id), floor, until) for each in files)


def catch_up_rest(db: Connection) -> None:
    """What hooks had no time for or pass over, in the background. Raises sqlite3.Error or OSError."""
    from capture.transcript import titles  # on use: start-up stays short

    inner = os.sep + "subagents" + os.sep
    files = [each for each in places.read_lately(db, _RECENT) if inner not in each[1]]
    for client, path, session_id in files:
        catch_up(db, client, path, session_id, float("inf"))
    titles.keep(db, [(path, session_id) for client, path, session_id in files if client == "claude"])


def _subagents(folder: str) -> list[str]:
    """The files of a session's subagents."""
    inner = os.path.join(folder, "subagents")
    try:
        names = os.listdir(inner)
    except OSError:
        return []
    return sorted(os.path.join(inner, name) for name in names if name.endswith(".jsonl"))


def _file(db: Connection, source: Source, floor: int, until: float) -> bool:
    row = places.read_to(db, source.path)
    try:
        found = os.stat(source.path)
    except OSError:
        return False
    size = found.st_size
    if found.st_mode & 0o170000 != 0o100000:
        return False  # what is no regular file may never end
    if row and row[0] == size:
        return False
    cursor = places.load(db, source.path, source.session_id, live=True)
    return _read(db, source, cursor, floor, until)


def _read(db: Connection, source: Source, cursor: Cursor, floor: int, until: float) -> bool:
    """Turn new records into rows; a subagent's and a turn's last text count, for the turn is over.

    Whether something is left. At least one slice is read, so that whoever comes next gets further.
    """
    from capture.transcript import reader as reader_of  # on use: start-up stays short
    from capture.transcript.records import records

    reader = reader_of(source)
    if cursor.state:
        state = loads(cursor.state)
        reader.restore(state if isinstance(state, dict) else {})
    events: list[Event] = []
    start = stored = end = cursor.offset
    for begin, after, record in records(source.path, end, largest=_LARGEST):
        if record is not None:
            events += reader.feed(record, begin)
        end = after
        if end - stored > _SLICE:
            _keep(db, reader, cursor, events, end, floor)
            stored, events = end, []
            if monotonic() > until:
                return True
    if end == start:
        return False
    events += reader.turn_end()
    if events or end != stored:
        _keep(db, reader, cursor, events, end, floor)
    return False


def _keep(db: Connection, reader: Reader, cursor: Cursor, events: list[Event], end: int, floor: int) -> None:
    """Store events with the place up to which their records were read."""
    calls: list[Event] = []
    others: list[Event] = []
    for event in events:
        if event.at >= floor and event.kind not in _SESSION_EVENTS:
            (calls if event.kind in (TOOL_RESULT, TOOL_ERROR) else others).append(event)
    cursor.offset, cursor.head = reader.resume_at(end), fingerprint(reader.source.path)
    cursor.session_id, cursor.state = reader.source.session_id, dumps(reader.state())
    _store(db, reader, cursor, calls, others)


def _store(db: Connection, reader: Reader, cursor: Cursor, calls: list[Event], others: list[Event]) -> None:
    """Both kinds in one transaction each: what is stored of the calls was lost by a hook, and is counted."""
    from capture.storage import rows, store  # on use: start-up stays short

    now = time_ns() // 1_000_000
    recovered = rows.write_many(db, _sealed(db, reader, calls)).stored if calls else 0

    def rest() -> Iterator[Sealed]:
        yield from _sealed(db, reader, others)
        if len(reader.called) > 1:
            places.mend_order(db, reader.source.session_id, reader.called[-_ORDERED:])
        yield _status(reader, now)
        places.save(db, cursor, now)
        if recovered:
            store.count(db, "recovered", recovered)

    rows.write_many(db, rest())


def _status(reader: Reader, now: int) -> Sealed:
    from capture.seal import seal  # on use: start-up stays short
    from capture.transcript.batches import status

    return seal(status(reader, now, "hook"))


def _sealed(db: Connection, reader: Reader, events: list[Event]) -> Iterator[Sealed]:
    """Rows of events; called inside the transaction that stores them."""
    from capture.project import resolve  # on use: start-up stays short
    from capture.seal import seal
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
        places.mend_outcomes(db, sealed.batch)
