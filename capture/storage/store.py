"""Opens the database for writing; transactions, runs of hooks, counters, and short questions about sessions.

A deferred transaction that reads first loses to concurrent writers, so everything begins IMMEDIATE.
"""

from __future__ import annotations

import os
import time

from capture import paths
from capture.files import opened, ours, seen
from capture.storage import sqlite

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sqlite3 import Connection

VERSION = 4
"""How many migrations capture.storage.schema has; a test holds the two together."""
HOOK_RUNS = 5000
_SWEEP_EVERY = 256
WAITING = """
FROM sessions s JOIN projects p ON p.id = s.project_id
JOIN prompts q ON q.id = (SELECT id FROM prompts WHERE session_id = s.id AND source IN ('user', 'machine')
  AND agent_id IS NULL ORDER BY at DESC, id DESC LIMIT 1)
WHERE s.last_at > ? AND s.state IN ('idle', 'waiting', 'failed') AND s.origin = 'hook' AND coalesce(q.content, '') != ?
"""
"""Sessions that wait for the person since a time (ms): not one that nobody asked anything yet, nor one that the person
broke off (the second value: `capture.event.STOPPED`)."""


class Run:
    """One run of a hook, kept for the health screen."""

    __slots__ = ("at", "bytes", "client", "event", "session_id", "shape", "started")

    def __init__(self, client: str, event: str, at: int, size: int, started: int) -> None:
        self.client = client
        self.event = event
        self.at = at
        self.bytes = size
        self.started = started
        """time.perf_counter_ns() at the entry file's first line."""
        self.session_id: str | None = None
        self.shape: tuple[str, str, str] | None = None
        """The client that sent the payload, the tool it tells of, and its fields with their types."""


def connect(path: str, timeout: float = 0.25, autocheckpoint: int = 0) -> Connection:
    """Open the database for writing, creating or migrating it as needed.

    `timeout` is in seconds; `autocheckpoint` in pages, 0 for hooks, which leave it to settle.
    Raises sqlite3.Error (schema.ForeignDatabase for another program's, which stays as it is), OSError (files.NotOurs
    for another user's, or a link) or schema.NewerDatabase.
    """
    if seen(path) is None:
        _create(path)
    seen(path + "-wal")
    seen(path + "-shm")
    db = sqlite.connect(path, timeout=timeout, isolation_level=None, cached_statements=256)
    try:
        if db.execute("PRAGMA user_version").fetchone()[0] != VERSION:
            _migrate(db, timeout)
        for ending in ("", "-wal", "-shm"):
            ours(path + ending)  # not before: another program's stays as it is
        db.execute("PRAGMA synchronous=NORMAL")
        db.execute("PRAGMA foreign_keys=ON")
        db.execute(f"PRAGMA wal_autocheckpoint={autocheckpoint:d}")
    except BaseException:
        db.close()
        raise
    return db


def _create(path: str) -> None:
    """An empty file for the owner's eyes only, in a folder for the owner only."""
    folder = os.path.dirname(os.path.abspath(path))
    paths.make(folder)
    left = os.path.exists(path + "-wal") or os.path.exists(path + "-shm")
    if left and os.name != "nt":  # there, files that are open are not deleted
        sqlite.replaced(path)
    else:
        os.close(opened(path, os.O_CREAT | os.O_RDWR))


def _migrate(db: Connection, timeout: float) -> None:
    """Write-ahead logging, then every migration; the switch may find the file locked without waiting, so it retries."""
    from capture.storage.schema import check_own, migrate  # on use: start-up stays short

    check_own(db)
    until = time.monotonic() + timeout
    while True:
        try:
            db.execute("PRAGMA journal_mode=WAL").fetchone()
            break
        except sqlite.Error as error:
            if "locked" not in str(error) or time.monotonic() > until:
                raise
            time.sleep(0.01)
    migrate(db)


class transaction:  # noqa: N801 - reads as a statement
    """All or nothing, with the write lock from the start. Usable as `with transaction(db):`."""

    __slots__ = ("db",)

    def __init__(self, db: Connection) -> None:
        self.db = db

    def __enter__(self) -> None:
        self.db.execute("BEGIN IMMEDIATE")

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        if kind is None:
            try:
                self.db.execute("COMMIT")
                return
            except BaseException:
                self._back()
                raise
        self._back()

    def _back(self) -> None:
        if self.db.in_transaction:  # a full disk has rolled it back already
            self.db.execute("ROLLBACK")


def dropped(db: Connection, run: Run) -> None:
    """Record a run that had nothing to store."""
    with transaction(db):
        record(db, run, "dropped")


def record(db: Connection, run: Run, result: str) -> None:
    """Enter a run, and sweep the oldest now and then; inside the caller's transaction."""
    row = db.execute(
        "INSERT INTO hook_runs (at, client, event, session_id, wall_us, cpu_us, bytes, result)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        (run.at, run.client, run.event, run.session_id, (time.perf_counter_ns() - run.started) // 1000,
         time.process_time_ns() // 1000, run.bytes, result),
    ).lastrowid  # fmt: skip
    if row and row % _SWEEP_EVERY == 0:
        db.execute("DELETE FROM hook_runs WHERE id <= ?", (row - HOOK_RUNS,))
    if run.shape is not None:
        _shape(db, run, run.shape)


def _shape(db: Connection, run: Run, shape: tuple[str, str, str]) -> None:
    """Count the payload's shape: fields that come, go or change their type show in it."""
    client, tool, fields = shape
    key = (client, run.event, tool, fields)
    known = db.execute(
        "SELECT id FROM payload_shapes WHERE client = ? AND event = ? AND tool = ? AND fields = ?", key
    ).fetchone()
    number = known[0] if known else db.execute(
        "INSERT INTO payload_shapes (client, event, tool, fields) VALUES (?, ?, ?, ?)", key
    ).lastrowid  # fmt: skip
    db.execute(
        "INSERT INTO session_shapes VALUES (?, ?, ?, ?, 1) ON CONFLICT (session_id, shape_id)"
        " DO UPDATE SET last_at = max(last_at, excluded.last_at), payloads = payloads + 1",
        (run.session_id or "", number, run.at, run.at),
    )


def count(db: Connection, name: str, more: int = 1) -> None:
    """Add to a counter (drained, lost, errors); inside the caller's transaction if there is one."""
    db.execute(
        "INSERT INTO counters VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = value + excluded.value",
        (name, more),
    )


def file(db: Connection) -> str:
    """The path of a connection's database; SQLite gives its bytes, which need not be UTF-8."""
    factory = db.text_factory
    db.text_factory = bytes
    try:
        return os.fsdecode(db.execute("PRAGMA database_list").fetchone()[2])
    finally:
        db.text_factory = factory


def known(db: Connection, session_id: str) -> bool:
    """Whether a session is stored."""
    return db.execute("SELECT 1 FROM sessions WHERE id = ?", (session_id,)).fetchone() is not None


def called(db: Connection, session_id: str) -> tuple[str, ...]:
    """What the project of a session is called in settings: by name, root and key; none where there is no session."""
    row = db.execute(
        "SELECT p.name, p.root, p.key FROM sessions s JOIN projects p ON p.id = s.project_id WHERE s.id = ?",
        (session_id,),
    ).fetchone()
    return tuple(row or ())


def called_by(db: Connection, project_id: int) -> tuple[str, ...]:
    """The same of a project; none where there is no such."""
    return tuple(db.execute("SELECT name, root, key FROM projects WHERE id = ?", (project_id,)).fetchone() or ())


def note(db: Connection, session_id: str, at: int, tokens: int) -> None:
    """Keep a reading: one a turn, the newest of it; one more when the window shrank within the turn."""
    last = db.execute(
        "SELECT at, tokens FROM context_readings WHERE session_id = ? ORDER BY at DESC LIMIT 1", (session_id,)
    ).fetchone()
    if last is not None and at <= last[0]:
        return
    if last is not None and tokens >= last[1] and not _asked_since(db, session_id, last[0], at):
        db.execute(
            "UPDATE context_readings SET at = ?, tokens = ? WHERE session_id = ? AND at = ?",
            (at, tokens, session_id, last[0]),
        )
        return
    db.execute("INSERT INTO context_readings VALUES (?, ?, ?)", (session_id, at, tokens))


def _asked_since(db: Connection, session_id: str, since: int, until: int) -> bool:
    """Whether a person said something between two times: then another turn began."""
    return (
        db.execute(
            "SELECT 1 FROM prompts WHERE session_id = ? AND source = 'user' AND at > ? AND at <= ? LIMIT 1",
            (session_id, since, until),
        ).fetchone()
        is not None
    )


def status_line(db: Connection, session_id: str) -> tuple[int, object, object, object, object] | None:
    """When a session's status line was kept, and its model, size of the window, tokens and cost."""
    row: tuple[int, object, object, object, object] | None = db.execute(
        "SELECT at, model, window_size, tokens, cost_usd FROM status_lines WHERE session_id = ?", (session_id,)
    ).fetchone()
    return row


def keep_status_line(db: Connection, session_id: str, at: int, values: tuple[object, object, object, object]) -> None:
    """Keep the same."""
    db.execute(
        "INSERT INTO status_lines VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (session_id) DO UPDATE SET"
        " at = excluded.at, model = excluded.model, window_size = excluded.window_size,"
        " tokens = excluded.tokens, cost_usd = excluded.cost_usd",
        (session_id, at, *values),
    )


def waiting(db: Connection, since: int) -> list[tuple[str, str, str, str, int, int, int]]:
    """Id, project, client, state, calls, time and last prompt of the sessions that wait for the person since a time."""
    from capture.event import STOPPED  # on use: start-up stays short

    columns = "s.id, p.name, s.client, s.state, s.seq, s.last_at, q.id"
    return db.execute(f"SELECT {columns} {WAITING} ORDER BY s.last_at DESC, s.id", (since, STOPPED)).fetchall()


def others_waiting(db: Connection, since: int, session_id: str) -> int:
    """How many sessions but one wait for the person since a time."""
    from capture.event import STOPPED  # on use: start-up stays short

    return int(db.execute(f"SELECT count(*) {WAITING} AND s.id != ?", (since, STOPPED, session_id)).fetchone()[0])


def told(db: Connection, session_id: str, words: str) -> list[tuple[str, int, str]]:
    """The reports of a call or closing without an id: their keys, and the rows they are with those rows' keys."""
    return db.execute(
        "SELECT dedup_key, id, dedup_key FROM observations WHERE session_id = ?1 AND dedup_key >= ?2 AND dedup_key < ?3"
        " UNION ALL SELECT m.dedup_key, o.id, o.dedup_key FROM merged_keys m JOIN observations o"
        " ON o.id = observation_id WHERE m.session_id = ?1 AND m.dedup_key >= ?2 AND m.dedup_key < ?3",
        (session_id, words + ".", words + "/"),
    ).fetchall()


def same_as(db: Connection, session_id: str, key: str, row: int) -> None:
    """Remember a report that is no row of its own as that of another's row."""
    db.execute("INSERT INTO merged_keys VALUES (?, ?, ?)", (session_id, key, row))


def spoken_between(db: Connection, session_id: str, at: int, other: int) -> bool:
    """Whether anybody spoke to the agent between two moments."""
    return bool(
        db.execute(
            "SELECT 1 FROM prompts WHERE session_id = ? AND source IN ('user', 'machine') AND at > ? AND at < ?",
            (session_id, min(at, other), max(at, other)),
        ).fetchone()
    )


def last_closings(db: Connection, session_id: str) -> list[tuple[int, int, str]]:
    """Id, time and words of the last closings of a session that name no turn."""
    return db.execute(
        "SELECT id, at, content FROM prompts WHERE session_id = ? AND source = 'agent' AND kind = 'closing'"
        " AND agent_id IS NULL AND native_id IS NULL ORDER BY at DESC LIMIT 3",  # by the index, however long it is
        (session_id,),
    ).fetchall()


def reword(db: Connection, row: int, content: str, key: str) -> None:
    """Give a prompt other words, unless they are stored already."""
    db.execute("UPDATE OR IGNORE prompts SET content = ?, dedup_key = ? WHERE id = ?", (content, key, row))


def uncount(db: Connection, name: str) -> None:
    """Begin a counter anew."""
    db.execute("DELETE FROM counters WHERE name = ?", (name,))
