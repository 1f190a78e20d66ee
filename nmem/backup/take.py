"""Takes a backup: stores spooled rows, copies the database, verifies, encrypts and files the copy."""

from __future__ import annotations

import contextlib
import os
import shutil
import sqlite3
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from capture import paths
from capture.files import own
from capture.labels.model import personal_file
from capture.storage import spool, store
from capture.storage.schema import MIGRATIONS
from nmem import database, sealing, tables
from nmem.backup import copying, places
from nmem.backup.copying import refuse_others, write_manifest
from nmem.episodes.boundary import FITTED
from nmem.errors import NmemError, NoDatabase
from nmem.sealing import Keys
from nmem.settings import file as settings

CONFIG = "config.toml"
SPOOLED = "spool/"
SCRATCH = ".nmem-scratch-"
"""How folders begin that hold plain copies for a while."""
_ABANDONED = 6 * 3600.0
_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class Taken:
    """A backup that was made."""

    path: str
    bytes: int
    rows: Mapping[str, int]
    encrypted: bool
    files: tuple[str, ...]
    """What it holds beside the database."""
    removed: tuple[str, ...] = ()
    """Older backups that gave way."""
    seconds: float = 0.0
    notes: tuple[str, ...] = field(default=())


def backup(
    db_path: str, where: str = "", keys: Keys | None = None, keep: int | None = None,
    progress: copying.Progress = copying.nothing,
) -> Taken:  # fmt: skip
    """Make a backup; `where` is a file or a folder, empty the folder of backups.

    Hooks go on writing meanwhile. Raises NmemError, and leaves nothing half done.
    """
    begun = time.monotonic()
    own = settings.values("backup")
    keys = keys or Keys(tuple(_texts(own["recipients"])))
    if keys.names and not keys.passphrase:
        sealing.recipients(keys.names)  # a wrong key is said before minutes of copying
    _refuse(db_path)
    target = _target(db_path, where, keys.any)
    try:
        notes = _drain(db_path)
        rows, files = _make(db_path, target, keys, progress, notes)
    except (sqlite3.Error, OSError) as error:
        raise NmemError(f"no backup was made: {_said(error, db_path)}") from None
    number = keep if keep is not None else _whole(own["keep"])
    removed = places.thin(places.folder(db_path), number) if number and not where else []
    size = target.stat().st_size
    seconds = round(time.monotonic() - begun, 3)
    return Taken(str(target), size, rows, keys.any, files, tuple(removed), seconds, tuple(notes))


def _texts(value: object) -> list[str]:
    return [str(each) for each in value] if isinstance(value, list | tuple) else []


def _whole(value: object) -> int:
    return value if isinstance(value, int) else 0


def _said(error: BaseException, db_path: str) -> str:
    if isinstance(error, OSError):
        return f"{error.filename or db_path}: {error.strerror}"
    return f"{db_path}: {error}"


def _refuse(db_path: str) -> None:
    """A database of a newer nmem is not touched; an older one may well be kept as it is."""
    if not database.exists(db_path):
        raise NoDatabase(f"nothing is recorded yet at {db_path}: nothing to back up")
    database.own(db_path)
    try:
        with closing(copying.opened(db_path)) as db:
            refuse_others(db, db_path)
    except sqlite3.Error as error:
        raise NmemError(f"{db_path} cannot be read: {error}; `nmem doctor` says more") from None


def _target(db_path: str, where: str, encrypted: bool) -> Path:
    ending = ".db.age" if encrypted else ".db"
    if not where:
        return places.fresh(places.made(places.folder(db_path)), "nmem", ending)
    path = Path(where).expanduser()
    if path.is_dir():
        return places.fresh(path, "nmem", ending)
    if path.exists():
        raise NmemError(f"{path} exists already: name another file, or a folder")
    if not path.absolute().parent.is_dir():
        raise NmemError(f"there is no folder {path.absolute().parent}")
    return path


def _drain(db_path: str) -> list[str]:
    """Store what waits in the spool; what is busy or of another version is packed instead."""
    if not spool.waiting(db_path) or _older(db_path):
        return []
    try:
        with closing(store.connect(db_path, timeout=1.0)) as db:
            spool.drain(db, db_path, seconds=_SECONDS)
    except (sqlite3.Error, OSError) as error:
        return [f"what waits in the spool could not be stored ({error}): it is packed beside the database"]
    return []


def _older(db_path: str) -> bool:
    with closing(copying.opened(db_path)) as db:
        return (copying.facts_version(db), tables.version(db)) != (len(MIGRATIONS), tables.VERSION)


def _make(
    db_path: str, target: Path, keys: Keys, progress: copying.Progress, notes: list[str]
) -> tuple[dict[str, int], tuple[str, ...]]:
    """The copy, with what belongs to it, checked; sealed, and given its name once it is whole."""
    with scratch(db_path if keys.any else str(target)) as folder:
        plain = folder / "copy.db"
        copying.snapshot(db_path, plain, progress)
        files = beside(db_path, notes)
        with closing(sqlite3.connect(plain, isolation_level=None)) as db:
            write_manifest(db, time.time_ns() // 1_000_000, files)
            if said := copying.damage(db):
                raise NmemError(f"the database is damaged ({said}): no backup was made; `nmem doctor` says more")
            rows = copying.counts(db)
        _place(plain, target, keys)
    return rows, tuple(files)


def _place(plain: Path, target: Path, keys: Keys) -> None:
    aside = target.with_name(f".{target.name}.{os.getpid()}.tmp")
    try:
        if keys.any:
            with os.fdopen(os.open(aside, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600), "wb") as out:
                sealing.seal(plain, out, keys)
        else:
            plain.replace(aside)
        copying.synced(aside)
        aside.rename(target)
    except BaseException:
        aside.unlink(missing_ok=True)
        raise


@contextmanager
def scratch(near: str) -> Iterator[Path]:
    """A folder for the owner only, beside a file, for what must not lie elsewhere: gone afterwards."""
    place = paths.folder(near)
    _clear(place)
    with tempfile.TemporaryDirectory(prefix=f"{SCRATCH}{os.getpid()}-", dir=place) as folder:
        yield Path(folder)


def _clear(place: str) -> None:
    """Take away what killed processes left: a plain copy lies in it."""
    with contextlib.suppress(OSError):
        for path in Path(place).glob(f"{SCRATCH}*"):
            if path.is_dir() and time.time() - path.stat().st_mtime > _ABANDONED:
                shutil.rmtree(path, ignore_errors=True)


def beside(db_path: str, notes: list[str]) -> dict[str, bytes]:
    """What a memory is made of beside its database: settings, own models, what waits in the spool."""
    out = {}
    for path in (Path(paths.folder(db_path), FITTED), Path(personal_file(db_path))):
        with contextlib.suppress(OSError):
            out[path.name] = own(str(path))
    for folder in spool.folders(db_path):
        with contextlib.suppress(OSError):
            for path in Path(folder).glob(f"*{paths.BATCH}"):
                out[SPOOLED + path.name] = own(str(path))
    text = _settings(notes)
    return {**out, CONFIG: text.encode()} if text else out


def _settings(notes: list[str]) -> str:
    """config.toml without the key of a model: that belongs in no copy."""
    found = settings.read()
    if not found.exists:
        return ""
    if found.unreadable:
        notes.append(f"the settings are left out: {found.told(found.faults()[0])}")
        return ""
    if settings.value(found.document, ("llm", "key")) is None:
        return found.text
    import tomlkit  # on use: start-up stays short

    document = tomlkit.parse(found.text)
    table = document["llm"]
    assert isinstance(table, dict)
    del table["key"]
    notes.append("llm.key is left out of the settings")
    return tomlkit.dumps(document)
