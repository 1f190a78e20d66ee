"""The manifest of a backup: its origin and contents, in two tables of its own (SQL)."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import version

from capture.storage.schema import MIGRATIONS
from nmem import tables
from nmem.errors import NmemError

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


def file(db: sqlite3.Connection, name: str) -> bytes:
    """One file that a backup holds."""
    return bytes(db.execute("SELECT data FROM nmem_backup_files WHERE name = ?", (name,)).fetchone()[0])


def drop(db: sqlite3.Connection) -> None:
    """Take it out: what is left is the database as it was."""
    db.execute("DROP TABLE IF EXISTS nmem_backup")
    db.execute("DROP TABLE IF EXISTS nmem_backup_files")


def refuse_others(db: sqlite3.Connection, path: str) -> None:
    """Raise NmemError unless this is a database of ours, of this version or an older one."""
    if _has(db, "nmem_export"):
        raise NmemError(f"{path} is an export, no backup: nmem import --from-export {path}")
    if not _has(db, "observations") or not _has(db, "prompts"):
        raise NmemError(f"{path} is a database, but none of nmem's")
    facts, meaning = int(db.execute("PRAGMA user_version").fetchone()[0]), tables.version(db)
    if facts > len(MIGRATIONS) or meaning > tables.VERSION:
        known = f"{len(MIGRATIONS)}.{tables.VERSION}"
        raise NmemError(f"{path} is of version {facts}.{meaning}, this nmem knows {known}: upgrade nmem")


def _has(db: sqlite3.Connection, table: str) -> bool:
    return db.execute("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?", (table,)).fetchone() is not None
