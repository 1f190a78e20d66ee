"""Runs the person's own status line command unchanged, and stores the model, context use and cost sent to it.

This process becomes the person's command (`exec`), so its output, exit code, signals and end are its own. A process
apart passes standard input on, byte by byte as it comes, and stores the figures when it has ended: it holds none of
the client's pipes but that input, so nobody waits for it.
"""

from __future__ import annotations

import os
from time import time_ns

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sqlite3 import Connection
    from typing import NoReturn

SKIP = "NMEM_SKIP_HOOKS"
_SHELLS = frozenset(("sh", "bash", "zsh", "dash", "ash", "ksh", "mksh", "busybox"))
_WHOLE = 1024 * 1024
"""Bytes of input that are looked at; the person's command gets all of it."""
_QUIET = 2000
"""Milliseconds without input after which, once nobody reads any more, it is taken to have ended."""
_MODEL = 120
_MOST = 1 << 53
LATELY = 600_000
"""Milliseconds after which a session that waits is no news."""
PAUSE = 5_000
"""Milliseconds between two writes for the cost alone; another figure is written at once."""


class Told:
    """What a status line was told of a session. `tokens` None: no answer yet, or just compacted."""

    __slots__ = ("cost_usd", "model", "session_id", "tokens", "window_size")

    def __init__(self, session_id: str) -> None:
        self.session_id = session_id
        self.model: str | None = None
        self.window_size: int | None = None
        self.tokens: int | None = None
        self.cost_usd: float | None = None


def main(words: list[str]) -> NoReturn:
    """`[--db PATH] [SHELL LC_CTYPE COMMAND]`: with a command it is run, without one nmem says a line of its own."""
    path = ""
    if words[:1] == ["--db"]:
        path, words = "".join(words[1:2]), words[2:]
    if len(words) == 3:
        _beside(path)
        _become(*words)
    try:
        _own(path)
    except BaseException as error:  # noqa: BLE001 - the line's boundary: the client shows what there is
        _fault(path, error)
    os._exit(0)


def _beside(path: str) -> None:
    """Put the process that reads along between the client and the command; without one the command reads itself."""
    if os.environ.get(SKIP):
        return
    reading = writing = -1
    try:
        reading, writing = os.pipe()
        child = os.fork()
    except OSError:
        if reading >= 0:
            os.close(reading)
            os.close(writing)
        return
    if not child:
        _apart(reading, writing, path)
    os.close(writing)
    if os.waitpid(child, 0)[1] == 0:
        os.dup2(reading, 0)
    os.close(reading)


def _become(shell: str, ctype: str, command: str) -> NoReturn:
    """Turn into the person's command, in the shell and the surroundings that the client gave it.

    `ctype` is `=VALUE` of LC_CTYPE as the client had set it, or nothing: Python may have set one of its own.
    """
    if ctype:
        os.environ["LC_CTYPE"] = ctype[1:]
    else:
        os.environ.pop("LC_CTYPE", None)
    from _signal import SIG_DFL, SIGPIPE, SIGXFSZ, signal  # type: ignore[import-not-found]  # on use: start-up stays short

    for number in (SIGPIPE, SIGXFSZ):  # Python ignores them, and what is ignored stays so for the next program
        signal(number, SIG_DFL)
    known = shell.rpartition("/")[2] in _SHELLS
    for name in (shell, "/bin/sh") if known else ("/bin/sh",):
        try:
            os.execvp(name, [name, "-c", command])  # noqa: S606 - the person's own command, as the client runs it
        except OSError:
            continue
    os._exit(127)


def _detach() -> bool:
    """Leave the client's group and terminal and let go of its output; False in the process that may leave now."""
    os.setsid()
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, 1)
    os.dup2(null, 2)
    return os.fork() == 0


def _apart(reading: int, writing: int, path: str) -> NoReturn:
    """Pass the input on and store what it says; the process between is gone at once, so nobody inherits a child."""
    try:
        if not _detach():
            os._exit(0)
    except OSError:
        os._exit(1)
    try:
        os.close(reading)
        given = _pass_on(writing)
        os.nice(10)
        store(given, path)
    except BaseException as error:  # noqa: BLE001 - a process of our own: the log says what went wrong
        _fault(path, error)
    os._exit(0)


def _pass_on(writing: int) -> bytes:
    """Copy standard input to the command until it ends; returns the beginning of it.

    Goes on reading for a while when the command wants no more: the figures may still be on their way.
    """
    from select import POLLIN, poll  # on use: start-up stays short

    watch = poll()
    watch.register(0, POLLIN)
    watch.register(writing, 0)  # its end is told unasked
    kept, wait = b"", None
    while ready := [number for number, _ in watch.poll(wait)]:
        if 0 not in ready:
            watch.unregister(writing)
            os.close(writing)
            writing, wait = -1, _QUIET
            continue
        chunk = os.read(0, 65536)
        if not chunk:
            break
        kept += chunk[: _WHOLE - len(kept)]
        if writing >= 0 and not _written(writing, chunk):
            watch.unregister(writing)
            os.close(writing)
            writing, wait = -1, _QUIET
    if writing >= 0:
        os.close(writing)
    return kept


def _written(writing: int, chunk: bytes) -> bool:
    """Write all of it; False when nobody reads any more."""
    try:
        while chunk:
            chunk = chunk[os.write(writing, chunk) :]
    except OSError:
        return False
    return True


def store(given: bytes, path: str) -> bool:
    """Keep what the status line was told; False when it says nothing new, or the database is taken just now.

    Raises what a database raises that is neither locked nor of another version.
    """
    from capture import paths  # on use: start-up stays short

    path = path or paths.database()
    told = read(given)
    if told is None or not os.path.exists(path):
        return False
    os.environ["NMEM_DB"] = path  # the redaction rules lie beside the database
    from capture.storage import sqlite, store  # on use: start-up stays short

    try:
        db = store.connect(path, timeout=0)
        return keep(db, told, time_ns() // 1_000_000)
    except sqlite.Error as error:
        if "locked" in str(error):  # the next update, a moment later, says it again
            return False
        raise


def keep(db: Connection, now: Told, at: int) -> bool:
    """Store what the status line was told, if it says anything new; whether anything was written.

    Nothing is kept of a session that no hook has reported. Raises sqlite3.Error, at once when the database is locked.
    """
    from capture.storage import store  # on use: start-up stays short

    row = store.status_line(db, now.session_id)
    values = (now.model, now.window_size, now.tokens, now.cost_usd)
    if row is not None and (row[1:] == values or (row[1:4] == values[:3] and 0 <= at - row[0] < PAUSE)):
        return False
    if not store.known(db, now.session_id):
        return False
    with store.transaction(db):
        store.keep_status_line(db, now.session_id, at, values)
        if now.tokens is not None and (row is None or row[3] != now.tokens):
            store.note(db, now.session_id, at, now.tokens)
    return True


def read(given: bytes) -> Told | None:
    """The figures in a status line's input; None when it is no such thing."""
    from capture.jsonio import BadJson, loads  # on use: start-up stays short

    try:
        payload = loads(given.decode("utf-8", "replace"))
    except BadJson:
        return None
    session = payload.get("session_id") if isinstance(payload, dict) else None
    if not isinstance(payload, dict) or not isinstance(session, str) or not session:
        return None
    told = Told(session)
    window = _mapping(payload, "context_window")
    told.model = _model(_mapping(payload, "model").get("id"))
    told.window_size = _whole(window.get("context_window_size")) or None
    told.tokens = _used(window)
    cost = _mapping(payload, "cost").get("total_cost_usd")
    if isinstance(cost, int | float) and not isinstance(cost, bool) and 0 <= cost < 1e9:
        told.cost_usd = float(cost)
    return told


def _used(window: dict[str, object]) -> int | None:
    """What the last request held; the answer's own tokens are not in it."""
    usage = _mapping(window, "current_usage")
    parts = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
    numbers = [number for part in parts if (number := _whole(usage.get(part))) is not None]
    return sum(numbers) if numbers else None


def _model(name: object) -> str | None:
    """A model's name, if it looks like one; what else a client may put there is not kept."""
    if not isinstance(name, str) or not 0 < len(name) <= _MODEL:
        return None
    plain = all(char.isalnum() or char in "-_.:/@[]" for char in name) and name.isascii()
    if not plain:
        return None
    from capture.redaction import redact  # on use: start-up stays short

    return redact(name)


def _mapping(value: dict[str, object], name: str) -> dict[str, object]:
    inner = value.get(name)
    return inner if isinstance(inner, dict) else {}


def _whole(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < _MOST else None


def _own(path: str) -> None:
    """nmem's own line, for whoever asked for it: printed first, then stored by a process apart."""
    given = b""
    while len(given) < _WHOLE and (chunk := os.read(0, 65536)):
        given += chunk
    told = read(given)
    if told is not None:
        said = [part for part in (line(given), others(told.session_id, path)) if part]
        os.write(1, (" | ".join(said) + "\n").encode())
    if told is not None and not os.environ.get(SKIP) and os.fork() == 0 and _detach():
        store(given, path)


def others(session: str, path: str) -> str:
    """How many other sessions wait for the person, where they want to be called; empty where none does, or unknown."""
    from capture import config_table, paths  # on use: start-up stays short

    path, now = path or paths.database(), config_table.stamp()
    form = config_table.kept("attention", config_table.CALLING, now, path) if now else None
    if not (isinstance(form, tuple) and form[0] and os.path.exists(path)):
        return ""
    from capture.storage import sqlite, store  # on use: start-up stays short

    try:
        db = sqlite.connect(path, timeout=0)
        found = store.others_waiting(db, time_ns() // 1_000_000 - LATELY, session)
        db.close()
    except sqlite.Error:
        return ""  # the next update, a moment later, says it
    return f"{found} other session{'' if found == 1 else 's'} waiting" if found else ""


def line(given: bytes) -> str:
    """Model, use of the window and cost in one line of plain text."""
    from capture.jsonio import loads  # on use: start-up stays short
    from capture.text import clean

    payload, told = loads(given.decode("utf-8", "replace")), read(given)
    if told is None or not isinstance(payload, dict):
        return ""
    shown = _mapping(payload, "model").get("display_name")
    name = " ".join(clean(shown).split())[:40] if isinstance(shown, str) else told.model or ""
    size = _short(told.window_size) if told.window_size else ""
    if told.tokens is not None and told.window_size:
        window = f"window {round(100 * told.tokens / told.window_size)}% of {size}"
    else:
        window = f"window {_short(told.tokens)}" if told.tokens is not None else f"window of {size}" if size else ""
    cost = f"${told.cost_usd:.2f}" if told.cost_usd is not None else ""
    return " | ".join(part for part in (name, window, cost) if part)


def _short(tokens: int) -> str:
    """Tokens as a person reads them: 940, 200k, 1M."""
    if tokens >= 1_000_000:
        return f"{tokens / 1_000_000:.3g}M"
    return f"{tokens // 1000}k" if tokens >= 1000 else str(tokens)


def _fault(path: str, error: BaseException) -> None:
    """Note what went wrong; where even that fails, there is nothing else to try."""
    try:
        from capture import log, paths  # on use: start-up stays short

        log.note(path or paths.database(), f"status line: {log.reason(error)}")
    except BaseException:  # noqa: BLE001 - still the boundary
        os._exit(0)
