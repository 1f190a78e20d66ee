"""Checks whether stored texts were redacted by the current rules, and whether a pattern withholds texts."""

from __future__ import annotations

import sqlite3
from contextlib import closing

from capture import paths
from capture.redaction import WITHHELD
from nmem import database, tables
from nmem.doctor.checks import NOTE, Finding
from nmem.errors import NmemError
from nmem.purge import history as past

MEND = "nmem redact --history --dry-run"


def history() -> list[Finding]:
    """A note where history waits for the person or for settling, and one where texts were withheld whole."""
    try:
        with closing(database.reader(paths.database())) as db:
            return ([*_waits(db)] if tables.version(db) else []) + _withheld(db)
    except (NmemError, sqlite3.Error):
        return []  # said by the check of the database


def waiting(db: sqlite3.Connection) -> str:
    """Why history is left to the person, in a few words; empty when it is not. Raises sqlite3.Error."""
    share = past.left(db) if past.stale(db) else 0.0
    if not share:
        return ""
    return f"the rules of redaction are new, and would change {share:.0%} of what is stored: settling leaves it to you"


def _waits(db: sqlite3.Connection) -> list[Finding]:
    if said := waiting(db):
        return [Finding("redaction", NOTE, said, MEND)]
    if past.known(db) and past.stale(db):
        said = "what is stored was not yet gone over by the rules of redaction in force: the next settling does it"
        return [Finding("redaction", NOTE, said, "nmem settle")]
    return []


def _withheld(db: sqlite3.Connection) -> list[Finding]:
    number = past.withheld(db, WITHHELD)
    if not number:
        return []
    said = f"{number} texts were withheld whole: a pattern of yours took too long for them"
    return [Finding("redaction", NOTE, said, "nmem config check")]
