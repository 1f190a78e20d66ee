"""Keeps copies of transcripts in the database (SQL): made at settling, bounded in size and age, given up when purged.

Copied is what a client keeps in its own folder of a session that is over or has been idle for half an hour, once, and
again when its file has changed. Each is bounded in size, all of them are together, the oldest go first; what is past
its lifetime goes as well, and no copy outlives the words of the prompts in it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from sqlite3 import Connection

from capture.files import read, regular
from capture.storage.store import transaction
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
    for session_id, client, path, known in _due(db, now, bounds, lives) if bounds.on else ():
        if stopped():
            break
        made += _copy(db, session_id, client, path, known, bounds, rules, now)
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


def saying(db: Connection, says: Callable[[bytes], bool]) -> set[str]:
    """Sessions whose copies say something: read one by one, no lock is held."""
    found = set()
    for session_id in _kept(db):
        try:
            if (one := give(db, session_id)) and says(one[1]):
                found.add(session_id)
        except NmemError:
            found.add(session_id)  # nobody knows what is in it
    return found


def purge(db: Connection, session_ids: Iterable[str]) -> None:
    """No copy stays of these, and none is made again. Inside a transaction."""
    db.executemany(
        "UPDATE transcript_copies SET packed = NULL, state = ?, path = '' WHERE session_id = ?",
        [(PURGED, session_id) for session_id in sorted(session_ids)],
    )


def _kept(db: Connection, where: str = "1", values: tuple[object, ...] = ()) -> list[str]:
    sql = f"SELECT session_id FROM transcript_copies WHERE packed IS NOT NULL AND {where} ORDER BY at"  # noqa: S608
    return [str(row[0]) for row in db.execute(sql, values).fetchall()]


def _lifetime(bounds: Limits, lives: policy.Policy, project: str) -> int:
    """Milliseconds; 0: for ever."""
    words = lives.of(project, PROMPT) if lives.enabled else 0.0
    days = [each for each in (bounds.days, words) if each > 0]
    return int(min(days, default=0.0) * DAY)


def _due(
    db: Connection, now: int, bounds: Limits, lives: policy.Policy
) -> list[tuple[str, str, str, tuple[int, int] | None]]:
    """Sessions to be copied, the newest first: id, client, path, and the size and time of the file copied last."""
    found = db.execute(
        "SELECT s.id, s.client, s.transcript_path, p.name, s.last_at, c.size, c.changed FROM sessions s"
        " JOIN projects p ON p.id = s.project_id LEFT JOIN transcript_copies c ON c.session_id = s.id"
        " WHERE s.transcript_path != '' AND (s.state = 'ended' OR s.last_at < ?) AND coalesce(c.state, '') != ?"
        " AND s.id NOT IN (SELECT session_id FROM purged_keys) ORDER BY s.last_at DESC",
        (now - IDLE, PURGED),
    ).fetchall()
    folders = {name: [str(each) for each in discover.folders(name)] for name in discover.CLIENTS}
    return [
        (row[0], row[1], row[2], None if row[5] is None else (row[5], row[6]))
        for row in map(tuple, found)
        if any(within(row[2], folder) for folder in folders.get(row[1], ()))
        and not 0 < _lifetime(bounds, lives, row[3]) <= now - row[4]
    ]


def within(path: str, folder: str) -> bool:
    """Whether a path lies in a folder, as it is written and as it is once links are followed."""
    plain = Path(os.path.normpath(path)).is_relative_to(folder)
    return plain and Path(path).resolve().is_relative_to(Path(folder).resolve())


def _copy(
    db: Connection, session_id: str, client: str, path: str, known: tuple[int, int] | None, bounds: Limits, rules: str,
    now: int,
) -> bool:  # fmt: skip
    """One transcript; whether it was copied. What cannot be is noted, so that it is tried once."""
    mark = _mark(path)
    if mark is None or mark == known:
        return False
    state, packed = KEPT, None
    if mark[0] > bounds.each:
        state = LARGE
    else:
        try:
            packed = packing.pack(read(path, bounds.each), document=path.endswith(".json"))
        except (OSError, packing.NotRead):
            state = UNREAD
        if _mark(path) != mark:
            return False  # it is being written: the next time
    with transaction(db):
        db.execute(
            "INSERT INTO transcript_copies (session_id, at, path, size, changed, rules, state, packed)"
            " SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8 WHERE EXISTS (SELECT 1 FROM sessions WHERE id = ?1 AND client = ?9)"
            " ON CONFLICT (session_id) DO UPDATE SET at = excluded.at, path = excluded.path, size = excluded.size,"
            " changed = excluded.changed, rules = excluded.rules, state = excluded.state, packed = excluded.packed",
            (session_id, now, path, *mark, rules, state, packed, client),
        )
    return packed is not None


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


def _anew(db: Connection, rules: str, stopped: Callable[[], bool]) -> None:
    """Copies by other rules are redacted by those in force."""
    for session_id in _kept(db, "rules != ?", (rules,)):
        if stopped():
            return
        try:
            path, data = give(db, session_id) or ("", b"")
            packed = packing.pack(data, document=path.endswith(".json"))
        except (NmemError, packing.NotRead):
            packed = None
        with transaction(db):
            db.execute(
                "UPDATE transcript_copies SET packed = ?, rules = ?, state = ?"
                " WHERE session_id = ? AND packed IS NOT NULL",
                (packed, rules, UNREAD if packed is None else KEPT, session_id),
            )


def _expire(db: Connection, now: int, bounds: Limits, lives: policy.Policy) -> None:
    """What is past its lifetime goes, where the clock can be believed; and all of them where none are wanted."""
    leapt = ahead_by(db, now) > 0
    found = db.execute(
        "SELECT c.session_id, p.name, s.last_at FROM transcript_copies c JOIN sessions s ON s.id = c.session_id"
        " JOIN projects p ON p.id = s.project_id WHERE c.packed IS NOT NULL"
    ).fetchall()
    old = [
        row[0] for row in found
        if not bounds.on or (not leapt and 0 < _lifetime(bounds, lives, row[1]) <= now - row[2])
    ]  # fmt: skip
    _drop(db, old)


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
