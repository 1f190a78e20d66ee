"""Records what a session was told, or would have been (SQL, on the hook's path); no other module does."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from sqlite3 import Connection

    from nmem.context.items import Item

AGAIN = 10_000
"""Milliseconds within which the same start told again is the same start: hooks may be registered twice."""


FAILURE, CALL = "failure", "call"
"""The events of what is told at the point of action: each thing once, as long as the conversation has it."""


class Injection:
    """What is about to be told, to whom, and why now."""

    __slots__ = ("at", "client", "event", "items", "prompt_id", "reason", "session_id", "text", "unit_id", "withheld")

    def __init__(self, session_id: str, at: int, event: str, client: str) -> None:
        self.session_id = session_id
        self.at = at
        self.event = event
        """startup resume clear compact fork (why the session started), prompt, failure or call."""
        self.client = client
        self.prompt_id: int | None = None
        self.unit_id: int | None = None
        self.items: Sequence[Item] = ()
        self.text = ""
        self.withheld = False
        self.reason = ""


def store(db: Connection, one: Injection) -> bool:
    """Keep an injection with its items; False when it has been told already. Raises sqlite3.Error."""
    from capture.jsonio import dumps
    from capture.storage.store import transaction
    from nmem.context.items import tokens

    with transaction(db):
        if _told(db, one):
            return False
        number = db.execute(
            "INSERT INTO injections (at, session_id, event, client, prompt_id, unit_id, text, tokens, withheld, reason)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (one.at, one.session_id, one.event, one.client, one.prompt_id, one.unit_id, one.text,
             tokens(one.text) if one.text else 0, int(one.withheld), one.reason),
        ).lastrowid  # fmt: skip
        db.executemany(
            "INSERT INTO injection_items (injection_id, position, item, kind, score, reason, text, files, tokens)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            [
                (number, at, item.id, item.kind, item.score, item.reason, item.text, dumps(list(item.files)),
                 item.tokens)
                for at, item in enumerate(one.items)
            ],
        )  # fmt: skip
    return True


def _told(db: Connection, one: Injection) -> bool:
    """Whether the same prompt, or the same start, was answered: by a hook that is registered twice; or a thing told."""
    if one.event in (FAILURE, CALL):
        from nmem.context.given import since

        row = db.execute(
            "SELECT 1 FROM injections j JOIN injection_items i ON i.injection_id = j.id"
            " WHERE j.session_id = ? AND j.id >= ? AND i.item = ?",
            (one.session_id, since(db, one.session_id), one.items[0].id),
        ).fetchone()
    elif one.prompt_id is not None:
        row = db.execute("SELECT 1 FROM injections WHERE prompt_id = ?", (one.prompt_id,)).fetchone()
    else:
        row = db.execute(
            "SELECT 1 FROM injections WHERE session_id = ? AND at > ? AND event = ? AND prompt_id IS NULL",
            (one.session_id, one.at - AGAIN, one.event),
        ).fetchone()
    return row is not None
