"""Reads a hook's input: one JSON object, as soon as it is complete, with a deadline and bounded memory."""

from __future__ import annotations

import os
from time import perf_counter

from capture.jsonio import BadJson, loads

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

QUIET = 2.0
"""Seconds without a byte after which no more is expected."""
PATIENCE = 6.0
"""Seconds after which reading ends whatever comes."""
WHOLE = 512 * 1024
"""Bytes up to which a payload is kept whole; of a larger one its head and its tail."""
TAIL = 64 * 1024
_CHUNK = 65536
_TRIES = 16


class Input:
    """What arrived: the object (None when it was none), its size in bytes, and what was wrong with it."""

    __slots__ = ("fault", "payload", "size")

    def __init__(self, payload: dict[str, object] | None, size: int, fault: str = "") -> None:
        self.payload = payload
        self.size = size
        self.fault = fault


class _Late(Exception):
    """The timer rang."""


class _Pieces:
    """The head of a stream and its tail; what lies between is dropped as it comes."""

    __slots__ = ("head", "next", "size", "tail", "tries")

    def __init__(self) -> None:
        self.head = b""
        self.tail = b""
        self.size = 0
        self.tries = 0
        self.next = 0

    def add(self, chunk: bytes) -> None:
        self.size += len(chunk)
        room = WHOLE - len(self.head)
        if room > 0:
            self.head += chunk[:room]
            chunk = chunk[room:]
        if chunk:
            self.tail = (self.tail + chunk)[-TAIL:]

    def whole(self) -> dict[str, object] | None:
        """The object, if it looks complete and is; after many tries they are spaced, or a long stream would cost."""
        if self.tail or len(self.head) < self.next or not self.head.rstrip().endswith(b"}"):
            return None
        self.tries += 1
        if self.tries > _TRIES:
            self.next = len(self.head) * 3 // 2
        try:
            value = loads(self.head.decode("utf-8", "replace"))
        except BadJson:
            return None
        return value if isinstance(value, dict) else None


def read(descriptor: int = 0) -> Input:
    """Read one object from a file descriptor, normally stdin."""
    pieces = _Pieces()
    fault = ""
    try:
        payload = _read(descriptor, pieces)
    except _Late:
        payload, fault = None, "input did not end in time"
    except OSError as error:
        payload, fault = None, f"input cannot be read: {os.strerror(error.errno or 0)}"
    if payload is not None:
        return Input(payload, pieces.size)
    if not pieces.size:
        return Input(None, 0, fault or "input is empty")
    return _rest(pieces, fault)


def _rest(pieces: _Pieces, fault: str) -> Input:
    """What can be had of an input that did not come as one whole object."""
    if not pieces.tail:
        try:
            value = loads(pieces.head.decode("utf-8", "replace"))
            if isinstance(value, dict):
                return Input(value, pieces.size)
        except BadJson:
            fault = fault or "input was cut short"
    from capture.salvage import salvage  # on use: start-up stays short

    payload = salvage(pieces.head, b"" if fault else pieces.tail, pieces.size)
    return Input(payload, pieces.size, fault if payload else fault or "input is not a JSON object")


def _read(descriptor: int, pieces: _Pieces) -> dict[str, object] | None:
    """Read until the object is whole or the input ends. Raises _Late or OSError."""
    alarm = _alarm()
    until = perf_counter() + PATIENCE
    try:
        while True:
            left = until - perf_counter()
            if left <= 0:
                raise _Late
            alarm(min(QUIET, left))
            chunk = os.read(descriptor, _CHUNK)
            alarm(0)
            if not chunk:
                return None
            pieces.add(chunk)
            payload = pieces.whole()
            if payload is not None:
                return payload
    finally:
        alarm(0)


def _alarm() -> Callable[[float], object]:
    """What sets the timer that ends a read which would wait for ever; without one, the client closes the pipe."""
    try:
        from _signal import ITIMER_REAL, SIGALRM, setitimer, signal  # type: ignore[import-not-found]  # on use: start-up stays short
    except ImportError:
        return lambda _seconds: None

    def ring(_number: int, _frame: object) -> None:
        raise _Late

    signal(SIGALRM, ring)
    return lambda seconds: setitimer(ITIMER_REAL, seconds)
