"""Appends errors to a log beside the database, one line each without payload text, and rotates it.

A line says what and where, never what was in the payload.
"""

from __future__ import annotations

import os
import time

from capture import paths
from capture.files import opened

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import TracebackType

_LIMIT = 1_000_000
"""Bytes of log before it is set aside; one older log is kept."""


def plain(text: str, limit: int = 200) -> str:
    """Text that fits a log line: printable, one line, short."""
    return "".join(char if char.isprintable() else " " for char in text[:limit])


def name(text: str) -> str:
    """A name that came from outside, if it is a plain one; anything else may hold what nobody should read."""
    letters = text.replace("_", "").replace("-", "").replace(".", "")
    if len(text) <= 40 and letters.isascii() and letters.isalpha():
        return text
    return "(an odd name)" if text else "(no name)"


def where(trace: TracebackType | None) -> str:
    """The innermost place of a traceback, as module:line."""
    place = ""
    while trace is not None:
        name = trace.tb_frame.f_code.co_filename.replace("\\", "/").rpartition("/")[2]
        place = f"{name}:{trace.tb_lineno}"
        trace = trace.tb_next
    return place


def reason(error: BaseException) -> str:
    """An error in a few words; its message only where it cannot hold text of a payload."""
    kind = type(error).__name__
    place = where(error.__traceback__)
    if kind == "NotOurs":
        return plain(str(error))
    if isinstance(error, OSError):
        return plain(f"{kind} {os.strerror(error.errno) if error.errno else ''} at {place}")
    if kind.endswith(("OperationalError", "Database", "DatabaseError")):
        return plain(f"{kind} {error} at {place}")
    return plain(f"{kind} at {place}")


def note(db_path: str, message: str) -> bool:
    """Append one line to the log beside the database; False when even that is impossible."""
    path = paths.log(db_path)
    line = f"{time.strftime('%Y-%m-%dT%H:%M:%SZ', time.gmtime())} {os.getpid()} {plain(message)}\n"
    try:
        paths.make(os.path.dirname(path))
        handle = opened(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        try:
            full = os.fstat(handle).st_size > _LIMIT
            os.write(handle, line.encode("utf-8", "replace"))
        finally:
            os.close(handle)
        if full:
            os.replace(path, path + ".1")
    except OSError:
        return False
    return True
