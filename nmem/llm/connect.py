"""Builds the model client of this person and database: settings, ledger, redactor.

Without a place in the settings, loopback is looked at; when nothing answered there, not again for a while.
"""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from pathlib import Path

from capture import paths
from capture.files import opened
from capture.redaction import outward
from nmem.errors import NmemError
from nmem.llm import Cancel
from nmem.llm.ask import Desk, desk
from nmem.llm.book import Book
from nmem.llm.config import Settings, from_table
from nmem.settings import file

LOOK_AGAIN = 600.0
"""Seconds after which loopback is looked at again."""


@dataclass(frozen=True, slots=True)
class Connected:
    """A desk, or why there is none although one was set up; both empty: nobody set one up and none was found."""

    desk: Desk | None
    problem: str = ""


def settings() -> Settings:
    """What the `[llm]` table says. Raises NmemError."""
    return from_table(file.table("llm"), os.environ)


def connect(db_path: str, cancel: Cancel | None = None, *, look: bool = False) -> Connected:
    """The desk to ask at; `look` looks at loopback even if nothing was there just now. Never raises NmemError."""
    try:
        chosen = settings()
    except NmemError as error:
        return Connected(None, str(error))
    if not chosen.enabled or not chosen.daily_token_cap:
        return Connected(None)
    if chosen.command or chosen.base_url:
        return Connected(desk(chosen, Book(db_path), outward, cancel))
    mark = Path(paths.cache(db_path)) / "no-model-found"
    if not look and _fresh(mark):
        return Connected(None)
    found = desk(chosen, Book(db_path), outward, cancel)
    if found is None:
        _touch(mark)
    return Connected(found)


def _fresh(mark: Path) -> bool:
    try:
        return 0 <= time.time() - mark.stat().st_mtime < LOOK_AGAIN
    except OSError:
        return False


def _touch(mark: Path) -> None:
    try:
        paths.make(str(mark.parent))
        handle = opened(str(mark), os.O_WRONLY | os.O_CREAT)
        os.close(handle)
        os.utime(mark)
    except OSError:
        return  # it is looked at again, no more
