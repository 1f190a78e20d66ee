"""Runs all audit checks for `nmem doctor` and the Health screen, and the repairs of what can be repaired.

    findings(db, path, now, deep=False, step=...) -> list[Finding]
        every subject; a subject that fails is a finding of its own. `db` is nmem.database.reader's connection.
        About a second at a million observations; `deep` reads everything: some ten seconds.
    SUBJECTS: tuple[str, ...]
        the names of the checks, in the order in which findings come
Beside them: review.queue(db), review.draw(db, now), review.judge(db, id, verdict, now) (writing connections for the
last two; `nmem undo` takes a verdict back), mend.fix(path), and servers.findings(clients, folder), which starts
processes.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from sqlite3 import Connection

from capture.storage import store
from nmem import tables
from nmem.audit import (
    WRONG,
    Finding,
    drift,
    extraction,
    future,
    integrity,
    labels,
    latency,
    losses,
    redaction,
    retrieval,
)

Subject = Callable[[Connection, str, int, bool], list[Finding]]


def _redaction(db: Connection, path: str, now: int, deep: bool) -> list[Finding]:
    out = redaction.findings(db, now)
    if deep:
        writer = _writer(path)
        try:
            out += redaction.second_opinion(db, writer, now)
        finally:
            if writer is not None:
                writer.close()
    return out


def _writer(path: str) -> Connection | None:
    """A writing connection for the queue of suspects; None where nothing can be written."""
    try:
        db: Connection = store.connect(path, timeout=5)
    except (sqlite3.Error, OSError):
        return None
    return db


_SUBJECTS: tuple[tuple[str, Subject], ...] = (
    ("integrity", lambda db, path, now, deep: [*future.findings(db, now), *integrity.findings(db, path, deep)]),
    ("losses", lambda db, _, now, deep: losses.findings(db, now, deep)),
    ("payloads", lambda db, _, now, deep: drift.findings(db, now, deep)),
    ("extraction", lambda db, _, now, deep: extraction.findings(db, now, deep)),
    ("redaction", _redaction),
    ("labels", lambda db, path, now, _: labels.findings(db, path, now)),
    ("retrieval", lambda db, _, now, deep: retrieval.findings(db, now, deep)),
    ("latency", lambda db, *_: latency.findings(db)),
    ("model", lambda db, *_: labels.model_findings(db)),
)
SUBJECTS = tuple(name for name, _ in _SUBJECTS)


def findings(
    db: Connection, path: str, now: int, deep: bool = False, step: Callable[[str], None] = lambda _subject: None
) -> list[Finding]:
    """Everything that the audit sees; `step` is told each subject before it is read. Never raises sqlite3.Error."""
    out: list[Finding] = []
    for name, subject in _SUBJECTS:
        step(name)
        try:
            out += subject(db, path, now, deep)
        except sqlite3.Error as error:  # one broken table must not hide what the others have to say
            out.append(Finding(name, WRONG, f"cannot be examined: {error}", "nmem doctor --deep"))
    return out


def fix(path: str) -> list[str]:
    """Mend what can be; what was done, one line each, and why something could not be."""
    try:
        db = store.connect(path, timeout=5)
    except (sqlite3.Error, OSError) as error:
        return [f"the audit's mends need the database: {error}"]
    try:
        tables.ensure(db)
        return future.fix(db, future.now()) + integrity.fix(db)
    except sqlite3.Error as error:
        return [f"not everything could be fixed: {error}"]
    finally:
        db.close()
