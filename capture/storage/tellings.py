"""Matches a hook's and a transcript's report of one call when it has no id, so that it is stored once.

Such a key is `<words>.<time>`, with a mark behind the time when a transcript told it. A report that was recognised as
another's is remembered beside the row as `<key>=<the other's time>`, so that it is recognised again, and that the next
equal call finds a partner of its own.
"""

from __future__ import annotations

from capture.keys import WRITTEN

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
_TOLD = (
    "SELECT dedup_key, id, dedup_key FROM observations WHERE session_id = ?1 AND dedup_key >= ?2 AND dedup_key < ?3"
    " UNION ALL SELECT m.dedup_key, o.id, o.dedup_key FROM merged_keys m JOIN observations o ON o.id = observation_id"
    " WHERE m.session_id = ?1 AND m.dedup_key >= ?2 AND m.dedup_key < ?3"
)


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
    rows = db.execute(_TOLD, (session_id, words + ".", words + "/")).fetchall()
    told = [_Telling(key[start:], row, own) for key, row, own in rows]
    session = words.startswith("s:")
    again = 0 if mine.written and not session else TWICE
    for one in told:
        near = one.written == mine.written and abs(one.at - mine.at) <= again
        if near and not (session and spoken_between(db, session_id, one.at, mine.at)):
            seen.dedup_key = one.key
            return True
    other = _partner(told, mine, SESSION_WITHIN if session else CALL_WITHIN)
    if other is None:
        return False
    db.execute("INSERT INTO merged_keys VALUES (?, ?, ?)", (session_id, f"{seen.dedup_key}={other.at}", other.row))
    seen.dedup_key = other.key
    return True


def spoken_between(db: Connection, session_id: str, at: int, other: int) -> bool:
    """Whether anybody spoke to the agent between two moments."""
    return bool(
        db.execute(
            "SELECT 1 FROM prompts WHERE session_id = ? AND source IN ('user', 'machine') AND at > ? AND at < ?",
            (session_id, min(at, other), max(at, other)),
        ).fetchone()
    )


def same_closing(db: Connection, session_id: str, prompt: Prompt) -> bool:
    """Whether a closing without a turn's id is stored already, in other words: all texts of a turn in one, or the last.

    A client's hook may join what its transcript keeps apart. The last text alone is what stays.
    """
    rows = db.execute(
        "SELECT id, at, content FROM prompts WHERE session_id = ? AND source = 'agent' AND kind = 'closing'"
        " AND agent_id IS NULL AND native_id IS NULL ORDER BY at DESC LIMIT 3",  # by the index, however long it is
        (session_id,),
    ).fetchall()
    words = prompt.content.strip()
    for row, at, content in rows:
        stored = content.strip()
        if not stored.endswith(words) and not words.endswith(stored):
            continue
        if spoken_between(db, session_id, at, prompt.at):
            continue
        if len(words) < len(stored):
            db.execute(
                "UPDATE OR IGNORE prompts SET content = ?, dedup_key = ? WHERE id = ?",
                (prompt.content, prompt.dedup_key, row),
            )
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
