"""Reports the use of decisions: questions, unasked offers, uses, unneeded entries."""

from __future__ import annotations

from dataclasses import dataclass
from sqlite3 import Connection

from nmem.recall import store
from nmem.recall.loaded import Recall


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


def report(db: Connection, recall: Recall, since: int = 0, limit: int = 20) -> Report:
    """What became of a project's decisions."""
    of = recall.place.folder, since
    uses = sorted(
        (Use(*row) for row in store.uses(db, *of)), key=lambda use: (-use.answered - use.used, -use.offered, use.entry)
    )
    known = {use.entry for use in uses}
    by_origin = store.counted(db, "origin", *of)
    return Report(
        sum(by_origin.values()), by_origin, store.counted(db, "outcome", *of),
        sum(use.offered for use in uses), sum(use.used for use in uses), tuple(uses),
        tuple(link for entry in recall.index.docs if (link := f"/{entry[0]} {entry[1]}") not in known),
        tuple((row[0], row[1]) for row in store.unanswered(db, *of, limit)),
    )  # fmt: skip
