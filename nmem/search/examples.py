"""Suggests example queries that have hits in the recorded data, for an empty search box."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from sqlite3 import Connection

from nmem.search import store
from nmem.search.search import search
from nmem.search.text import tokens

_SECONDS = 0.08
_NEWEST = 400
"""Rows that are looked at for what is common in them."""
_WORD = re.compile(r"[^\W\d_]{5,24}\Z")
_PLAIN = re.compile(r"[\w.\-]{3,40}\Z")


@dataclass(frozen=True, slots=True)
class Example:
    """A query, what it asks for in words, and how many hits it has."""

    text: str
    words: str
    found: int
    more: bool


def examples(
    db: Connection, now: int, stopped: Callable[[], bool] | None = None, projects: tuple[int, ...] = ()
) -> list[Example]:  # fmt: skip
    """Queries that find something, in some projects or in all, each of another kind; none while nothing is recorded."""
    out: list[Example] = []
    named, db.row_factory = db.row_factory, None
    try:
        for text, words in _candidates(db):
            if stopped is not None and stopped():
                break
            found = search(db, text, now, limit=1, seconds=_SECONDS, stopped=stopped, projects=projects)
            if found.hits:
                out.append(Example(text, words, found.found, found.more))
    finally:
        db.row_factory = named
    return out


def _candidates(db: Connection) -> Iterator[tuple[str, str]]:
    words = _words(db)
    if words:
        yield " ".join(words[:2]), "both words, in any form"
    if phrase := _phrase(db):
        yield f'"{phrase}"', "these words in this order"
    kind = store.commonest(db, "obs_type", _NEWEST, failed=True)
    if kind:
        yield f"type:{kind} is:failed", "calls of a type that failed"
    path = store.commonest(db, "file_path", _NEWEST).rpartition("/")[2]
    if _PLAIN.match(path):
        yield f"file:{path}", "all that was done with a file"
    yield "type:episode since:7d", "the episodes of the last week"
    yield "type:prompt since:today", "what you asked today"
    yield "type:learning", "what keeps coming back"
    yield "is:pinned", "what you pinned"


def _words(db: Connection) -> list[str]:
    """Two words of a newest prompt that say something: its longest."""
    for text in store.newest_prompts(db):
        found = [word for word in dict.fromkeys(text.split()) if _WORD.match(word)]
        if len(found) > 1:
            longest = sorted(found, key=len, reverse=True)[:2]
            return [word for word in found if word in longest]
    return []


def _phrase(db: Connection) -> str:
    for text in reversed(store.newest_prompts(db)):
        found = text.split()
        for pair in pairwise(found):
            if all(_WORD.match(word) for word in pair) and len(tokens(" ".join(pair))) == len(pair):
                return " ".join(pair)
    return ""
