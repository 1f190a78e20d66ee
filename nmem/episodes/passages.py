"""Closes the open episode when its session ends; saves its state before the client compacts the conversation."""

from __future__ import annotations

from capture.storage.store import transaction
from nmem.episodes import annotate, units

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sqlite3 import Connection

IDLE = 30 * 60_000
"""Milliseconds without an event after which a session counts as over."""
_SUMMARY = 8_000
_HOT = 10


def session_over(db: Connection, session_id: str) -> None:
    """Close what is open in a session. The rest of its annotation is settled later: nobody waits for it."""
    with transaction(db):
        unit = units.latest(db, session_id)
        if unit is not None and unit.state == units.OPEN:
            annotate.update(db, unit)
            units.close(db, unit.id)


def checkpoint(db: Connection, session_id: str, at: int) -> None:
    """Keep what is known of the open episode before the client folds the conversation."""
    from capture.jsonio import dumps, loads  # on use: start-up stays short

    annotate.update_newest(db, session_id)
    with transaction(db):
        unit = units.latest(db, session_id)
        if unit is None:
            return
        hot = loads(unit.hot_files)
        said = db.execute(
            "SELECT substr(content, 1, 2000) FROM prompts WHERE session_id = ? AND source = 'agent' AND at >= ?"
            " AND kind = 'closing' AND agent_id IS NULL ORDER BY at DESC, id DESC LIMIT 1",
            (session_id, unit.started_at),
        ).fetchone()
        asked = db.execute(
            "SELECT substr(content, 1, 2000) FROM prompts WHERE id = ?", (unit.last_prompt_id,)
        ).fetchone()
        kept = {
            "at": at, "intent": unit.intent, "last_prompt": asked[0], "last_said": said[0] if said else None,
            "turns": unit.turn_count, "observations": unit.obs_count, "active_ms": unit.active_ms,
            "hot_files": hot[:_HOT] if isinstance(hot, list) else [], "phase_signature": loads(unit.phase_signature),
            "outcomes": loads(unit.outcomes), "commits": loads(unit.commits),
        }  # fmt: skip
        units.annotated(db, unit.id, {"checkpoint": dumps(kept)})


def compacted(db: Connection, session_id: str) -> None:
    """Keep the client's own summary of the conversation beside the episode that was open."""
    with transaction(db):
        unit = units.latest(db, session_id)
        if unit is None:
            return
        row = db.execute(
            f"SELECT substr(content, 1, {_SUMMARY}) FROM prompts WHERE session_id = ? AND source = 'agent'"  # noqa: S608
            " AND kind = 'summary' ORDER BY at DESC, id DESC LIMIT 1",
            (session_id,),
        ).fetchone()
        if row:
            units.annotated(db, unit.id, {"client_summary": row[0]})


def overdue(db: Connection, now: int, idle: int = IDLE) -> list[str]:
    """Sessions that are over without having said so, and still have an open episode."""
    found = db.execute(
        "SELECT DISTINCT s.id FROM work_units u JOIN sessions s ON s.id = u.session_id WHERE u.state = 'open'"
        " AND (s.last_at < ? OR s.state = 'ended')",
        (now - idle,),
    )
    return [row[0] for row in found]
