"""Runs a purge in one transaction, undoes it within its window, makes it final after (SQL: the journal of purges).

The order makes a kill harmless: what goes is sealed first, then taken away in one transaction that also says so,
then cleaned out of files. Whoever is killed before the commit has done nothing; after it, the next settling goes on
cleaning.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from sqlite3 import Connection

from capture import log as log_file
from capture.storage import spool
from capture.storage.store import connect, file, transaction
from nmem import tables
from nmem.database import settle_lock
from nmem.errors import NmemError
from nmem.purge import erase, files, preview, reach, said, store, trash
from nmem.purge.journal import NUMBERED, Journal, Taken, put_back
from nmem.purge.needles import Needles
from nmem.purge.reach import Reach
from nmem.purge.selection import Selection
from nmem.purge.store import TARGET, definitions, keep_keys, purged_keys, sessions_and_projects
from nmem.retention.journal import vacuum
from nmem.retrieval.store import forget_changed
from nmem.store import corrections as log
from nmem.store.corrections import Entry
from nmem.store.store import clear_returned
from nmem.text import json_object, texts

KIND = "purge"
"""Of the correction by which a purge is undone; its target is purge/N."""
WINDOW = 24 * 60
"""Minutes in which a purge can be undone, where nothing else is set."""
_WAIT = 10.0
_SETTLES = 30.0
"""Seconds for which a settling that is at work is waited for."""


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
        theirs = store.transcripts(db, found)
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
    db = connect(db_path, timeout=_WAIT)
    try:
        tables.ensure(db)
        store.prepare(db)
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
            found = reach.again(db, chosen, found)
            if found.empty and not chosen.everywhere:
                raise NmemError("nothing recorded matches this selection")
            of, known, rows = sessions_and_projects(db, found), purged_keys(db, found), store.rows_by_kind(db, found)
            erase.erase(db, chosen, found, journal)
            forget_changed(db)
            counts = journal.counts()
            words = chosen.matcher.needles(found.words)
            kept = files.found(db_path, words)
            copies = bool(words) and backups and preview.copies(db_path, words)
            if not counts and not kept and not copies and not found.uncopied and not _changed(journal):
                raise NmemError("nothing recorded contains this text")
            until = now + minutes * 60_000
            number = store.add(db, now, chosen.how, counts, until)
            keep_keys(db, number, known, words)
            size = trash.put(db_path, number, _sealed(journal, of, words, kept))
            store.note(db, number, bytes=size)
            # also where it is for good: who takes back the newest is told so, before anything older is taken back
            told = {"rows": sum(counts.values()), "went": rows, "how": chosen.how, "until": until}
            log.write(db, KIND, f"{TARGET}/{number}", told, {}, now)
            # behind all that went: their numbers are not used again, so an undo finds them free
            store.put_last(db, number)
        return number, counts, rows, words, time.monotonic() - begun
    finally:
        journal.end()


def _changed(journal: Journal) -> bool:
    return any(kind == "old" for _, kind, _ in journal.frames())


def _sealed(journal: Journal, of: tuple[list[str], list[int]], words: Needles, kept: files.Kept) -> Iterator[object]:
    """What an undo needs, piece by piece."""
    gone = {table.name: journal.numbers(table) for table in journal.tables if table.name in NUMBERED}
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
    store.merge(db)
    store.free_pages(db)
    folded = store.fold(db)
    own = [Path(db_path), Path(db_path + "-wal")]
    looked = words.without(definitions(db))
    held = [] if whole or (whole is None and store.size(db) <= store.SMALL) else files.holding(own, looked)
    if whole or (whole is None and (held or store.size(db) <= store.SMALL)):
        say("rewriting the database file")
        vacuum(db)
        folded = store.fold(db)
        held = files.holding(own, looked)
    left = [str(path) for path in (*held, *files.holding([*files.beside(db_path), *files.copies(db_path)], looked))]
    if folded and alone:
        with transaction(db):
            store.note(db, number, cleaned=1)
        store.fold(db, 1.0)
    elif not folded:
        left.append(f"{db_path}-wal: another process keeps reading; settling truncates it later")
    return left, folded and alone


# the window


def undo(db: Connection, db_path: str, number: int, now: int) -> str:
    """Put everything back; what a person should know beside it, if anything. Inside a transaction of the caller's.

    Raises NmemError when the window is over. `undone` must follow once it is committed.
    """
    at = store.kept_since(db, number, now)
    if at is None:
        raise NmemError(f"purge/{number} can no longer be undone: its window is over")
    taken = Taken(trash.take(db_path, number))
    store.drop_keys(db, number)  # the rows come back: they are heard again
    left = put_back(db, taken)
    clear_returned(db)
    files.put_back(taken.files)
    store.redact_again(db, at)
    store.note(db, number, state=store.UNDONE, ended_at=now, cleaned=1)
    return f"{said.number(left, 'row')} of it are not restored: what they belonged to was removed since" if left else ""


def finish(db_path: str, now: int) -> int:
    """Go on cleaning after purges that were killed, and close windows that are over; how many were cleaned."""
    with closing(_open(db_path)) as db:
        waiting = store.uncleaned(db)
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


def milliseconds() -> int:
    """Now."""
    return time.time_ns() // 1_000_000


def expire(db: Connection, db_path: str, now: int) -> int:
    """Destroy the keys of purges whose window is over, and trash that belongs to none; how many windows closed.

    Outside a transaction. Raises OSError when a key cannot be taken away.
    """
    kept = trash.kept(db_path)
    due = store.kept(db, now)
    for number in due:
        destroy(db, db_path, number, now)
    if kept - set(due):
        with transaction(db):  # nobody purges meanwhile: whose trash lies there without a row was killed
            for number in kept - set(store.kept(db)):
                trash.destroy(db_path, number)
    return len(due)


def destroy(db: Connection, db_path: str, number: int, now: int) -> None:
    """The key first: whoever is killed after it has nothing left to undo with."""
    trash.destroy(db_path, number)
    with transaction(db):
        store.set_gone(db, number, now)


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
        if self.state == store.KEPT and self.keep_until > now:
            return "can be undone" if self.cleaned else "can be undone; files are still to be cleaned"
        return "undone" if self.state == store.UNDONE else "gone"


def past(db: Connection, limit: int = 50) -> list[Past]:
    """Purges, the newest first."""
    return [
        _past(number, at, list(texts(how)), json_object(counts), state, until, bool(cleaned))
        for number, at, how, counts, state, until, cleaned in store.newest(db, limit)
    ]


def _past(number: int, at: int, how: list[str], counts: dict[str, int], state: str, until: int, cleaned: bool) -> Past:
    went = said.goes(said.of_tables(counts, how))
    return Past(number, at, tuple(how), went, sum(counts.values()), state, until, cleaned)


def empty(db: Connection, db_path: str, now: int) -> int:
    """Close every window; how many."""
    kept = store.kept(db)
    for number in kept:
        destroy(db, db_path, number, now)
    return len(kept)


def describe(entry: Entry) -> str:
    """What went, in numbers: its words are sealed."""
    how, went = entry.payload.get("how", []), entry.payload.get("went")
    if not isinstance(went, dict):  # of a release that did not keep it
        return f"{entry.target}, {said.by([*map(str, how)])}"
    return f"{entry.target}: {said.goes(went)}{', for good' if for_good(entry) else ''}"


def for_good(entry: Entry) -> bool:
    """Whether a correction is a purge that had no window to be taken back in."""
    return entry.kind == KIND and entry.payload.get("until") == entry.at


def take_back(db: Connection, entry: Entry, now: int) -> str:
    """Put back what the purge took, inside a transaction. Raises NmemError when its window is over."""
    return undo(db, file(db), int(entry.target.partition("/")[2]), now)


def kept(db: Connection, entry: Entry, now: int) -> bool:
    """Whether its trash is kept still and can be opened, so that it can be taken back another time."""
    number = int(entry.target.partition("/")[2])
    if store.kept_since(db, number, now) is None:
        return False
    try:
        return next(iter(trash.take(file(db), number)), None) is not None
    except NmemError:
        return False
