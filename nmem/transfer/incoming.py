"""Rows of an export on their way in (SQL): read there, cleaned and redacted like those of a hook, stored here."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from typing import Any

from capture.redaction import redact, redact_tree
from capture.seal import identity
from capture.text import clean
from nmem.transfer.facts import Folders, Report
from nmem.transfer.numbers import Numbers

Row = dict[str, Any]


class Washer:
    """Redacts what it is given, and counts."""

    def __init__(self) -> None:
        self.counts: dict[str, int] = {}

    @property
    def total(self) -> int:
        """How many secrets were taken out."""
        return sum(self.counts.values())

    def value(self, value: object) -> object:
        """A column's value; a text that is JSON stays JSON, byte for byte where nothing is taken out.

        Of a name that stands twice in an object, the first would be stored unseen: the text is made anew without it.
        """
        if not isinstance(value, str) or not value:
            return value
        if value[0] in "{[":
            hidden = 0

            def once(pairs: list[tuple[str, object]]) -> dict[str, object]:
                nonlocal hidden
                found = dict(pairs)
                hidden += len(pairs) - len(found)
                return found

            try:
                tree = json.loads(value, object_pairs_hook=once)
            except (ValueError, RecursionError):
                return self.text(value)
            washed = redact_tree(_cleaned(tree), self.counts)
            return value if washed == tree and not hidden else json.dumps(washed, ensure_ascii=False)
        return self.text(value)

    def text(self, text: str) -> str:
        """A text."""
        return redact(clean(text), self.counts)


def _cleaned(value: object) -> object:
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, dict):
        return {clean(str(name)): _cleaned(item) for name, item in value.items()}
    return [_cleaned(item) for item in value] if isinstance(value, list) else value


class Incoming:
    """One export, and the database that it comes into."""

    def __init__(self, there: sqlite3.Connection, here: sqlite3.Connection, report: Report, folders: Folders) -> None:
        self.there, self.here, self.report, self.folders = there, here, report, folders
        self.numbers = Numbers(there, here)
        self.washer = Washer()
        self.fresh = here.execute("SELECT 1 FROM sessions LIMIT 1").fetchone() is None
        """Nothing was here: ids stay what they are."""
        self._columns: dict[str, list[str]] = {}

    def columns(self, table: str) -> list[str]:
        """Columns that both have."""
        if table not in self._columns:
            there, here = (
                [row[1] for row in db.execute(f"PRAGMA table_info({table})").fetchall()]
                for db in (self.there, self.here)
            )
            self._columns[table] = [name for name in here if name in there]
        return self._columns[table]

    def rows(self, table: str, where: str, *given: object) -> Iterator[Row]:
        """Rows of the export, read as they are asked for."""
        names = self.columns(table)
        if names:
            found = self.there.execute(f"SELECT {', '.join(names)} FROM {table} WHERE {where}", given)
            for row in found:
                yield dict(zip(names, row, strict=True))

    def insert(self, table: str, row: Row) -> int | None:
        """Store a row; its id, None where there was one like it. With an id that is taken it gets another."""
        old = row.get("id")
        if isinstance(old, int) and (not self.fresh or self._taken(table, old)):
            row = {**row, "id": None}
        places = ", ".join("?" * len(row))
        done = self.here.execute(
            f"INSERT OR IGNORE INTO {table} ({', '.join(row)}) VALUES ({places})", tuple(row.values())
        )
        if not done.rowcount:
            return None
        if isinstance(old, int):
            self.numbers.note(table, old, int(done.lastrowid or 0))
        return int(done.lastrowid or 0)

    def _taken(self, table: str, number: int) -> bool:
        return self.here.execute(f"SELECT 1 FROM {table} WHERE id = ?", (number,)).fetchone() is not None

    def wash(self, row: Row) -> Row:
        """A row without secrets."""
        return {
            name: identity(value) if name in ("session_id", "dedup_key") else self.washer.value(value)
            for name, value in row.items()
        }
