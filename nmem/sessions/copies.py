"""Keeps copies of transcripts in the database (SQL): made at settling, bounded in size and age, given up when purged.

Copied is what a client keeps in its own folder of a session that is over or has been idle for half an hour, once, and
again when its file has changed; where that can no longer be copied, the older copy stays. Each is bounded in size, all
of them are together, the oldest go first; what is past its lifetime goes as well, and no copy outlives the words of the
first prompt in it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from sqlite3 import Connection

from capture.files import read, regular
from capture.redaction.settings import Within
from capture.storage.store import called, transaction
from nmem.episodes.passages import IDLE
from nmem.errors import NmemError
from nmem.importing import discover
from nmem.retention import policy
from nmem.retention.plan import DAY, ahead_by
from nmem.sessions import packing
from nmem.settings import file
from nmem.settings.kinds import PROMPT

KEPT, LARGE, UNREAD, DROPPED, PURGED = "kept", "large", "unread", "dropped", "purged"
_MB = 1 << 20
_MOST, _PIECE = 1 << 30, 32 * _MB
"""Bytes of a file that is looked through for words, larger ones are never copied; and of what is read of it at once."""


@dataclass(frozen=True, slots=True)
class Limits:
    """What may be kept."""

    on: bool = True
    each: int = 8 * _MB
    """Bytes of a client's file."""
    all: int = 200 * _MB
    """Bytes of all copies, as they are packed."""
    days: float = 180.0
    """After a session's last activity; 0: for ever."""


@dataclass(frozen=True, slots=True)
class Stored:
    """How much is kept."""

    count: int
    bytes: int
    """As packed."""
    limits: Limits


def limits() -> Limits:
    """The settings. Raises NmemError for a configuration that cannot be read."""
    said = file.values("sessions")
    each, most, days = (float(str(said[name])) for name in ("copy_mb", "copies_mb", "copy_days"))
    return Limits(bool(said["copies"]), int(each * _MB), int(most * _MB), days)


def stored(db: Connection) -> Stored:
    """How much is kept. Raises NmemError as `limits`."""
    row = db.execute(
        "SELECT count(*), total(length(packed)) FROM transcript_copies WHERE packed IS NOT NULL"
    ).fetchone()
    return Stored(int(row[0]), int(row[1]), limits())


def keep(db: Connection, now: int, rules: str, stopped: Callable[[], bool] = lambda: False) -> int:
    """Copy what is due, give up what may not be kept any longer; how many were copied. Outside a transaction.

    `rules`: a digest of the redaction rules in force; a copy by others is redacted anew. Raises sqlite3.Error, and
    NmemError for a configuration that cannot be read: then nothing changes.
    """
    bounds = limits()
    lives = policy.load()
    _expire(db, now, bounds, lives)
    _anew(db, rules, stopped)
    made = 0
    for one in _sources(db, now) if bounds.on else ():
        if stopped():
            break
        seen = _seen(one.path) if one.over else None
        if seen is None or one.settled(seen, bounds, now):
            continue  # nearly all: nothing dearer was asked of them
        mark = None if _past(bounds, lives, now, _life(db, one.session_id)) else _mark(one.path)
        if mark is None or not one.within():
            continue
        room = bounds.all - _held(db, one.last_at, one.session_id)
        if room <= 0 or (one.state == DROPPED and mark == one.mark and mark[0] > room):
            break  # it would go again, and what is older gives way first; packed it is smaller than the file
        made += _copy(db, one, mark, bounds, rules, now)
    _fit(db, bounds.all)
    return made


def give(db: Connection, session_id: str) -> tuple[str, bytes] | None:
    """Where a client had a transcript, and the copy of it; None where none is kept. Raises NmemError for a damaged
    one."""
    row = db.execute(
        "SELECT path, packed FROM transcript_copies WHERE session_id = ? AND packed IS NOT NULL", (session_id,)
    ).fetchone()
    if row is None:
        return None
    try:
        return str(row[0]), packing.unpack(row[1])
    except ValueError as error:
        raise NmemError(str(error)) from None


def saying(db: Connection, says: Callable[[bytes], bool], stopped: Callable[[], bool] = lambda: False) -> set[str]:
    """Sessions whose copies say something: read one by one, no lock is held."""
    found = set()
    for session_id in _kept(db):
        if stopped():
            break
        try:
            if (one := give(db, session_id)) and says(one[1]):
                found.add(session_id)
        except NmemError:
            found.add(session_id)  # nobody knows what is in it
    return found


def uncopied(db: Connection, says: Callable[[bytes], bool], stopped: Callable[[], bool] = lambda: False) -> set[str]:
    """Sessions whose files say something that a copy, made by and by, would say as well: read as the clients have them,
    but for what was copied as it is."""
    found = set()
    for one in _sources(db, 0):
        if stopped():
            break
        mark = _mark(one.path) if one.within() else None
        if mark is None or mark[0] > _MOST or (one.state == KEPT and mark == one.mark):
            continue
        with suppress(OSError), open(one.path, "rb", opener=regular) as file:
            pieces = iter(lambda: b"".join(file.readlines(_PIECE)), b"")
            if any(not stopped() and says(piece) for piece in pieces):
                found.add(one.session_id)
    return found


def purge(db: Connection, session_ids: Iterable[str]) -> None:
    """No copy stays of these, and none is made again, nor a first one. Inside a transaction."""
    db.executemany(
        "INSERT INTO transcript_copies (session_id, at, path, size, changed, rules, state)"
        " SELECT id, last_at, '', 0, 0, '', ?1 FROM sessions WHERE id = ?2"
        " ON CONFLICT (session_id) DO UPDATE SET packed = NULL, state = ?1, path = ''",
        [(PURGED, session_id) for session_id in sorted(session_ids)],
    )


def _kept(db: Connection, where: str = "1", values: tuple[object, ...] = ()) -> list[str]:
    sql = f"SELECT session_id FROM transcript_copies WHERE packed IS NOT NULL AND {where} ORDER BY at"  # noqa: S608
    return [str(row[0]) for row in db.execute(sql, values).fetchall()]


_FIRST = "coalesce((SELECT min(at) FROM prompts p WHERE p.session_id = s.id AND p.source = 'user'), s.last_at)"
_SWEPT = "EXISTS (SELECT 1 FROM prompts p WHERE p.session_id = s.id AND p.source = 'user' AND p.content = '')"


def _past(bounds: Limits, lives: policy.Policy, now: int, row: tuple[str, int, int, int]) -> bool:
    """Whether a session's copy is past its lifetime, or the words of one of its prompts are: its project, its last
    activity, its first prompt, and whether words of it were swept."""
    project, last, first, swept = row
    words = lives.of(project, PROMPT) if lives.enabled else 0.0
    old = 0 < words * DAY <= now - first or 0 < bounds.days * DAY <= now - last
    return old or bool(swept)


@dataclass(frozen=True, slots=True)
class _Source:
    """A client's file of a session, and what is known of the last look at it."""

    session_id: str
    client: str
    path: str
    last_at: int
    state: str
    mark: tuple[int, int]
    """Size and time of the file."""
    at: int
    over: bool
    """Whether the session has ended or is idle."""
    folders: tuple[str, ...]
    """Where its client keeps sessions."""

    def within(self) -> bool:
        """Whether the file lies there, links followed."""
        return any(within(self.path, each) for each in self.folders)

    def settled(self, mark: tuple[int, int], bounds: Limits, now: int) -> bool:
        """Whether another look at the file would find what the last one did."""
        if self.state == UNREAD and now - self.at >= DAY:
            return False
        return mark == self.mark and (self.state in (KEPT, UNREAD) or (self.state == LARGE and mark[0] > bounds.each))


def _life(db: Connection, session_id: str) -> tuple[str, int, int, int]:
    """As `_past` takes it."""
    return tuple(db.execute(
        f"SELECT p.name, s.last_at, {_FIRST}, {_SWEPT} FROM sessions s JOIN projects p ON p.id = s.project_id"  # noqa: S608
        " WHERE s.id = ?", (session_id,),
    ).fetchone())  # fmt: skip


def _sources(db: Connection, now: int) -> Iterator[_Source]:
    """Files of which a copy may be made, of the newest sessions first: as their paths read, links not followed."""
    found = db.execute(
        "SELECT s.id, s.client, s.transcript_path, s.last_at, coalesce(c.state, ''), coalesce(c.size, -1),"
        " coalesce(c.changed, 0), coalesce(c.at, 0), s.state = 'ended' OR s.last_at < ?"
        " FROM sessions s LEFT JOIN transcript_copies c ON c.session_id = s.id"
        " WHERE s.transcript_path != '' AND coalesce(c.state, '') != ?"
        " AND s.id NOT IN (SELECT session_id FROM purged_keys) ORDER BY s.last_at DESC",
        (now - IDLE, PURGED),
    ).fetchall()
    folders = {name: tuple(str(each) for each in discover.folders(name)) for name in discover.CLIENTS}
    for row in map(tuple, found):
        own = folders.get(row[1], ())
        if os.path.normpath(row[2]).startswith(tuple(f"{each}{os.sep}" for each in own)):
            yield _Source(row[0], row[1], row[2], row[3], row[4], (row[5], row[6]), row[7], bool(row[8]), own)


def within(path: str, folder: str) -> bool:
    """Whether a path lies in a folder, as it is written and as it is once links are followed."""
    plain = Path(os.path.normpath(path)).is_relative_to(folder)
    return plain and Path(path).resolve().is_relative_to(Path(folder).resolve())


def _copy(db: Connection, one: _Source, mark: tuple[int, int], bounds: Limits, rules: str, now: int) -> bool:
    """One transcript; whether it was copied. What cannot be is noted, and an older copy stays."""
    state, packed = KEPT, None
    if mark[0] > bounds.each:
        state = LARGE
    else:
        try:
            with within_rules(db, one.session_id):
                packed = packing.pack(read(one.path, bounds.each), document=one.path.endswith(".json"))
        except (OSError, packing.NotRead):
            state = UNREAD
        if _mark(one.path) != mark:
            return False  # it is being written: the next time
    with transaction(db):  # a purge may have come meanwhile
        db.execute(
            "INSERT INTO transcript_copies AS c (session_id, at, path, size, changed, rules, state, packed)"
            " SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8 WHERE EXISTS (SELECT 1 FROM sessions WHERE id = ?1 AND client = ?9)"
            " AND ?1 NOT IN (SELECT session_id FROM purged_keys)"
            " ON CONFLICT (session_id) DO UPDATE SET path = excluded.path, size = excluded.size,"
            " changed = excluded.changed, state = excluded.state, packed = coalesce(excluded.packed, c.packed),"
            " at = iif(excluded.packed IS NULL AND c.packed IS NOT NULL, c.at, excluded.at),"
            " rules = iif(excluded.packed IS NULL AND c.packed IS NOT NULL, c.rules, excluded.rules)"
            " WHERE c.state != ?10",
            (one.session_id, now, one.path, *mark, rules, state, packed, one.client, PURGED),
        )
    return packed is not None


def within_rules(db: Connection, session_id: str) -> Within:
    """Inside, a session's project decides how much is redacted."""
    return Within(called(db, session_id))


def _held(db: Connection, after: int = 0, but: str = "") -> int:
    """Bytes of the copies of sessions that were active after a time."""
    row = db.execute(
        "SELECT total(length(c.packed)) FROM transcript_copies c JOIN sessions s ON s.id = c.session_id"
        " WHERE c.packed IS NOT NULL AND s.last_at >= ? AND s.id != ?", (after, but)
    ).fetchone()  # fmt: skip
    return int(row[0])


def _seen(path: str) -> tuple[int, int] | None:
    """As `_mark`, unopened: enough to tell that nothing has changed."""
    try:
        found = os.stat(path)  # noqa: PTH116 - thousands of paths
    except OSError:
        return None
    return found.st_size, found.st_mtime_ns


def _mark(path: str) -> tuple[int, int] | None:
    """Size and time of a regular file; None where there is none."""
    try:
        handle = regular(path)
    except OSError:
        return None
    try:
        found = os.fstat(handle)
    finally:
        os.close(handle)
    return found.st_size, found.st_mtime_ns


def again(db: Connection, project: int, rules: str) -> None:
    """Redact the copies of a project's sessions by the rules in force, whatever they were made by."""
    for session_id in _kept(db, "session_id IN (SELECT id FROM sessions WHERE project_id = ?)", (project,)):
        _repack(db, session_id, rules)


def _anew(db: Connection, rules: str, stopped: Callable[[], bool]) -> None:
    """Copies by other rules are redacted by those in force."""
    for session_id in _kept(db, "rules != ?", (rules,)):
        if stopped():
            return
        _repack(db, session_id, rules)


def _repack(db: Connection, session_id: str, rules: str) -> None:
    try:
        path, data = give(db, session_id) or ("", b"")
        with within_rules(db, session_id):
            packed = packing.pack(data, document=path.endswith(".json"))
    except (NmemError, packing.NotRead):
        packed = None
    with transaction(db):
        db.execute(
            "UPDATE transcript_copies SET packed = ?1, rules = ?2, state = iif(?1 IS NULL, ?3, state)"
            " WHERE session_id = ?4 AND packed IS NOT NULL",
            (packed, rules, UNREAD, session_id),
        )


def _expire(db: Connection, now: int, bounds: Limits, lives: policy.Policy) -> None:
    """What is past its lifetime goes, where the clock can be believed; and all of them where none are wanted."""
    if not bounds.on:
        with transaction(db):
            db.execute("DELETE FROM transcript_copies WHERE state != ?", (PURGED,))
        return
    if ahead_by(db, now) > 0:
        return
    found = db.execute(
        f"SELECT c.session_id, p.name, s.last_at, {_FIRST}, {_SWEPT} FROM transcript_copies c"  # noqa: S608
        " JOIN sessions s ON s.id = c.session_id JOIN projects p ON p.id = s.project_id WHERE c.packed IS NOT NULL"
    ).fetchall()
    _drop(db, [row[0] for row in map(tuple, found) if _past(bounds, lives, now, row[1:])])


def _fit(db: Connection, most: int) -> None:
    """The sessions that were active longest ago give way until the rest has room."""
    found = db.execute(
        "SELECT c.session_id, length(c.packed) FROM transcript_copies c JOIN sessions s ON s.id = c.session_id"
        " WHERE c.packed IS NOT NULL ORDER BY s.last_at DESC"
    ).fetchall()
    held, over = 0, []
    for session_id, size in found:
        held += size
        if held > most:
            over.append(session_id)
    _drop(db, over)


def _drop(db: Connection, session_ids: list[str]) -> None:
    """Given up, not purged: a file that changes is copied again."""
    if session_ids:
        with transaction(db):
            db.executemany(
                "UPDATE transcript_copies SET packed = NULL, state = ? WHERE session_id = ?",
                [(DROPPED, each) for each in session_ids],
            )
