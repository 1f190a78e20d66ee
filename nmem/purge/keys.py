"""Keys of purged records (SQL): keep an import or a hook from storing the same again.

No key is kept that has one of the purged words in it.
"""

from __future__ import annotations

import json
from sqlite3 import Connection

from nmem.purge.needles import Needles
from nmem.purge.reach import Reach

Key = tuple[str, str, int]


def of(db: Connection, found: Reach) -> list[Key]:
    """(session, key, at) of the facts that go."""
    out: list[Key] = []
    sessions = json.dumps(sorted(found.sessions))
    for table, ids in (("observations", found.observations), ("prompts", found.prompts)):
        rows = db.execute(
            f"SELECT session_id, dedup_key, at FROM {table} WHERE dedup_key IS NOT NULL AND ("  # noqa: S608 - our names
            "id IN (SELECT value FROM json_each(?)) OR session_id IN (SELECT value FROM json_each(?)))",
            (json.dumps(sorted(ids)), sessions),
        )
        out += [(str(row[0]), str(row[1]), int(row[2])) for row in rows]
    return out


def keep(db: Connection, number: int, keys: list[Key], words: Needles) -> None:
    """Keep them for a purge; inside its transaction."""
    told = [each for each in keys if not words.within(f"{each[0]}\n{each[1]}".encode())]
    db.executemany("INSERT OR REPLACE INTO purged_keys VALUES (?, ?, ?, ?)", [(*each, number) for each in told])


def release(db: Connection, number: int) -> None:
    """The rows come back: they are heard again."""
    db.execute("DELETE FROM purged_keys WHERE purge_id = ?", (number,))


def hollow(db: Connection) -> None:
    """Sessions of which an import told nothing but what was purged go again."""
    db.execute(
        "DELETE FROM sessions WHERE id IN (SELECT session_id FROM purged_keys) AND origin = 'import'"
        " AND NOT EXISTS (SELECT 1 FROM prompts p WHERE p.session_id = sessions.id)"
        " AND NOT EXISTS (SELECT 1 FROM observations o WHERE o.session_id = sessions.id)"
    )
