"""The memory that the process holds: one heap for all threads, and what is free goes back to the system.

The GNU library gives each thread that reads the database a heap of its own, and keeps what is free in all of them: on
a large memory a quarter more than is needed. Where the library is another one, nothing is done.
"""

from __future__ import annotations

from contextlib import suppress

_ARENA_MAX = -8
"""The parameter of `mallopt` that says how many heaps there may be."""
_ABSENT = (ImportError, AttributeError, OSError, TypeError)
"""What an interpreter without foreign functions, another C library, or another system, answers."""


def share() -> None:
    """One heap for all threads that begin from now on."""
    with suppress(*_ABSENT):
        import ctypes

        ctypes.CDLL(None).mallopt(_ARENA_MAX, 1)


def give_back() -> None:
    """What is free, in whole pages; takes about a millisecond."""
    with suppress(*_ABSENT):
        import ctypes

        ctypes.CDLL(None).malloc_trim(0)
