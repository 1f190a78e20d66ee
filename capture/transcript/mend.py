"""What a transcript knows better than a hook: how a call ended, and which calls without an id are already stored."""

from __future__ import annotations

from capture import keys
from capture.event import UNKNOWN, Event

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sqlite3 import Connection

    from capture.event import Batch, Observation

_STORED = (
    "SELECT dedup_key FROM observations WHERE session_id = ?1 AND dedup_key IN (?2, ?3, ?4)"
    " UNION ALL SELECT dedup_key FROM merged_keys WHERE session_id = ?1 AND dedup_key IN (?2, ?3, ?4)"
)
_NEAR = 60_000


def neighbours(event: Event) -> tuple[str, ...]:
    """The keys that a call without an id has when the other reporter's clock stood a little earlier or later."""
    if event.tool_use_id or not event.tool_name:
        return ()
    at, out = event.at, []
    for shift in (-keys.PROMPT_BUCKET, keys.PROMPT_BUCKET):
        event.at = at + shift
        out.append(keys.tool(event))
    event.at = at
    return tuple(out)


Near = dict[str, tuple[str, ...]]
"""The key of a call without an id -> the keys that it may be stored under."""


def align(db: Connection, batch: Batch, near: Near) -> None:
    """Give calls the keys that a hook stored them under, if one did."""
    for observation in batch.observations:
        keys = near.get(observation.dedup_key)
        row = keys and db.execute(_STORED, (batch.session_id, observation.dedup_key, *keys)).fetchone()
        if row:
            observation.dedup_key = row[0]


def told(db: Connection, session_id: str, observation: Observation) -> bool:
    """Whether a hook told of this start, clear or compaction, at about the same time."""
    return bool(
        db.execute(
            "SELECT 1 FROM observations WHERE session_id = ? AND obs_type = ? AND at BETWEEN ? AND ?",
            (session_id, observation.obs_type, observation.at - _NEAR, observation.at + _NEAR),
        ).fetchone()
    )


def order(db: Connection, session_id: str, called: list[str]) -> None:
    """Give the calls of a transcript the order in which they were made: hooks of parallel calls arrive as they like."""
    marks = ", ".join("?" * len(called))
    rows = db.execute(
        f"SELECT tool_use_id, id, seq, at FROM observations WHERE session_id = ? AND tool_use_id IN ({marks})"  # noqa: S608 - marks only
        " ORDER BY seq",
        (session_id, *called),
    ).fetchall()
    place = {tool_use_id: number for number, tool_use_id in enumerate(called)}
    places = [(seq, at) for _, _, seq, at in rows]
    times = sorted(at for _, at in places)
    for number, row in enumerate(sorted(rows, key=lambda row: place[row[0]])):
        seq, at = places[number][0], times[number]
        if (seq, at) != row[2:]:
            db.execute("UPDATE observations SET seq = ?, at = ? WHERE id = ?", (seq, at, row[1]))


def outcomes(db: Connection, batch: Batch) -> None:
    """A call that a hook stored without knowing how it ended takes the transcript's word for it."""
    for o in batch.observations:
        if o.outcome != UNKNOWN:
            db.execute(
                "UPDATE observations SET outcome = ?, exit_code = coalesce(exit_code, ?),"
                " duration_ms = coalesce(duration_ms, ?) WHERE session_id = ?"
                " AND dedup_key = ? AND outcome = 'unknown'",
                (o.outcome, o.exit_code, o.duration_ms, batch.session_id, o.dedup_key),
            )
