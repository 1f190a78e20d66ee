"""Runs all checks of `nmem doctor` in reading order, and the fixes of `--fix`."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable
from contextlib import closing

from capture import install, paths
from capture.install import bytecode
from capture.settle import settle
from capture.storage import store
from nmem import database, setup, tables
from nmem.audit import WRONG, Finding, read, servers
from nmem.audit.store import build_index
from nmem.doctor import registrations
from nmem.doctor.checks import hooks, storage, switches
from nmem.doctor.checks.hooks import status_lines
from nmem.doctor.checks.records import config, history, labels, settling
from nmem.errors import NmemError
from nmem.purge import files

CHECKS: tuple[Callable[[str], list[Finding]], ...] = (
    lambda _: storage.private(),
    lambda _: storage.copies(),
    lambda _: storage.waiting(),
    lambda _: storage.runtime(),
    lambda _: config(),
    lambda _: history(),
    lambda _: settling(),
    lambda _: labels(),
    hooks.registered_hooks,
    hooks.files,
    switches.every,
    status_lines,
    hooks.round_trips,
)


def examine(folder: str, deep: bool = False) -> list[Finding]:
    """Run every check; `folder` is the project whose settings count besides the user's.

    `deep` reads everything that is stored: some ten seconds for a million observations.
    """
    out = storage.database(deep)
    out += [finding for check in CHECKS for finding in check(folder)]
    connected = [client for client in hooks.found(folder) if any(registrations.all_of(client, folder))]
    return out + servers.findings(connected, folder) + _audit(deep)


def _audit(deep: bool) -> list[Finding]:
    """Whether the memory does its job; nothing while nothing is recorded, or the database cannot be read."""
    path = paths.database()
    try:
        db = database.reader(path)
    except NmemError:
        return []  # said by the check of the database
    try:
        if not tables.version(db):
            return []  # nothing was concluded yet
        return read.findings(db, path, time.time_ns() // 1_000_000, deep)
    finally:
        db.close()


def healthy(findings: list[Finding]) -> bool:
    """Whether nothing is wrong; notes do not count."""
    return all(finding.severity != WRONG for finding in findings)


def fix(folder: str) -> list[str]:
    """Mend what needs no decision: modes, bytecode, rule cache, spool, log; hooks that are registered but outdated.

    Returns what was done, one line each. Raises NmemError when there can be no database.
    """
    db = paths.database()
    uncompiled = len(bytecode.missing())
    done = [f"note: {note}" for note in setup.prepare(db)]
    if compiled := uncompiled - len(bytecode.missing()):
        done.append(f"{compiled} modules of the hook compiled")
    for path, mode in storage.open_to_others():
        path.chmod(mode)
        done.append(f"chmod {mode:o} {path}")
    return done + fix_database(db) + _registrations(folder, db)


def fix_database(path: str) -> list[str]:
    """The part of it that concerns one database, whosever it is: its spool, its text indexes, rows left behind."""
    gone = [f"removed {name}, which a killed process left" for name in files.clear(path)]
    return gone + _settle(path) + _index(path) + read.fix(path)


def _settle(db: str) -> list[str]:
    try:
        stored = settle(db)
    except (sqlite3.Error, OSError) as error:
        return [f"the spool could not be emptied: {error}"]
    return [f"{stored} spooled batches stored"] if stored > 0 else []


def _index(path: str) -> list[str]:
    """Fill text indexes that do not hold all rows."""
    try:
        with closing(store.connect(path, timeout=5)) as db:
            missing = build_index(db)
    except (sqlite3.Error, OSError) as error:
        return [f"the text indexes could not be filled: {error}"]
    return [f"the text index of {name} filled" for name in missing]


def _registrations(folder: str, db: str) -> list[str]:
    """Bring hooks that are already registered up to date; never connects a client that was not."""
    out = []
    for client in hooks.found(folder):
        for target, _ in registrations.all_of(client, folder):
            try:
                plan = install.plan_install(target, db, setup.pinned())
                install.install(plan, db)
            except install.SettingsError as error:
                out.append(str(error))
                continue
            if plan.changes:
                out.append(f"{target.path} brought up to date")
    return out
