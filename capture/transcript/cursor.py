"""Keeps how far each transcript was read, reads its new lines, and asks and mends stored rows by it: the room's SQL.

A file is known by its path and by a hash of its first bytes: one that was truncated or replaced is read anew, one that
moved with its session keeps its place. A last line without a newline is still being written and waits.
"""

from __future__ import annotations

import os

from capture.event import UNKNOWN
from capture.files import regular

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from sqlite3 import Connection

    from capture.event import Batch

HEAD = 512
"""Bytes at the beginning of a file that tell it from another."""
MAX_LINE = 16 << 20
"""A longer line is passed over: nothing in it is worth its memory."""
MOST = 1 << 30
"""A line that is longer still is no transcript's: reading goes on at the file's end, and costs seconds at most."""
LIVE = "live:"
"""Before the path in the names of the places that hooks keep: an import has its own, and reads what hooks pass over."""
_CHUNK = 1 << 18


class Cursor:
    """A place in a file: `offset` bytes of whole lines were read."""

    __slots__ = ("head", "offset", "path", "session_id", "state")

    def __init__(self, path: str, session_id: str, offset: int = 0, head: str = "", state: str = "") -> None:
        self.path = path
        self.session_id = session_id
        self.offset = offset
        self.head = head
        """`<bytes>.<hash>` of the file's beginning; empty while nothing was read."""
        self.state = state
        """JSON of what a reader must know of the lines before `offset`."""


def fingerprint(path: str, size: int = HEAD) -> str:
    """`<bytes>.<hash>` of the first bytes of a file; empty when it is empty or cannot be read."""
    from _blake2 import blake2b  # on use: start-up stays short

    try:
        handle = regular(path)
    except OSError:
        return ""
    try:
        start = os.read(handle, size)
    except OSError:
        return ""
    finally:
        os.close(handle)
    return f"{len(start)}.{blake2b(start, digest_size=8).hexdigest()}" if start else ""


def _same(path: str, head: str) -> bool:
    size = head.partition(".")[0]
    return not head or (size.isdigit() and fingerprint(path, int(size)) == head)


def load(db: Connection, path: str, session_id: str, *, live: bool = False) -> Cursor:
    """Where to go on in a file: at its beginning when it is new, was truncated or holds something else now.

    A hook's place (`live`) and an import's are two. An import has stored all that is before its own, so a hook goes on
    from whichever is further.
    """
    key = LIVE + path if live else path
    row = read_to(db, path) if live else _place(db, key)
    if row is None and session_id:
        row = _moved(db, LIVE if live else "", session_id, path)
    return _resumed(key, path, session_id, row)


def named(db: Connection, key: str, path: str, session_id: str) -> Cursor:
    """The place that goes by a name of its own: what is read of a file beside its events."""
    return _resumed(key, path, session_id, _place(db, key))


def whole(db: Connection, key: str, session_id: str, version: int) -> Cursor:
    """The place in what is read as a whole: behind this version once it was read, else at the beginning."""
    row = _place(db, key)
    return Cursor(key, session_id, version if row and row[0] == version else 0)


def _resumed(key: str, path: str, session_id: str, row: tuple[int, str, str | None] | None) -> Cursor:
    try:
        size = os.stat(path).st_size
    except OSError:
        size = 0
    if row is None or row[0] > size or not _same(path, row[1]):
        return Cursor(key, session_id)
    return Cursor(key, session_id, row[0], row[1], row[2] or "")


def read_to(db: Connection, path: str) -> tuple[int, str, str | None] | None:
    """The further of the places of hooks and of an import, whichever of its names the import knew the file by."""
    names = {LIVE + path, path, os.path.realpath(path)}
    return max((row for name in names if (row := _place(db, name))), key=lambda row: row[0], default=None)


def _place(db: Connection, key: str) -> tuple[int, str, str | None] | None:
    found: tuple[int, str, str | None] | None = db.execute(
        "SELECT offset, head, state FROM transcript_cursors WHERE path = ?", (key,)
    ).fetchone()
    return found


def _moved(db: Connection, prefix: str, session_id: str, path: str) -> tuple[int, str, str | None] | None:
    """The place of a file of the same name and session in another folder, where it is no more."""
    name = os.path.basename(path)
    rows = db.execute("SELECT path, offset, head, state FROM transcript_cursors WHERE session_id = ?", (session_id,))
    for key, offset, head, state in rows.fetchall():
        old = key.removeprefix(LIVE)
        named = not os.path.isabs(old)  # a place of its own for what is read beside the events
        if named or key != prefix + old or os.path.basename(old) != name or os.path.exists(old):
            continue
        if head and _same(path, head):
            return offset, head, state
    return None


def save(db: Connection, cursor: Cursor, now: int) -> None:
    """Keep a place; the caller's transaction also holds the rows that were read up to it."""
    db.execute(
        "INSERT INTO transcript_cursors (path, session_id, offset, head, state, updated_at) VALUES (?, ?, ?, ?, ?, ?)"
        " ON CONFLICT (path) DO UPDATE SET session_id = excluded.session_id, offset = excluded.offset,"
        " head = excluded.head, state = excluded.state, updated_at = excluded.updated_at",
        (cursor.path, cursor.session_id, cursor.offset, cursor.head, cursor.state or None, now),
    )


def read_lately(db: Connection, most: int) -> list[tuple[str, str, str]]:
    """Client, path and session of the files that hooks read last."""
    return db.execute(
        "SELECT s.client, substr(c.path, ?), s.id FROM transcript_cursors c JOIN sessions s ON s.id = c.session_id"
        " WHERE c.path LIKE ? ORDER BY c.updated_at DESC LIMIT ?",
        (len(LIVE) + 1, LIVE + "%", most),
    ).fetchall()


def started(db: Connection, session_id: str) -> int:
    """When a session's first event was; 0 where it is not known."""
    row = db.execute("SELECT started_at FROM sessions WHERE id = ?", (session_id,)).fetchone()
    return row[0] if row else 0


def whose(db: Connection, session_id: str) -> tuple[str, str, int, int | None] | None:
    """A session's client, folder, the end of its work and its first prompt's time; None where it is not known."""
    row: tuple[str, str, int, int | None] | None = db.execute(
        "SELECT client, cwd, min(last_at, coalesce(ended_at, last_at)), (SELECT min(at) FROM prompts"
        " WHERE session_id = sessions.id AND source = 'user') FROM sessions WHERE id = ?",
        (session_id,),
    ).fetchone()
    return row


def mend_order(db: Connection, session_id: str, called: list[str]) -> None:
    """Give the calls of a transcript the order in which they were made: hooks of parallel calls arrive as they like.

    A call's key is its id, and keys are indexed within a session.
    """
    marks = ", ".join("?" * len(called))
    rows = db.execute(
        f"SELECT tool_use_id, id, seq, at FROM observations WHERE session_id = ? AND dedup_key IN ({marks})"  # noqa: S608 - marks only
        " ORDER BY seq",
        (session_id, *called),
    ).fetchall()
    place = {tool_use_id: number for number, tool_use_id in enumerate(called)}
    places = [(seq, at) for _, _, seq, at in rows]
    times = sorted(at for _, at in places)
    for number, row in enumerate(sorted(rows, key=lambda row: place[row[0]])):
        seq, at = places[number][0], times[number]
        if (seq, at) != row[2:]:
            db.execute("UPDATE observations SET seq = ?, at = ? WHERE id = ?", (seq, at, row[1]))


def mend_outcomes(db: Connection, batch: Batch) -> None:
    """A call that a hook stored without knowing how it ended takes the transcript's word for it."""
    for o in batch.observations:
        if o.outcome != UNKNOWN:
            db.execute(
                "UPDATE observations SET outcome = ?, exit_code = coalesce(exit_code, ?),"
                " duration_ms = coalesce(duration_ms, ?) WHERE session_id = ?"
                " AND dedup_key = ? AND outcome = 'unknown'",
                (o.outcome, o.exit_code, o.duration_ms, batch.session_id, o.dedup_key),
            )


def lines(path: str, offset: int = 0, *, tail: bool = False, max_line: int = MAX_LINE) -> Iterator[tuple[int, bytes]]:
    """Whole lines from a byte offset on, each with the offset after it; a line that is too long comes as empty.

    With `tail`, a last line without a newline counts too: for files that nobody writes any more.
    What is appended meanwhile is for the next time, however fast it comes.
    Raises OSError when the file cannot be opened or read.
    """
    with open(path, "rb", buffering=_CHUNK, opener=regular) as file:
        end = os.fstat(file.fileno()).st_size
        file.seek(offset)
        while offset < end and (line := file.readline(max_line + 1)):
            offset += len(line)
            if len(line) <= max_line or line.endswith(b"\n"):
                if not line.endswith(b"\n") and not tail:
                    return
                yield offset, line
                continue
            told = begun = offset
            while line and not line.endswith(b"\n"):
                line = file.readline(_CHUNK)
                offset += len(line)
                if offset - begun > MOST:
                    yield os.fstat(file.fileno()).st_size, b""
                    return
                if offset - told > MAX_LINE:
                    told = offset
                    yield offset, b""  # a reader with a bound can stop within the line
            if line or tail:
                yield offset, b""
