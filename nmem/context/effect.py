"""Measures whether context helps (SQL): sessions that were told something, compared with held-out ones.

Only sessions from the first that was kept without are compared, and of those only the ones for which there was
something to tell: the others differ in more than the telling. That the memory can be asked is no such thing.
"""

from __future__ import annotations

import random
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from sqlite3 import Connection

FEW = 20
"""Sessions in each group below which a difference says nothing."""
_DRAWS = 2000
MEASURES = ("turns", "failures", "rereads")


@dataclass(frozen=True)
class Group:
    """Sessions of one kind, and each one's figures."""

    sessions: int
    turns: tuple[int, ...]
    failures: tuple[int, ...]
    rereads: tuple[int, ...]
    items: int
    """Of which it is known whether they were of use."""
    used: int

    def mean(self, measure: str) -> float | None:
        """The mean of a measure, if there is anything to take it of."""
        found = getattr(self, measure)
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
    ranges = {name: _range(getattr(groups[0], name), getattr(groups[1], name)) for name in MEASURES}
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
    turns, failures, rereads = (tuple(one[at] for one in found) for at in range(3))
    return Group(len(sessions), turns, failures, rereads, items, used)


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
    dice = random.Random(1)  # noqa: S311 - no secret
    found = sorted(
        statistics.fmean(dice.choices(told, k=len(told))) - statistics.fmean(dice.choices(without, k=len(without)))
        for _ in range(_DRAWS)
    )
    return found[int(_DRAWS * 0.05)], found[int(_DRAWS * 0.95)]
