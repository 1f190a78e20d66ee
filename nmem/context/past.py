"""Reads what sessions were told, what they used of it, and the effect against sessions told nothing (SQL)."""

from __future__ import annotations

import json
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from sqlite3 import Connection
from typing import Any

from nmem.intervals import bootstrap

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


_FROM = (
    "FROM injections j JOIN sessions s ON s.id = j.session_id LEFT JOIN prompts p ON p.id = j.prompt_id"
    " WHERE j.text != ''"
)
_COLUMNS = (
    "SELECT j.id, j.at, j.session_id, j.client, j.event, coalesce(substr(p.content, 1, 400), ''), j.reason, j.tokens,"
    " j.withheld, (SELECT count(*) FROM injection_items i WHERE i.injection_id = j.id AND i.kind != 'ask'),"
    " (SELECT count(*) FROM injection_items i WHERE i.injection_id = j.id AND i.used = 1),"
    " (SELECT count(*) FROM injection_items i WHERE i.injection_id = j.id AND i.used = 0)"
)


def past(db: Connection, project_id: int, limit: int = LIMIT) -> Past:
    """What was told in a project. Raises sqlite3.Error."""
    rows = db.execute(
        f"{_COLUMNS} {_FROM} AND s.project_id = ? ORDER BY j.at DESC, j.id DESC LIMIT ?",
        (project_id, limit),
    ).fetchall()
    tellings, sessions = db.execute(
        "SELECT count(*), count(DISTINCT j.session_id) FROM sessions s CROSS JOIN injections j ON j.session_id = s.id"
        " WHERE s.project_id = ? AND j.text != ''",
        (project_id,),
    ).fetchone()
    items, used, unused = db.execute(
        "SELECT count(*), total(i.used = 1), total(i.used = 0) FROM sessions s CROSS JOIN injections j"
        " ON j.session_id = s.id CROSS JOIN injection_items i ON i.injection_id = j.id"
        " WHERE s.project_id = ? AND j.text != '' AND NOT j.withheld AND i.kind != 'ask'",
        (project_id,),
    ).fetchone()
    return Past(tuple(_told(tuple(row)) for row in rows), tellings, sessions, items, int(used), int(unused))


def telling(db: Connection, number: int) -> Telling | None:
    """One text with its items; None when it is not there. Raises sqlite3.Error."""
    row = db.execute(f"{_COLUMNS}, j.text {_FROM} AND j.id = ?", (number,)).fetchone()
    if row is None:
        return None
    found = db.execute(
        "SELECT item, kind, score, reason, text, files, tokens, used, used_how, used_at FROM injection_items"
        " WHERE injection_id = ? ORDER BY position",
        (number,),
    ).fetchall()
    values = tuple(row)
    return Telling(_told(values[:-1]), str(values[-1]), tuple(_item(tuple(each)) for each in found))


def _told(row: tuple[Any, ...]) -> Told:
    number, at, session_id, client, event, prompt, reason, size, withheld, items, used, unused = row
    return Told(
        number, at, session_id, client, event, prompt, reason, size, bool(withheld), items, used, unused
    )  # fmt: skip


def _item(row: tuple[Any, ...]) -> ToldItem:
    item, kind, score, reason, text, files, tokens, used, how, at = row
    return ToldItem(
        item, kind, score, reason, text, _files(files), tokens, None if used is None else bool(used), how or "", at
    )


def _files(stored: str) -> tuple[str, ...]:
    try:
        found = json.loads(stored or "[]")
    except ValueError:
        return ()
    return tuple(str(each) for each in found) if isinstance(found, list) else ()


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
    begun = db.execute("SELECT min(at) FROM injections WHERE withheld").fetchone()[0]
    rows = db.execute(
        "SELECT s.id, max(j.withheld), min(s.started_at) >= ? FROM injections j JOIN sessions s ON s.id = j.session_id"
        " WHERE j.text != '' AND EXISTS (SELECT 1 FROM injection_items WHERE injection_id = j.id AND kind != 'ask')"
        " AND (? IS NULL OR s.project_id = ?) GROUP BY s.id ORDER BY s.started_at, s.id",
        ((begun or 1 << 62) - 60_000, project_id, project_id),
    ).fetchall()
    told = [session_id for session_id, withheld, since in rows if since and not withheld]
    without = [session_id for session_id, withheld, _ in rows if withheld]
    groups = _group(db, told, 0), _group(db, without, 1)
    late = db.execute("SELECT value FROM counters WHERE name = 'context_late'").fetchone()
    ranges = {name: _range(groups[0].figures[name], groups[1].figures[name]) for name in MEASURES}
    before = sum(1 for _, withheld, since in rows if not since and not withheld)
    return Effect(groups[0], groups[1], before, late[0] if late else 0, ranges)


def _group(db: Connection, sessions: Sequence[str], withheld: int) -> Group:
    found = [_figures(db, each) for each in sessions]
    items, used = 0, 0
    for each in sessions:
        known, good = db.execute(
            "SELECT count(i.used), total(i.used) FROM injections j JOIN injection_items i ON i.injection_id = j.id"
            " WHERE j.session_id = ? AND j.withheld = ?",
            (each, withheld),
        ).fetchone()
        items, used = items + known, used + int(good)
    figures = {name: tuple(one[at] for one in found) for at, name in enumerate(MEASURES)}
    return Group(len(sessions), figures, items, used)


def _figures(db: Connection, session_id: str) -> tuple[int, int, int]:
    """What a person asked, calls that failed, and files read again without having changed in between."""
    turns = db.execute(
        "SELECT count(*) FROM prompts WHERE session_id = ? AND source = 'user' AND kind = 'prompt'", (session_id,)
    ).fetchone()[0]
    failures, rereads = 0, 0
    seen: set[str] = set()
    for kind, path, outcome, repeats in db.execute(
        "SELECT obs_type, file_path, outcome, repeats FROM observations WHERE session_id = ? ORDER BY seq",
        (session_id,),
    ):
        failures += outcome == "failed"
        if kind == "file_read" and path:
            rereads += repeats + (path in seen)
            seen.add(path)
        elif kind in ("file_edit", "file_write"):
            seen.discard(path)
    return turns, failures, rereads


def _range(told: Sequence[int], without: Sequence[int]) -> tuple[float, float] | None:
    """Between which values told minus without lies in nine of ten redrawn samples; always the same draws."""
    if not told or not without:
        return None
    return bootstrap(
        lambda dice: (
            statistics.fmean(dice.choices(told, k=len(told))) - statistics.fmean(dice.choices(without, k=len(without)))
        )
    )
