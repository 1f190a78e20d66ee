"""The grace period of imported old history (SQL): no sweep before a person had time to see it."""

from __future__ import annotations

from dataclasses import dataclass
from sqlite3 import Connection

from capture.storage.store import transaction
from nmem import tables
from nmem.retention import exempt
from nmem.retention.plan import DAY
from nmem.retention.policy import Policy
from nmem.retention.sweep import GRACE, NOTICED


def anew(db: Connection, now: int) -> int:
    """The time after the first look begins again; when it ends. On a writing connection, outside a transaction."""
    tables.ensure(db)
    with transaction(db):
        db.execute("INSERT OR REPLACE INTO upkeep VALUES (?, ?, '')", (NOTICED, now))
    return now + GRACE


@dataclass(frozen=True, slots=True)
class Aged:
    """Imported calls that are older than they would be kept, had they been recorded as they happened."""

    count: int = 0
    of: int = 0
    """How many were imported."""
    first: int = 0
    """When the first of them go by themselves, counted from their import; 0: none does."""


def aged(db: Connection, now: int, wanted: Policy, project: str = "") -> Aged:
    """What of the imported calls lives on because its lifetime begins with the import."""
    whole = older = first = 0
    found = db.execute(
        f"WITH taken(id, at) AS MATERIALIZED ({exempt.TAKEN_IN})"  # noqa: S608 - our words
        f" SELECT p.name, o.obs_type, o.at / {DAY}, k.at, count(*) FROM observations o JOIN taken k ON k.id ="
        " o.session_id JOIN sessions s ON s.id = o.session_id JOIN projects p ON p.id = s.project_id"
        " WHERE o.obs_type != 'marker' AND ? IN ('', p.name, p.key, p.root) GROUP BY 1, 2, 3, 4",
        (project,),
    )
    for name, type_, day, taken, count in found.fetchall():
        whole += count
        lives = int(wanted.of(name, type_) * DAY)
        if lives and (day + 1) * DAY < now - lives and taken + lives > now:
            older += count
            first = min(first or taken + lives, taken + lives)
    return Aged(older, whole, first)
