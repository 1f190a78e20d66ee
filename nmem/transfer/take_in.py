"""Imports an export, as lines of JSON or as tables: skips known records, redacts everything."""

from __future__ import annotations

import sqlite3
import sys
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import BinaryIO

from capture.storage import store
from capture.storage.schema import MIGRATIONS, NewerDatabase, fold
from nmem import sealing, tables
from nmem.backup import copying
from nmem.database import worded
from nmem.errors import NmemError
from nmem.transfer import facts
from nmem.transfer.incoming import Folders, Report, versions
from nmem.transfer.jsonl import read
from nmem.transfer.tables_in import Merge

_WAIT = 30.0
_FOLD = 4000
"""Pages of the write-ahead log after which it is folded back: an import must not pile it up."""
Told = Callable[[int, int], None]


def take_in(db_path: str, source: str, folders: Folders, told: Told = lambda _done, _all: None) -> Report:
    """Merge an export, another memory's database or a backup into this one; `-` is standard input, lines only.

    Broken off, it goes on where it was when it is begun again. Raises NmemError.
    """
    begun = time.monotonic()
    report = Report()
    try:
        with closing(store.connect(db_path, timeout=_WAIT, autocheckpoint=_FOLD)) as db:
            tables.ensure(db)
            if source == "-":
                _lines(db, sys.stdin.buffer, "standard input", report, folders)
            elif _is_tables(source):
                _tables(db, source, report, folders, told)
            else:
                with Path(source).open("rb") as lines:
                    _lines(db, lines, source, report, folders)
            fold(db, int(_WAIT * 1000))
    except (sqlite3.Error, NewerDatabase) as error:
        raise NmemError(f"{db_path}: {worded(error)}; run it again to continue") from None
    except OSError as error:
        raise NmemError(f"{error.filename or db_path}: {error.strerror}") from None
    report.seconds = round(time.monotonic() - begun, 3)
    return report


def _is_tables(source: str) -> bool:
    with Path(source).open("rb") as file:
        head = file.read(64)
    if head.startswith(sealing.AGE):
        raise NmemError(f"{source} is an encrypted backup: use nmem restore")
    return head.startswith(b"SQLite format 3\0")


def _lines(db: sqlite3.Connection, lines: BinaryIO, name: str, report: Report, folders: Folders) -> None:
    facts.store_all(db, read(lines, name, report), report, folders)


def _tables(db: sqlite3.Connection, source: str, report: Report, folders: Folders, told: Told) -> None:
    try:
        with copying.held(source) as there:
            _refuse(there, source)
            merge = Merge(there, db, report, folders)
            merge.all(told)
    except sqlite3.DatabaseError as error:
        if "malformed" in str(error) or "not a database" in str(error):
            raise NmemError(f"{source} is damaged: {error}") from None
        raise


def _refuse(there: sqlite3.Connection, source: str) -> None:
    """Raise NmemError for what is none of ours, or newer."""
    found = versions(there)
    if found is None:
        raise NmemError(f"{source} is a database, but not nmem's")
    facts_of, meaning = found
    if facts_of > len(MIGRATIONS) or meaning > tables.VERSION:
        known = f"{len(MIGRATIONS)}.{tables.VERSION}"
        raise NmemError(f"{source} has version {facts_of}.{meaning}, this nmem knows {known}: upgrade nmem")
