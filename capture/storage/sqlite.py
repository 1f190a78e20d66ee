"""SQLite's C module, without the half of the standard library that `sqlite3` imports.

`_sqlite3` wants `functools` for one thing, the cache of prepared statements, and `functools` loads `collections` and
more: a third of a hook's time. The C part of that cache alone does as well.
"""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from sqlite3 import Connection, DatabaseError, Error, IntegrityError, InterfaceError, ProgrammingError, connect


def _cached(size: int) -> Callable[[Callable[[str], object]], object]:
    """`functools.lru_cache(size)`, as far as SQLite uses it."""
    from _functools import _lru_cache_wrapper  # type: ignore[import-not-found]

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
        import _sqlite3  # noqa: F401
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


def file(db: Connection) -> str:
    """The path of a connection's database; SQLite gives its bytes, which need not be UTF-8."""
    from os import fsdecode

    factory = db.text_factory
    db.text_factory = bytes
    try:
        return fsdecode(db.execute("PRAGMA database_list").fetchone()[2])
    finally:
        db.text_factory = factory


__all__ = ["DatabaseError", "Error", "IntegrityError", "InterfaceError", "ProgrammingError", "connect", "file"]
