"""Past purges, in numbers (SQL)."""

from __future__ import annotations

from dataclasses import dataclass
from sqlite3 import Connection

from nmem.purge import due, said
from nmem.text import json_object, texts


@dataclass(frozen=True, slots=True)
class Past:
    """One purge; none of its words."""

    number: int
    at: int
    how: tuple[str, ...]
    went: str
    """In words: `14 calls`."""
    rows: int
    state: str
    """kept undone gone."""
    keep_until: int
    cleaned: bool

    def said(self, now: int) -> str:
        """What became of it."""
        if self.state == due.KEPT and self.keep_until > now:
            return "can be undone" if self.cleaned else "can be undone; files are still to be cleaned"
        return "undone" if self.state == due.UNDONE else "gone"


def past(db: Connection, limit: int = 50) -> list[Past]:
    """Purges, the newest first."""
    found = db.execute("SELECT id, at, how, counts, state, keep_until, cleaned FROM purges ORDER BY id DESC LIMIT ?",
                       (limit,))  # fmt: skip
    return [
        _past(number, at, list(texts(how)), json_object(counts), state, until, bool(cleaned))
        for number, at, how, counts, state, until, cleaned in map(tuple, found)
    ]


def _past(number: int, at: int, how: list[str], counts: dict[str, int], state: str, until: int, cleaned: bool) -> Past:
    went = said.goes(said.of_tables(counts, how))
    return Past(number, at, tuple(how), went, sum(counts.values()), state, until, cleaned)


def empty(db: Connection, db_path: str, now: int) -> int:
    """Close every window; how many."""
    kept = [row[0] for row in db.execute("SELECT id FROM purges WHERE state = ?", (due.KEPT,)).fetchall()]
    for number in kept:
        due.destroy(db, db_path, number, now)
    return len(kept)
