"""Names, lists and thins backups; reads and writes a backup's manifest, in two tables of its own (SQL)."""

from __future__ import annotations

import contextlib
import json
import os
import re
import sqlite3
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from capture import paths
from capture.files import NotOurs, ours
from capture.storage.schema import MIGRATIONS
from nmem import tables
from nmem.errors import NmemError
from nmem.settings import file

FOLDER = "backups"
BEFORE = "before-restore"
_NAME = re.compile(r"(nmem|before-restore)-(\d{8}-\d{6})(?:-\d+)?\.db(\.age)?")


@dataclass(frozen=True, slots=True)
class Kept:
    """One backup in the folder."""

    path: str
    bytes: int
    at: str
    """As its name says: 20260131-142500, local time."""
    encrypted: bool
    before_restore: bool


def folder(db_path: str) -> Path:
    """The folder of a database's backups; it may not exist. Raises NmemError for settings that cannot be used."""
    return chosen() or Path(paths.folder(db_path), FOLDER)


def chosen() -> Path | None:
    """The folder that a person chose, if any. Raises NmemError for settings that cannot be used."""
    named = str(file.values("backup")["folder"] or "")
    return Path(named).expanduser() if named else None


def made(place: Path) -> Path:
    """The folder, for the owner only where it is new. Raises NmemError."""
    try:
        paths.make(str(place.absolute()))
    except OSError as error:
        raise NmemError(f"{place} cannot be made: {error.strerror}") from None
    _own(place)
    return place


def _own(place: Path) -> None:
    """Refuse a folder of our own name that is another user's or a link; one that a person chose is theirs to keep."""
    if place.name != FOLDER or place == chosen():
        return
    try:
        ours(str(place.absolute()), folder=True)
    except NotOurs as error:
        raise NmemError(str(error)) from None


def fresh(place: Path, kind: str, ending: str) -> Path:
    """A name that comes after all others of its second."""
    stamp = time.strftime("%Y%m%d-%H%M%S")
    taken = [_number(path.name) for path in place.glob(f"{kind}-{stamp}*")]
    return place / f"{kind}-{stamp}{f'-{max(taken) + 1}' if taken else ''}{ending}"


def _number(name: str) -> int:
    """Which of its second a backup is."""
    found = re.search(r"-\d{6}-(\d+)\.", name)
    return int(found[1]) if found else 0


def kept(place: Path) -> list[Kept]:
    """The backups in a folder, the newest first; what else lies there is not looked at."""
    out = []
    _own(place)
    with contextlib.suppress(FileNotFoundError):
        for path in place.iterdir():
            found = _NAME.fullmatch(path.name)
            if found and path.is_file() and not path.is_symlink():
                out.append(Kept(str(path), path.stat().st_size, found[2], bool(found[3]), found[1] == BEFORE))
    return sorted(out, key=lambda one: (one.at, _number(Path(one.path).name)), reverse=True)


def thin(place: Path, keep: int) -> list[str]:
    """Take all but the newest `keep` backups away; what was kept before a restore stays. The paths that are gone."""
    gone = [one.path for one in kept(place) if not one.before_restore][keep:]
    for path in gone:
        os.unlink(path)  # noqa: PTH108 - a string already
    return gone


FORMAT = 1
_TABLES = """
CREATE TABLE nmem_backup (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE nmem_backup_files (name TEXT PRIMARY KEY, data BLOB NOT NULL) WITHOUT ROWID;
"""


@dataclass(frozen=True, slots=True)
class Manifest:
    """What stands in a backup; a plain copy of a database has none of it."""

    at: int = 0
    nmem: str = ""
    files: tuple[str, ...] = ()


def write(db: sqlite3.Connection, at: int, files: Mapping[str, bytes]) -> None:
    """Add it to a copy."""
    from importlib.metadata import version  # on use: start-up stays short

    drop(db)
    db.execute("BEGIN")
    for statement in _TABLES.split(";\n"):
        db.execute(statement)
    facts = {"format": FORMAT, "at": at, "nmem": version("nmem"), "facts": len(MIGRATIONS), "meaning": tables.VERSION}
    db.executemany("INSERT INTO nmem_backup VALUES (?, ?)", [(name, json.dumps(it)) for name, it in facts.items()])
    db.executemany("INSERT INTO nmem_backup_files VALUES (?, ?)", list(files.items()))
    db.execute("COMMIT")


def read(db: sqlite3.Connection) -> Manifest:
    """What a backup says of itself. Raises NmemError for one of a form that is not known yet."""
    if not _has(db, "nmem_backup"):
        return Manifest()
    facts = {name: json.loads(value) for name, value in db.execute("SELECT name, value FROM nmem_backup").fetchall()}
    if facts.get("format", 0) > FORMAT:
        raise NmemError("the backup was made by a newer nmem: upgrade nmem")
    names = [name for (name,) in db.execute("SELECT name FROM nmem_backup_files ORDER BY name").fetchall()]
    return Manifest(int(facts.get("at", 0)), str(facts.get("nmem", "")), tuple(names))


def held_file(db: sqlite3.Connection, name: str) -> bytes:
    """One file that a backup holds."""
    return bytes(db.execute("SELECT data FROM nmem_backup_files WHERE name = ?", (name,)).fetchone()[0])


def drop(db: sqlite3.Connection) -> None:
    """Take it out: what is left is the database as it was."""
    db.execute("DROP TABLE IF EXISTS nmem_backup")
    db.execute("DROP TABLE IF EXISTS nmem_backup_files")


def refuse_others(db: sqlite3.Connection, path: str) -> None:
    """Raise NmemError unless this is a database of ours, of this version or an older one."""
    if _has(db, "nmem_export"):
        raise NmemError(f"{path} is an export, not a backup: nmem import --from-export {path}")
    if not _has(db, "observations") or not _has(db, "prompts"):
        raise NmemError(f"{path} is a database, but not nmem's")
    facts, meaning = int(db.execute("PRAGMA user_version").fetchone()[0]), tables.version(db)
    if facts > len(MIGRATIONS) or meaning > tables.VERSION:
        known = f"{len(MIGRATIONS)}.{tables.VERSION}"
        raise NmemError(f"{path} has version {facts}.{meaning}, this nmem knows {known}: upgrade nmem")


def _has(db: sqlite3.Connection, table: str) -> bool:
    return db.execute("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?", (table,)).fetchone() is not None
