"""Counts the words of stored texts as they arrive, and finds words by prefix, part or near spelling (SQL)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import chain
from sqlite3 import Connection

from nmem.search.text import fold, tokens

LONGEST = 64
"""Characters of a word that is kept; what is longer is found as it stands."""
EXPANDED = 16
"""Stored words that one typed word can stand for."""
_PART_LEAST = 3
_SCANNED, _HELD = 20_000, 600
"""How many stored words are read at most: those with a prefix, and those with a part (the oldest)."""
_SLIP_LEAST, _STRANGE_LETTERS, _ALIKE = 5, 2, 0.8
"""Of a word that may be mistyped: its least length, the letters by which the one that is meant may differ, and how
alike they are at least (0 to 1).
"""
_HEX = frozenset("0123456789abcdef")
_AFTER = "\U0010ffff"


@dataclass(frozen=True, slots=True)
class Term:
    """A stored word and in how many texts it is."""

    term: str
    n: int


def counted(texts: Iterable[str]) -> Counter[str]:
    """In how many of the texts each word is; long numbers are left out."""
    counts = Counter(chain.from_iterable(set(tokens(fold(text))) for text in texts))
    for one in [one for one in counts if len(one) > LONGEST or (len(one) > 4 and one.isdigit())]:
        del counts[one]
    return counts


def known_ids(db: Connection, counts: Counter[str]) -> dict[str, int]:
    """The ids of the words that are stored already; asked before the transaction, so that it is short."""
    known = dict[str, int]()
    words = sorted(counts)
    for start in range(0, len(words), 500):
        some = words[start : start + 500]
        marks = ",".join("?" * len(some))
        found = db.execute(f"SELECT term, id FROM search_terms WHERE term IN ({marks})", some)  # noqa: S608 -- only ?
        known.update(found.fetchall())
    return known


def add(db: Connection, counts: Counter[str], known: dict[str, int]) -> None:
    """Count words, within the caller's transaction; `known` is what `known_ids` gave and nobody else has added to."""
    db.executemany("UPDATE search_terms SET n = n + ? WHERE id = ?", [(counts[term], known[term]) for term in known])
    first = (db.execute("SELECT max(id) FROM search_terms").fetchone()[0] or 0) + 1
    fresh = [
        (number, term) for number, term in enumerate((word for word in sorted(counts) if word not in known), first)
    ]
    db.executemany(
        "INSERT INTO search_terms VALUES (?, ?, ?)", [(number, term, counts[term]) for number, term in fresh]
    )
    db.executemany(
        "INSERT INTO search_parts(rowid, term) VALUES (?, ?)", [pair for pair in fresh if _has_parts(pair[1])]
    )


def clear(db: Connection) -> None:
    """Forget every word, within the caller's transaction."""
    db.execute("DELETE FROM search_terms")
    db.execute("INSERT INTO search_parts(search_parts) VALUES ('rebuild')")


def refill(db: Connection) -> None:
    """Make the index of parts anew of the words that are there, within the caller's transaction."""
    db.execute("INSERT INTO search_parts(search_parts) VALUES ('delete-all')")
    words = db.execute("SELECT id, term FROM search_terms").fetchall()
    db.executemany(
        "INSERT INTO search_parts(rowid, term) VALUES (?, ?)", [(row[0], row[1]) for row in words if _has_parts(row[1])]
    )


def drop(db: Connection, texts: Iterable[str]) -> None:
    """Forget every word of some texts, within the caller's transaction; the counts of the others stay as they are."""
    found = known_ids(db, counted(texts))
    db.executemany(
        "INSERT INTO search_parts(search_parts, rowid, term) VALUES ('delete', ?, ?)",
        [(number, term) for term, number in found.items() if _has_parts(term)],
    )
    db.executemany("DELETE FROM search_terms WHERE id = ?", [(number,) for number in found.values()])


def subtract(db: Connection, counts: Counter[str]) -> None:
    """Uncount words, within the caller's transaction; what no other text has is gone."""
    known = known_ids(db, counts)
    db.executemany("UPDATE search_terms SET n = n - ? WHERE id = ?", [(counts[term], known[term]) for term in known])
    for term, number in known.items():
        if db.execute("DELETE FROM search_terms WHERE id = ? AND n <= 0", (number,)).rowcount and _has_parts(term):
            db.execute("INSERT INTO search_parts(search_parts, rowid, term) VALUES ('delete', ?, ?)", (number, term))


def _has_parts(term: str) -> bool:
    """Whether anybody would look for a part of it: not of a hash."""
    return len(term) > _PART_LEAST and not (len(term) >= 8 and _HEX.issuperset(term))


def texts(db: Connection) -> int:
    """How many texts the counts are of."""
    return int(db.execute("SELECT coalesce(sum(texts), 0) FROM search_state").fetchone()[0])


def counts(db: Connection, terms: Sequence[str]) -> dict[str, int]:
    """In how many texts words are, those that are in any."""
    marks = ",".join("?" * len(terms))
    return dict(db.execute(f"SELECT term, n FROM search_terms WHERE term IN ({marks})", terms).fetchall())  # noqa: S608


def beginning(db: Connection, prefix: str, most: int = EXPANDED) -> list[Term]:
    """The commonest words that begin so, itself included."""
    if len(prefix) < 2:
        return []
    found = db.execute(
        "SELECT term, n FROM (SELECT term, n FROM search_terms WHERE term >= ? AND term < ? LIMIT ?)"
        " ORDER BY n DESC, length(term) LIMIT ?",
        (prefix, prefix + _AFTER, _SCANNED, most),
    )
    return [Term(*row) for row in found.fetchall()]


def nearest(db: Connection, word: str) -> str:
    """The stored word that a word may be a slip of, with the same first letter; of equally close ones the commonest.

    "" for none. Of a letter with many words only so many are looked at.
    """
    if len(word) < _SLIP_LEAST or not word.isalpha():
        return ""
    found = db.execute(
        "SELECT term, n FROM search_terms WHERE term >= ? AND term < ? AND length(term) BETWEEN ? AND ? AND n > 1"
        " LIMIT ?",
        (word[0], word[0] + _AFTER, len(word) - 1, len(word) + 1, _SCANNED),
    )
    letters = set(word)
    alike = SequenceMatcher(b=word)
    best = _ALIKE, 0, ""
    for term, n in found:
        if len(letters ^ set(term)) <= _STRANGE_LETTERS:
            alike.set_seq1(term)
            if alike.quick_ratio() >= best[0]:
                best = max(best, (alike.ratio(), n, term))
    return best[2]


def containing(db: Connection, part: str, most: int = EXPANDED) -> list[Term]:
    """The words that hold a part of three characters or more, the closest in length first."""
    if len(part) < _PART_LEAST or len(part) > LONGEST:
        return []
    starts = dict.fromkeys((*range(0, len(part) - 2, 3), len(part) - 3))
    grams = " AND ".join(f'"{part[at : at + 3]}"' for at in starts)
    found = db.execute(
        "SELECT t.term, t.n FROM search_parts p CROSS JOIN search_terms t ON t.id = p.rowid"
        " WHERE p.search_parts MATCH ? AND instr(t.term, ?) LIMIT ?",
        (grams, part, _HELD),
    ).fetchall()
    found.sort(key=lambda row: (len(row[0]), -row[1]))
    return [Term(*row) for row in found[:most]]
