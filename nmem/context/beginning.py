"""Decides, before its first prompt, whether a session continues earlier work (on the hook's path).

Nobody has asked for anything yet. What was worked on last in a project is, seven times in eight, not what the next
session is about, and the prompt that follows in a moment selects better. So without a sign nothing but pins is told.
A session that is resumed still knows what it was at: it is told what others did to its files meanwhile.
"""

from __future__ import annotations

from capture.jsonio import loads
from nmem.context import selection_store
from nmem.context.episodes import MOST, tell
from nmem.threads.config import TRUNKS
from nmem.threads.continuity import CHOSEN, proposed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from sqlite3 import Connection

    from nmem.context.items import Item
    from nmem.context.present import Present

SESSIONS = 60
"""The newest sessions of a project among which one on the same branch is looked for."""


def goes_on(db: Connection, present: Present) -> str:
    """What says that a session goes on with earlier work, in words; empty when nothing does."""
    if proposed(db, present.session_id, present.at)[1] == CHOSEN:
        return "the thread was chosen"
    where = present.project_id, present.session_id, present.branch
    if present.branch and present.branch not in TRUNKS and selection_store.worked_on(db, *where, SESSIONS):
        return f"earlier work on branch {present.branch}"
    return ""


def meanwhile(db: Connection, present: Present) -> list[Item]:
    """Episodes of other sessions that edited this one's files since it last spoke, the newest first."""
    mine = set(present.hot_files)
    _, left, _ = selection_store.spoke(db, present.session_id)
    if left is None or not mine:
        return []
    found = selection_store.since(db, present.project_id, present.session_id, left, SESSIONS)
    shared = {number: files for number, hot in found if (files := _edited(hot, mine))}
    rows = selection_store.units(db, list(shared)[:MOST]) if shared else []
    return [
        tell(row, present.at, 0.8, f"it edited {shared[row[0]][0]} while this session was away",
             unsaid=present.unsaid, files=shared[row[0]])
        for row in sorted(rows, key=_at, reverse=True)
    ]  # fmt: skip


def _at(row: Sequence[object]) -> int:
    return int(str(row[2]))


def _edited(hot: str, mine: set[str]) -> tuple[str, ...]:
    """Which of a session's files another episode edited, by what is counted of it."""
    found = loads(hot)
    each = [one for one in found if isinstance(one, dict)] if isinstance(found, list) else []
    return tuple(str(one["path"]) for one in each if one.get("edits") and one.get("path") in mine)
