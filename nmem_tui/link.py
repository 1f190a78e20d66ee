"""Where the cockpit is opened: `?q=coupon type:test` is a search, `episode/12` a story, `health` a screen."""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass
from sqlite3 import Connection

from nmem.errors import NmemError
from nmem.text import printable

SCREENS = ("now", "episodes", "stance", "learnings", "context", "search", "tasks", "health")
_KINDS = {"episode": "episode", "unit": "episode", "learning": "learning", "session": "session", "task": "task",
          "call": "obs", "obs": "obs", "prompt": "prompt"}  # fmt: skip
"""What stands before the slash -> what the id is called elsewhere."""
_FORMS = ('"?q=coupon type:test", episode/12, learning/3, task/4, call/123, prompt/5, session/ID, or a screen: '
          + ", ".join(SCREENS))  # fmt: skip


@dataclass(frozen=True, slots=True)
class Link:
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
        raise NmemError(f"{printable(text)} is no place in the cockpit: {_FORMS}")
    from nmem import database

    with closing(database.reader(path)) as db:
        return _task(db, rest) if kind == "task" else _found(db, f"{_KINDS[kind]}/{rest}")


def _found(db: Connection, named: str) -> Link:
    from nmem.mcp import ids

    ref = ids.parse(db, named)
    if ref.kind == ids.SESSION:
        return Link(session=ref.key)
    if ref.kind == ids.EPISODE:
        return Link("episodes", episode=ref.number)
    if ref.kind == ids.LEARNING:
        return Link("learnings", learning=ref.number)
    from nmem.read import stream

    key = 2 * ref.number + (ref.kind == ids.OBS)
    place = stream.place(db, key)
    if place is None:
        raise ids.unknown(db, ref)
    return Link(session=place[0], row=(place[1], key))


def _task(db: Connection, rest: str) -> Link:
    from nmem import tables
    from nmem.dispatch import read

    if not (rest.isascii() and rest.isdecimal() and len(rest) < 19):
        raise NmemError(f"task/{printable(rest)} is no id: task/ and a number")
    if not tables.version(db) or read.task(db, int(rest)) is None:
        raise NmemError(f"there is no task/{int(rest)}: `nmem task` lists them")
    return Link("tasks", task=int(rest))
