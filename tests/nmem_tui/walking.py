"""Walks through the cockpit by random keys, and tells which keys led to a fault."""

from __future__ import annotations

import random
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from textual.events import Key
from textual.message import Message
from textual.pilot import Pilot
from textual.worker import WorkerState

from nmem_tui.app import Cockpit
from nmem_tui.messages import Changed, Finished, ReadFailed
from nmem_tui.model.actions import ACTIONS
from nmem_tui.model.locations import Link

ENDS = ("quit", "demo")
"""Actions after which a walk begins anew: the cockpit is left, or shows another database."""
STRETCH = 400
"""Keys after which a walk begins anew, with the database as it was at first."""
_TYPED = ("avatar", "fix", "pytest", "type:test", "zzz", "is:failed", "7")
_LETTERS = (*"abcxyzABC0123456789 .,!", "backspace", "delete", "ctrl+a", "ctrl+w", "ctrl+k", "f1", "ctrl+c")
_MOVES = ("j", "k", "enter", "enter", "escape", "escape", "tab", "space", "down", "up", "y", "n", *"12345678")
_ALL = tuple(sorted({key for action in ACTIONS if action.id not in ENDS for key in action.keys}))
_LEAVES = tuple(sorted({key for action in ACTIONS if action.id in ENDS for key in action.keys}))
_UNEXPECTED = re.compile(r"\b[A-Z]\w*(Error|Exception|Matches|Timeout)\b: ")
"""How the workers' boundaries word an exception that nobody foresaw."""


def bursts(seed: str, keys: int) -> Iterator[tuple[str, ...]]:
    """So many random keys, alone and faster than a screen; always the same for a seed."""
    chance = random.Random(seed)
    while keys > 0:
        kind = chance.random()
        if kind < 0.05:
            burst = (*chance.choice(_TYPED), *(["enter"] if chance.random() < 0.7 else []))
        elif kind < 0.055:
            burst = (chance.choice(_LEAVES),)
        else:
            pools = chance.choices((_ALL, _MOVES, _LETTERS), (6, 5, 1), k=chance.choice((1, 1, 1, 2, 4)))
            burst = tuple(chance.choice(pool) for pool in pools)
        yield burst[:keys]
        keys -= len(burst)


class Walk:
    """One walk: from a starting place, in a size, read-only or not."""

    def __init__(self, pristine: Path, place: str, size: tuple[int, int], *, read_only: bool, **options: Any) -> None:
        self._pristine = pristine
        self._place = place
        self._size = size
        self._options = options | {"read_only": read_only}
        self._faults: list[str] = []
        self._db = pristine.with_name("walked.db")

    async def run(self, keys: int) -> None:
        """Press so many keys; raises with the keys that led to a fault."""
        seed = f"{self._place} {self._size} {self._options['read_only']}"
        left = bursts(seed, keys)
        ahead = next(left, ())
        while ahead:
            ahead = await self._stretch(ahead, left)

    async def _stretch(self, ahead: tuple[str, ...], left: Iterator[tuple[str, ...]]) -> tuple[str, ...]:
        """Walk until the cockpit is left or `STRETCH` keys are pressed; the burst that comes next."""
        self._anew()
        app = Cockpit(str(self._db), theme="dark", watch=False, link=Link(self._place), **self._options)
        pressed: list[str] = []
        try:
            async with app.run_test(size=self._size, message_hook=self._look) as pilot:
                while ahead and len(pressed) < STRETCH and not (app._exit or app.demo):
                    pressed += ahead
                    await self._press(pilot, ahead)
                    self._check(app)
                    ahead = next(left, ())
                app.exit()  # what is still to come of the last keys is for nobody
        except BaseException as error:
            error.add_note(f"{self._place} {self._size} {self._options['read_only']}: {' '.join(pressed)}")
            raise
        return ahead

    def _anew(self) -> None:
        for ending in ("", "-wal", "-shm"):
            Path(f"{self._db}{ending}").unlink(missing_ok=True)
        shutil.copyfile(self._pristine, self._db)

    async def _press(self, pilot: Pilot[None], keys: tuple[str, ...]) -> None:
        for key in keys:
            named = "space" if key == " " else key
            pilot.app.post_message(Key(named, key if len(key) == 1 else None))
        await pilot.pause(0)

    def _look(self, message: Message) -> None:
        told = message.reason if isinstance(message, ReadFailed) else ""
        if isinstance(message, Changed | Finished) and message.failed:
            told = message.text
        if _UNEXPECTED.search(told):
            self._faults.append(told)

    def _check(self, app: Cockpit) -> None:
        if app._exception is not None:
            raise app._exception
        broken = [f"{each.group}: {each.error!r}" for each in app.workers if each.state is WorkerState.ERROR]
        assert not (self._faults or broken), [*self._faults, *broken]
