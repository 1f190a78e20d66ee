"""Picks few-shot examples for a model from a person's corrections (decided prompts, renamed episodes).

A line says of two prompts that follow each other whether they are one unit of work, or what the person calls a unit.
Only ids are kept in the history; lines are made of what is stored at the time of asking, so that what was purged, taken
back or decided otherwise since is not told.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from sqlite3 import Connection
from typing import Any

from nmem.episodes.narrate.prose import clip
from nmem.training import store

SUBJECT = "question"
NEW, SAME, TITLE = "new", "same", "title"
MOST = 3
"""Examples of each kind that are shown."""
WORDS = 56
"""Characters of a prompt or title in an example."""
_POOL = 200


@dataclass(frozen=True, slots=True)
class Example:
    """One line, of what, and what the person did there."""

    kind: str
    number: int
    """The prompt; of a title the episode."""
    session_id: str
    line: str
    title: str = ""
    """What the person calls the episode."""


def pool(db: Connection) -> list[Example]:
    """All that could be shown: what was cut or joined by hand before what was confirmed, the newest first."""
    out = []
    for number, session_id, text, opens, before in store.decided(db, _POOL):
        if before and text.strip():
            end = "another unit" if opens else "the same unit"
            line = f"after “{_short(before)}” came “{_short(text)}”: {end}"
            out.append(Example(NEW if opens else SAME, number, session_id, line))
    for number, session_id, text, title in store.renamed(db, _POOL):
        line = f"what began with “{_short(text)}” is called “{_short(title)}”"
        out.append(Example(TITLE, number, session_id, line, title))
    return out


def chosen(found: Iterable[Example], without: Collection[str] = ()) -> list[Example]:
    """At most `MOST` of each kind, of no session in `without`; none that says the same as another."""
    out: dict[str, Example] = {}
    counts = {NEW: 0, SAME: 0, TITLE: 0}
    for one in found:
        if one.session_id not in without and counts[one.kind] < MOST and one.line not in out:
            out[one.line] = one
            counts[one.kind] += 1
    return list(out.values())


def lines(found: Sequence[Example]) -> tuple[str, ...]:
    """As they are shown."""
    return tuple(one.line for one in found)


def in_force(db: Connection) -> tuple[str, ...]:
    """The lines that are shown now: those adopted last, as far as they still hold. Raises sqlite3.Error."""
    kept = adopted(db)
    return lines([one for one in pool(db) if one.number in kept.get(one.kind, ())]) if kept else ()


def adopted(db: Connection) -> dict[str, list[int]]:
    """The ids of the examples adopted last, by kind; empty when none are."""
    return {kind: ids for kind, ids in store.latest(db, SUBJECT).items() if ids}


def note(db: Connection, now: int, after: dict[str, list[int]], reason: str, metrics: dict[str, Any]) -> None:
    """Add to the history, and thereby put `after` in force; inside the caller's transaction."""
    store.note(db, SUBJECT, store.Fitting(now, adopted(db), after, reason, metrics))


def _short(text: str) -> str:
    """The beginning of a text on one line, cut between words."""
    return clip(" ".join(text.split()), WORDS)
