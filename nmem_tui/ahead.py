"""Loads the code of screens before they are opened, while the person does nothing: a first visit then only shows them.

Nothing is made of them and nothing is read for them: a screen that nobody opens costs the memory of its code.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterable
from importlib import import_module

_LOOK_S = 0.1
_REST_S = 0.005
"""Seconds of work within a look up to which the cockpit rests."""


async def load(names: Iterable[str]) -> None:
    """One module after the other, each in a thread and once the cockpit rests."""
    for name in names:
        await _rest()
        await asyncio.to_thread(import_module, name)


async def _rest() -> None:
    """Wait until the thread that draws has next to nothing to do."""
    done = _REST_S
    while done >= _REST_S:
        before = time.thread_time()
        await asyncio.sleep(_LOOK_S)
        done = time.thread_time() - before
