"""All checks of `nmem doctor`, in the order in which a person should read them, and what `--fix` mends."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable

from capture import paths
from capture.install import bytecode
from nmem.doctor.checks import WRONG, Finding, hooks, storage, switches
from nmem.doctor.checks.labels import labels
from nmem.doctor.checks.settling import settling
from nmem.doctor.checks.status_line import status_lines

CHECKS: tuple[Callable[[str], list[Finding]], ...] = (
    lambda _: storage.database(),
    lambda _: storage.private(),
    lambda _: storage.waiting(),
    lambda _: storage.runtime(),
    lambda _: settling(),
    lambda _: labels(),
    hooks.registered_hooks,
    hooks.files,
    lambda _: switches.skipped(),
    switches.claude,
    switches.codex,
    switches.gemini,
    switches.shared,
    status_lines,
    hooks.round_trips,
)


def examine(folder: str) -> list[Finding]:
    """Run every check; `folder` is the project whose settings count besides the user's."""
    return [finding for check in CHECKS for finding in check(folder)]


def healthy(findings: list[Finding]) -> bool:
    """Whether nothing is wrong; notes do not count."""
    return all(finding.severity != WRONG for finding in findings)


def fix(folder: str) -> list[str]:
    """Mend what needs no decision: modes, bytecode, rule cache, spool, log; hooks that are registered but outdated.

    Returns what was done, one line each. Raises NmemError when there can be no database.
    """
    from nmem import setup

    db = paths.database()
    uncompiled = len(bytecode.missing())
    done = [f"note: {note}" for note in setup.prepare(db)]
    if compiled := uncompiled - len(bytecode.missing()):
        done.append(f"{compiled} modules of the hook compiled")
    for path, mode in storage.open_to_others():
        path.chmod(mode)
        done.append(f"chmod {mode:o} {path}")
    done += _settle(db) + _index(db)
    return done + _registrations(folder, db)


def _settle(db: str) -> list[str]:
    from capture.settle import settle

    try:
        stored = settle(db)
    except (sqlite3.Error, OSError) as error:
        return [f"the spool could not be emptied: {error}"]
    return [f"{stored} spooled batches stored"] if stored > 0 else []


def _index(path: str) -> list[str]:
    """Fill text indexes that do not hold all rows."""
    from sqlite_utils import Database

    from capture.storage import store

    db = store.connect(path, timeout=5)
    try:
        missing = storage.unindexed(db)
        for name in missing:
            Database(db).table(name).rebuild_fts()
    finally:
        db.close()
    return [f"the text index of {name} filled" for name in missing]


def _registrations(folder: str, db: str) -> list[str]:
    """Bring hooks that are already registered up to date; never connects a client that was not."""
    from capture import install
    from nmem import setup
    from nmem.doctor import registrations

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
