"""Where the cockpit is opened: `?q=coupon type:test` is a search, `episode/12` a story, `health` a screen."""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass

from nmem.errors import NmemError
from nmem.text import printable

SCREENS = ("now", "episodes", "stance", "learnings", "context", "search", "tasks", "health")
_FORMS = '"?q=coupon type:test", episode/12, learning/3, session/ID, or a screen: ' + ", ".join(SCREENS)


@dataclass(frozen=True, slots=True)
class Link:
    """A screen, and what stands on it."""

    screen: str = "now"
    query: str | None = None
    episode: int = 0
    learning: int = 0
    session: str = ""


def parse(text: str, path: str) -> Link:
    """What a link names in the database of a path. Raises NmemError for what is none, or names nothing."""
    if not text:
        return Link()
    if text.startswith("?"):
        return Link("search", query=text.removeprefix("?").removeprefix("q=").strip())
    if text in SCREENS:
        return Link(text)
    kind, slash, _ = text.partition("/")
    if not slash or kind not in ("episode", "learning", "session"):
        raise NmemError(f"{printable(text)} is no place in the cockpit: {_FORMS}")
    from nmem import database
    from nmem.mcp import ids

    with closing(database.reader(path)) as db:
        ref = ids.parse(db, text)
    if ref.kind == "session":
        return Link(session=ref.key)
    return Link("episodes", episode=ref.number) if kind == "episode" else Link("learnings", learning=ref.number)
