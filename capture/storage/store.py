"""Opens the database for writing, and stores sealed batches as rows, each call in one transaction.

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
    from collections.abc import Iterable
    from sqlite3 import Connection

    from capture.seal import Sealed
    from capture.storage.rows import Written

VERSION = 4
"""How many migrations capture.storage.schema has; a test holds the two together."""
HOOK_RUNS = 5000
_SWEEP_EVERY = 256


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


def write(db: Connection, sealed: Sealed, run: Run | None = None) -> Written:
    """Store one batch in one transaction. Raises sqlite3.Error; then nothing of it is stored."""
    return write_many(db, (sealed,), run)


def write_many(db: Connection, many: Iterable[Sealed], run: Run | None = None) -> Written:
    """Store batches in one transaction: all of them or none. Raises sqlite3.Error."""
    from capture.storage.rows import Writer  # on use: start-up stays short

    with transaction(db):
        writer = Writer(db, live=run is not None)
        for sealed in many:
            writer.add(sealed.batch)
        writer.finish()
        written = writer.written
        if run is not None:
            _record(db, run, "duplicate" if written.duplicates and not written.stored + written.merged else "stored")
    return written


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
        _record(db, run, "dropped")


def _record(db: Connection, run: Run, result: str) -> None:
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


def uncount(db: Connection, name: str) -> None:
    """Begin a counter anew."""
    db.execute("DELETE FROM counters WHERE name = ?", (name,))
