"""Prepares a machine for hooks: private folder, database, bytecode, packs of modules, compiled redaction rules."""

from __future__ import annotations

import os
import sqlite3
import tempfile
from pathlib import Path
from sqlite3 import Connection

from capture import paths
from capture.install import bytecode
from capture.storage import schema, store
from capture.storage.schema import NewerDatabase
from nmem import packs, tables
from nmem.errors import NmemError


def pinned() -> str:
    """The database that registered commands must name: only one that the environment chose."""
    return str(Path(os.environ["NMEM_DB"]).absolute()) if os.environ.get("NMEM_DB") else ""


def fleeting(entry: str) -> bool:
    """Whether an entry file lies where a tool or the system will clear it away, and the hooks with it."""
    path = Path(entry).resolve()
    kept_by_tools = (
        any(part in ("archive-v0", "environments-v2") for part in path.parts) or "pipx/.cache" in path.as_posix()
    )
    return kept_by_tools or path.is_relative_to(Path(tempfile.gettempdir()).resolve())


def prepare(db: str) -> list[str]:
    """Make everything ready; returns what could not be done, one line each.

    Raises NmemError when there can be no database.
    """
    _database(db)
    notes = []
    if failed := bytecode.make():
        notes.append(
            f"{len(failed)} modules of the hook have no bytecode and {Path(failed[0]).parent} cannot be written: "
            "each hook will cost about twice as much"
        )
    packs.make()  # without packs a hook costs a tenth more: no reason to say a word
    if not warm():
        notes.append(f"the redaction rules could not be cached in {paths.cache(db)}: each hook compiles what it needs")
    return notes


def _database(db: str) -> None:
    folder = Path(paths.folder(db))
    try:
        paths.make(str(folder))
        # a folder that the user chose may hold other things: its mode is theirs
        if not os.environ.get("NMEM_DB") and folder.stat().st_mode & 0o077:
            folder.chmod(0o700)
        _known(store.connect(db, timeout=5))
    except OSError as error:
        raise NmemError(f"{folder} cannot be used for the memory: {error.strerror}") from None
    except sqlite3.DatabaseError as error:
        raise NmemError(f"{db} cannot be used as the memory: {error}") from None
    except schema.NewerDatabase as error:
        raise NmemError(f"{db}: {error}: upgrade nmem") from None


def _known(opened: Connection) -> None:
    """Raise NewerDatabase where what is concluded of the facts is of a newer form."""
    try:
        meaning = tables.version(opened)
    finally:
        opened.close()
    if meaning > tables.VERSION:
        raise NewerDatabase(f"its tables of meaning have version {meaning}; this nmem knows {tables.VERSION}")


def warm() -> bool:
    """Compile the redaction rules into their cache; False when it could not be written."""
    from capture.redaction import settings  # on use: start-up stays short

    return settings.prepare()
