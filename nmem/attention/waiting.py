"""Reads which sessions wait for the person or failed, and claims each such thing once for all processes."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable
from hashlib import blake2b
from pathlib import Path
from sqlite3 import Connection
from typing import NamedTuple

from capture import paths
from capture.statusline import LATELY
from capture.storage.store import waiting
from nmem.text import printable

_DAY_S = 86_400
_WORDS = {
    "waiting": "asks for your answer",
    "failed": "failed: its turn broke off",
    "idle": "is done and waits for you",
}


class Wait(NamedTuple):
    """One session that waits, and since which moment of its work."""

    session_id: str
    project: str
    client: str
    state: str
    """idle (its turn is over), waiting (it asks in the midst of one), failed."""
    at: int
    moment: str
    """The same as long as it is the same thing."""

    @property
    def text(self) -> str:
        """What the person is told."""
        return f"{printable(self.project)} ({printable(self.client)}) {_WORDS[self.state]}"


def all_of(db: Connection, now: int) -> tuple[Wait, ...]:
    """The sessions that wait since lately, the newest first; none that a person broke off. Raises sqlite3.Error."""
    return tuple(_wait(*row) for row in waiting(db, now - LATELY))


def of(db: Connection, session_id: str, now: int) -> Wait | None:
    """What one session waits for, if it does. Raises sqlite3.Error."""
    return next((one for one in all_of(db, now) if one.session_id == session_id), None)


def _wait(session: str, project: str, client: str, state: str, seq: int, at: int, prompt: int) -> Wait:
    """An end of a turn is one thing, however often it is told; a question is one until something was done since."""
    moment = f"{session} {state} {prompt}" + (f" {seq}" if state == "waiting" else "")
    return Wait(session, project, client, state, at, moment)


def claim(db_path: str, one: Wait) -> bool:
    """Whether nobody was called for this yet, by any process: from now on somebody was."""
    folder = Path(paths.cache(db_path), "attention")
    name = blake2b(one.moment.encode("utf-8", "replace"), digest_size=16).hexdigest()
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        os.close(os.open(folder / name, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
    except OSError:
        return False
    _tidy(folder.iterdir())
    return True


def _tidy(claims: Iterable[Path]) -> None:
    """What was claimed long ago is no news any more."""
    before = time.time() - _DAY_S
    for each in claims:
        try:
            if each.stat().st_mtime < before:
                each.unlink()
        except OSError:
            continue  # another process was first
