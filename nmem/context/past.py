"""Reads what sessions were told, what they used of it, and the effect against sessions told nothing."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from sqlite3 import Connection
from typing import Any

from nmem.context import review_store
from nmem.intervals import bootstrap
from nmem.text import json_list

LIMIT = 200


@dataclass(frozen=True, slots=True)
class Told:
    """One text that a session was given, or would have been."""

    id: int
    at: int
    session_id: str
    client: str
    event: str
    """startup resume clear compact fork (why the session started), or prompt."""
    prompt: str
    """The beginning of what was asked; empty at a start."""
    reason: str
    """Why something was told then."""
    tokens: int
    withheld: bool
    """Kept back, to see what difference telling makes."""
    items: int
    """Without the line that says that the memory can be asked: nobody judges whether that was of use."""
    used: int
    unused: int

    @property
    def undecided(self) -> int:
        """Items of which it is not known yet."""
        return self.items - self.used - self.unused


@dataclass(frozen=True, slots=True)
class ToldItem:
    """One thing in it."""

    id: str
    kind: str
    score: float
    reason: str
    text: str
    files: tuple[str, ...]
    tokens: int
    used: bool | None
    """None: not known yet."""
    how: str
    """By what it was of use, in words."""
    used_at: int | None


@dataclass(frozen=True, slots=True)
class Telling:
    """The exact text and its items."""

    told: Told
    text: str
    items: tuple[ToldItem, ...]


@dataclass(frozen=True, slots=True)
class Past:
    """A project's newest tellings, and how many there are in all."""

    found: tuple[Told, ...]
    tellings: int
    sessions: int
    items: int
    used: int
    unused: int


def past(db: Connection, project_id: int, limit: int = LIMIT) -> Past:
    """What was told in a project. Raises sqlite3.Error."""
    rows = review_store.tellings(db, project_id, limit)
    return Past(tuple(_told(row) for row in rows), *review_store.counted(db, project_id))


def telling(db: Connection, number: int) -> Telling | None:
    """One text with its items; None when it is not there. Raises sqlite3.Error."""
    row = review_store.telling(db, number)
    if row is None:
        return None
    return Telling(_told(row[:-1]), str(row[-1]), tuple(_item(each) for each in review_store.items(db, number)))


def _told(row: tuple[Any, ...]) -> Told:
    number, at, session_id, client, event, prompt, reason, size, withheld, *items = row
    return Told(number, at, session_id, client, event, prompt, reason, size, bool(withheld), *items)


def _item(row: tuple[Any, ...]) -> ToldItem:
    item, kind, score, reason, text, files, tokens, used, how, at = row
    named, good = tuple(map(str, json_list(files))), None if used is None else bool(used)
    return ToldItem(item, kind, score, reason, text, named, tokens, good, how or "", at)


FEW = 20
"""Sessions in each group below which a difference says nothing."""
MEASURES = ("turns", "failures", "rereads")


@dataclass(frozen=True)
class Group:
    """Sessions of one kind."""

    sessions: int
    figures: dict[str, tuple[int, ...]]
    """Each session's, by measure."""
    items: int
    """Of which it is known whether they were of use."""
    used: int

    def mean(self, measure: str) -> float | None:
        """The mean of a measure, if there is anything to take it of."""
        found = self.figures[measure]
        return statistics.fmean(found) if found else None

    @property
    def use(self) -> float | None:
        """The part of the items that the sessions came to use: of those kept without, that they would have."""
        return self.used / self.items if self.items else None


@dataclass(frozen=True)
class Effect:
    """The two groups, and between which values the difference of means lies nine times in ten."""

    told: Group
    without: Group
    told_before: int
    """Sessions that were told something before any was kept without: not compared."""
    late: int
    """Selections that took too long, so that nothing was said."""
    ranges: dict[str, tuple[float, float] | None]

    @property
    def enough(self) -> bool:
        """Whether both groups are large enough for a difference to say something."""
        return min(self.told.sessions, self.without.sessions) >= FEW

    def verdict(self, measure: str) -> str:
        """In words, what a measure says."""
        found = self.ranges[measure]
        if not self.enough or found is None:
            return "too few sessions to say"
        low, high = found
        if low <= 0.0 <= high:
            return "no difference that chance would not make"
        return "fewer when told" if high < 0.0 else "more when told"


def effect(db: Connection, project_id: int | None = None) -> Effect:
    """Compare, over all projects or one. Raises sqlite3.Error."""
    rows = review_store.compared(db, project_id)
    told = [session_id for session_id, withheld, since in rows if since and not withheld]
    without = [session_id for session_id, withheld, _ in rows if withheld]
    groups = _group(db, told, 0), _group(db, without, 1)
    ranges = {name: _range(groups[0].figures[name], groups[1].figures[name]) for name in MEASURES}
    before = sum(1 for _, withheld, since in rows if not since and not withheld)
    return Effect(groups[0], groups[1], before, review_store.late(db), ranges)


def _group(db: Connection, sessions: Sequence[str], withheld: int) -> Group:
    found = [_figures(db, each) for each in sessions]
    judged = [review_store.judged(db, each, withheld) for each in sessions]
    figures = {name: tuple(one[at] for one in found) for at, name in enumerate(MEASURES)}
    return Group(len(sessions), figures, sum(known for known, _ in judged), sum(used for _, used in judged))


def _figures(db: Connection, session_id: str) -> tuple[int, int, int]:
    """What a person asked, calls that failed, and files read again without having changed in between."""
    failures, rereads = 0, 0
    seen: set[str] = set()
    for kind, path, outcome, repeats in review_store.calls(db, session_id):
        failures += outcome == "failed"
        if kind == "file_read" and path:
            rereads += repeats + (path in seen)
            seen.add(path)
        elif kind in ("file_edit", "file_write"):
            seen.discard(path)
    return review_store.asked(db, session_id), failures, rereads


def _range(told: Sequence[int], without: Sequence[int]) -> tuple[float, float] | None:
    """Between which values told minus without lies in nine of ten redrawn samples; always the same draws."""
    if not told or not without:
        return None
    return bootstrap(
        lambda dice: (
            statistics.fmean(dice.choices(told, k=len(told))) - statistics.fmean(dice.choices(without, k=len(without)))
        )
    )
