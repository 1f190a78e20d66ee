"""The hook command: stores one client event, and prints context for the session; errors go only to the log."""

from __future__ import annotations

import gc
import os
from time import time_ns

from capture import paths

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from sqlite3 import Connection

    from capture.event import Event
    from capture.seal import Sealed
    from capture.stdin import Input
    from capture.storage.store import Run

    Listener = Callable[[Connection, Event, str], tuple[bool, str]]
    Shape = tuple[str, str, str]

SKIP = "NMEM_SKIP_HOOKS"
"""Set for the clients that nmem itself starts: their hooks must not record our own questions."""
TURN_ENDS = frozenset(("turn_end", "subagent_end", "pre_compact", "session_end"))
"""After these the transcript is read on: its new lines are there, and nobody waits for a tool."""
_SESSION = ("session_id", "sessionId", "conversation_id")
BEFORE = "PreToolUse"
"""The event of a call that is about to be made."""
DRAIN_FILES = 20
DRAIN_SECONDS = 0.05
WAL_LIMIT = 1024 * 1024
"""Bytes of write-ahead log from which it is folded back: whoever opens alone reads all of it, 0.7 ms a megabyte."""
_NAME = 40
_NEW = 8
"""Unknown fields of a payload that its shape names."""
LARGE = 64 * 1024
"""Bytes of payload from which long strings are shortened before anything else looks at them."""


def main(argv: list[str], started: int, listener: Listener | None = None) -> None:
    """Run one hook and leave the process: `CLIENT EVENT [--plugin] [--db PATH]`, or `settle`.

    Never returns, never fails.

    `listener(db, event, path)` is told of each event once its rows are stored, and answers two things: True when it
    has started a settling of its own, which does this package's too; and what the session shall be told, if anything.
    """
    path = ""
    gc.disable()  # the process is over before a collection could pay for itself
    try:
        if not os.environ.get(SKIP):
            words, path = arguments(argv)
            os.environ["NMEM_DB"] = path  # caches and settings beside the database are found by it
            if words[:1] == ["settle"]:
                from capture.settle import settle  # on use: few runs settle

                settle(path)
            elif words[2:] != ["--plugin"] or not _elsewhere(words[1]):
                _hook(words, path, started, listener)
    except BaseException as error:  # noqa: BLE001 - the hook's boundary: the client's session goes on whatever we did
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


def _elsewhere(event: str) -> bool:
    """Whether this hook is the plugin's, and settings run nmem for the same event."""
    from capture.clients.plugged import stands_back  # on use: hooks of the plugin only

    return stands_back(event, os.environ)


def _fault(path: str, error: BaseException) -> None:
    """Note what went wrong; where even that fails, there is nothing else to try."""
    try:
        from capture import log  # on use: a fault is rare, and importing may be at fault

        path = path or paths.database()
        log.note(path, log.reason(error))
        _count_error(path)
    except BaseException:  # noqa: BLE001 - still the boundary
        os._exit(0)


def _hook(words: list[str], path: str, started: int, listener: Listener | None) -> None:
    """Read the event, make it rows and store them."""
    from capture.clients import known  # on use: start-up stays short
    from capture.stdin import read

    client, native = [*words, "", ""][:2]
    given = read()
    if given.fault:
        _odd(path, client, native, given.fault)
    if not known(client):
        _odd(path, client, native, "unknown client")
    elif given.payload is not None:
        _event(path, client, native, given, started, listener)


def _odd(path: str, client: str, native: str, message: str) -> None:
    """Note an input that could not be understood, and count it: what is not recorded must show somewhere."""
    from capture.log import name, note  # on use: an odd input is rare

    note(path, f"{name(client)} {name(native)}: {message}")
    _count_error(path)


def _count_error(path: str) -> None:
    """One more error in the database, or beside it while it cannot be written."""
    from capture.storage import spool, store  # on use: an error is rare

    try:
        if not os.path.exists(path):
            raise FileNotFoundError
        db = store.connect(path)
        try:
            store.count(db, "errors")
        finally:
            db.close()
    except _failures():
        spool.tally(path, "errors")


def _event(path: str, client: str, native: str, given: Input, started: int, listener: Listener | None) -> None:
    """Make rows of one client's event, and keep them."""
    from capture.storage.store import Run  # on use: start-up stays short

    now = time_ns() // 1_000_000
    payload: object = given.payload
    if given.size > LARGE:
        from capture.salvage import shorten  # on use: few payloads are large

        payload = shorten(payload)
    given.payload = None
    run = Run(client, _event_name(native), now, given.size, started)
    event = _parsed(client, native, payload, now)
    if native == BEFORE:  # by whoever's settings it came: nothing of it is stored
        _before(path, event, listener)
        return
    if event is None and not given.fault:
        _explain(path, client, native, payload)
    sealed = sealed_event(event)
    run.session_id = sealed.batch.session_id if sealed else None
    if isinstance(payload, dict) and not given.fault:
        run.shape = _shape(client, payload, event, sealed)
    db = _keep(path, sealed, run)
    if db is not None:
        _afterwards(db, path, event, listener)


def _before(path: str, event: Event | None, listener: Listener | None) -> None:
    """Say what is known of a call that is about to be made: nothing of it is stored, so no lock is waited for."""
    if event is None or listener is None or not os.path.exists(path):
        return
    from capture.storage import store  # on use: start-up stays short

    _, told = listener(store.connect(path), event, path)
    if told:
        _tell(event, told)


def _event_name(native: str) -> str:
    """The event's name as it may be stored: what is no plain name could be anything."""
    if native.isalpha() and native.isascii() and len(native) <= _NAME:
        return native
    from capture.log import name  # on use: a name that is not plain is rare

    return name(native)


def _parsed(registered: str, native: str, payload: object, now: int) -> Event | None:
    """The event in nmem's words, by the adapter of the client that sent it, whoever's settings it came through."""
    from capture.clients import detect  # on use: start-up stays short

    client = detect.detect(registered, payload, os.environ)
    adapter = __import__(f"capture.clients.{client}", fromlist=["parse"])
    event: Event | None = adapter.parse(native, payload, now)
    if event is None:
        return None
    event.project_dir = detect.project_dir(client, os.environ) or event.project_dir
    event.client_version = event.client_version or detect.client_version(client, os.environ)
    return event


def _explain(path: str, registered: str, native: str, payload: object) -> None:
    """Say why nothing could be made of an event, unless nothing of it is kept on purpose."""
    from capture.clients import detect  # on use: an event without rows is rare

    client = detect.detect(registered, payload, os.environ)
    known = __import__(f"capture.clients.{client}", fromlist=["EVENTS"]).EVENTS
    if client != registered:
        return  # another client runs this client's hooks too, also those that it has nothing to say to
    if native not in known:
        _odd(path, client, native, "unknown event")
    elif not (isinstance(payload, dict) and any(payload.get(key) for key in _SESSION)):
        _odd(path, client, native, "input names no session")


def _shape(registered: str, payload: dict[str, object], event: Event | None, sealed: Sealed | None) -> Shape:
    """Who sent the payload, of which tool, and its fields with their types; of unknown ones what sealing left."""
    from capture.clients.fields import shape  # on use: start-up stays short

    client = event.client if event else registered
    adapter = __import__(f"capture.clients.{client}", fromlist=["KNOWN"])
    tool, said = shape(adapter, payload)
    if sealed is None:
        from capture.seal import names  # on use: a payload that is not kept is rare

        new: tuple[str, ...] = names(adapter.drift("", payload)[:_NEW])
    else:
        new = sealed.batch.drift[:_NEW]
    return client, tool, " ".join((said, *["+" + name for name in new]))


def sealed_event(event: Event | None) -> Sealed | None:
    """The rows of an event, redacted; None when nothing of it is kept."""
    if event is None:
        return None
    from capture.extract import batch  # on use: start-up stays short
    from capture.project import resolve
    from capture.seal import seal

    made = batch(event, resolve(event.cwd, event.project_dir))
    if made is not None and made.drift:
        made.session["native_event"] = event.native
    return None if made is None else seal(made)


def _keep(path: str, sealed: Sealed | None, run: Run) -> Connection | None:
    """Store the rows, or leave them for the next process that can; the connection, if it works."""
    from capture.storage import store  # on use: start-up stays short

    new = not os.path.exists(path)
    try:
        db = store.connect(path)
        if new:
            _reserve(path)
        if sealed is None:
            store.dropped(db, run)
        else:
            from capture.storage.rows import write  # on use: some events store no rows

            write(db, sealed, run)
    except _failures() as error:
        _save(path, sealed, error)
        return None
    return db


def _reserve(path: str) -> None:
    """Make the files by which losses are counted on a disk without inodes: later there may be none left."""
    from capture.storage import spool  # on use: a new database only

    spool.reserve(path)


def _failures() -> tuple[type[BaseException], ...]:
    """What may go wrong with a database: SQLite's errors, the file system's, and a file of a newer nmem."""
    from capture.storage.schema import NewerDatabase  # on use: an error is rare
    from capture.storage.sqlite import Error

    return Error, OSError, NewerDatabase


def _save(path: str, sealed: Sealed | None, error: BaseException) -> None:
    """Spool what could not be stored, and say so."""
    from capture import log  # on use: an error is rare
    from capture.storage import spool

    if sealed is None:
        kept = "nothing to spool"
    elif spool.put(path, sealed):
        kept = "spooled"
    else:
        kept = "lost"
        spool.tally(path, "lost")
    log.note(path, f"{kept}: {log.reason(error)}")
    if kept == "spooled" and "locked" in str(error):
        from capture.settle import start  # on use: an error is rare

        start(path, pause=0.0)  # no other hook may follow for long


def _afterwards(db: Connection, path: str, event: Event | None, listener: Listener | None) -> None:
    """What can wait until the event is safe: earlier rows, the transcript, the listener, the write-ahead log."""
    if paths.waits(paths.spool(path)) or paths.waits(paths.last_spool(path)):
        _drain(db, path)
    if event is not None and event.kind in TURN_ENDS and event.transcript_path:
        _transcript(db, path, event)
    settles = False
    try:
        if event is not None and listener is not None:
            settles, told = listener(db, event, path)
            if told:
                _tell(event, told)
    finally:
        if not settles:
            _settle(path, event)


def _drain(db: Connection, path: str) -> None:
    """Store what waits; where others hold the lock it stays, for the next hook to take."""
    from capture.storage import spool, sqlite  # on use: the spool is mostly empty

    try:
        spool.drain(db, path, DRAIN_FILES, DRAIN_SECONDS)
    except sqlite.Error as error:
        if "locked" not in str(error):
            raise


def _tell(event: Event, text: str) -> None:
    """Print in the client's own form; all of it or, where the client is gone, as much as it took."""
    from capture.clients import form  # on use: most events tell nothing

    data = form(event, text)
    while data:
        data = data[os.write(1, data) :]


def _settle(path: str, event: Event | None) -> None:
    """Start settling when a session ends, or when the write-ahead log has grown."""
    if (event is not None and event.kind == "session_end") or _size(path + "-wal") > WAL_LIMIT:
        from capture.settle import start  # on use: few events settle

        start(path)


def _size(path: str) -> int:
    try:
        return os.stat(path).st_size
    except OSError:
        return 0


def _transcript(db: Connection, path: str, event: Event) -> None:
    """Store what the transcript has that no hook said: thinking, late prompts, usage."""
    from capture.transcript.missed import catch_up  # on use: the end of a turn only

    if catch_up(db, event.client, event.transcript_path, event.session_id):
        from capture.settle import start  # on use: a transcript is mostly read to its end

        start(path, pause=0.0)  # the rest, which nobody waits for
