"""Tables of word -> (how many have it, the newest of them), read on demand and written together (SQL)."""

from __future__ import annotations

from array import array
from sqlite3 import Connection


def pack(numbers: list[int]) -> bytes:
    """Numbers as 32-bit machine integers."""
    return array("I", numbers).tobytes()


def unpack(packed: bytes) -> list[int]:
    """What pack made."""
    return list(memoryview(packed).cast("I"))


class Postings:
    """The words of one project in one table."""

    def __init__(self, db: Connection, table: str, columns: tuple[str, str, str], project_id: int) -> None:
        word, count, numbers = columns
        self._db, self._project_id = db, project_id
        self._read = f"SELECT {count}, {numbers} FROM {table} WHERE project_id = ? AND {word} = ?"  # noqa: S608 - our names
        self._write = f"INSERT OR REPLACE INTO {table} (project_id, {word}, {count}, {numbers}) VALUES (?, ?, ?, ?)"  # noqa: S608
        self._held: dict[str, tuple[int, list[int]]] = {}
        self._new: set[str] = set()

    def append(self, word: str, number: int) -> None:
        """One more turn or file that has the word."""
        count, numbers = self._get(word)
        numbers.append(number)
        del numbers[:-POSTINGS]
        self._held[word] = (count + 1, numbers)
        self._new.add(word)

    def count(self, word: str) -> int:
        """How many have the word."""
        return self._get(word)[0]

    def flush(self) -> None:
        """Write what has changed."""
        self._db.executemany(
            self._write,
            ((self._project_id, word, self._held[word][0], pack(self._held[word][1])) for word in sorted(self._new)),
        )
        self._held.clear()
        self._new.clear()

    def _get(self, word: str) -> tuple[int, list[int]]:
        held = self._held.get(word)
        if held is None:
            row = self._db.execute(self._read, (self._project_id, word)).fetchone()
            held = self._held[word] = (row[0], unpack(row[1])) if row else (0, [])
        return held


POSTINGS = 128
"""Turns, and files, remembered a word: the newest."""
SHORT, LONG = 5.0, 20.0
"""Half-lives of heat, in sessions."""
PLAIN = frozenset(("main", "master", "next", "develop", "dev", "trunk", "head", ""))
"""Branches whose name says nothing of the work, in lower case."""
