"""Uses idle moments: collects garbage, returns free memory to the system, and preloads the screens' modules.

The GNU library gives each thread that reads the database a heap of its own, and keeps what is free in all of them: on
a large memory a quarter more than is needed. Where the library is another one, nothing is done.

What screens are made of lives as long as the cockpit. It is put aside once it stands, so that what is left to look
through is little; full collections are done when the cockpit rests, or at last after some seconds of work. Dialogs and
toasts that were open at that moment are put aside as well: now and then all of it is looked through.

Of each a screen is made then, with its widgets, styles and layout; nothing is read for it. A screen that nobody opens
costs the memory of that; one that is opened first costs what any other costs.
"""

from __future__ import annotations

import asyncio
import gc
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from importlib import import_module
from typing import TYPE_CHECKING, Any

from textual._styles_cache import StylesCache
from textual.cache import FIFOCache
from textual.strip import Strip

if TYPE_CHECKING:
    from rich.segment import Segment

_ARENA_MAX = -8
"""The parameter of `mallopt` that says how many heaps there may be."""
_ABSENT = (ImportError, AttributeError, OSError, TypeError)
"""What an interpreter without foreign functions, another C library, or another system, answers."""


def share_heap() -> None:
    """One heap for all threads that begin from now on."""
    with suppress(*_ABSENT):
        import ctypes  # on use: start-up stays short

        ctypes.CDLL(None).mallopt(_ARENA_MAX, 1)


def give_back() -> None:
    """What is free, in whole pages; takes about a millisecond."""
    with suppress(*_ABSENT):
        import ctypes  # on use: start-up stays short

        ctypes.CDLL(None).malloc_trim(0)


_FORMS = {
    "_divide_cache": 4, "_crop_cache": 16, "_style_cache": 16, "_filter_cache": 4, "_line_length_cache": 4,
    "_crop_extend_cache": 4, "_offsets_cache": 4,
}  # fmt: skip
"""The caches of a strip, each with the number of forms of it that are kept."""


def spare_strips() -> None:
    """Make a strip's caches when they are used: the library makes all seven of each of some thousand strips.

    Nine of ten stay empty; they were a tenth of the cockpit's memory, and a third of what a collection looks through.
    """
    Strip.__init__ = _bare  # type: ignore[assignment, method-assign]
    Strip.__getattr__ = _cache_of  # type: ignore[attr-defined]


def _bare(strip: Strip, segments: Iterable[Segment], cell_length: int | None = None) -> None:
    """As the library does, without the caches."""
    strip._segments = list(segments)
    strip._cell_length = cell_length
    strip._render_cache = strip._link_ids = strip._cell_count = None


def _cache_of(strip: Strip, name: str) -> FIFOCache[Any, Any]:
    """One that is asked for and not there yet."""
    if name not in _FORMS:
        raise AttributeError(f"'Strip' object has no attribute '{name}'")
    made: FIFOCache[Any, Any] = FIFOCache(_FORMS[name])
    setattr(strip, name, made)
    return made


_LOOK_S = 1.0
_REST = 0.05
"""Seconds of work from one look to the next up to which it rests."""
_WORTH, _LONG = 0.3, 5.0
"""Seconds of work after which a rest is used, and after which no rest is waited for."""
_WHOLE, _WHOLE_AT_REST = 20.0, 3.0
"""Seconds of work after which what was put aside is looked through, too: at last, and in a rest.

Each toast and dialog that was open when the rest was put aside is kept until then, with the strips it was drawn in.
"""
_YOUNG, _MIDDLE, _NEVER = 5_000, 20, 1_000_000
_LOOKS = 1_024
"""More of them are no screen's or two: they are made again where they are needed."""


async def collect() -> None:
    """Look after it until cancelled; then it is the interpreter's again."""
    before = gc.get_threshold()
    gc.freeze()
    gc.set_threshold(_YOUNG, _MIDDLE, _NEVER)
    gc.enable()
    swept = looked = whole = time.process_time()
    try:
        while True:
            await asyncio.sleep(_LOOK_S)
            now = time.process_time()
            done, rests, looked = now - swept, now - looked < _REST, now
            if done > _LONG or (rests and done > _WORTH):
                if now - whole > (_WHOLE_AT_REST if rests else _WHOLE):
                    gc.unfreeze()
                    whole = now
                _collect()
                swept = looked = time.process_time()
    finally:
        gc.set_threshold(*before)
        gc.unfreeze()


def _collect() -> None:
    """Collect, and put aside what is left."""
    # The library keeps two styles of every ground by the widget that asked for them: all that a widget has drawn, with
    # what that was cut into, stays in memory after the widget.
    StylesCache.get_inner_outer.cache_clear()
    # What a terminal is told of a look is kept by the look and the cell where it stands, up to 16,384 of them.
    if Strip.render_ansi.cache_info().currsize > _LOOKS:
        Strip.render_ansi.cache_clear()
    gc.collect()
    gc.freeze()
    give_back()


_PRELOAD_LOOK_S = 0.1
_REST_S = 0.005
"""Seconds of work within a look up to which the cockpit rests."""


async def load(names: Iterable[str], make: Callable[[str], object]) -> None:
    """One module after the other, each in a thread and once the cockpit rests; then `make` makes something of it."""
    for name in names:
        await _rest()
        await asyncio.to_thread(import_module, name)
        await _rest()
        make(name)


async def _rest() -> None:
    """Wait until the thread that draws has next to nothing to do."""
    done = _REST_S
    while done >= _REST_S:
        before = time.thread_time()
        await asyncio.sleep(_PRELOAD_LOOK_S)
        done = time.thread_time() - before
