"""Indexes new texts for search (SQL), a block of ids and a short transaction at a time.

Called by settling. It can be stopped anywhere and goes on where it was; hooks wait at most for one stretch.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from sqlite3 import Connection

from capture.storage.store import transaction
from nmem.search import vocabulary
from nmem.search.text import UNSPACED_GLOB

STRETCH = 1_000
"""Ids taken in at once: a hook that comes meanwhile waits a tenth of a second for it."""
_BLOCK = 2_000
"""About so many ids are a block."""
_CACHE = 32_000
"""Kilobytes: the vocabulary is written all over."""

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
_BITS = {"prompts": 0, "observations": 1}
_STEPS = {"observations": STRETCH, "prompts": STRETCH // 4, "search_docs": STRETCH // 4, "work_units": STRETCH // 4}


def refresh(
    db: Connection, stopped: Callable[[], bool] = lambda: False,
    progress: Callable[[int, int], None] = lambda _done, _all: None,
) -> int:  # fmt: skip
    """Take in what is new, on a writing connection outside a transaction; how many texts there were.

    `progress` gets, after each stretch, how many observations are indexed and how many wait at most.
    """
    db.execute(f"PRAGMA cache_size=-{_CACHE}")
    _heal(db)
    if _flag(db, "stale"):
        _restart(db)
    taken, begun = 0, min(_state(db, "observations"))
    last = max(begun + 1, db.execute("SELECT coalesce(max(id), 0) FROM observations").fetchone()[0])
    for source, step in _STEPS.items():
        while not stopped():
            upto, found = _stretch(db, source, step)
            taken += found
            if not upto:
                break
            if source == "observations":
                progress(upto - begun, last - begun)
    return taken


def leaving(db: Connection, source: str, ids: Iterable[int]) -> None:
    """Uncount the words of observations or prompts that the caller's transaction is about to delete.

    Who deletes a few says so, and nothing else is counted anew because of them.
    """
    done, indexed = _state(db, source)
    texts, credit = [], 0
    for number in ids:
        found = db.execute(_TEXTS[source], (number - 1, number)).fetchall()
        texts += [_joined(row) for row in found if number <= done]
        credit += len(found) if number <= max(done, indexed) else 0
    vocabulary.subtract(db, vocabulary.counted(texts))
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


def _heal(db: Connection) -> None:
    """No mark may be above every id: those to come would be taken for known ones."""
    above = "SELECT source FROM search_state JOIN gone_ids ON name = source WHERE max(done, indexed) >"
    tops = {source: f"max(newest, (SELECT coalesce(max(id), 0) FROM {source}))" for source in _BITS}  # noqa: S608
    wrong = [
        source for source, top in tops.items() if db.execute(f"{above} {top} AND source = ?", (source,)).fetchone()
    ]
    if not wrong and not _flag(db, "rebuild"):
        return
    with transaction(db):
        for source in wrong:
            db.execute("DELETE FROM search_blocks WHERE source = ?", (source,))
        if wrong:
            _clear(db)
        rebuild(db)


def _stretch(db: Connection, source: str, step: int) -> tuple[int, int]:
    """Up to which id a stretch was taken in, 0 at the end, and how many texts were counted."""
    done, indexed = _state(db, source)
    after = min(done, indexed) if source in _BITS else done
    upto = db.execute(_NEXT[source], (after, step)).fetchone()[0]
    if upto is None:
        return 0, 0
    if source in _BITS and after < max(done, indexed) < upto:
        upto = max(done, indexed)  # what is behind comes up to the rest first
    texts = [_joined(row) for row in db.execute(_TEXTS[source], (done, upto))] if upto > done else []
    counted = vocabulary.counted(texts)
    known = vocabulary.known_ids(db, counted)
    with transaction(db):
        if _state(db, source) != (done, indexed):
            return upto, len(texts)  # somebody else took it in meanwhile
        vocabulary.add(db, counted, known)
        if source in _BITS and upto > indexed:
            _index(db, source, indexed, upto)
        db.execute("UPDATE search_state SET done = max(done, ?1), indexed = max(indexed, ?1), texts = texts + ?2"
                   " WHERE source = ?3", (upto, len(texts), source))  # fmt: skip
    return upto, len(texts)


def _joined(row: tuple[object, ...]) -> str:
    return " ".join(str(part) for part in row if part)


def _state(db: Connection, source: str) -> tuple[int, int]:
    done, indexed = db.execute("SELECT done, indexed FROM search_state WHERE source = ?", (source,)).fetchone()
    return int(done), int(indexed)


def _index(db: Connection, source: str, done: int, upto: int) -> None:
    db.execute(
        "INSERT INTO search_unspaced_fts(rowid, text)"  # noqa: S608 -- our names
        f" SELECT id * 2 + {_BITS[source]}, content || '  ' FROM {source} WHERE id > ? AND id <= ? AND content GLOB ?",
        (done, upto, UNSPACED_GLOB),
    )
    if source == "observations":
        db.execute(
            "INSERT INTO search_outputs_fts(rowid, response)"
            " SELECT id, response FROM search_outputs WHERE id > ? AND id <= ?",
            (done, upto),
        )
    covered = db.execute("SELECT max(last_id) FROM search_blocks WHERE source = ?", (source,)).fetchone()[0] or 0
    if upto > covered:
        _block(db, source, covered, upto)


def _block(db: Connection, source: str, done: int, upto: int) -> None:
    """When and where the rows of a stretch were made; a short block before it grows."""
    low, high = db.execute(
        f"SELECT min(at), max(at) FROM {source} WHERE id > ? AND id <= ?",  # noqa: S608 -- our names
        (done, upto),
    ).fetchone()
    places = db.execute(
        f"SELECT DISTINCT s.project_id, s.client FROM sessions s WHERE s.id IN"  # noqa: S608
        f" (SELECT session_id FROM {source} WHERE id > ? AND id <= ?)",
        (done, upto),
    ).fetchall()
    projects, clients = {str(row[0]) for row in places}, {row[1] for row in places}
    first = done + 1
    last = db.execute(
        "SELECT first_id, min_at, max_at, projects, clients FROM search_blocks WHERE source = ? AND last_id = ?"
        " AND last_id - first_id < ?",
        (source, done, _BLOCK - STRETCH),
    ).fetchone()
    if last is not None:
        first, low, high = last[0], min(low, last[1]), max(high, last[2])
        projects |= set(last[3].split())
        clients |= set(last[4].split())
    db.execute("INSERT OR REPLACE INTO search_blocks VALUES (?, ?, ?, ?, ?, ?, ?)",
               (source, first, upto, low, high, _list(projects), _list(clients)))  # fmt: skip


def _list(names: Iterable[str]) -> str:
    return f" {' '.join(sorted(names))} "


def _flag(db: Connection, name: str) -> bool:
    return bool(db.execute("SELECT done FROM search_state WHERE source = ?", (name,)).fetchone()[0])


def _restart(db: Connection) -> None:
    """Count the words anew: texts were deleted, and what only they held must not be offered any more."""
    with transaction(db):
        _clear(db)


def _clear(db: Connection) -> None:
    vocabulary.clear(db)
    db.execute("UPDATE search_state SET done = 0, texts = 0 WHERE source != 'rebuild'")
