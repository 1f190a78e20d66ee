"""Finds sessions dated in the future by a wrong clock, and moves them back to a likely time.

Nobody knows when they really were; known is what was stored before and after them. So the part that lies ahead is moved
back as a whole, to end where the next session begins, or now: what happened in it keeps its order and its distances.
A move is a correction like others: undo puts the same rows back.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from sqlite3 import Connection

from capture.storage.store import transaction
from nmem.audit import WRONG, Finding, store
from nmem.store.corrections import Entry, together, write

KIND = "clock"
AHEAD = 3_600_000
"""Milliseconds by which two clocks may differ."""
_SHOWN = 5


@dataclass(frozen=True, slots=True)
class Ahead:
    """A session with rows ahead of the clock, and how far they go back when it is put right, in ms."""

    session_id: str
    last_at: int
    by: int


def now() -> int:
    """Milliseconds since 1970."""
    return time.time_ns() // 1_000_000


def ahead(db: Connection, at: int) -> list[Ahead]:
    """The sessions that lie after a time, the first stored first."""
    return [Ahead(session_id, last, _by(db, session_id, last, row, at))
            for session_id, last, row in store.sessions_after(db, at + AHEAD)]  # fmt: skip


def _by(db: Connection, session_id: str, last: int, row: int, at: int) -> int:
    """From the end of the session back to the beginning of the next one; its own earlier rows stay before it."""
    before, first, following = store.around(db, session_id, row, at)
    end = min(at, at if following is None else following)
    if before is not None and first is not None:
        end = min(at, max(end, before + 1 + last - first))
    return last - end


def findings(db: Connection, at: int) -> list[Finding]:
    """One finding where a session lies ahead of the clock."""
    found = ahead(db, at)
    if not found:
        return []
    furthest = time.strftime("%Y-%m-%d", time.localtime(max(one.last_at for one in found) / 1000))
    number = "1 session lies" if len(found) == 1 else f"{len(found):,} sessions lie"
    said = f"{number} in the future, up to {furthest}: recorded while the clock was ahead"
    shown = tuple(f"session/{one.session_id}" for one in found[:_SHOWN])
    return [Finding("clock", WRONG, said, "nmem doctor --fix", examples=shown)]


def fix(db: Connection, at: int) -> list[str]:
    """Put them where they belong, a session in a transaction; one undo takes all back. On a writing connection."""
    done = 0
    with together():
        for one in ahead(db, at):
            with transaction(db):
                _move(db, one, at)
            done += 1
    return [f"{done} session{'s' * (done != 1)} brought back from the future"] if done else []


def _move(db: Connection, one: Ahead, at: int) -> None:
    back = store.move_back(db, one.session_id, at, one.by)
    moved = {name: [least, most, _runs(rows)] for name, (least, most, rows) in back.items()}
    write(db, KIND, f"session/{one.session_id}", {"session": one.session_id, "by": one.by}, moved, at)


def _runs(numbers: list[int]) -> list[list[int]]:
    """Rising numbers as first and last of what follows without a gap."""
    out: list[list[int]] = []
    for number in numbers:
        if out and number == out[-1][1] + 1:
            out[-1][1] = number
        else:
            out.append([number, number])
    return out


def ours(entry: Entry) -> bool:
    """Whether a correction is a session brought back from the future."""
    return entry.kind == KIND


def describe(entry: Entry) -> str:
    """What was done."""
    return f"{entry.target.replace('/', ' ', 1)} brought back from the future"


def take_back(db: Connection, entry: Entry, _now: int) -> str:
    """Put back the rows that were moved, as far as they are still as the move left them. Inside a transaction."""
    store.move_forward(db, str(entry.payload["session"]), int(entry.payload["by"]), entry.before)
    return ""
