"""Records what a session was told, and reads what of it is in its context window (SQL, on the hook's path)."""

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

    __slots__ = ("at", "client", "event", "items", "prompt_id", "reason", "session_id", "text", "unit_id", "until",
                 "withheld")  # fmt: skip

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
        self.until = 0
        """When it must be decided, by the machine's clock in ns; 0: nobody waits."""
        self.reason = ""


def store(db: Connection, one: Injection) -> bool:
    """Keep an injection with its items; False when it has been told already. Raises sqlite3.Error."""
    from capture.jsonio import dumps  # on use: start-up stays short
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
        row = db.execute(
            "SELECT 1 FROM injections j JOIN injection_items i ON i.injection_id = j.id"
            " WHERE j.session_id = ? AND j.id >= ? AND i.item = ?",
            (one.session_id, folded(db, one.session_id)[0], one.items[0].id),
        ).fetchone()
    elif one.prompt_id is not None:
        row = db.execute("SELECT 1 FROM injections WHERE prompt_id = ?", (one.prompt_id,)).fetchone()
    else:
        row = db.execute(
            "SELECT 1 FROM injections WHERE session_id = ? AND at > ? AND event = ? AND prompt_id IS NULL",
            (one.session_id, one.at - AGAIN, one.event),
        ).fetchone()
    return row is not None


COMPACT = "compact"
"""The event of an injection after which whatever was told before is gone from the conversation."""

LATE = "late"
"""The reason of one that was not ready in time: nothing was told."""


def folded(db: Connection, session_id: str) -> tuple[int, int]:
    """The injection with which the conversation began anew, and when in ms; zeros when it never was folded."""
    row = db.execute(
        "SELECT max(id), at FROM injections WHERE session_id = ? AND event = ?", (session_id, COMPACT)
    ).fetchone()
    return int(row[0] or 0), int(row[1] or 0)


def given(db: Connection, session_id: str, since: int) -> tuple[frozenset[str], frozenset[str]]:
    """The items since an injection, and the files that they named. What was kept back counts, too."""
    from capture.jsonio import BadJson, loads  # on use: start-up stays short

    items: set[str] = set()
    files: set[str] = set()
    for item, named in db.execute(
        "SELECT i.item, i.files FROM injections j JOIN injection_items i ON i.injection_id = j.id"
        " WHERE j.session_id = ? AND j.id >= ?",
        (session_id, since),
    ).fetchall():
        items.add(item)
        if named != "[]":
            try:
                found = loads(named)
            except BadJson:
                continue
            files.update(str(path) for path in found if path) if isinstance(found, list) else None
    return frozenset(items), frozenset(files)


def switched_off(db: Connection, project_id: int) -> bool:
    """Whether a person said that this project is told nothing."""
    row = db.execute(
        "SELECT 1 FROM context_choices WHERE project_id = ? AND item = ? AND choice = 'exclude'",
        (project_id, EVERYTHING),
    ).fetchone()
    return row is not None


def excluded(db: Connection, project_id: int) -> list[str]:
    """The ids of what a person excluded in a project, the newest last."""
    rows = db.execute(
        "SELECT item FROM context_choices WHERE project_id = ? AND choice = 'exclude' ORDER BY at, item", (project_id,)
    ).fetchall()
    return [str(row[0]) for row in rows]


EVERYTHING = "*"
"""Excluded, this stands for all of a project's context."""
