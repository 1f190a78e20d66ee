"""Locations in the cockpit: the history for going back, and the links that `nmem tui` opens."""

from __future__ import annotations

from collections.abc import Hashable
from contextlib import closing
from sqlite3 import Connection
from typing import NamedTuple

from nmem import database, tables
from nmem.errors import NmemError
from nmem.read import stream
from nmem.text import printable
from nmem_tui.model.screens import MODES

MOST = 100
"""So many places are remembered; of more, the oldest are forgotten."""


class Place(NamedTuple):
    """One place."""

    mode: str
    """The numbered screen."""
    session: str
    """The session that was shown; empty: none yet."""
    anchor: Hashable = None
    """What the screen itself needs to find the place again; only the screen reads it."""


class Asked(NamedTuple):
    """The anchor of a question of the review that was left to read what it is about."""

    queue: str
    key: tuple[str, int]


class Places:
    """The places that were left, the newest last."""

    def __init__(self) -> None:
        self._left: list[Place] = []

    def __len__(self) -> int:
        return len(self._left)

    def leave(self, place: Place) -> None:
        """Remember a place that is left; twice the same is one."""
        if not self._left or self._left[-1] != place:
            self._left.append(place)
            del self._left[:-MOST]

    @property
    def last(self) -> Place | None:
        """The one that was left last."""
        return self._left[-1] if self._left else None

    def back(self, here: Place) -> Place | None:
        """The last place that is another one than where one is; None where there is none."""
        while self._left:
            place = self._left.pop()
            if place != here:
                return place
        return None

    def leads(self, here: Place) -> bool:
        """Whether there is somewhere to go back to."""
        return any(place != here for place in reversed(self._left))

    def clear(self) -> None:
        """There is no way back any more."""
        self._left.clear()


SCREENS = MODES
_KINDS = {"episode": "episode", "unit": "episode", "learning": "learning", "session": "session", "task": "task",
          "call": "obs", "obs": "obs", "prompt": "prompt"}  # fmt: skip
"""What stands before the slash -> what the id is called elsewhere."""
_FORMS = ('"?q=coupon type:test", episode/12, learning/3, task/4, call/123, prompt/5, session/ID, or a screen: '
          + ", ".join(SCREENS))  # fmt: skip


class Link(NamedTuple):
    """A screen, and what stands on it."""

    screen: str = "now"
    query: str | None = None
    episode: int = 0
    learning: int = 0
    task: int = 0
    session: str = ""
    row: tuple[int, int] | None = None
    """Time and key of a row of the session's stream."""


def parse(text: str, path: str) -> Link:
    """What a link names in the database of a path. Raises NmemError for what is none, or names nothing."""
    if not text:
        return Link()
    if text.startswith("?"):
        return Link("search", query=text.removeprefix("?").removeprefix("q=").strip())
    if text in SCREENS:
        return Link(text)
    kind, slash, rest = text.partition("/")
    if not slash or kind not in _KINDS:
        raise NmemError(f"{printable(text)} is not a place in the cockpit: {_FORMS}")

    with closing(database.reader(path)) as db:
        return _task(db, rest) if kind == "task" else _found(db, f"{_KINDS[kind]}/{rest}")


def _found(db: Connection, named: str) -> Link:
    from nmem.mcp import tool  # on use: start-up stays short

    ref = tool.parse(db, named)
    if ref.kind == tool.SESSION:
        return Link(session=ref.key)
    if ref.kind == tool.EPISODE:
        return Link("episodes", episode=ref.number)
    if ref.kind == tool.LEARNING:
        return Link("learnings", learning=ref.number)

    key = 2 * ref.number + (ref.kind == tool.OBS)
    place = stream.place(db, key)
    if place is None:
        raise tool.unknown(db, ref)
    return Link(session=place[0], row=(place[1], key))


def _task(db: Connection, rest: str) -> Link:
    from nmem.dispatch import read  # on use: start-up stays short

    if not (rest.isascii() and rest.isdecimal() and len(rest) < 19):
        raise NmemError(f"task/{printable(rest)} is not an id: use task/ and a number")
    if not tables.version(db) or read.task(db, int(rest)) is None:
        raise NmemError(f"there is no task/{int(rest)}: `nmem task` lists them")
    return Link("tasks", task=int(rest))
