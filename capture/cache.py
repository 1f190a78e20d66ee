"""Reads and writes cache files for hooks, trusted only if private, complete, and of the expected shape.

`NMEM_DB` may name a folder that others can write to. What somebody else put there could switch redaction off, so its
owner and mode are asked of the open file itself.
"""

from __future__ import annotations

import marshal
import os

from capture import paths

_FLAGS = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0)
_WRITABLE_BY_OTHERS = 0o022
_REGULAR = 0o100000
_KIND = 0o170000


def ours(found: os.stat_result) -> bool:
    """Whether nobody but this user can have written a file or folder."""
    if not hasattr(os, "geteuid"):
        return True  # modes say nothing there; the profile folder is the user's own
    return found.st_uid == os.geteuid() and not found.st_mode & _WRITABLE_BY_OTHERS


def read(file: str, shape: object) -> object:
    """The value of a cache file; None when there is none, when it may not be ours, or when it is damaged.

    `shape` is a type; a tuple of shapes, one for each member; a list of one shape, for each item; or a dictionary with
    one shape for its keys and one for its values.
    """
    try:
        data = _bytes(file)
        value: object = marshal.loads(data) if data else None  # noqa: S302 - ours alone, see _bytes
    except (OSError, ValueError, TypeError, EOFError, MemoryError):
        return None
    return value if fits(value, shape) else None


def _bytes(file: str) -> bytes:
    """What is in a file that is ours alone, in a folder that is; nothing of any other."""
    handle = os.open(file, _FLAGS)
    try:
        found = os.fstat(handle)
        if found.st_mode & _KIND != _REGULAR or not ours(found) or not ours(os.lstat(os.path.dirname(file))):
            return b""
        chunks = []
        while chunk := os.read(handle, max(1, found.st_size)):
            chunks.append(chunk)
    finally:
        os.close(handle)
    return b"".join(chunks)


def fits(value: object, shape: object) -> bool:
    """Whether a value has a shape, as `read` describes it."""
    if isinstance(shape, type):
        return type(value) is shape
    if type(value) is not type(shape):
        return False
    if isinstance(shape, dict) and isinstance(value, dict):
        (key, item), *_ = shape.items()
        return all(fits(name, key) and fits(found, item) for name, found in value.items())
    if isinstance(shape, list) and isinstance(value, list):
        return all(fits(found, shape[0]) for found in value)
    if isinstance(shape, tuple) and isinstance(value, tuple):
        return len(value) == len(shape) and all(map(fits, value, shape))
    return False


def write(file: str, value: object) -> bool:
    """Keep a value; False when its folder is not ours alone or cannot be written. The next reader does without then."""
    from capture.files import replace  # on use: start-up stays short

    folder = os.path.dirname(file)
    try:
        paths.make(folder)
        if not ours(os.lstat(folder)):
            return False
        replace(file, marshal.dumps(value))  # type: ignore[arg-type]
    except (OSError, ValueError):
        return False
    return True
