"""Corrects stored rows by the transcript: the order of parallel calls, and how a call ended."""

from __future__ import annotations

from capture.event import UNKNOWN

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sqlite3 import Connection

    from capture.event import Batch


def order(db: Connection, session_id: str, called: list[str]) -> None:
    """Give the calls of a transcript the order in which they were made: hooks of parallel calls arrive as they like.

    A call's key is its id, and keys are indexed within a session.
    """
    marks = ", ".join("?" * len(called))
    rows = db.execute(
        f"SELECT tool_use_id, id, seq, at FROM observations WHERE session_id = ? AND dedup_key IN ({marks})"  # noqa: S608 - marks only
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
