"""Keeps copies of transcripts in the database: made at settling, bounded in size and age, given up when purged.

Copied is what a client keeps in its own folder of a session that is over or has been idle for half an hour, once, and
again when its file has changed; where that can no longer be copied, the older copy stays. Each is bounded in size, all
of them are together, the oldest go first; what is past its lifetime goes as well, and no copy outlives the words of the
first prompt in it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from sqlite3 import Connection

from capture.files import read, regular
from capture.redaction.settings import Within
from capture.storage.store import called
from nmem.episodes.store import IDLE
from nmem.errors import NmemError
from nmem.importing import discover
from nmem.retention import policy
from nmem.retention.plan import DAY, ahead_by
from nmem.sessions import packing, store
from nmem.sessions.store import DROPPED, KEPT, LARGE, UNREAD, Life
from nmem.settings import file
from nmem.settings.kinds import PROMPT

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
    return Stored(len(store.copied(db)), store.held(db), limits())


def keep(db: Connection, now: int, rules: str, stopped: Callable[[], bool] = lambda: False) -> int:
    """Copy what is due, give up what may not be kept any longer; how many were copied. Outside a transaction.

    `rules`: a digest of the redaction rules in force; a copy by others is redacted anew. Raises sqlite3.Error, and
    NmemError for a configuration that cannot be read: then nothing changes.
    """
    bounds = limits()
    lives = policy.load()
    _expire(db, now, bounds, lives)
    again(db, rules, stopped=stopped)
    made = 0
    for one in _sources(db, now) if bounds.on else ():
        if stopped():
            break
        seen = _seen(one.path) if one.over else None
        if seen is None or one.settled(seen, bounds, now):
            continue  # nearly all: nothing dearer was asked of them
        mark = None if _past(bounds, lives, now, store.lives(db, one.session_id)[0]) else _mark(one.path)
        if mark is None or not one.within():
            continue
        room = bounds.all - store.held(db, one.last_at, one.session_id)
        if room <= 0 or (one.state == DROPPED and mark == one.mark and mark[0] > room):
            break  # it would go again, and what is older gives way first; packed it is smaller than the file
        made += _copy(db, one, mark, bounds, rules, now)
    _fit(db, bounds.all)
    return made


def give(db: Connection, session_id: str) -> tuple[str, bytes] | None:
    """Where a client had a transcript, and the copy of it, if one is kept. Raises NmemError for a damaged one."""
    row = store.copy(db, session_id)
    if row is None or row[1] is None:
        return None
    try:
        return row[0], packing.unpack(row[1])
    except ValueError as error:
        raise NmemError(str(error)) from None


def saying(db: Connection, says: Callable[[bytes], bool], stopped: Callable[[], bool] = lambda: False) -> set[str]:
    """Sessions whose copies say something: read one by one, no lock is held."""
    found = set()
    for session_id in store.copied(db):
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


def _past(bounds: Limits, lives: policy.Policy, now: int, of: Life) -> bool:
    """Whether a session's copy is past its lifetime, or the words of one of its prompts are."""
    _, project, last, first, swept = of
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


def _sources(db: Connection, now: int) -> Iterator[_Source]:
    """Files of which a copy may be made, of the newest sessions first: as their paths read, links not followed."""
    folders = {name: tuple(str(each) for each in discover.folders(name)) for name in discover.CLIENTS}
    for row in store.sources(db, now - IDLE):
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
    store.keep(db, one.session_id, one.client, one.path, mark, now, state, rules, packed)
    return packed is not None


def within_rules(db: Connection, session_id: str) -> Within:
    """Inside, a session's project decides how much is redacted."""
    return Within(called(db, session_id))


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


def again(db: Connection, rules: str, project: int | None = None, stopped: Callable[[], bool] = lambda: False) -> None:
    """Redact by the rules in force what was copied by others, or all copies of a project's sessions."""
    for session_id in store.copied(db, by_other_rules=rules if project is None else None, project=project):
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
    store.repack(db, session_id, packed, rules)


def _expire(db: Connection, now: int, bounds: Limits, lives: policy.Policy) -> None:
    """What is past its lifetime goes, where the clock can be believed; and all of them where none are wanted."""
    if not bounds.on:
        store.drop_all(db)
    elif ahead_by(db, now) <= 0:
        store.drop(db, [each[0] for each in store.lives(db) if _past(bounds, lives, now, each)])


def _fit(db: Connection, most: int) -> None:
    """The sessions that were active longest ago give way until the rest has room."""
    held, over = 0, []
    for session_id, size in store.sizes(db):
        held += size
        if held > most:
            over.append(session_id)
    store.drop(db, over)
