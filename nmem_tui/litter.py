"""Collects cyclic garbage while nobody waits: a full collection of what the cockpit holds takes longer than a frame.

What screens are made of lives as long as the cockpit. It is put aside once it stands, so that what is left to look
through is little; full collections are done when the cockpit rests, or at last after some seconds of work. Dialogs and
toasts that were open at that moment are put aside as well: now and then all of it is looked through.
"""

from __future__ import annotations

import asyncio
import gc
import time

from textual._styles_cache import StylesCache

from nmem_tui import heap

_LOOK_S = 1.0
_REST = 0.05
"""Seconds of work from one look to the next up to which it rests."""
_WORTH, _LONG = 0.3, 5.0
"""Seconds of work after which a rest is used, and after which no rest is waited for."""
_WHOLE = 20.0
"""Seconds of work after which what was put aside is looked through, too."""
_YOUNG, _MIDDLE, _NEVER = 5_000, 20, 1_000_000


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
                if now - whole > _WHOLE:
                    gc.unfreeze()
                    whole = now
                _sweep()
                swept = looked = time.process_time()
    finally:
        gc.set_threshold(*before)
        gc.unfreeze()


def _sweep() -> None:
    """Collect, and put aside what is left."""
    # The library keeps two styles of every ground by the widget that asked for them: all that a widget has drawn, with
    # what that was cut into, stays in memory after the widget.
    StylesCache.get_inner_outer.cache_clear()
    gc.collect()
    gc.freeze()
    heap.give_back()
