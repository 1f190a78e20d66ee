"""Stores markers (notes, decisions, rollback points) in a session, for a person or an agent.

A marker goes the way of every fact: sealed, so redacted and cut, and written by capture's store.
"""

from __future__ import annotations

import sqlite3
import time
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from sqlite3 import Connection

from capture.event import Batch, Observation
from capture.project import resolve
from capture.seal import seal
from capture.storage import store
from capture.storage.rows import write
from capture.storage.schema import NewerDatabase
from nmem.database import worded
from nmem.errors import NmemError
from nmem.store.project import called, worked_on
from nmem.store.store import marker, session_to_mark
from nmem.text import fit, printable

NOTE, DECISION, ROLLBACK = "note", "decision", "rollback"
KINDS = (NOTE, DECISION, ROLLBACK)
"""Something worth knowing; what was decided, and why; a state to come back to."""
LONGEST = 4_000
"""Characters of a marker: what is longer is no note."""
_WAIT = 10.0
_SAME = 10_000
"""Milliseconds in which the same words are one marker."""


@dataclass(frozen=True, slots=True)
class Marker:
    """A marker as it is stored."""

    id: int
    """Of its observation."""
    at: int
    kind: str
    text: str
    session_id: str


def mark(db_path: str, text: str, kind: str = NOTE, *, cwd: str = "", session_id: str = "", at: int = 0) -> Marker:
    """Keep a marker in a session: the one named where it is known, else the project's that was active last.

    The project is that of `cwd`, by default of the folder this runs in. Raises NmemError.
    """
    text = text.strip()
    if not text:
        raise NmemError("the marker's text is empty")
    if kind not in KINDS:
        raise NmemError(f"a marker must be a {', a '.join(KINDS)}")
    if len(text) > LONGEST:
        raise NmemError(f"a marker has at most {LONGEST} characters: this one has {len(text)}")
    try:
        db = store.connect(db_path, timeout=_WAIT)
    except (sqlite3.Error, OSError, NewerDatabase) as error:
        raise NmemError(f"{db_path} cannot be written: {worded(error)}") from None
    try:
        return _kept(db, text, kind, cwd or str(Path.cwd()), session_id, at or time.time_ns() // 1_000_000)
    except sqlite3.Error as error:
        raise NmemError(f"{db_path} cannot be written: {worded(error)}") from None
    finally:
        db.close()


def _kept(db: Connection, text: str, kind: str, cwd: str, session_id: str, at: int) -> Marker:
    session, client, folder = _session(db, cwd, session_id)
    batch = Batch(client, session, at, folder)
    words = blake2b(f"{kind} {text}".encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
    seen = Observation(at, "marker", text, dedup_key=f"m:{words}:{at // _SAME}")
    seen.metadata["kind"] = kind
    batch.observations.append(seen)
    write(db, seal(batch))
    number, stored_at, stored = marker(db, session, seen.dedup_key)
    return Marker(number, stored_at, kind, stored, session)


def _session(db: Connection, cwd: str, session_id: str) -> tuple[str, str, str]:
    """The session that a marker belongs to: id, client, folder. Raises NmemError."""
    here = resolve(cwd)
    row = session_to_mark(db, session_id, here.key, here.root)
    if row is None:
        then = f"run a session here first{', or add --session ID' if worked_on(db) else ''}"
        name = fit(printable(called(db, here)), 80)
        raise NmemError(f"no session of {name} is recorded yet, and a marker needs one: {then}")
    return row
