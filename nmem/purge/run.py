"""Runs a purge in one transaction, undoes it within its window, makes it final after (SQL: the journal of purges).

The order makes a kill harmless: what goes is sealed first, then taken away in one transaction that also says so,
then cleaned out of files. Whoever is killed before the commit has done nothing; after it, the next settling goes on
cleaning.
"""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from sqlite3 import Connection

from capture import log as log_file
from capture.storage import spool, store
from capture.storage.store import transaction
from nmem import tables
from nmem.database import settle_lock
from nmem.errors import NmemError
from nmem.purge import erase, files, history, preview, putback, reach, said, scrub, trash
from nmem.purge.journal import Journal
from nmem.purge.needles import Needles
from nmem.purge.putback import NUMBERED, Taken
from nmem.purge.reach import Reach
from nmem.purge.selection import Selection
from nmem.retrieval.store import forget_changed
from nmem.store import corrections as log

KIND = "purge"
"""Of the correction by which a purge is undone; its target is purge/N."""
WINDOW = 24 * 60
"""Minutes in which a purge can be undone, where nothing else is set."""
_WAIT = 10.0
_SETTLES = 30.0
"""Seconds for which a settling that is at work is waited for."""
_Key = tuple[str, str, int]
"""Session, key and time of a purged record: an import or a hook does not store the same again."""


@dataclass(frozen=True, slots=True)
class Purged:
    """What a purge did."""

    number: int
    counts: dict[str, int]
    """Rows that are gone, by table."""
    rows: dict[str, int]
    """What was named of it, by kind, as a preview counts it: see nmem.purge.said."""
    keep_until: int
    """Until then it can be undone; the time of the purge itself where there is no window."""
    locked: float
    """Seconds for which nobody else could write."""
    left: tuple[str, ...] = ()
    """Files in which the words still are, and why they are, in words."""
    backups: tuple[str, ...] = ()
    """Backups that went."""
    stays: tuple[str, ...] = ()
    """Backups that hold it or may hold it; of whole sessions and rows, every one."""
    transcripts: tuple[str, ...] = ()
    """The clients' own files, which are theirs."""
    clean: bool = True
    """Whether the files were cleaned to the end; else settling goes on."""


def window_minutes() -> int:
    """How long a purge can be undone. Raises NmemError for a config that cannot be used."""
    from nmem.settings import file  # on use: start-up stays short

    return int(str(file.values("purge").get("window_minutes", WINDOW)))


def purge(
    db_path: str, chosen: Selection, now: int, *, window: int | None = None, backups: bool = False,
    say: Callable[[str], None] = lambda _text: None, whole: bool | None = None, later: bool = False,
) -> Purged:  # fmt: skip
    """Take everything away that a selection reaches. `window`: minutes for an undo, 0 for none; None: as configured.

    `backups`: the backups that hold chosen words go too (all of them where nothing was chosen by words).
    `whole`: write the database file anew; None: where it is small or still holds words. `later`: files are left to the
    next settling, which the caller starts. Raises NmemError,
    sqlite3.Error, OSError.
    """
    minutes = window_minutes() if window is None else window
    with _alone(db_path) as alone, closing(_open(db_path)) as db:
        say("finding what goes")
        spool.drain(db, db_path)
        found = reach.find(db, chosen)
        theirs = preview.transcripts(db, found)
        number, counts, rows, words, locked = _erase(db, db_path, chosen, found, now, minutes, backups)
        gone = files.remove(preview.copies(db_path, words)) if backups else []
        stays = tuple(map(str, preview.copies(db_path, words)))
        until = now + minutes * 60_000
        if later:
            return Purged(number, counts, rows, until, locked, (), tuple(gone), stays, theirs, clean=False)
        say("cleaning the files")
        left, clean = _clean(db, db_path, number, words, whole, say, alone)
        if not minutes and clean:
            destroy(db, db_path, number, now)
    return Purged(number, counts, rows, until, locked, tuple(left), tuple(gone), stays, theirs, clean)


@contextmanager
def _alone(db_path: str) -> Iterator[bool]:
    """Nobody settles meanwhile: what it has read before could be written after. False where one does not end soon."""
    until = time.monotonic() + _SETTLES
    while True:
        with settle_lock(db_path) as mine:
            if mine or time.monotonic() > until:
                yield mine
                return
        time.sleep(0.2)


def _open(db_path: str) -> Connection:
    db = store.connect(db_path, timeout=_WAIT)
    try:
        tables.ensure(db)
        scrub.prepare(db)
    except BaseException:
        db.close()
        raise
    return db


def _erase(
    db: Connection, db_path: str, chosen: Selection, found: Reach, now: int, minutes: int, backups: bool
) -> tuple[int, dict[str, int], dict[str, int], Needles, float]:
    """The transaction; its number, what is gone by table and kind, the words to be nowhere, how long it was locked."""
    journal = Journal(db)
    journal.begin()
    try:
        begun = time.monotonic()
        with transaction(db):
            begun = time.monotonic()
            db.execute("PRAGMA defer_foreign_keys=ON")
            found = reach.again(db, chosen, found)
            if found.empty and not chosen.everywhere:
                raise NmemError("nothing recorded matches this selection")
            of, known, rows = _of(db, found), _keys(db, found), preview.rows(db, found)
            erase.erase(db, chosen, found, journal)
            forget_changed(db)
            counts = journal.counts()
            words = chosen.matcher.needles(found.words)
            kept = files.found(db_path, words)
            copies = bool(words) and backups and preview.copies(db_path, words)
            if not counts and not kept and not copies and not found.uncopied and not _changed(journal):
                raise NmemError("nothing recorded contains this text")
            until = now + minutes * 60_000
            number = int(db.execute(
                "INSERT INTO purges (at, how, counts, keep_until) VALUES (?, ?, ?, ?)",
                (now, json.dumps(chosen.how), json.dumps(counts), until),
            ).lastrowid or 0)  # fmt: skip
            _keep(db, number, known, words)
            size = trash.put(db_path, number, _sealed(journal, of, words, kept))
            db.execute("UPDATE purges SET bytes = ? WHERE id = ?", (size, number))
            # also where it is for good: who takes back the newest is told so, before anything older is taken back
            told = {"rows": sum(counts.values()), "went": rows, "how": chosen.how, "until": until}
            log.write(db, KIND, f"{TARGET}/{number}", told, {}, now)
            # behind all that went: their numbers are not used again, so an undo finds them free
            newest = db.execute("SELECT coalesce(max(id), 0) FROM purge_old_corrections").fetchone()[0]
            db.execute("UPDATE corrections SET id = max(id, ?) WHERE target = ?", (newest + 1, f"{TARGET}/{number}"))
        return number, counts, rows, words, time.monotonic() - begun
    finally:
        journal.end()


def _changed(journal: Journal) -> bool:
    return any(kind == "old" for _, kind, _ in journal.frames())


def _of(db: Connection, found: Reach) -> tuple[list[str], list[int]]:
    """The sessions that lose something or go, and their projects."""
    sessions = sorted(found.sessions | found.touched)
    rows = db.execute("SELECT DISTINCT project_id FROM sessions WHERE id IN (SELECT value FROM json_each(?))",
                      (json.dumps(sessions),))  # fmt: skip
    return sessions, sorted({int(row[0]) for row in rows} | found.projects)


def _sealed(journal: Journal, of: tuple[list[str], list[int]], words: Needles, kept: files.Kept) -> Iterator[object]:
    """What an undo needs, piece by piece."""
    gone = {
        table.name: [row[0] for row in journal.db.execute(f"SELECT g.id FROM {journal.gone(table)}")]  # noqa: S608
        for table in journal.tables if table.name in NUMBERED
    }  # fmt: skip
    columns = {table.name: table.columns for table in (*journal.tables, *journal.left)}
    yield {"sessions": of[0], "projects": of[1], "words": words.packed, "columns": columns, "files": kept, "gone": gone}
    yield from journal.frames()


# files


def _clean(
    db: Connection,
    db_path: str,
    number: int,
    words: Needles,
    whole: bool | None,
    say: Callable[[str], None],
    alone: bool = True,
) -> tuple[list[str], bool]:
    """Nothing of it stays in files; where something does, and whether all was done."""
    files.clear(db_path)
    files.clean(db_path, words)
    scrub.merge(db)
    scrub.free_pages(db)
    folded = scrub.fold(db)
    own = [Path(db_path), Path(db_path + "-wal")]
    looked = words.without(_schema(db))
    held = [] if whole or (whole is None and scrub.size(db) <= scrub.SMALL) else files.holding(own, looked)
    if whole or (whole is None and (held or scrub.size(db) <= scrub.SMALL)):
        say("rewriting the database file")
        scrub.rewrite(db)
        folded = scrub.fold(db)
        held = files.holding(own, looked)
    left = [str(path) for path in (*held, *files.holding([*files.beside(db_path), *files.copies(db_path)], looked))]
    if folded and alone:
        with transaction(db):
            db.execute("UPDATE purges SET cleaned = 1 WHERE id = ?", (number,))
        scrub.fold(db, 1.0)
    elif not folded:
        left.append(f"{db_path}-wal: another process keeps reading; settling truncates it later")
    return left, folded and alone


def _schema(db: Connection) -> bytes:
    """The tables' own definitions: the file always has their words."""
    return "\n".join(row[0] or "" for row in db.execute("SELECT sql FROM sqlite_master")).encode()


# the window


def undo(db: Connection, db_path: str, number: int, now: int) -> str:
    """Put everything back; what a person should know beside it, if anything. Inside a transaction of the caller's.

    Raises NmemError when the window is over. `undone` must follow once it is committed.
    """
    row = db.execute("SELECT state, keep_until FROM purges WHERE id = ?", (number,)).fetchone()
    if row is None or row[0] != KEPT or row[1] <= now:
        raise NmemError(f"purge/{number} can no longer be undone: its window is over")
    db.execute("PRAGMA defer_foreign_keys=ON")
    taken = Taken(trash.take(db_path, number))
    db.execute("DELETE FROM purged_keys WHERE purge_id = ?", (number,))  # the rows come back: they are heard again
    left = putback.put_back(db, taken)
    from nmem.store.store import clear_returned  # on use: start-up stays short

    clear_returned(db)
    files.put_back(taken.files)
    history.again(db, int(db.execute("SELECT at FROM purges WHERE id = ?", (number,)).fetchone()[0]))
    db.execute("UPDATE purges SET state = ?, ended_at = ?, cleaned = 1 WHERE id = ?", (UNDONE, now, number))
    return f"{said.number(left, 'row')} of it are not restored: what they belonged to was removed since" if left else ""


def finish(db_path: str, now: int) -> int:
    """Go on cleaning after purges that were killed, and close windows that are over; how many were cleaned."""
    with closing(_open(db_path)) as db:
        waiting = [tuple(row) for row in db.execute("SELECT id, at = keep_until FROM purges WHERE cleaned = 0")]
        for number, at_once in waiting:
            try:
                words = Taken(trash.take(db_path, number)).words
            except NmemError:
                words = Needles(())
            left, _ = _clean(db, db_path, number, words, None, lambda _text: None)
            if left:
                log_file.note(db_path, f"purge/{number}: it is still in {', '.join(Path(one).name for one in left)}")
            if at_once:
                destroy(db, db_path, number, now)
        expire(db, db_path, now)
    return len(waiting)


KEPT, UNDONE, GONE = "kept", "undone", "gone"
TARGET = "purge"


def milliseconds() -> int:
    """Now."""
    return time.time_ns() // 1_000_000


def waiting(db: Connection, now: int) -> bool:
    """Whether there is something to do. False where there are no tables of it yet."""
    try:
        row = db.execute(
            "SELECT 1 FROM purges WHERE cleaned = 0 OR (state = 'kept' AND keep_until <= ?) LIMIT 1", (now,)
        ).fetchone()
    except sqlite3.Error:
        return False
    return row is not None


def expire(db: Connection, db_path: str, now: int) -> int:
    """Destroy the keys of purges whose window is over, and trash that belongs to none; how many windows closed.

    Outside a transaction. Raises OSError when a key cannot be taken away.
    """
    kept = trash.kept(db_path)
    due = [row[0] for row in db.execute("SELECT id FROM purges WHERE state = ? AND cleaned = 1 AND keep_until <= ?",
                                        (KEPT, now)).fetchall()]  # fmt: skip
    for number in due:
        destroy(db, db_path, number, now)
    if kept - set(due):
        with transaction(db):  # nobody purges meanwhile: whose trash lies there without a row was killed
            known = {row[0] for row in db.execute("SELECT id FROM purges WHERE state = ?", (KEPT,))}
            for number in kept - known:
                trash.destroy(db_path, number)
    return len(due)


def destroy(db: Connection, db_path: str, number: int, now: int) -> None:
    """The key first: whoever is killed after it has nothing left to undo with."""
    trash.destroy(db_path, number)
    with transaction(db):
        db.execute("UPDATE purges SET state = ?, ended_at = ? WHERE id = ? AND state = ?", (GONE, now, number, KEPT))
        db.execute(  # of one that had no window it stays: it is passed over by name
            "DELETE FROM corrections WHERE target = ? AND NOT EXISTS"
            " (SELECT 1 FROM purges WHERE id = ? AND at = keep_until)",
            (f"{TARGET}/{number}", number),
        )


def _keys(db: Connection, found: Reach) -> list[_Key]:
    """The keys of the records that a purge deletes."""
    out: list[_Key] = []
    sessions = json.dumps(sorted(found.sessions))
    for table, ids in (("observations", found.observations), ("prompts", found.prompts)):
        rows = db.execute(
            f"SELECT session_id, dedup_key, at FROM {table} WHERE dedup_key IS NOT NULL AND ("  # noqa: S608 - our names
            "id IN (SELECT value FROM json_each(?)) OR session_id IN (SELECT value FROM json_each(?)))",
            (json.dumps(sorted(ids)), sessions),
        )
        out += [(str(row[0]), str(row[1]), int(row[2])) for row in rows]
    return out


def _keep(db: Connection, number: int, keys: list[_Key], words: Needles) -> None:
    """Store the keys in the purge's transaction; a key that contains a purged word is left out."""
    told = [each for each in keys if not words.within(f"{each[0]}\n{each[1]}".encode())]
    db.executemany("INSERT OR REPLACE INTO purged_keys VALUES (?, ?, ?, ?)", [(*each, number) for each in told])


def hollow(db: Connection) -> None:
    """Delete imported sessions of which all records were purged."""
    db.execute(
        "DELETE FROM sessions WHERE id IN (SELECT session_id FROM purged_keys) AND origin = 'import'"
        " AND NOT EXISTS (SELECT 1 FROM prompts p WHERE p.session_id = sessions.id)"
        " AND NOT EXISTS (SELECT 1 FROM observations o WHERE o.session_id = sessions.id)"
    )
