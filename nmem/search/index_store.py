"""The index of search (SQL): the words of stored texts, blocks of ids of known time, and what was taken in so far.

Tables: `search_terms` and `search_parts`, `search_blocks`, `search_state`, and the text indexes that settling fills.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import chain
from sqlite3 import Connection
from typing import NamedTuple

from nmem.search.text import UNSPACED_GLOB, fold, tokens

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
    _add_parts(db, fresh)


def clear(db: Connection) -> None:
    """Forget every word, within the caller's transaction."""
    db.execute("DELETE FROM search_terms")
    db.execute("INSERT INTO search_parts(search_parts) VALUES ('rebuild')")


def refill(db: Connection) -> None:
    """Make the index of parts anew of the words that are there, within the caller's transaction."""
    db.execute("INSERT INTO search_parts(search_parts) VALUES ('delete-all')")
    _add_parts(db, db.execute("SELECT id, term FROM search_terms").fetchall())


def _add_parts(db: Connection, terms: Iterable[tuple[int, str]]) -> None:
    rows = [(number, term) for number, term in terms if _has_parts(term)]
    db.executemany("INSERT INTO search_parts(rowid, term) VALUES (?, ?)", rows)


def drop(db: Connection, texts: Iterable[str]) -> None:
    """Forget every word of some texts, within the caller's transaction; the counts of the others stay as they are."""
    found = known_ids(db, counted(texts))
    db.executemany("INSERT INTO search_parts(search_parts, rowid, term) VALUES ('delete', ?, ?)",
                   [(number, term) for term, number in found.items() if _has_parts(term)])  # fmt: skip
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
    found = db.execute("SELECT term, n FROM (SELECT term, n FROM search_terms WHERE term >= ? AND term < ? LIMIT ?)"
                       " ORDER BY n DESC, length(term) LIMIT ?", (prefix, prefix + _AFTER, _SCANNED, most))  # fmt: skip
    return [Term(*row) for row in found.fetchall()]


def nearest(db: Connection, word: str) -> str:
    """The stored word that a word may be a slip of, with the same first letter; of equally close ones the commonest.

    "" for none. Of a letter with many words only so many are looked at.
    """
    if len(word) < _SLIP_LEAST or not word.isalpha():
        return ""
    found = db.execute("SELECT term, n FROM search_terms WHERE term >= ? AND term < ? AND length(term) BETWEEN ? AND ?"
                       " AND n > 1 LIMIT ?",
                       (word[0], word[0] + _AFTER, len(word) - 1, len(word) + 1, _SCANNED))  # fmt: skip
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
    found = db.execute("SELECT t.term, t.n FROM search_parts p CROSS JOIN search_terms t ON t.id = p.rowid"
                       " WHERE p.search_parts MATCH ? AND instr(t.term, ?) LIMIT ?",
                       (grams, part, _HELD)).fetchall()  # fmt: skip
    found.sort(key=lambda row: (len(row[0]), -row[1]))
    return [Term(*row) for row in found[:most]]


def short_trigrams(db: Connection, text: str, most: int = 48) -> list[str]:
    """Of the unspaced texts, the commonest three characters that begin with these one or two."""
    found = db.execute("SELECT term FROM search_unspaced_terms WHERE term >= ? AND term < ? ORDER BY doc DESC LIMIT ?",
                       (text, text + _AFTER, most))  # fmt: skip
    return [row[0] for row in found.fetchall()]


STRETCH = 1_000
"""Ids taken in at once: a hook that comes meanwhile waits a tenth of a second for it."""
_BLOCK = 2_000
"""About so many ids are a block."""
_CACHE = 32_000
"""Kilobytes: the vocabulary is written all over."""
FOREVER = 2**62
_STEP = 100_000
"""Ids walked at once where there are no blocks yet."""

_TEXTS = {
    "observations": "SELECT content, iif(instr(content, file_path), '', file_path), iif(outcome = 'failed' AND"
                    " json_valid(metadata), json_extract(metadata, '$.response'), '')"
                    " FROM observations WHERE id > ? AND id <= ?",
    "prompts": "SELECT content FROM prompts WHERE id > ? AND id <= ?",
    "search_docs": "SELECT title, body FROM search_docs WHERE id > ? AND id <= ?",
    "work_units": "SELECT title, intent, summary, learned, completed, next_steps, notes FROM work_units"
                  " WHERE narrated_at > ? AND narrated_at <= ? AND state = 'closed'",  # told anew each turn till then
}  # fmt: skip
_NEXT = {
    **{source: f"SELECT max(id) FROM (SELECT id FROM {source} WHERE id > ? ORDER BY id LIMIT ?)"  # noqa: S608
       for source in ("observations", "prompts", "search_docs")},
    "work_units": "SELECT max(narrated_at) FROM (SELECT narrated_at FROM work_units WHERE narrated_at > ?"
                  " ORDER BY narrated_at LIMIT ?)",
}  # fmt: skip
BITS = {"prompts": 0, "observations": 1}


class Block(NamedTuple):
    """A stretch of ids of known time: ids follow time only as long as nothing is imported."""

    first: int
    last: int
    newest: int
    """No row in it, or in any block after it, is later than this."""


def blocks(
    db: Connection, source: str, since: int | None = None, projects: Sequence[int] = (), clients: Sequence[str] = ()
) -> list[Block]:
    """All stretches that can hold such rows, the one with the latest row first; they cover every id."""
    sql, values = "", list[object]()
    for column, wanted in (("projects", projects), ("clients", clients)):
        if wanted:
            sql += " AND (" + " OR ".join([f"instr({column}, ?)"] * len(wanted)) + ")"
            values += [f" {one} " for one in wanted]
    kept = db.execute(
        f"SELECT first_id, last_id, max_at FROM search_blocks WHERE source = ? AND max_at >= ?{sql}"  # noqa: S608
        " ORDER BY max_at DESC",
        (source, since or -FOREVER, *values),
    ).fetchall()
    return [*_fresh(db, source), *map(Block._make, kept)]


def _fresh(db: Connection, source: str) -> list[Block]:
    """Ids after the last block, and all ids where there are no blocks: in steps, the highest first."""
    starts = reversed(range(_covered(db, source), top(db, source), _STEP))
    return [Block(first + 1, first + _STEP, FOREVER) for first in starts]


def _covered(db: Connection, source: str) -> int:
    """The last id that is in a block."""
    return int(
        db.execute("SELECT coalesce(max(last_id), 0) FROM search_blocks WHERE source = ?", (source,)).fetchone()[0]
    )


def top(db: Connection, source: str) -> int:
    """The highest id of a table."""
    return int(db.execute(f"SELECT coalesce(max(id), 0) FROM {source}").fetchone()[0])  # noqa: S608 -- our names


def state(db: Connection, source: str) -> tuple[int, int]:
    """Up to which id a table's words are counted and its texts indexed; of `stale`, `rebuild`: whether all is due."""
    done, indexed = db.execute("SELECT done, indexed FROM search_state WHERE source = ?", (source,)).fetchone()
    return int(done), int(indexed)


def counting(db: Connection) -> bool:
    """Whether words are just being counted anew: until then nobody knows which are rare."""
    sql = "SELECT 1 FROM search_state WHERE source IN ('observations', 'prompts') AND done < indexed"
    return db.execute(sql).fetchone() is not None


def with_room(db: Connection) -> None:
    """Have a connection hold more of the database in memory."""
    db.execute(f"PRAGMA cache_size=-{_CACHE}")


def stretch_end(db: Connection, source: str, after: int, step: int) -> int | None:
    """The id up to which a stretch goes; None at the end."""
    upto: int | None = db.execute(_NEXT[source], (after, step)).fetchone()[0]
    return upto


def texts_between(db: Connection, source: str, after: int, upto: int) -> list[str]:
    """What the rows of a stretch say."""
    return [" ".join(str(part) for part in row if part) for row in db.execute(_TEXTS[source], (after, upto))]


def taken_in(db: Connection, source: str, upto: int, texts: int) -> None:
    """Note how far a table is taken in, and how many more texts the counts are of."""
    db.execute("UPDATE search_state SET done = max(done, ?1), indexed = max(indexed, ?1), texts = texts + ?2"
               " WHERE source = ?3", (upto, texts, source))  # fmt: skip


def uncount(db: Connection, source: str, texts: Sequence[str], credit: int) -> None:
    """Uncount texts of a table, `credit` of whose rows the caller's transaction is about to delete."""
    subtract(db, counted(texts))
    db.execute("UPDATE search_state SET texts = max(0, texts - ?) WHERE source = ?", (len(texts), source))
    db.execute("UPDATE search_state SET done = done - ? WHERE source = 'stale'", (credit,))


def rebuild(db: Connection) -> None:
    """Have the texts that settling indexes indexed anew, within the caller's transaction; `refresh` does it.

    For what an index holds that is not so. Nothing is searched for worse meanwhile, but in unspaced scripts and in
    what failing calls answered.
    """
    for index in ("search_unspaced_fts", "search_outputs_fts"):
        db.execute(f"INSERT INTO {index}({index}) VALUES ('delete-all')")  # noqa: S608 -- our names
    db.execute("UPDATE search_state SET indexed = 0 WHERE source IN ('observations', 'prompts')")
    db.execute("UPDATE search_state SET done = 0 WHERE source = 'rebuild'")


def overtaken(db: Connection) -> list[str]:
    """Tables whose mark is above every id: those to come would be taken for known ones."""
    above = "SELECT source FROM search_state JOIN gone_ids ON name = source WHERE max(done, indexed) >"
    tops = {source: f"max(newest, (SELECT coalesce(max(id), 0) FROM {source}))" for source in BITS}  # noqa: S608
    return [source for source, top in tops.items() if db.execute(f"{above} {top} AND source = ?", (source,)).fetchone()]


def forget(db: Connection, sources: Iterable[str] = ()) -> None:
    """Have the words counted anew, within the caller's transaction; the blocks of some tables are made anew as well."""
    db.executemany("DELETE FROM search_blocks WHERE source = ?", [(source,) for source in sources])
    clear(db)
    db.execute("UPDATE search_state SET done = 0, texts = 0 WHERE source != 'rebuild'")


def take_in(db: Connection, source: str, done: int, upto: int) -> None:
    """Index the texts of a stretch of observations or prompts."""
    db.execute(
        "INSERT INTO search_unspaced_fts(rowid, text)"  # noqa: S608 -- our names
        f" SELECT id * 2 + {BITS[source]}, content || '  ' FROM {source} WHERE id > ? AND id <= ? AND content GLOB ?",
        (done, upto, UNSPACED_GLOB),
    )
    if source == "observations":
        db.execute("INSERT INTO search_outputs_fts(rowid, response) SELECT id, response FROM search_outputs"
                   " WHERE id > ? AND id <= ?", (done, upto))  # fmt: skip
    if upto > (covered := _covered(db, source)):
        _block(db, source, covered, upto)


def _block(db: Connection, source: str, done: int, upto: int) -> None:
    """When and where the rows of a stretch were made; a short block before it grows."""
    low, high = db.execute(f"SELECT min(at), max(at) FROM {source} WHERE id > ? AND id <= ?",  # noqa: S608 -- our names
                           (done, upto)).fetchone()  # fmt: skip
    places = db.execute(f"SELECT DISTINCT s.project_id, s.client FROM sessions s WHERE s.id IN"  # noqa: S608
                        f" (SELECT session_id FROM {source} WHERE id > ? AND id <= ?)",
                        (done, upto)).fetchall()  # fmt: skip
    projects, clients = {str(row[0]) for row in places}, {row[1] for row in places}
    first = done + 1
    last = db.execute("SELECT first_id, min_at, max_at, projects, clients FROM search_blocks WHERE source = ?"
                      " AND last_id = ? AND last_id - first_id < ?",
                      (source, done, _BLOCK - STRETCH)).fetchone()  # fmt: skip
    if last is not None:
        first, low, high = last[0], min(low, last[1]), max(high, last[2])
        projects |= set(last[3].split())
        clients |= set(last[4].split())
    db.execute("INSERT OR REPLACE INTO search_blocks VALUES (?, ?, ?, ?, ?, ?, ?)",
               (source, first, upto, low, high, _list(projects), _list(clients)))  # fmt: skip


def _list(names: Iterable[str]) -> str:
    return f" {' '.join(sorted(names))} "
