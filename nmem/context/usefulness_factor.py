"""Weighs an item's score by its past use, within bounds (SQL, on the hook's path)."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from sqlite3 import Connection

LEAST, MOST = 0.4, 1.2
"""An item that never was of use sinks, but a likely one is not silenced by that alone: sessions differ."""
_DOUBT = 2.0
"""Times used, of twice as many given, that every item is credited with: a few sessions move little."""


def factor(given: int, used: int) -> float:
    """LEAST..MOST; 1 for an item of which nothing is known."""
    return min(MOST, max(LEAST, 2.0 * (used + _DOUBT) / (given + 2.0 * _DOUBT)))


def factors(db: Connection, project_id: int, items: Sequence[str]) -> dict[str, float]:
    """Item -> factor, for those that were given before; for any other it is 1. Raises sqlite3.Error."""
    if not items:
        return {}
    marks = ",".join("?" * len(items))
    rows = db.execute(
        f"SELECT item, given, used FROM context_usefulness WHERE project_id = ? AND item IN ({marks})",  # noqa: S608
        (project_id, *items),
    ).fetchall()
    return {item: factor(given, used) for item, given, used in rows}
