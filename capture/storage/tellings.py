"""Matches a hook's and a transcript's report of one call when it has no id, so that it is stored once.

Such a key is `<words>.<time>`, with a mark behind the time when a transcript told it. A report that was recognised as
another's is remembered beside the row as `<key>=<the other's time>`, so that it is recognised again, and that the next
equal call finds a partner of its own.
"""

from __future__ import annotations

from capture.keys import WRITTEN
from capture.storage import store

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sqlite3 import Connection

    from capture.event import Observation, Prompt

CALL_WITHIN = 10_000
"""Milliseconds by which a hook and a transcript may differ about the same call."""
SESSION_WITHIN = 60_000
"""The same for the start of a session: compacting takes its time."""
TWICE = 2_000
"""Milliseconds in which a second equal report of a hook is the same: it is registered twice."""


class _Telling:
    """One report: when it says that it was, who told it, the row that it is, and the time of its partner."""

    __slots__ = ("at", "key", "partner", "row", "written")

    def __init__(self, tail: str, row: int, key: str) -> None:
        time, _, partner = tail.partition("=")
        self.at = int(time.removesuffix(WRITTEN))
        self.written = time.endswith(WRITTEN)
        self.partner = int(partner or 0)
        self.row = row
        self.key = key


def known(db: Connection, session_id: str, seen: Observation) -> bool:
    """Whether a call or a session's start without an id is stored already; then it takes the key of its row."""
    words, _, tail = seen.dedup_key.rpartition(".")
    if not tail.removesuffix(WRITTEN).isdecimal():
        return False
    mine = _Telling(tail, 0, "")
    start = len(words) + 1
    told = [_Telling(key[start:], row, own) for key, row, own in store.told(db, session_id, words)]
    session = words.startswith("s:")
    again = 0 if mine.written and not session else TWICE
    for one in told:
        near = one.written == mine.written and abs(one.at - mine.at) <= again
        if near and not (session and store.spoken_between(db, session_id, one.at, mine.at)):
            seen.dedup_key = one.key
            return True
    other = _partner(told, mine, SESSION_WITHIN if session else CALL_WITHIN)
    if other is None:
        return False
    store.same_as(db, session_id, f"{seen.dedup_key}={other.at}", other.row)
    seen.dedup_key = other.key
    return True


def same_closing(db: Connection, session_id: str, prompt: Prompt) -> bool:
    """Whether a closing without a turn's id is stored already, in other words: all texts of a turn in one, or the last.

    A client's hook may join what its transcript keeps apart. The last text alone is what stays.
    """
    words = prompt.content.strip()
    for row, at, content in store.last_closings(db, session_id):
        stored = content.strip()
        if not stored.endswith(words) and not words.endswith(stored):
            continue
        if store.spoken_between(db, session_id, at, prompt.at):
            continue
        if len(words) < len(stored):
            store.reword(db, row, prompt.content, prompt.dedup_key)
        return True
    return False


def _partner(told: list[_Telling], mine: _Telling, within: int) -> _Telling | None:
    """The first report of the other side, at about the same time, that has no partner yet."""
    taken = {one.partner for one in told if one.written == mine.written}
    free = [
        one
        for one in told
        if one.written != mine.written and not one.partner and one.at not in taken and abs(one.at - mine.at) <= within
    ]
    return min(free, key=lambda one: one.at, default=None)
