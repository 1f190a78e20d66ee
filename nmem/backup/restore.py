"""Restores a backup: decrypts, verifies and upgrades it aside, then copies it over the live database.

Running hooks and cockpits keep the database open, so its file is never replaced: what they would write to the old one
would be lost. The backup goes into it as one transaction; whoever reads sees the old rows or the new ones, and hooks
that find it locked leave their rows in the spool. What was there is kept first, as a backup like any other.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import sqlite3
import time
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from capture import paths
from capture.files import replace
from capture.labels.model import personal_file
from capture.storage import spool, store
from capture.storage.schema import NewerDatabase, fold
from nmem import database, sealing, tables
from nmem.backup import copying, places, take
from nmem.backup.copying import Manifest, drop_manifest, held_file, read_manifest, refuse_others
from nmem.episodes.boundary import FITTED
from nmem.errors import NmemError
from nmem.sealing import Keys

_TRIES = 8
_WAIT = 30.0
_FOLDED = 5_000
"""Milliseconds for which readers are waited for, to fold the log back."""


@dataclass(frozen=True, slots=True)
class Restored:
    """What was put back, or would be."""

    path: str
    rows: Mapping[str, int]
    """Of the backup."""
    before: Mapping[str, int]
    """Of the database that was there."""
    manifest: Manifest
    kept: str = ""
    """Where that one is now; empty where there was none."""
    seconds: float = 0.0
    notes: tuple[str, ...] = field(default=())


class _Written(Exception):
    """Somebody wrote between keeping the old rows and locking the database."""


def restore(
    db_path: str, path: str, keys: Keys | None = None, *, dry: bool = False, with_settings: bool = False,
    progress: copying.Progress = copying.nothing,
) -> Restored:  # fmt: skip
    """Make the database what a backup says. Raises NmemError; then it is what it was."""
    begun = time.monotonic()
    if not Path(path).is_file():
        raise NmemError(f"there is no file {path}")
    paths.make(paths.folder(db_path))
    try:
        _refuse(db_path)
        with take.scratch(db_path) as folder:
            work = folder / "work.db"
            _open(path, work, keys or Keys())
            with closing(copying.opened(work)) as db:
                found, rows, files = _look(db, path)
            before = _rows(db_path)
            if dry:
                return Restored(path, rows, before, found)
            _room(db_path, work)
            _up_to_date(work)
            notes = _held(db_path, work)
            kept = _swap(db_path, work, progress, notes)
            notes += _files(db_path, files, with_settings)
    except (sqlite3.Error, OSError, NewerDatabase) as error:
        said = error.strerror if isinstance(error, OSError) and error.strerror else error
        raise NmemError(f"{path} was not restored: {said}") from None
    return Restored(path, rows, before, found, kept, round(time.monotonic() - begun, 3), tuple(notes))


def _held(db_path: str, work: Path) -> list[str]:
    """Tasks that were done since the backup was taken are not done again because it is put back."""
    from nmem.dispatch import queue  # on use: start-up stays short

    if not database.exists(db_path):
        return []
    with closing(copying.opened(db_path)) as live, closing(store.connect(str(work))) as db:
        try:
            held = queue.hold(db, live, time.time_ns() // 1_000_000)
        except sqlite3.DatabaseError:
            return []  # what is there is damaged: it says nothing
        return [f"{held} tasks were queued in the backup, now cancelled: `nmem task retry` queues one"] if held else []


def _refuse(db_path: str) -> None:
    """Nothing is put into a database of a newer nmem: whoever wrote it still writes to it."""
    database.own(db_path)
    if database.exists(db_path):
        with contextlib.suppress(sqlite3.DatabaseError), closing(copying.opened(db_path)) as db:
            refuse_others(db, db_path)


def _open(path: str, work: Path, keys: Keys) -> None:
    """The backup as a plain file of ours."""
    if sealing.form(path) == sealing.PLAIN:
        try:
            copying.snapshot(path, work)
        except sqlite3.DatabaseError as error:
            raise NmemError(f"{path} is damaged: {error}") from None
        return
    with os.fdopen(os.open(work, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600), "wb") as out:
        sealing.unseal(path, out, keys)


def _look(db: sqlite3.Connection, path: str) -> tuple[Manifest, dict[str, int], dict[str, bytes]]:
    """Whether it is a backup, whole, and of a version that is known here; what is in it."""
    try:
        refuse_others(db, path)
        if said := copying.damage(db):
            raise NmemError(f"{path} is damaged: {said}")
        found = read_manifest(db)
        return found, copying.counts(db), {name: held_file(db, name) for name in found.files}
    except sqlite3.DatabaseError as error:
        raise NmemError(f"{path} is damaged: {error}") from None


def _rows(db_path: str) -> dict[str, int]:
    try:
        with closing(copying.opened(db_path)) as db:
            return copying.counts(db)
    except sqlite3.Error:
        return {}


def _room(db_path: str, work: Path) -> None:
    """The old rows, the new ones and the log of the change lie beside each other for a while."""
    size = work.stat().st_size
    wanted = 2 * size + (Path(db_path).stat().st_size if Path(db_path).exists() else 0)
    free = shutil.disk_usage(paths.folder(db_path)).free
    if free < wanted:
        raise NmemError(f"restoring needs {wanted / 1e6:,.0f} MB for a while, and {free / 1e6:,.0f} MB are free")


def _up_to_date(work: Path) -> None:
    """A backup of an older nmem becomes one of this; what only a backup has is taken out."""
    with closing(store.connect(str(work))) as db:
        tables.ensure(db)
        drop_manifest(db)
        copying.single(db)


@contextmanager
def _alone(db_path: str) -> Iterator[None]:
    """Nobody settles meanwhile: who settles remembers rows that are about to be others."""
    until = time.monotonic() + _WAIT
    while True:
        with database.settle_lock(db_path) as mine:
            if mine:
                yield
                return
        if time.monotonic() > until:
            raise NmemError("another process is settling the database: run `nmem settle`, then restore again")
        time.sleep(0.1)


def _swap(db_path: str, work: Path, progress: copying.Progress, notes: list[str]) -> str:
    """Keep what is there, and pour the new rows in; where the old ones are kept."""
    damaged = _set_aside(db_path)
    new = not database.exists(db_path)
    with _alone(db_path), closing(store.connect(db_path, timeout=_WAIT)) as live:
        if not new:
            with contextlib.suppress(sqlite3.Error, OSError):
                spool.drain(live, db_path)
        kept = _poured(live, db_path, work, progress, keep=not new)
        fold(live, _FOLDED)
    if damaged:
        notes.append(f"the database was damaged; its file is kept as {damaged}")
    return kept


def _poured(live: sqlite3.Connection, db_path: str, work: Path, progress: copying.Progress, *, keep: bool) -> str:
    place = places.made(places.folder(db_path)) if keep else None
    for number in range(_TRIES):
        kept = places.fresh(place, places.BEFORE, ".db") if place else None
        with closing(copying.opened(db_path)) as watch:
            moment = _keep(live, watch, db_path, kept, work, locked=number > 0)
            try:
                copying.pour(work, live, partial(_same, watch, moment), progress)
                return str(kept or "")
            except _Written:
                if kept:
                    kept.unlink()
            except TimeoutError:
                if kept:
                    kept.unlink()
                raise NmemError(
                    f"{db_path} is being written to all the time: stop the writers, then restore again"
                ) from None
    raise NmemError("hooks write to the database faster than it can be copied: try again in a moment")


def _gone(live: sqlite3.Connection, work: Path) -> None:
    """What was taken back from a team, by anybody, is in no database that a backup makes."""
    from nmem.store import store as known  # on use: start-up stays short

    with closing(store.connect(str(work))) as db:
        copying.overwrite_deleted(db)
        # there is none yet, or it is damaged: it says nothing
        with contextlib.suppress(sqlite3.DatabaseError), store.transaction(db):
            known.carry(db, live)
        with store.transaction(db):
            known.clear_returned(db)


def _keep(
    live: sqlite3.Connection, watch: sqlite3.Connection, db_path: str, kept: Path | None, work: Path, *, locked: bool
) -> int:
    """Copy what is there, and ready what comes for it; as of which moment. Where somebody wrote in the midst of the
    first copy, nobody can in the next: hooks leave their rows in the spool meanwhile."""
    with copying.locked(live) if locked else contextlib.nullcontext():
        moment = database.data_version(watch)
        if kept:
            copying.snapshot(db_path, kept)
            with closing(sqlite3.connect(kept, isolation_level=None)) as copy:
                copying.write_manifest(copy, time.time_ns() // 1_000_000, {})
        _gone(live, work)  # here, since no writer may come between the copy and the change
        return moment


def _same(watch: sqlite3.Connection, moment: int) -> None:
    if database.data_version(watch) != moment:
        raise _Written


def _set_aside(db_path: str) -> str:
    """A file that SQLite cannot open at all is moved away: nobody can be writing to it."""
    if not database.exists(db_path):
        return ""
    try:
        with closing(copying.opened(db_path)) as db:
            copying.begin_reading(db)
        return ""
    except sqlite3.DatabaseError as error:
        if isinstance(error, sqlite3.OperationalError):
            raise
    target = places.fresh(places.made(places.folder(db_path)), "damaged", ".db")
    for ending in ("", "-wal", "-shm"):
        with contextlib.suppress(FileNotFoundError):
            Path(db_path + ending).rename(f"{target}{ending}")
    return str(target)


def _files(db_path: str, files: Mapping[str, bytes], with_settings: bool) -> list[str]:
    """Put the rest in its place; the settings only where they were asked for."""
    notes = []
    places_of = {FITTED: Path(paths.folder(db_path), FITTED), Path(personal_file(db_path)).name: personal_file(db_path)}
    for name, data in files.items():
        if name in places_of:
            replace(str(places_of[name]), data)
        elif name.startswith(take.SPOOLED) and "/" not in name.removeprefix(take.SPOOLED):
            paths.make(paths.spool(db_path))
            replace(str(Path(paths.spool(db_path), name.removeprefix(take.SPOOLED))), data)
        elif name == take.CONFIG:
            notes += _settings(data, with_settings)
    return notes


def _settings(data: bytes, wanted: bool) -> list[str]:
    path = Path(paths.config())
    with contextlib.suppress(OSError):
        if path.read_bytes() == data:
            return []
    if not wanted:
        return ["the backup holds other settings than yours: --with-settings takes them as well"]
    notes = [f"the settings are those of the backup: {path}"]
    if path.exists():
        aside = path.with_name(f"{path.name}.before-{time.strftime('%Y%m%d-%H%M%S')}")
        replace(str(aside), path.read_bytes())
        notes.append(f"the previous settings are kept as {aside}")
    paths.make(str(path.absolute().parent))
    replace(str(path), data)
    return notes
