"""One event in, rows out. Whatever happens, a hook says nothing and ends well; the log says the rest."""

from __future__ import annotations

import os

from capture import paths

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sqlite3 import Connection

    from capture.event import Batch, Event
    from capture.seal import Sealed
    from capture.store import Run

SKIP = "NMEM_SKIP_HOOKS"
"""Set for the clients that nmem itself starts: their hooks must not record our own questions."""
TURNS_END = frozenset(("turn_end", "subagent_end", "pre_compact", "session_end"))
"""After these the transcript is read on; its new lines are at hand then, and nobody waits for a tool."""
DRAIN_FILES = 20
DRAIN_SECONDS = 0.05
WAL_LIMIT = 16 * 1024 * 1024
"""Bytes of write-ahead log from which every open pays; settle folds it back."""


def main(argv: list[str], started: int) -> None:
    """Run one hook and leave the process: `CLIENT EVENT [--db PATH]`, or `settle`. Never returns, never fails."""
    path = ""
    try:
        if not os.environ.get(SKIP):
            words, path = arguments(argv)
            if words[:1] == ["settle"]:
                from capture.settle import settle

                settle(path)
            else:
                _hook(words, path, started)
    except BaseException as error:  # noqa: BLE001 - the hook's boundary: a client's session goes on whatever we did wrong
        _fault(path, error)
    os._exit(0)


def arguments(argv: list[str]) -> tuple[list[str], str]:
    """The words of the command, and the database it writes to."""
    words = list(argv)
    path = ""
    if "--db" in words:
        at = words.index("--db")
        path = "".join(words[at + 1 : at + 2])
        del words[at : at + 2]
    return words, path or paths.database()


def _fault(path: str, error: BaseException) -> None:
    """Note what went wrong; an unwritable log leaves nothing else to try."""
    try:
        from capture import log, spool

        path = path or paths.database()
        log.note(path, log.reason(error))
        spool.tally(path, "errors")
    except BaseException:  # noqa: BLE001 - still the boundary
        os._exit(0)


def _hook(words: list[str], path: str, started: int) -> None:
    """Read the event, make it rows and store them."""
    from capture.clients import CLIENTS
    from capture.stdin import read

    client, native = (words + ["", ""])[:2]
    given = read()
    if given.fault:
        _note(path, client, native, given.fault)
    if given.payload is None:
        return
    if client not in CLIENTS:
        _note(path, client, native, "unknown client")
        return
    _event(path, client, native, given.payload, given.size, started)


def _note(path: str, client: str, native: str, message: str) -> None:
    from capture.log import note

    note(path, f"{client[:20]} {native[:40]}: {message}")


def _event(path: str, client: str, native: str, payload: dict[str, object], size: int, started: int) -> None:
    from time import time_ns

    from capture.store import Run

    now = time_ns() // 1_000_000
    adapter = __import__(f"capture.clients.{client}", fromlist=["parse"])
    run = Run(client, native[:60], now, size, started)
    event = adapter.parse(native, payload, now)
    del payload
    sealed = None
    if event is not None:
        run.session_id = event.session_id
        sealed = sealed_event(event)
    elif native not in adapter.EVENTS:
        _note(path, client, native, "unknown event")
    if sealed is None:
        _dropped(path, run)
        return
    db = _deliver(path, sealed, run)
    if db is not None and event is not None:
        _afterwards(db, path, event)


def sealed_event(event: Event) -> Sealed | None:
    """An event as the rows it makes, redacted; None when nothing of it is kept."""
    from capture.extract import batch
    from capture.project import resolve
    from capture.seal import seal

    made: Batch | None = batch(event, resolve(event.cwd, event.project_dir))
    return None if made is None else seal(made)


def _dropped(path: str, run: Run) -> None:
    """Count the run although it stored nothing, so that a silent adapter shows; a database not to be had is no loss."""
    from capture import log, store

    try:
        store.dropped(store.connect(path), run)
    except _failures() as error:
        log.note(path, log.reason(error))


def _failures() -> tuple[type[BaseException], ...]:
    """What may go wrong with a database: sqlite's errors, the file system's, and a newer nmem's file."""
    from capture.schema import NewerDatabase
    from capture.store import Error

    return Error, OSError, NewerDatabase


def _deliver(path: str, sealed: Sealed, run: Run) -> Connection | None:
    """Store the rows, or keep them for the next process that can; the connection if it works."""
    from capture import store

    try:
        db = store.connect(path)
        store.write(db, sealed, run)
    except _failures() as error:
        from capture import log, spool

        kept = spool.put(path, sealed)
        log.note(path, f"{'spooled' if kept else 'lost'}: {log.reason(error)}")
        if not kept:
            spool.tally(path, "lost")
        return None
    return db


def _afterwards(db: Connection, path: str, event: Event) -> None:
    """What can wait until the event is safe: rows of earlier hooks, the transcript, the write-ahead log."""
    if os.path.isdir(paths.spool(path)) or os.path.isdir(paths.last_spool(path)):
        from capture import spool

        spool.drain(db, path, DRAIN_FILES, DRAIN_SECONDS)
    if event.kind in TURNS_END and event.transcript_path:
        _transcript(db, event)
    if event.kind == "session_end" or os.stat(path + "-wal").st_size > WAL_LIMIT:
        from capture.settle import start

        start(path)


def _transcript(db: Connection, event: Event) -> None:
    """Store what the transcript has that no hook said: thinking, late prompts, usage."""
    from capture.seal import seal
    from capture.store import write_many
    from capture.transcript import catch_up

    batches = catch_up(db, event.client, event.transcript_path, event.session_id)
    if batches:
        write_many(db, [seal(batch) for batch in batches])
