"""Reports the use of decisions (SQL, reading only): questions, unasked offers, uses, unneeded entries."""

from __future__ import annotations

from dataclasses import dataclass
from sqlite3 import Connection

from nmem.recall.index import Index
from nmem.recall.log import OFFERED
from nmem.recall.store import Recall


@dataclass(frozen=True, slots=True)
class Use:
    """An entry: how often it answered, was offered, and was used after an offer; when last (0: never)."""

    entry: str
    file: str
    answered: int
    offered: int
    used: int
    last: int


@dataclass(frozen=True, slots=True)
class Report:
    """The calls of a place since a time."""

    asked: int
    by_origin: dict[str, int]
    by_outcome: dict[str, int]
    offered: int
    used: int
    entries: tuple[Use, ...]
    """Used most first."""
    dead: tuple[str, ...]
    """Entries of the index that neither answered nor were offered."""
    unanswered: tuple[tuple[str, int], ...]
    """Queries that nothing answered, and how often each: decisions that are missing, or badly named."""


_USED = """(used_at IS NOT NULL OR EXISTS (SELECT 1 FROM injections j JOIN injection_items i ON i.injection_id = j.id
  WHERE j.session_id = c.session_id AND i.item = 'recall/' || substr(c.entry, 2) AND i.used_how LIKE 'ran nmem %')
  OR EXISTS (SELECT 1 FROM observations o
  WHERE o.session_id = c.session_id AND o.at >= c.at AND c.file <> '' AND (o.file_path = c.place || '/' || c.file
    OR substr(c.place || '/' || c.file, -length(o.file_path) - 1) = '/' || o.file_path)))"""


def report(db: Connection, recall: Recall, since: int = 0, limit: int = 20) -> Report:
    """What became of a project's decisions."""
    where, given = "c.place = ? AND c.at >= ?", (recall.place.folder, since)
    asked = f"{where} AND c.outcome <> '{OFFERED}'"
    rows = db.execute(
        f"SELECT entry, max(file), sum(outcome <> ?), sum(outcome = ?), sum(outcome = ? AND {_USED}), max(at)"  # noqa: S608 - our names
        f" FROM recall_calls c WHERE {where} AND entry <> '' GROUP BY entry",
        (OFFERED, OFFERED, OFFERED, *given),
    ).fetchall()
    uses = sorted((Use(*row) for row in rows), key=lambda use: (-use.answered - use.used, -use.offered, use.entry))
    known = {use.entry for use in uses}
    unanswered = db.execute(
        f"SELECT query, count(*) FROM recall_calls c WHERE {asked} AND outcome IN ('unsure', 'nothing')"  # noqa: S608
        " GROUP BY query ORDER BY 2 DESC, max(at) DESC LIMIT ?", (*given, limit),
    ).fetchall()  # fmt: skip
    by_origin = _counted(db, "origin", asked, given)
    return Report(
        sum(by_origin.values()), by_origin, _counted(db, "outcome", asked, given),
        sum(use.offered for use in uses), sum(use.used for use in uses), tuple(uses),
        tuple(link for link in _links(recall.index) if link not in known),
        tuple((row[0], row[1]) for row in unanswered),
    )  # fmt: skip


def _counted(db: Connection, name: str, where: str, given: tuple[object, ...]) -> dict[str, int]:
    found = db.execute(f"SELECT {name}, count(*) FROM recall_calls c WHERE {where} GROUP BY 1 ORDER BY 2 DESC", given)  # noqa: S608
    return {row[0]: row[1] for row in found}


def _links(index: Index) -> list[str]:
    return [f"/{entry[0]} {entry[1]}" for entry in index.docs]
