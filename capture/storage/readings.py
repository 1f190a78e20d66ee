"""Stores the model, context window and cost that the status line reports of a session, if they changed.

Each function runs in the caller's transaction, or is one statement. SQL stands here as in the rest of storage.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sqlite3 import Connection

PAUSE = 5_000
"""Milliseconds between two writes for the cost alone; another figure is written at once."""
_COLUMNS = ("model", "window_size", "tokens", "cost_usd")


class Told:
    """What a status line was told of a session. `tokens` None: no answer yet, or just compacted."""

    __slots__ = ("cost_usd", "model", "session_id", "tokens", "window_size")

    def __init__(self, session_id: str) -> None:
        self.session_id = session_id
        self.model: str | None = None
        self.window_size: int | None = None
        self.tokens: int | None = None
        self.cost_usd: float | None = None


def told(db: Connection, now: Told, at: int) -> bool:
    """Store what the status line was told, if it says anything new; whether anything was written.

    Nothing is kept of a session that no hook has reported. Raises sqlite3.Error, at once when the database is locked.
    """
    from capture.storage.sessions import note  # on use: start-up stays short
    from capture.storage.store import transaction

    row = db.execute(
        f"SELECT at, {', '.join(_COLUMNS)} FROM status_lines WHERE session_id = ?",  # noqa: S608 - our names
        (now.session_id,),
    ).fetchone()
    values = (now.model, now.window_size, now.tokens, now.cost_usd)
    if row is not None and (row[1:] == values or (row[1:4] == values[:3] and 0 <= at - row[0] < PAUSE)):
        return False
    if db.execute("SELECT 1 FROM sessions WHERE id = ?", (now.session_id,)).fetchone() is None:
        return False
    with transaction(db):
        db.execute(
            "INSERT INTO status_lines VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (session_id) DO UPDATE SET"
            " at = excluded.at, model = excluded.model, window_size = excluded.window_size,"
            " tokens = excluded.tokens, cost_usd = excluded.cost_usd",
            (now.session_id, at, *values),
        )
        if now.tokens is not None and (row is None or row[3] != now.tokens):
            note(db, now.session_id, at, now.tokens)
    return True
