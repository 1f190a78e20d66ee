"""What was taken back from a team stays gone: purge, undo and restore say it here (SQL; the rest is nmem.team's)."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from contextlib import suppress
from hashlib import blake2b, sha256
from sqlite3 import Connection

from capture import files, paths
from capture.storage.store import transaction

_IN = "IN (SELECT value FROM json_each(?))"


def prefix(member: str) -> str:
    """How the subjects of a member begin."""
    return f"{sha256(member.encode()).hexdigest()[:12]}."


def about(*what: str) -> str:
    """How the subject of a thing ends, whoever it is of."""
    return blake2b(json.dumps(what).encode(), digest_size=16).hexdigest()


def take_away(db: Connection, things: Iterable[tuple[str, ...]], now: int) -> None:
    """Things of this person go for ever, under each name that was used, whatever versions are known here: other
    machines may have said them, and this database may be a restored one. Inside a transaction."""
    begins = {str(row[0]) for row in db.execute("SELECT value FROM team_state WHERE key LIKE 'prefix/%'")}
    if name := _member():
        begins.add(prefix(name))
    if not begins:
        return
    ends = {about(*each) for each in things}
    gone = [(f"{begin}{end}", now) for begin in sorted(begins) for end in sorted(ends)]
    db.executemany(
        "INSERT INTO team_gone (id, subject, origin, at) VALUES (?1, ?1, 'mine', ?2) ON CONFLICT (id) DO UPDATE"
        " SET subject = excluded.subject, origin = 'mine', announced_seq = NULL, refused = NULL"
        " WHERE origin != 'mine' OR subject = ''",
        gone,
    )
    db.execute(f"DELETE FROM team_facts WHERE subject {_IN}", (json.dumps([each[0] for each in gone]),))  # noqa: S608


def membership() -> str:
    """The file beside config.toml that says which team a memory shares with, and under what name."""
    return os.path.join(os.path.dirname(paths.config()), "team.json")  # noqa: PTH118, PTH120 - strings as in capture.paths


def _member() -> str:
    """The name under which this memory shares now; "" where it does not, or the file cannot be read."""
    with suppress(OSError, files.NotOurs, ValueError, KeyError, TypeError):
        return str(json.loads(files.own(membership()))["member"])
    return ""


def clear_gone(db: Connection) -> None:
    """What is gone does not come back with the undo of a purge, nor with a restored backup."""
    with transaction(db):
        _clear(db)


def _clear(db: Connection) -> None:
    db.execute(
        "DELETE FROM team_facts WHERE id IN (SELECT id FROM team_gone)"
        " OR subject IN (SELECT subject FROM team_gone WHERE subject != '')"
    )


def clear_returned(db: Connection) -> None:
    """What is gone did not come back with an undo or a backup, nor what sessions were told of it.

    Inside a transaction.
    """
    _clear(db)
    told = "item > 'team/' AND item < 'team0' AND substr(item, 6) NOT IN (SELECT id FROM team_facts)"
    db.execute(
        "UPDATE injections SET text = '' WHERE text != ''"  # noqa: S608 - our words
        f" AND id IN (SELECT injection_id FROM injection_items WHERE {told})"
    )
    db.execute(f"UPDATE injection_items SET text = '', reason = '', files = '[]', used_how = NULL WHERE {told}")  # noqa: S608


def carry(db: Connection, live: Connection) -> None:
    """What the database that is there knows to be gone is gone from the one that a backup puts in its place.

    What was purged from this machine alone comes back with a backup that holds it, as it does with an undo.
    """
    gone = live.execute("SELECT id, subject, origin, at, announced_seq, refused FROM team_gone").fetchall()
    names = live.execute("SELECT key, value FROM team_state WHERE key LIKE 'prefix/%' OR key LIKE 'back/%'").fetchall()
    with transaction(db):
        db.executemany(
            "INSERT INTO team_gone (id, subject, origin, at, announced_seq, refused) VALUES (?, ?, ?, ?, ?, ?)"
            " ON CONFLICT (id) DO UPDATE SET subject = excluded.subject, origin = excluded.origin,"
            " announced_seq = excluded.announced_seq, refused = excluded.refused WHERE origin != 'mine'"
            " OR excluded.origin = 'mine'",
            [tuple(row) for row in gone],
        )
        db.execute("DELETE FROM team_gone WHERE origin = ? AND id IN (SELECT id FROM team_facts)", ("here",))
        db.executemany("INSERT OR IGNORE INTO team_state (key, value) VALUES (?, ?)", [tuple(row) for row in names])
