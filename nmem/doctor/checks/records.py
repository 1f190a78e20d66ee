"""Checks the config, the labels, settling, and whether history was redacted by the current rules."""

from __future__ import annotations

import shlex
import sqlite3
import time
from contextlib import closing
from pathlib import Path

from capture import paths
from capture.redaction import WITHHELD
from nmem import database, tables
from nmem.audit import NOTE, OK, WRONG, Finding
from nmem.errors import NmemError
from nmem.labels import cards, read
from nmem.labels.read import Standing
from nmem.purge import store as past
from nmem.purge.history import MEND, stale, waiting
from nmem.read.health import log_tail
from nmem.retention import policy
from nmem.settings import file
from nmem.settle_start import LOST, lock_file, wanted


def config() -> list[Finding]:
    """A finding for each fault; redaction goes on whatever stands there, by built-in rules and good own ones."""
    found = file.read()
    if not found.exists:
        return [Finding("config", OK, f"{found.path} does not exist: all defaults")]
    faults = found.faults()
    strange = policy.recorded()
    faults += [one.fault for one in strange if one.nearest]
    said = [Finding("config", NOTE, found.told(one.fault), "nmem config edit") for one in strange if not one.nearest]
    if not faults:
        return said or [Finding("config", OK, f"{found.path} has no errors")]
    mend = f"nmem config edit, or: nmem config unset {shlex.quote(faults[0].name)}" if faults[0].name else ""
    return said + [Finding("config", WRONG, found.told(one), mend or "nmem config edit") for one in faults]


def labels() -> list[Finding]:
    """The model in force and what it has labelled; nothing while nothing is recorded."""
    path = paths.database()
    try:
        db = database.reader(path)
    except NmemError:
        return []
    try:
        found = read.standing(db, path)
    except sqlite3.Error as error:
        return [
            Finding("labels", WRONG, f"the labels cannot be counted: {database.worded(error)}", "nmem doctor --fix")
        ]
    finally:
        db.close()
    if not found.model:
        said = "the table of weights is missing or damaged: nothing is labelled"
        return [Finding("labels", WRONG, said, "install nmem again")]
    if found.passed_over:
        mend = "see there; or nmem train labels --reset to do without"
        return [Finding("labels", WRONG, found.passed_over, mend), _standing(found, "fix your own model first")]
    return [_standing(found), *_own(path, found)]


def _standing(found: Standing, mend: str = "nmem backfill") -> Finding:
    said = f"model {found.model} ({found.source}) has labelled {found.by_it:,} of {found.calls:,} calls"
    if found.own:
        said += f", and you have labelled {found.own:,}"
    if not found.due:
        return Finding("labels", OK, said)
    lacking = [f"{number:,} carry {what}" for number, what in
               ((found.bare, "no labels"), (found.by_others, "another model's")) if number]  # fmt: skip
    return Finding("labels", NOTE, f"{said}; {', '.join(lacking)}", mend)


def _own(path: str, found: Standing) -> list[Finding]:
    """Whether a person's own model goes with this nmem."""
    if found.source == cards.SHIPPED:
        return []
    if not cards.cards(path):
        said = f"the card of your own model {found.model} is missing: nothing explains its labels"
        return [Finding("labels", NOTE, said, "nmem train labels")]
    if cards.outdated(path):
        said = f"your own model {found.model} was trained beside an older model of nmem's"
        return [Finding("labels", NOTE, said, "nmem train labels, then nmem backfill")]
    return []


_FROM_BEHIND = (" background: ", " settle: ")
"""What processes in the background begin their lines of the log with."""


def settling() -> list[Finding]:
    """When episodes were last told and sessions summed up, or why they are not."""
    from nmem.settle import running  # on use: start-up stays short

    db = paths.database()
    asked, ran = _touched(wanted(db), filled=True), _touched(lock_file(db))
    if asked and time.time() - asked > LOST and not running(db):
        said = f"settling was requested at {_when(asked)} and has not started"
        return [Finding("settling", NOTE, f"{said}{_why(db)}", "nmem settle")]
    if ran:
        return [Finding("settling", OK, f"episodes were last written and sessions summed up at {_when(ran)}")]
    return []


def _touched(path: str, filled: bool = False) -> float:
    """When a file was last written to; 0.0 when there is none, or when it should hold something and does not."""
    try:
        found = Path(path).stat()
    except OSError:
        return 0.0
    return 0.0 if filled and not found.st_size else found.st_mtime


def _when(seconds: float) -> str:
    return time.strftime("%Y-%m-%d %H:%M", time.localtime(seconds))


def _why(db: str) -> str:
    lines = [line for line in log_tail(db, 1000) if any(mark in line for mark in _FROM_BEHIND)]
    return f": {lines[-1]}" if lines else ""


def history() -> list[Finding]:
    """A note where history waits for the person or for settling, and one where texts were withheld whole."""
    try:
        with closing(database.reader(paths.database())) as db:
            return ([*_waits(db)] if tables.version(db) else []) + _withheld(db)
    except (NmemError, sqlite3.Error):
        return []  # said by the check of the database


def _waits(db: sqlite3.Connection) -> list[Finding]:
    if said := waiting(db, least=0):
        return [Finding("redaction", NOTE, said, MEND)]
    if past.last_pass(db) and stale(db):
        said = "stored texts were not yet checked against the current redaction rules: the next settling does it"
        return [Finding("redaction", NOTE, said, "nmem settle")]
    return []


def _withheld(db: sqlite3.Connection) -> list[Finding]:
    number = past.withheld(db, WITHHELD)
    if not number:
        return []
    said = f"{number} texts were withheld whole: one of your patterns took too long on them"
    return [Finding("redaction", NOTE, said, "nmem config check")]
