"""SQL: reads a session's last calls, as far as labels need them."""

from __future__ import annotations

from capture.event import FAILED
from capture.labels.calls import NOT_CALLS, WINDOW, Call
from capture.labels.commands import HEAD, TAIL

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sqlite3 import Connection

    from capture.event import Observation

_LOOKED = 24
"""Rows that are looked through for the calls of one agent: others work beside it."""
COLUMNS = (
    "obs_type, coalesce(tool_name, ''), coalesce(file_path, ''),"
    f" iif(length(content) <= {HEAD + TAIL}, content,"
    f" substr(content, 1, {HEAD}) || char(10) || substr(content, -{TAIL})),"
    " outcome = 'failed' OR coalesce(instr(metadata, '\"refused\":'), 0) > 0"
)
"""What a Call is made of, as SQL over observations."""


def call_of(seen: Observation) -> Call:
    """An observation as the classifiers see it."""
    failed = seen.outcome == FAILED or "refused" in seen.metadata
    return Call(seen.obs_type, seen.tool_name, seen.file_path or "", seen.content, failed)


def last_calls(db: Connection, session_id: str, agent_id: str, at: int, below: int = 1 << 62) -> list[Call]:
    """The calls of one agent in a session until a moment (and below a number), newest first, at most WINDOW."""
    rows = db.execute(
        f"SELECT coalesce(agent_id, ''), {COLUMNS} FROM observations"  # noqa: S608 - our columns
        " WHERE session_id = ? AND at <= ? AND seq < ? ORDER BY at DESC, seq DESC LIMIT ?",
        (session_id, at, below, _LOOKED),
    ).fetchall()
    kept = [row for row in rows if row[0] == agent_id and row[1] not in NOT_CALLS][:WINDOW]
    return [Call(kind, tool, path, text, bool(failed)) for _, kind, tool, path, text, failed in kept]
