"""Checks the integrity of the database (SQL): text indexes, foreign keys, orphaned rows.

The check of a text index is a write to SQLite, and a hook would wait for it: a large database is copied first.
"""

from __future__ import annotations

import os
import sqlite3
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from sqlite3 import Connection

from capture.storage.store import transaction
from nmem.audit import NOTE, OK, WRONG, Finding
from nmem.backup.copying import has_table

_FIX = "nmem doctor --fix"
_SMALL = 32_000_000
"""Bytes up to which a check holds the write lock for too short a time to matter."""


@dataclass(frozen=True, slots=True)
class Index:
    """A text index; `whole`: it holds every row of its source, so that it can be compared with it."""

    name: str
    of: str
    whole: bool = True


INDEXES = (
    Index("observations_fts", "observations"),
    Index("prompts_fts", "prompts"),
    Index("narratives_fts", "episodes"),
    Index("search_docs_fts", "summaries, learnings and tasks"),
    Index("search_parts", "parts of words", whole=False),
    Index("search_outputs_fts", "what failing calls answered", whole=False),
    Index("search_unspaced_fts", "texts without blanks between words", whole=False),
)


@dataclass(frozen=True, slots=True)
class Left:
    """Rows that no foreign key holds and whose owner is gone."""

    words: str
    table: str
    where: str
    mend: str
    deep: bool = False

    def counted(self, number: int) -> str:
        """So many of them."""
        words = self.words
        for many, one in _ONE if number == 1 else ():
            words = words.replace(many, one, 1)
        return f"{number:,} {words}"


_ONE = (("shapes ", "shape "), ("runs ", "run "), ("repeats ", "repeat "), ("redactions ", "redaction "),
        ("summaries ", "summary "), ("learnings that are", "learning that is"),
        ("tasks that are", "task that is"))  # fmt: skip
_NO_SESSION = "session_id <> '' AND session_id NOT IN (SELECT id FROM sessions)"
LEFT = (
    Left("shapes of payloads of sessions that are gone", "session_shapes", _NO_SESSION, "DELETE FROM"),
    Left("hook runs of sessions that are gone", "hook_runs", _NO_SESSION, "UPDATE"),
    Left("counted repeats of sessions that are gone", "merged_keys", _NO_SESSION, "DELETE FROM", deep=True),
    Left("judged redactions whose text is gone", "redaction_reviews",
         "(source = 'observations' AND row_id NOT IN (SELECT id FROM observations))"
         " OR (source = 'prompts' AND row_id NOT IN (SELECT id FROM prompts))", "DELETE FROM"),
    Left("searchable summaries of sessions that are gone", "search_docs",
         "kind = 'session' AND ref NOT IN (SELECT id FROM sessions)", "DELETE FROM"),
    Left("searchable learnings that are gone", "search_docs",
         "kind = 'learning' AND CAST(ref AS INTEGER) NOT IN (SELECT id FROM learnings)", "DELETE FROM"),
    Left("searchable tasks that are gone", "search_docs",
         "kind = 'task' AND CAST(ref AS INTEGER) NOT IN (SELECT id FROM tasks)", "DELETE FROM"),
)  # fmt: skip


def findings(db: Connection, path: str, deep: bool = False) -> list[Finding]:
    """Rows left behind; deep, also every text index compared with its source. Raises sqlite3.Error."""
    out = [Finding("orphans", NOTE, one.counted(number), _FIX) for one, number in _behind(db, deep)]
    out += _narratives(db)
    if deep:
        out += texts(path)
    return out


def _behind(db: Connection, deep: bool) -> Iterator[tuple[Left, int]]:
    for one in LEFT:
        if (deep or not one.deep) and has_table(db, one.table):
            number = db.execute(f"SELECT count(*) FROM {one.table} WHERE {one.where}").fetchone()[0]  # noqa: S608
            if number:
                yield one, int(number)


def _narratives(db: Connection) -> list[Finding]:
    """Episodes are in their index one for one."""
    if not has_table(db, "narratives_fts"):
        return []
    units = db.execute("SELECT count(*) FROM work_units").fetchone()[0]
    held = db.execute("SELECT count(*) FROM narratives_fts_docsize").fetchone()[0]
    if units == held:
        return []
    said = f"the text index of episodes holds {held:,} of {units:,}"
    return [Finding("search", WRONG, said, _FIX)]


def texts(path: str) -> list[Finding]:
    """Each text index: whole in itself, and where it can be, equal to its source."""
    started = time.perf_counter()
    try:
        with _to_check(path) as db:
            broken = [one for one in INDEXES if has_table(db, one.name) and not sound(db, one)]
            checked = sum(has_table(db, one.name) for one in INDEXES)
    except (sqlite3.Error, OSError) as error:
        return [Finding("text indexes", WRONG, f"they cannot be checked: {error}", "free some space and try again")]
    ms = (time.perf_counter() - started) * 1000
    if broken:
        said = f"damaged: {', '.join(f'{one.name} ({one.of})' for one in broken)}; searches miss rows"
        return [Finding("text indexes", WRONG, said, _FIX, ms=ms)]
    return [Finding("text indexes", OK, f"all {checked} are complete and correct", ms=ms)]


def sound(db: Connection, index: Index) -> bool:
    """Whether a text index is whole; writes nothing, but takes the write lock."""
    try:
        if index.whole:
            db.execute(f"INSERT INTO {index.name}({index.name}, rank) VALUES ('integrity-check', 1)")  # noqa: S608
        else:
            db.execute(f"INSERT INTO {index.name}({index.name}) VALUES ('integrity-check')")  # noqa: S608
    except sqlite3.DatabaseError as error:
        if "locked" in str(error) or "busy" in str(error):
            raise
        return False
    return True


@contextmanager
def _to_check(path: str) -> Iterator[Connection]:
    """A connection that may take the write lock: to the database while it is small, else to a copy of it."""
    if Path(path).stat().st_size <= _SMALL:
        db = sqlite3.connect(path, timeout=5, isolation_level=None)
        try:
            yield db
        finally:
            db.close()
        return
    handle, copy = tempfile.mkstemp(prefix=f"audit-{os.getpid()}-", suffix=".db", dir=Path(path).absolute().parent)
    os.close(handle)
    try:
        with _copied(path, copy) as db:
            yield db
    finally:
        for end in ("", "-wal", "-shm", "-journal"):
            Path(copy + end).unlink(missing_ok=True)


@contextmanager
def _copied(path: str, copy: str) -> Iterator[Connection]:
    source = sqlite3.connect(f"{Path(path).absolute().as_uri()}?mode=ro", uri=True)
    db = sqlite3.connect(copy, isolation_level=None)
    try:
        source.backup(db)
        db.execute("PRAGMA journal_mode=OFF").fetchone()
        yield db
    finally:
        source.close()
        db.close()


def fix(db: Connection, stopped: Callable[[], bool] = lambda: False) -> list[str]:
    """Take away what was left behind and rebuild damaged indexes, on a writing connection; what was done, a line each.

    Raises sqlite3.Error.
    """
    done = []
    for one, number in list(_behind(db, deep=True)):
        if one.mend == "UPDATE":
            db.execute(f"UPDATE {one.table} SET session_id = NULL WHERE {one.where}")  # noqa: S608 -- our names
        else:
            db.execute(f"{one.mend} {one.table} WHERE {one.where}")
        done.append(f"{one.counted(number)}: removed")
    return done + _rebuilt(db, stopped)


def _rebuilt(db: Connection, stopped: Callable[[], bool]) -> list[str]:
    broken = [one for one in INDEXES if has_table(db, one.name) and not sound(db, one)]
    from nmem.search import index_store, refresh  # on use: start-up stays short

    if any(not one.whole for one in broken):
        refresh.refresh(db, stopped)  # they hold what was taken in; everything is, then they are made of everything
    for one in broken:
        with transaction(db):
            if one.name == "search_parts":
                index_store.refill(db)
                continue
            db.execute(f"INSERT INTO {one.name}({one.name}) VALUES ('rebuild')")  # noqa: S608 -- our names
            if not one.whole:
                _up_to_the_end(db)
    if _narratives(db):
        _tell_again(db)
        broken.append(INDEXES[2])
    return [f"the text index {one.name} was rebuilt" for one in dict.fromkeys(broken)]


def _up_to_the_end(db: Connection) -> None:
    """A rebuilt index holds every row: what comes before the newest id must not be taken in twice."""
    for source in ("observations", "prompts"):
        db.execute(
            f"UPDATE search_state SET indexed = max(indexed, (SELECT coalesce(max(id), 0) FROM {source}))"  # noqa: S608
            " WHERE source = ?",
            (source,),
        )


def _tell_again(db: Connection) -> None:
    """Episodes into their index, as its triggers would."""
    with transaction(db):
        db.execute("DELETE FROM narratives_fts")
        db.execute(
            "INSERT INTO narratives_fts(rowid, title, intent, body, files) SELECT id, title, intent,"
            " coalesce(summary, '') || ' ' || coalesce(learned, '') || ' ' || coalesce(completed, '') || ' '"
            " || coalesce(next_steps, '') || ' ' || coalesce(notes, ''),"
            " coalesce(files_edited, '') || ' ' || coalesce(files_read, '') FROM work_units"
        )
