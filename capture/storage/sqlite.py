"""Imports SQLite's C module directly, without the half of the standard library that `sqlite3` loads.

`_sqlite3` wants `functools` for one thing, the cache of prepared statements, and `functools` loads `collections` and
more: a third of a hook's time. The C part of that cache alone does as well.

A deleted database leaves a log and an index. Whoever still has the deleted file open shares the index with all who come
later, and what those commit would be lost. Nothing in a log can be read without its database.
"""

from __future__ import annotations

import os
import sys

from capture.files import opened, remove

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Callable
    from sqlite3 import DatabaseError, Error, IntegrityError, InterfaceError, ProgrammingError, connect


def _cached(size: int) -> Callable[[Callable[[str], object]], object]:
    """`functools.lru_cache(size)`, as far as SQLite uses it."""
    from _functools import _lru_cache_wrapper  # type: ignore[import-not-found]  # on use: not every interpreter has it

    return lambda call: _lru_cache_wrapper(call, size, False, tuple)


def _load() -> None:
    """Import `_sqlite3` with a stand-in for `functools`, unless the real one is loaded already."""
    if "functools" in sys.modules or "_sqlite3" in sys.modules:
        return
    try:
        _cached(1)(str)
    except (ImportError, TypeError):
        return  # another interpreter: the ordinary way
    stand_in = type(sys)("functools")
    stand_in.__dict__["lru_cache"] = _cached
    sys.modules["functools"] = stand_in
    try:
        import _sqlite3  # noqa: F401  # on use: the stand-in serves this import alone
    except ImportError:
        return  # the public module is tried next
    finally:
        del sys.modules["functools"]


if not TYPE_CHECKING:
    _load()
    try:
        from _sqlite3 import DatabaseError, Error, IntegrityError, InterfaceError, ProgrammingError, connect
    except ImportError:
        from sqlite3 import DatabaseError, Error, IntegrityError, InterfaceError, ProgrammingError, connect


__all__ = ["DatabaseError", "Error", "IntegrityError", "InterfaceError", "ProgrammingError", "connect"]


def replaced(path: str) -> None:
    """Begin a database where one was deleted: without what that has left, and one process at a time.

    Raises OSError.
    """
    from fcntl import LOCK_EX, flock  # on use: start-up stays short

    lock = os.open(os.path.dirname(os.path.abspath(path)), os.O_RDONLY)
    try:
        flock(lock, LOCK_EX)
        if not os.path.exists(path):  # else another process has begun it meanwhile, and the log is that one's
            for name in [name for name in (path + "-wal", path + "-shm") if os.path.exists(name)]:
                remove(name)
            os.close(opened(path, os.O_CREAT | os.O_RDWR))
    finally:
        os.close(lock)
